static inline long scopt_min(long a, long b) { return a < b ? a : b; }
static inline void scopt_apart(void) {
#ifdef __clang__
  __asm__ volatile ("" ::: "memory");
#endif
}
#if defined(_OPENMP) || defined(SCOPT_THREADS)
int omp_get_max_threads(void);
static inline int scopt_threads(void) { return omp_get_max_threads(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt:
/* Sums over rows, over columns, and a triangular solver: eight rows at a time. */
void sums(int n, int m, double A[restrict n][m], double x[restrict n], double y[restrict m])
{
#pragma scop
    if ((double)n * m > 1000) {
      if (n > 300000 && scopt_threads() > 1) {
        #pragma omp parallel for simd firstprivate(n, x) schedule(static)
        for (long i = 0; i < n; i++)
          x[i] = 0;
      } else {
        #pragma omp simd
        for (long i = 0; i < n; i++)
          x[i] = 0;
      }
      if ((double)n * m > 10000 && n > 8 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(A, m, n, x, y) schedule(static)
        for (long i = 0; i < n; i += 8)
          if (i + 8 <= n) {
            if (m > 0) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              for (long j = 0; j < m; j++) {
                x_0 += A[i][j] * y[j];
                x_1 += A[i + 1][j] * y[j];
                scopt_apart();
                x_2 += A[i + 2][j] * y[j];
                x_3 += A[i + 3][j] * y[j];
                scopt_apart();
                x_4 += A[i + 4][j] * y[j];
                x_5 += A[i + 5][j] * y[j];
                scopt_apart();
                x_6 += A[i + 6][j] * y[j];
                x_7 += A[i + 7][j] * y[j];
              }
              x[i] = x_0;
              x[i + 1] = x_1;
              x[i + 2] = x_2;
              x[i + 3] = x_3;
              x[i + 4] = x_4;
              x[i + 5] = x_5;
              x[i + 6] = x_6;
              x[i + 7] = x_7;
            }
          } else {
            for (long i2 = i; i2 < n; i2++)
              if (m > 0) {
                double x_0 = x[i2];
                for (long j = 0; j < m; j++)
                  x_0 += A[i2][j] * y[j];
                x[i2] = x_0;
              }
          }
      } else {
        for (long i = 0; i < n; i += 8)
          if (i + 8 <= n) {
            if (m > 0) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              for (long j = 0; j < m; j++) {
                x_0 += A[i][j] * y[j];
                x_1 += A[i + 1][j] * y[j];
                scopt_apart();
                x_2 += A[i + 2][j] * y[j];
                x_3 += A[i + 3][j] * y[j];
                scopt_apart();
                x_4 += A[i + 4][j] * y[j];
                x_5 += A[i + 5][j] * y[j];
                scopt_apart();
                x_6 += A[i + 6][j] * y[j];
                x_7 += A[i + 7][j] * y[j];
              }
              x[i] = x_0;
              x[i + 1] = x_1;
              x[i + 2] = x_2;
              x[i + 3] = x_3;
              x[i + 4] = x_4;
              x[i + 5] = x_5;
              x[i + 6] = x_6;
              x[i + 7] = x_7;
            }
          } else {
            for (long i2 = i; i2 < n; i2++)
              if (m > 0) {
                double x_0 = x[i2];
                for (long j = 0; j < m; j++)
                  x_0 += A[i2][j] * y[j];
                x[i2] = x_0;
              }
          }
      }
      if ((double)m * n > 40000 && m > 512 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(A, m, n, x, y) schedule(static)
        for (long jt = 0; jt < m; jt += 512)
          for (long i = 0; i < n; i += 8)
            if (i + 8 <= n) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              #pragma omp simd
              for (long j = jt; j < scopt_min(m, jt + 512); j++) {
                double y_0 = y[j];
                y_0 -= x_0 * A[i][j];
                y_0 -= x_1 * A[i + 1][j];
                y_0 -= x_2 * A[i + 2][j];
                y_0 -= x_3 * A[i + 3][j];
                y_0 -= x_4 * A[i + 4][j];
                y_0 -= x_5 * A[i + 5][j];
                y_0 -= x_6 * A[i + 6][j];
                y_0 -= x_7 * A[i + 7][j];
                y[j] = y_0;
              }
            } else {
              for (long i2 = i; i2 < n; i2++) {
                double x_0 = x[i2];
                #pragma omp simd
                for (long j = jt; j < scopt_min(m, jt + 512); j++)
                  y[j] -= x_0 * A[i2][j];
              }
            }
      } else {
        for (long jt = 0; jt < m; jt += 512)
          for (long i = 0; i < n; i += 8)
            if (i + 8 <= n) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              #pragma omp simd
              for (long j = jt; j < scopt_min(m, jt + 512); j++) {
                double y_0 = y[j];
                y_0 -= x_0 * A[i][j];
                y_0 -= x_1 * A[i + 1][j];
                y_0 -= x_2 * A[i + 2][j];
                y_0 -= x_3 * A[i + 3][j];
                y_0 -= x_4 * A[i + 4][j];
                y_0 -= x_5 * A[i + 5][j];
                y_0 -= x_6 * A[i + 6][j];
                y_0 -= x_7 * A[i + 7][j];
                y[j] = y_0;
              }
            } else {
              for (long i2 = i; i2 < n; i2++) {
                double x_0 = x[i2];
                #pragma omp simd
                for (long j = jt; j < scopt_min(m, jt + 512); j++)
                  y[j] -= x_0 * A[i2][j];
              }
            }
      }
    } else {
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < m; j++)
            x[i] += A[i][j] * y[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] -= x[i] * A[i][j];
    }
#pragma endscop
}

void solve(int n, float L[restrict n][n], float *restrict x)
{
#pragma scop
    for (long i = 0; i < n; i += 8) {
      if (i + 8 <= n) {
        if (i > 0) {
          float x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
          float x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
          for (long j = 0; j < i; j++) {
            x_0 -= L[i][j] * x[j];
            x_1 -= L[i + 1][j] * x[j];
            scopt_apart();
            x_2 -= L[i + 2][j] * x[j];
            x_3 -= L[i + 3][j] * x[j];
            scopt_apart();
            x_4 -= L[i + 4][j] * x[j];
            x_5 -= L[i + 5][j] * x[j];
            scopt_apart();
            x_6 -= L[i + 6][j] * x[j];
            x_7 -= L[i + 7][j] * x[j];
          }
          x[i] = x_0;
          x[i + 1] = x_1;
          x[i + 2] = x_2;
          x[i + 3] = x_3;
          x[i + 4] = x_4;
          x[i + 5] = x_5;
          x[i + 6] = x_6;
          x[i + 7] = x_7;
        }
      }
      for (long i2 = i; i2 < scopt_min(n, i + 8); i2++) {
        if (i + 8 <= n) {
          if (i < i2) {
            float x_0 = x[i2];
            for (long j = i; j < i2; j++)
              x_0 -= L[i2][j] * x[j];
            x[i2] = x_0;
          }
        } else if (i2 > 0) {
          float x_0 = x[i2];
          for (long j = 0; j < i2; j++)
            x_0 -= L[i2][j] * x[j];
          x[i2] = x_0;
        }
        x[i2] = x[i2] / L[i2][i2];
      }
    }
#pragma endscop
}
