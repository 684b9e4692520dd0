// scopt: --tile-size none
#include <math.h>

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
