/* Loops as programs have them, for `python tests/autodetect/bench.py`: what autodetection makes of them must not run slower.

   Each function with a line `// bench:` above it is called by the driver with the pools below. The line names the values of n that it is timed with,
   and how many elements of type double a call may touch for that n. */

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct { double x, y, z; } point;

#define SIDE 64
static double image[SIDE][SIDE], smoothed[SIDE][SIDE];
static double table[2048][2048], other[2048][2048], result[2048][2048];
static int bins[256];

// bench: 8 100000
void fill_zero(int n, double *a, double *b, double *c, int *ints, char *text) { for (int i = 0; i < n; i++) a[i] = 0; }

// bench: 8 100000
void fill_one(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = 1.0;
}

// bench: 8 100000
void copy(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i];
}

// bench: 8 1000
void clear_rows(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      table[i][j] = 0.0;
}

// bench: 8 100000
void scale(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] *= 1.0000001;
}

// bench: 4 100000
void axpy(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] += 0.5 * b[i];
}

// bench: 4 100000
void axpy_restrict(int n, double *restrict a, double *restrict b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] += 0.5 * b[i];
}

// bench: 8 100000
void triad(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 3.0 * c[i];
}

// bench: 8 100000
void dot(int n, double *a, double *b, double *c, int *ints, char *text)
{
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  c[0] = sum;
}

// bench: 8 100000
void norm_and_scale(int n, double *a, double *b, double *c, int *ints, char *text)
{
  double sum = 1;
  for (int i = 0; i < n; i++)
    sum += b[i] * b[i];
  sum = 1 / sqrt(sum);
  for (int i = 0; i < n; i++)
    a[i] = b[i] * sum;
}

// bench: 8 100000
void integer_sum(int n, double *a, double *b, double *c, int *ints, char *text)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += ints[i];
  ints[0] = sum & 7;
}

// bench: 8 100000
void maximum(int n, double *a, double *b, double *c, int *ints, char *text)
{
  int best = ints[0];
  for (int i = 1; i < n; i++)
    if (ints[i] > best)
      best = ints[i];
  ints[0] = best & 7;
}

// bench: 8 100000
void prefix_sum(int n, double *a, double *b, double *c, int *ints, char *text)
{
  a[0] = b[0];
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] + b[i];
}

// bench: 8 100000
void histogram(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    bins[(unsigned char)text[i]]++;
}

// bench: 8 10000
void sparse_product(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 8 * i; k < 8 * i + 8; k++)
      sum += b[k] * c[ints[k]];
    a[i] = sum;
  }
}

// bench: 8 100000
void horner(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    double x = b[i], y = 1;
    for (int k = 0; k < 6; k++)
      y = y * x + c[k];
    a[i] = y;
  }
}

// bench: 8 64
void insertion_sort(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[n - 1 - i];
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && a[j - 1] > a[j]; j--) {
      double swap = a[j];
      a[j] = a[j - 1];
      a[j - 1] = swap;
    }
}

// bench: 8 100
void bubble_pass(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n - 1; j++)
      if (a[j] > a[j + 1]) {
        double swap = a[j];
        a[j] = a[j + 1];
        a[j + 1] = swap;
      }
}

// bench: 8 10000
void upper_case(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] -= 32;
}

// bench: 8 10000
void reverse_text(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n / 2; i++) {
    char swap = text[i];
    text[i] = text[n - 1 - i];
    text[n - 1 - i] = swap;
  }
}

// bench: 8 10000
void count_words(int n, double *a, double *b, double *c, int *ints, char *text)
{
  int words = 0, inside = 0;
  for (int i = 0; i < n; i++) {
    if (text[i] == ' ')
      inside = 0;
    else if (!inside) {
      inside = 1;
      words++;
    }
  }
  ints[0] = words & 7;
}

// bench: 1 1000
void matrix_3(int n, double *a, double *b, double *c, int *ints, char *text)
{
  double (*A)[3] = (double (*)[3])a, (*B)[3] = (double (*)[3])b, (*C)[3] = (double (*)[3])c;
  for (int r = 0; r < n; r++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        A[i][j] = 0;
        for (int k = 0; k < 3; k++)
          A[i][j] += B[i][k] * C[k][j];
      }
}

static void product_4(double a[4][4], double b[4][4], double c[4][4])
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double sum = 0;
      for (int k = 0; k < 4; k++)
        sum += b[i][k] * c[k][j];
      a[i][j] = sum;
    }
}

// bench: 1 1000
void matrix_4(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    product_4((double (*)[4])a + 4 * (i % 8), (double (*)[4])b, (double (*)[4])c);
}

// bench: 1 1000
void transform_points(int n, double *a, double *b, double *c, int *ints, char *text)
{
  const point *from = (const point *)b;
  point *to = (point *)a;
  for (int i = 0; i < n; i++) {
    to[i].x = 0.8 * from[i].x - 0.6 * from[i].y;
    to[i].y = 0.6 * from[i].x + 0.8 * from[i].y;
    to[i].z = from[i].z + 1;
  }
}

