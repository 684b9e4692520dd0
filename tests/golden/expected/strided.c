// scopt: --tile-size none
int even[1000], odd[1000];

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

void strided(int n)
{
#pragma scop
    if (n > 800000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(n) schedule(static)
      for (long i = 0; i < n; i += 2)
        even[i] = 3 * (int)i;
      for (long i = 1; i < 1000; i += 3)
        odd[i] = odd[i] + 1;
      for (long i = 4; i < 1000; i += 6)
        odd[i - 1] = 7;
    } else {
    for (int i = 0; i < n; i += 2)
        even[i] = 3 * i;
    for (int i = 1; i <= 999; i += 3) {
        odd[i] = odd[i] + 1;
        if (i % 2 == 0)
            odd[i - 1] = 7;
    }
    }
#pragma endscop
}
