"""Programs without pragmas, whose pointers may lead to the same memory."""

from __future__ import annotations

from scopt.options import Options
from tests.mutate.source import Source

GUARDED = Source(
    "guarded",
    """
void kernel(int n, int m, double *a, double *b, double *c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        a[i * m + j] += b[i * n + k] * c[k * m + j];
}
""",
    """
    long part = (long)n * n + 2 * (long)n * m, size = 2 * part + 64;
    MADE(double, all, size, ((7 * i) % 11 + 1.3) / 97)
    double *a = all + 8, *b = a + (long)n * m, *c = b + (long)n * n;
    kernel(n, m, a, b, c);
    kernel(n, m, b + part, a, c);
    kernel(n, m, c + part, b, a);
    kernel(n, m, a, b - 1, c);
    kernel(n, m, a, a + (long)n * m - 1, c + part);
    kernel(n, m, b, c, b + (long)n * m - 1);
    kernel(n, m, c, a + part, c - (long)n * m + 1);
    kernel(n, m, a, b, a);
    for (long i = 0; i < size; i++)
      all[i] = all[i] > 1e30 || all[i] < -1e30 ? 1 : all[i];
    DONE(all, size)""",
    ((1, 1), (5, 26), (100, 91), (133, 50)),
    options=Options(autodetect=True),
)

SMOOTHED = Source(
    "smoothed",
    """
#include <stddef.h>
void kernel(size_t n, size_t m, float *out, const float *in, const float *weight, unsigned shift)
{
  for (size_t y = 1; y + 1 < n; y++)
    for (size_t x = 1; x + 1 < m; x++)
      out[y * m + x] = (in[y * m + x - 1] + weight[0] * in[y * m + x] + in[y * m + x + 1]
        + in[(y - 1) * m + x] + in[(y + 1) * m + x]) * weight[shift];
}
""",
    """
    long count = (long)n * m, size = 3 * count + 64;
    MADE(float, all, size, ((7 * i) % 11 + 1.3f) / 97)
    kernel(n, m, all + 9, all + 9 + count, all + 2, 1);
    kernel(n, m, all + 9, all + 8 + count, all + 20 + 2 * count, 3);
    kernel(n, m, all + 9 + count, all + 9, all + 8 + 2 * count, 1);
    kernel(n, m, all + 9 + count, all + 10, all + 9 + count + m, 2);
    kernel(n, m, all + 9 + count, all + 9 + 2 * count - m, all + 7 + count, 1);
    DONE(all, size)""",
    ((3, 3), (9, 5), (70, 130), (200, 190)),
    options=Options(autodetect=True, eager=True),
)

SHIFTED = Source(
    "shifted",
    """
struct part { int n, m; double *x; double *y; };
void kernel(struct part *p, double *z, int from)
{
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->m; j++)
      p->y[i * p->m + j] = p->y[i * p->m + j] * 0.5 + z[j] * z[j + from];
}
""",
    """
    long count = (long)n * m, size = 3 * count + 64;
    MADE(double, all, size, ((7 * i) % 11 + 1.3) / 97)
    struct part one = {n, m, all + 5, all + 10 + count}, two = {n, m, all + 5 + count, all + 9 + count};
    struct part three = {n, m, all + 5, all + count};
    kernel(&one, all + 20 + 2 * count, 1);
    kernel(&two, all + 20 + 2 * count, 2);
    kernel(&three, all + 20 + 2 * count, 5);
    kernel(&three, all + 20 + 2 * count, 4);
    kernel(&one, all + 10 + 2 * count - 1, 3);
    kernel(&one, all + 10 + 2 * count, 0);
    kernel(&one, all + 11 + count - m, 0);
    DONE(all, size)""",
    ((1, 1), (9, 5), (70, 130), (300, 190)),
    options=Options(autodetect=True),
)