// bench: 4 64
void blur(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      smoothed[i][j] = (image[i - 1][j] + image[i + 1][j] + image[i][j - 1] + image[i][j + 1] + image[i][j]) / 5;
}

// bench: 1 20
void relax_small(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int t = 0; t < n; t++) {
    for (int i = 1; i < 15; i++)
      for (int j = 1; j < 15; j++)
        smoothed[i][j] = 0.25 * (image[i - 1][j] + image[i + 1][j] + image[i][j - 1] + image[i][j + 1]);
    for (int i = 1; i < 15; i++)
      for (int j = 1; j < 15; j++)
        image[i][j] = smoothed[i][j];
  }
}

// bench: 8 1500
void relax(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int t = 0; t < 10; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        other[i][j] = 0.25 * (table[i - 1][j] + table[i + 1][j] + table[i][j - 1] + table[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        table[i][j] = other[i][j];
  }
}

// bench: 8 1000
void row_sums(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    a[i] = 0;
    for (int j = 0; j < n; j++)
      a[i] += table[i][j];
  }
}

// bench: 8 1000
void column_sums(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int j = 0; j < n; j++) {
    a[j] = 0;
    for (int i = 0; i < n; i++)
      a[j] += table[i][j];
  }
}

// bench: 8 1000
void transpose(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      other[j][i] = table[i][j];
}

// bench: 8 300
void product(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += table[i][k] * other[k][j];
      result[i][j] = sum;
    }
}

// bench: 8 1000
void matrix_vector(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum += table[i][j] * b[j];
    a[i] = sum;
  }
}

// bench: 8 1000
void matrix_vector_flat(int n, double *a, double *b, double *c, int *ints, char *text)
{
  double *y = c + (size_t)n * n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] += c[i * n + j] * b[j];
}

// bench: 8 300
void solve_lower(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    a[i] = b[i];
    for (int j = 0; j < i; j++)
      a[i] -= table[i][j] * a[j];
    a[i] /= 2 + table[i][i];
  }
}

// bench: 8 300
void eliminate(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        result[i][j] -= 1e-9 * result[i][k] * result[k][j];
}

// bench: 8 100000
void moving_average(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 2; i < n - 2; i++)
    a[i] = (b[i - 2] + b[i - 1] + b[i] + b[i + 1] + b[i + 2]) * 0.2;
}

// bench: 16 10000
void convolution(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n - 8; i++) {
    a[i] = 0;
    for (int k = 0; k < 8; k++)
      a[i] += b[i + k] * c[k];
  }
}

// bench: 8 100000
void recurrence(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 1; i < n; i++)
    a[i] = 0.5 * a[i - 1] + 0.25 * b[i];
}

// bench: 8 100000
void exponentials(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = exp(-b[i]);
}

// bench: 8 100000
void clamp(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i] < 0 ? 0 : b[i] > 1 ? 1 : b[i];
}

// bench: 8 100000
void gather(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[ints[i]];
}

// bench: 8 100000
void integers_to_doubles(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = ints[i] * (1.0 / 256);
}

// bench: 8 100000
void two_loops(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2;
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}

// bench: 8 1000
void distance_table(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double d = a[i] - b[j];
      result[i][j] = d * d;
    }
}

// bench: 8 100000
void scaled_stream(int n, double *a, double *b, double *c, int *ints, char *text)
{
  while (n--)
    *a++ = *b++ * 0.5;
}

// bench: 8 100000
void until_end(int n, double *a, double *b, double *c, int *ints, char *text)
{
  double *end = a + n;
  for (double *p = a; p < end; p++)
    *p = *p * 0.5 + 1;
}

// bench: 8 100000
void interleaved(int n, double *a, double *b, double *c, int *ints, char *text)
{
  int k = 0;
  for (int i = 0; i < n; i++) {
    a[k++] = b[i];
    a[k++] = c[i];
  }
}

// bench: 8 100000
void pairs_apart(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0, k = 0; i < n; i++, k += 2) {
    b[i] = a[k];
    c[i] = a[k + 1];
  }
}

// bench: 8 100000
void complex_products(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0; i < n; i++) {
    c[0] = a[0] * b[0] - a[1] * b[1];
    c[1] = a[0] * b[1] + a[1] * b[0];
    a += 2;
    b += 2;
    c += 2;
  }
}

// bench: 8 1000
void inverted_rows(int n, double *a, double *b, double *c, int *ints, char *text)
{
  unsigned char *from = (unsigned char *)text, *to = (unsigned char *)ints;
  int stride = n + 24;
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < n; x++)
      *to++ = 255 - *from++;
    from += stride - n;
  }
}

// bench: 8 100000
void backwards(int n, double *a, double *b, double *c, int *ints, char *text)
{
  for (int i = 0, j = n - 1; i < n; i++, j--)
    a[i] = b[j] + 1;
}
