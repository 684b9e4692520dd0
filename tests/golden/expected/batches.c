static inline void scopt_scalar(void) {
#ifdef __clang__
  __asm__ volatile ("");
#endif
}
#if defined(_OPENMP) || defined(SCOPT_THREADS)
int omp_get_max_threads(void);
static inline int scopt_threads(void) { return omp_get_max_threads(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt:
/* Small problems side by side: factors of 3 x 3 matrices run in batches, a problem a lane; what is little work for each
 * of a problem's cells stays as it is. */
void factors(int n, double a[restrict n][3][3])
{
#pragma scop
    if (n > 2000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, n) schedule(static)
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        a[p][1][0] /= a[p][0][0];
        a[p][1][1] -= a[p][1][0] * a[p][0][1];
        a[p][1][2] -= a[p][1][0] * a[p][0][2];
        a[p][2][0] /= a[p][0][0];
        a[p][2][1] -= a[p][2][0] * a[p][0][1];
        a[p][2][2] -= a[p][2][0] * a[p][0][2];
        a[p][2][1] /= a[p][1][1];
        a[p][2][2] -= a[p][2][1] * a[p][1][2];
      }
    } else {
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        a[p][1][0] /= a[p][0][0];
        a[p][1][1] -= a[p][1][0] * a[p][0][1];
        a[p][1][2] -= a[p][1][0] * a[p][0][2];
        a[p][2][0] /= a[p][0][0];
        a[p][2][1] -= a[p][2][0] * a[p][0][1];
        a[p][2][2] -= a[p][2][0] * a[p][0][2];
        a[p][2][1] /= a[p][1][1];
        a[p][2][2] -= a[p][2][1] * a[p][1][2];
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
