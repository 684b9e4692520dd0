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

// scopt: --tile-size none
/* Scalars that live in one iteration: each thread has its own. One that lives on stays sequential. */
double locals(int n, int m, double a[n][m], double mean[n])
{
    double total = 0.0;
#pragma scop
    {
      double sum;
      double scaled;
      if ((double)n * m > 50000 && scopt_threads() > 1) {
        #pragma omp parallel for private(sum, scaled) firstprivate(a, m, mean, n) schedule(static)
        for (long i = 0; i < n; i++) {
          sum = 0.0;
          for (long j = 0; j < m; j++)
            sum += a[i][j];
          scaled = sum / m;
          mean[i] = scaled * scaled;
        }
      } else {
        for (long i = 0; i < n; i++) {
          sum = 0.0;
          for (long j = 0; j < m; j++)
            sum += a[i][j];
          scaled = sum / m;
          mean[i] = scaled * scaled;
        }
      }
      for (long i = 0; i < n; i++)
        total += mean[i];
    }
#pragma endscop
    return total;
}
