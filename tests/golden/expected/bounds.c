// scopt: --tile-size 32
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline long scopt_min(long a, long b) { return a < b ? a : b; }
static inline long scopt_max(long a, long b) { return a > b ? a : b; }
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

/* Bounds by macros, by ?: and by &&. */
void bounds(int n, int w, double a[n][n])
{
#pragma scop
    if ((double)n * scopt_min(n, 2L * w + 1) > 200000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, n, w) schedule(static)
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = scopt_max(0, i - w); j < scopt_min(n, i + w + 1); j++)
          a[i][j] = 2.0 * a[i][j];
      }
    } else {
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = scopt_max(0, i - w); j < scopt_min(n, i + w + 1); j++)
          a[i][j] = 2.0 * a[i][j];
      }
    }
    if ((double)scopt_min(n, 2L * w) * n > 200000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, n, w) schedule(dynamic, 8)
      for (long i = 0; i < scopt_min(n, 2L * w); i++) {
        #pragma omp simd
        for (long j = scopt_max(i, 3); j < n; j++)
          a[i][j] -= 1.0;
      }
    } else {
      for (long i = 0; i < scopt_min(n, 2L * w); i++) {
        #pragma omp simd
        for (long j = scopt_max(i, 3); j < n; j++)
          a[i][j] -= 1.0;
      }
    }
#pragma endscop
}
