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
/* Conditions on data: a variable decides about the loop inside, which has an iterator of its own. */
void opaque(int n, double A[64][64], double *x, double *y)
{
    int i, k;
#pragma scop
    {
      int holds;
      if (n > 300000 && scopt_threads() > 1) {
        #pragma omp parallel for simd firstprivate(n, y) schedule(static)
        for (long k = 0; k < n; k++)
          y[k] = 0;
      } else {
        #pragma omp simd
        for (long k = 0; k < n; k++)
          y[k] = 0;
      }
      for (long i = 0; i < n; i++) {
        holds = x[i] > 0;
        {
          double y_0 = y[i];
          if (holds) {
            #pragma omp simd
            for (long k = 0; k < n; k++)
              A[i][k] += (int)k * y_0;
          }
        }
        if (!holds)
          y[i] = A[i][0] < 1 ? 1 : A[i][0];
        #pragma omp simd
        for (long k = 0; k < n; k++)
          A[i][k] = A[i][k] * 2 + y[k];
      }
    }
#pragma endscop
}
