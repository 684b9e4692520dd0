// scopt: --tile-size none
#include <math.h>

#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

#ifdef __GNUC__
double (sqrt)(double) __attribute__((const));
#endif

/* A condition on data goes into the statement; one on iterators into the loops. */
void conditions(int n, double a[n][n], double b[n])
{
#pragma scop
    if ((double)n * n > 50000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, b, n) schedule(static)
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = 0; j < n; j++) {
          if (a[i][j] > 1.0)
            a[i][j] = sqrt(a[i][j]);
          else
            a[i][j] = fabs(b[j]);
        }
        a[i][i] += b[i] > 0.0 ? b[i] : 0.0;
        if (i + 2 <= n)
          a[i][n - 1L] += b[i] > 0.0 ? b[i] : 0.0;
      }
    } else {
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = 0; j < n; j++) {
          if (a[i][j] > 1.0)
            a[i][j] = sqrt(a[i][j]);
          else
            a[i][j] = fabs(b[j]);
        }
        a[i][i] += b[i] > 0.0 ? b[i] : 0.0;
        if (i + 2 <= n)
          a[i][n - 1L] += b[i] > 0.0 ? b[i] : 0.0;
      }
    }
#pragma endscop
}
