static inline long scopt_floord(long n, long d) { return n / d - (n % d < 0); }
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
/* C's / and % round towards zero. */
void divisions(int n, double a[n], double b[n][n], double hash[16])
{
#pragma scop
    for (long i = -5; i < n - 8L; i++) {
      if ((i - 1) % 4 == 0)
        hash[((int)i + 7) % 16] = a[i + 5];
      a[((int)i + 5) / 2] += 1.0;
    }
    if (n > 20000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, b, n) schedule(dynamic, 8)
      for (long i = -2; i < n - 8L; i++) {
        #pragma omp simd
        for (long j = 0; j <= scopt_floord(i, 3); j++)
          b[i + 5][j] = a[j];
        if (i < 0)
          b[i + 5][0] = a[0];
      }
    } else {
      for (long i = -2; i < n - 8L; i++) {
        #pragma omp simd
        for (long j = 0; j <= scopt_floord(i, 3); j++)
          b[i + 5][j] = a[j];
        if (i < 0)
          b[i + 5][0] = a[0];
      }
    }
#pragma endscop
}
