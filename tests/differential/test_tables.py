"""Sums at places that data name, with threads' own tables: every bit as in the original."""

from __future__ import annotations

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void run(int h, int w, unsigned char a[restrict h][w], unsigned char b[restrict h][w],
                const unsigned short s[restrict], const int k[restrict], int *restrict count,
                unsigned (*restrict joint)[16], int *restrict sum, unsigned char *restrict seen,
                short *restrict narrow, long *restrict wide, int *restrict frames,
                int (*restrict planes)[64])
{
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) count[a[y][x]]++;
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) joint[a[y][x] >> 4][b[y][x] >> 4]++;
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) sum[a[y][x]] += k[y] - b[y][x];
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w; x++) if (a[y][x] > b[y][x]) seen[a[y][x - 1]] |= b[y][x];
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) narrow[b[y][x]] += a[y][x];
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { int p = a[y][x] + b[y][x]; wide[p] -= k[y]; }
#pragma endscop
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int v = 0; v < 256; v++) count[v] = 0;
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) count[a[y][x] / 2]++;
    for (int v = 0; v < 256; v++) frames[v] += t * count[v];
  }
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++) count[s[y] % 100] ^= k[y];
#pragma endscop
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int p = 0; p < 3; p++) { int q = (a[y][x] + p * b[y][x]) % 64; planes[p][q]++; }
#pragma endscop
}
int main(void)
{
  int sizes[][2] = {{0, 0}, {5, 7}, {1, 9999}, {90, 93}, {300, 211}, {4000, 95}};
  for (int u = 0; u < 6; u++) {
    int h = sizes[u][0], w = sizes[u][1];
    unsigned char *a = malloc(h * w + 1), *b = malloc(h * w + 1), *seen = calloc(256, 1);
    unsigned short *s = malloc(2 * h + 2);
    int *k = malloc(4 * h + 4), *count = calloc(256, 4), *sum = calloc(256, 4), *frames = calloc(256, 4);
    int *planes = calloc(192, 4);
    unsigned z = u * 77 + 1, *joint = calloc(256, 4);
    short *narrow = calloc(256, 2);
    long *wide = calloc(511, 8);
    for (int i = 0; i < h * w; i++) z = z * 1664525 + 1013904223, a[i] = z >> 24, b[i] = z >> 16;
    for (int i = 0; i < h; i++)
      z = z * 1664525 + 1013904223, s[i] = z >> 9, k[i] = (int)(z & 0x3fffff) * (i & 1 ? 1 : -1);
    run(h, w, (void *)a, (void *)b, s, k, count, (void *)joint, sum, seen, narrow, wide, frames, (void *)planes);
    unsigned long c = 0;
    for (int i = 0; i < 256; i++)
      c = c * 31 + count[i] + 7ul * joint[i] + 11ul * sum[i] + 13 * seen[i] + 17 * narrow[i] + 19 * frames[i];
    for (int i = 0; i < 511; i++) c = c * 31 + wide[i];
    for (int i = 0; i < 192; i++) c = c * 31 + planes[i];
    printf("%lx\\n", c);
  }
}
"""


def test_every_bit_is_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options(eager=True)).text.decode()
    for clause in (
        "+: count_own",
        "+: joint_own",
        "+: sum_own",
        "|: seen_own",
        "+: narrow_own",
        "+: wide_own",
        "+: planes_own",
    ):
        assert f"reduction({clause})" in made
    assert "reduction(^: count_own)" in made
    assert made.count("unsigned short narrow_own[256];") == 1
    assert run_c(made, "-O2", "-fopenmp") == run_c(PROGRAM, "-O1", name="original")
