static inline long scopt_max(long a, long b) { return a > b ? a : b; }
static inline void scopt_scalar(void) {
#ifdef __clang__
  __asm__ volatile ("");
#endif
}
#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
#if defined(__linux__) && defined(__LP64__)
/* all there are; one, where other programs took the cores in the last 10 ms */
int scopt_threads_clock(int, long *) __asm__("clock_gettime");
static inline int scopt_threads(void)
{
  static __thread long begun, had, busy;
  long now[2], used[2];
  const int most = (omp_get_max_threads)();
  if (most < 2 || scopt_threads_clock(1, now) != 0)
    return most;
  const long passed = now[0] * 1000000000 + now[1] - begun;
  if (passed > 10000000 && scopt_threads_clock(2, used) == 0) {
    const long share = used[0] * 1000000000 + used[1] - had;
    busy = passed < 500000000 && share < passed - passed / 4 && share > passed / 16;
    begun += passed;
    had += share;
  }
  return busy ? 1 : most;
}
#else
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#endif
#else
static inline int scopt_threads(void) { return 1; }
#endif

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_0_0_vectors
typedef double scopt_turn_0_0_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_0_0_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_0_0_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_0_0(long rows, long count, const double *restrict from, long length, double *restrict to) {
  long k = 0;
#ifdef scopt_turn_0_0_vectors
  for (; k + 8 <= count; k += 8) {
    long i = 0;
    for (; i + 8 <= rows; i += 8) {
      scopt_turn_0_0_v a0 = *(const scopt_turn_0_0_v *)(from + (i + 0) * length + k);
      scopt_turn_0_0_v a1 = *(const scopt_turn_0_0_v *)(from + (i + 1) * length + k);
      scopt_turn_0_0_v a2 = *(const scopt_turn_0_0_v *)(from + (i + 2) * length + k);
      scopt_turn_0_0_v a3 = *(const scopt_turn_0_0_v *)(from + (i + 3) * length + k);
      scopt_turn_0_0_v a4 = *(const scopt_turn_0_0_v *)(from + (i + 4) * length + k);
      scopt_turn_0_0_v a5 = *(const scopt_turn_0_0_v *)(from + (i + 5) * length + k);
      scopt_turn_0_0_v a6 = *(const scopt_turn_0_0_v *)(from + (i + 6) * length + k);
      scopt_turn_0_0_v a7 = *(const scopt_turn_0_0_v *)(from + (i + 7) * length + k);
      scopt_turn_0_0_v b0 = scopt_turn_0_0_low(a0, a4), b1 = scopt_turn_0_0_high(a0, a4);
      scopt_turn_0_0_v b2 = scopt_turn_0_0_low(a1, a5), b3 = scopt_turn_0_0_high(a1, a5);
      scopt_turn_0_0_v b4 = scopt_turn_0_0_low(a2, a6), b5 = scopt_turn_0_0_high(a2, a6);
      scopt_turn_0_0_v b6 = scopt_turn_0_0_low(a3, a7), b7 = scopt_turn_0_0_high(a3, a7);
      scopt_turn_0_0_v c0 = scopt_turn_0_0_low(b0, b4), c1 = scopt_turn_0_0_high(b0, b4);
      scopt_turn_0_0_v c2 = scopt_turn_0_0_low(b1, b5), c3 = scopt_turn_0_0_high(b1, b5);
      scopt_turn_0_0_v c4 = scopt_turn_0_0_low(b2, b6), c5 = scopt_turn_0_0_high(b2, b6);
      scopt_turn_0_0_v c6 = scopt_turn_0_0_low(b3, b7), c7 = scopt_turn_0_0_high(b3, b7);
      scopt_turn_0_0_v d0 = scopt_turn_0_0_low(c0, c4), d1 = scopt_turn_0_0_high(c0, c4);
      scopt_turn_0_0_v d2 = scopt_turn_0_0_low(c1, c5), d3 = scopt_turn_0_0_high(c1, c5);
      scopt_turn_0_0_v d4 = scopt_turn_0_0_low(c2, c6), d5 = scopt_turn_0_0_high(c2, c6);
      scopt_turn_0_0_v d6 = scopt_turn_0_0_low(c3, c7), d7 = scopt_turn_0_0_high(c3, c7);
      *(scopt_turn_0_0_v *)(to + (k + 0) * 8 + i) = d0;
      *(scopt_turn_0_0_v *)(to + (k + 1) * 8 + i) = d1;
      *(scopt_turn_0_0_v *)(to + (k + 2) * 8 + i) = d2;
      *(scopt_turn_0_0_v *)(to + (k + 3) * 8 + i) = d3;
      *(scopt_turn_0_0_v *)(to + (k + 4) * 8 + i) = d4;
      *(scopt_turn_0_0_v *)(to + (k + 5) * 8 + i) = d5;
      *(scopt_turn_0_0_v *)(to + (k + 6) * 8 + i) = d6;
      *(scopt_turn_0_0_v *)(to + (k + 7) * 8 + i) = d7;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 8; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#endif
  for (; k < count; k++)
    for (long i = 0; i < rows; i++)
      to[k * 8 + i] = from[i * length + k];
}

// scopt:
/* Small problems side by side: stresses of 3 x 3 deformations run in batches, a problem a lane, whose cells are turned
 * into lanes; what is little work for each of a problem's cells stays as it is. */
void stresses(int n, double f[restrict n][3][3], double s[restrict n][6])
{
#pragma scop
    if (n > 80 && n > 10) {
      {
        double j0;
        double j1;
        double j2;
        double det;
        double q;
        double lam;
        double b00;
        double b11;
        double b22;
        double b01;
        double b02;
        double b12;
        _Alignas(64) double f_rows[3][3][8];
        _Alignas(64) double s_rows[6][8];
        #pragma omp parallel for if(n > 1000) private(j0, j1, b02, b12, q, b00, lam, b11, b22, b01, j2, det, f_rows, s_rows) firstprivate(f, n, s) schedule(static)
        for (long rowt = 0; rowt < n - 7L; rowt += 8) {
          scopt_turn_0_0(8L, 9L, &f[rowt][0][0], sizeof(f[0]) / sizeof(f[0][0][0]), &f_rows[0][0][0]);
          #pragma omp simd private(j0, j1, b02, b12, q, b00, lam, b11, b22, b01, j2, det)
          #ifdef __clang__
          #pragma clang loop unroll(disable)
          #endif
          for (long p = rowt; p < rowt + 8; p++) {
            j0 = f_rows[1][1][p - rowt] * f_rows[2][2][p - rowt] - f_rows[1][2][p - rowt] * f_rows[2][1][p - rowt];
            j1 = f_rows[1][2][p - rowt] * f_rows[2][0][p - rowt] - f_rows[1][0][p - rowt] * f_rows[2][2][p - rowt];
            j2 = f_rows[1][0][p - rowt] * f_rows[2][1][p - rowt] - f_rows[1][1][p - rowt] * f_rows[2][0][p - rowt];
            det = f_rows[0][0][p - rowt] * j0 + f_rows[0][1][p - rowt] * j1 + f_rows[0][2][p - rowt] * j2;
            q = 1 / det;
            lam = 0.5 * (det - q);
            b00 = f_rows[0][0][p - rowt] * f_rows[0][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[0][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[0][2][p - rowt];
            b11 = f_rows[1][0][p - rowt] * f_rows[1][0][p - rowt] + f_rows[1][1][p - rowt] * f_rows[1][1][p - rowt] + f_rows[1][2][p - rowt] * f_rows[1][2][p - rowt];
            b22 = f_rows[2][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[2][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[2][2][p - rowt] * f_rows[2][2][p - rowt];
            b01 = f_rows[0][0][p - rowt] * f_rows[1][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[1][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[1][2][p - rowt];
            b02 = f_rows[0][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[2][2][p - rowt];
            b12 = f_rows[1][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[1][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[1][2][p - rowt] * f_rows[2][2][p - rowt];
            s_rows[0][p - rowt] = q * (b00 - 1) + lam;
            s_rows[1][p - rowt] = q * (b11 - 1) + lam;
            s_rows[2][p - rowt] = q * (b22 - 1) + lam;
            s_rows[3][p - rowt] = q * b01;
            s_rows[4][p - rowt] = q * b02;
            s_rows[5][p - rowt] = q * b12;
          }
          for (long row = rowt; row < rowt + 8; row++)
            for (long column = 0; column < 6; column++)
              s[row][column] = s_rows[column][row - rowt];
        }
        for (long p = scopt_max(0, n - 7L); p < n; p++) {
          scopt_scalar();
          if (p + 7 >= n + p % 8) {
            j0 = f[p][1][1] * f[p][2][2] - f[p][1][2] * f[p][2][1];
            j1 = f[p][1][2] * f[p][2][0] - f[p][1][0] * f[p][2][2];
            j2 = f[p][1][0] * f[p][2][1] - f[p][1][1] * f[p][2][0];
            det = f[p][0][0] * j0 + f[p][0][1] * j1 + f[p][0][2] * j2;
            q = 1 / det;
            lam = 0.5 * (det - q);
            b00 = f[p][0][0] * f[p][0][0] + f[p][0][1] * f[p][0][1] + f[p][0][2] * f[p][0][2];
            b11 = f[p][1][0] * f[p][1][0] + f[p][1][1] * f[p][1][1] + f[p][1][2] * f[p][1][2];
            b22 = f[p][2][0] * f[p][2][0] + f[p][2][1] * f[p][2][1] + f[p][2][2] * f[p][2][2];
            b01 = f[p][0][0] * f[p][1][0] + f[p][0][1] * f[p][1][1] + f[p][0][2] * f[p][1][2];
            b02 = f[p][0][0] * f[p][2][0] + f[p][0][1] * f[p][2][1] + f[p][0][2] * f[p][2][2];
            b12 = f[p][1][0] * f[p][2][0] + f[p][1][1] * f[p][2][1] + f[p][1][2] * f[p][2][2];
            s[p][0] = q * (b00 - 1) + lam;
            s[p][1] = q * (b11 - 1) + lam;
            s[p][2] = q * (b22 - 1) + lam;
            s[p][3] = q * b01;
            s[p][4] = q * b02;
            s[p][5] = q * b12;
          }
        }
      }
    } else {
    for (int p = 0; p < n; p++) {
        double j0 = f[p][1][1]*f[p][2][2] - f[p][1][2]*f[p][2][1];
        double j1 = f[p][1][2]*f[p][2][0] - f[p][1][0]*f[p][2][2];
        double j2 = f[p][1][0]*f[p][2][1] - f[p][1][1]*f[p][2][0];
        double det = f[p][0][0]*j0 + f[p][0][1]*j1 + f[p][0][2]*j2;
        double q = 1 / det, lam = 0.5 * (det - q);
        double b00 = f[p][0][0]*f[p][0][0] + f[p][0][1]*f[p][0][1] + f[p][0][2]*f[p][0][2];
        double b11 = f[p][1][0]*f[p][1][0] + f[p][1][1]*f[p][1][1] + f[p][1][2]*f[p][1][2];
        double b22 = f[p][2][0]*f[p][2][0] + f[p][2][1]*f[p][2][1] + f[p][2][2]*f[p][2][2];
        double b01 = f[p][0][0]*f[p][1][0] + f[p][0][1]*f[p][1][1] + f[p][0][2]*f[p][1][2];
        double b02 = f[p][0][0]*f[p][2][0] + f[p][0][1]*f[p][2][1] + f[p][0][2]*f[p][2][2];
        double b12 = f[p][1][0]*f[p][2][0] + f[p][1][1]*f[p][2][1] + f[p][1][2]*f[p][2][2];
        s[p][0] = q * (b00 - 1) + lam; s[p][1] = q * (b11 - 1) + lam; s[p][2] = q * (b22 - 1) + lam;
        s[p][3] = q * b01; s[p][4] = q * b02; s[p][5] = q * b12;
    }
    }
#pragma endscop
}

void products(int n, double x[restrict n][5], double y[restrict n][5])
{
#pragma scop
    if (n > 8000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(n, x, y) schedule(static)
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        y[p][0] = 0.5 * x[p][0] + x[p][1];
        y[p][4] = 0.5 * x[p][4] + x[p][2];
      }
    } else {
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        y[p][0] = 0.5 * x[p][0] + x[p][1];
        y[p][4] = 0.5 * x[p][4] + x[p][2];
      }
    }
#pragma endscop
}
