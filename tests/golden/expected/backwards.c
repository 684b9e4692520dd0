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

// scopt: --tile-size 8
/* Loops that count down: the second needs the first one's order kept. */
void backwards(long n, double x[n], double y[n][n])
{
#pragma scop
    if ((double)n * n > 200000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(n, x, y) schedule(dynamic, 8)
      for (long i = 0; i < n - 1; i++) {
        #pragma omp simd
        for (long j = i + 1; j < n; j++)
          y[i][j] = y[i][j] + x[n - j - 1];
      }
    } else {
      for (long i = 0; i < n - 1; i++) {
        #pragma omp simd
        for (long j = i + 1; j < n; j++)
          y[i][j] = y[i][j] + x[n - j - 1];
      }
    }
    if (n >= 2) {
      double x_0 = x[n - 1];
      for (long t1 = 2 - n; t1 < 1; t1++) {
        x[-t1] = x_0 * 0.5;
        x_0 = x[-t1];
      }
    }
#pragma endscop
}
