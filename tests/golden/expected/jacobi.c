// scopt: --tile-size 16
#define N 500

double A[N], B[N];

static inline long scopt_floord(long n, long d) { return n / d - (n % d < 0); }
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

/* A time loop around two sweeps: tiles need skewing, and threads a wavefront. */
void jacobi(int steps)
{
    int t, i;
#pragma scop
    if ((double)steps * (N - 2L) > 30000) {
      for (long tt = -1; tt <= scopt_floord(steps - 1L, 4); tt++)
        if (scopt_min(scopt_floord(tt, 2), scopt_floord(steps - 2L, 8)) > scopt_max(scopt_floord(8 * tt - N - 7, 16) + 70, tt + scopt_floord(2L - N - 2L * steps, 16) + 70) && scopt_threads() > 1) {
          #pragma omp parallel for firstprivate(steps) schedule(static)
          for (long t1 = scopt_max(scopt_floord(8 * tt - N - 7, 16) + 1, tt + scopt_floord(2L - N - 2L * steps, 16) + 1); t1 <= scopt_min(scopt_floord(tt, 2), scopt_floord(steps - 2L, 8)); t1++)
            for (long t = scopt_max(0, scopt_max(8 * tt + scopt_floord(N, 2) - 8 * t1 - N + 1, scopt_max(4 * tt, 8 * t1 + 1))); t < scopt_min(steps, scopt_min(4 * tt + 8, 8 * t1 + (N + 14L) / 2 + 1)); t++) {
              #pragma omp simd
              for (long i = scopt_max(1, scopt_max(16 * tt - 2 * t - 16 * t1, 2 * t - 16 * t1 - 16)); i < scopt_min(16 * tt - 2 * t - 16 * t1 + 16, scopt_min(N - 1L, 2 * t - 16 * t1)); i++)
                B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
              #pragma omp simd
              for (long i = scopt_max(1, scopt_max(16 * tt - 2 * t - 16 * t1 - 1, 2 * t - 16 * t1 - 15)); i < scopt_min(16 * tt - 2 * t - 16 * t1 + 15, scopt_min(N - 1L, 2 * t - 16 * t1 + 1)); i++)
                A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
            }
        } else {
          for (long t1 = scopt_max(scopt_floord(8 * tt - N - 7, 16) + 1, tt + scopt_floord(2L - N - 2L * steps, 16) + 1); t1 <= scopt_min(scopt_floord(tt, 2), scopt_floord(steps - 2L, 8)); t1++)
            for (long t = scopt_max(0, scopt_max(8 * tt + scopt_floord(N, 2) - 8 * t1 - N + 1, scopt_max(4 * tt, 8 * t1 + 1))); t < scopt_min(steps, scopt_min(4 * tt + 8, 8 * t1 + (N + 14L) / 2 + 1)); t++) {
              #pragma omp simd
              for (long i = scopt_max(1, scopt_max(16 * tt - 2 * t - 16 * t1, 2 * t - 16 * t1 - 16)); i < scopt_min(16 * tt - 2 * t - 16 * t1 + 16, scopt_min(N - 1L, 2 * t - 16 * t1)); i++)
                B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
              #pragma omp simd
              for (long i = scopt_max(1, scopt_max(16 * tt - 2 * t - 16 * t1 - 1, 2 * t - 16 * t1 - 15)); i < scopt_min(16 * tt - 2 * t - 16 * t1 + 15, scopt_min(N - 1L, 2 * t - 16 * t1 + 1)); i++)
                A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
            }
        }
    } else {
    for (t = 0; t < steps; t++) {
        for (i = 1; i < N - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (i = 1; i < N - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
    }
#pragma endscop
}
