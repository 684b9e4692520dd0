static inline long scopt_floord(long n, long d) { return n / d - (n % d < 0); }
static inline long scopt_min(long a, long b) { return a < b ? a : b; }
static inline long scopt_max(long a, long b) { return a > b ? a : b; }
static inline void scopt_scalar(void) {
#ifdef __clang__
  __asm__ volatile ("");
#endif
}
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

// scopt:
/* All that is carried leads to or from one row and one column; and a loop that only overlaps iterations. */
void paths(int n, int d[n][n])
{
#pragma scop
  for (long k = 0; k < n; k++) {
    if ((double)k * k > 20000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(d, n) schedule(static)
      for (long i = 0; i < k; i++) {
        {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = 0; j < k; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
        d[i][k] = d[i][k] < d[i][k] + d[k][k] ? d[i][k] : d[i][k] + d[k][k];
        if (k + 2 <= n) {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = k + 1; j < n; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
      }
    } else {
      for (long i = 0; i < k; i++) {
        {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = 0; j < k; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
        d[i][k] = d[i][k] < d[i][k] + d[k][k] ? d[i][k] : d[i][k] + d[k][k];
        if (k + 2 <= n) {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = k + 1; j < n; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
      }
    }
    if (k > 0) {
      int d_0 = d[k][k];
      #pragma omp simd
      for (long j = 0; j < k; j++)
        d[k][j] = d[k][j] < d_0 + d[k][j] ? d[k][j] : d_0 + d[k][j];
    }
    d[k][k] = d[k][k] < d[k][k] + d[k][k] ? d[k][k] : d[k][k] + d[k][k];
    if (k + 2 <= n) {
      int d_0 = d[k][k];
      #pragma omp simd
      for (long j = k + 1; j < n; j++)
        d[k][j] = d[k][j] < d_0 + d[k][j] ? d[k][j] : d_0 + d[k][j];
    }
    if ((double)(n - k - 1) * k > 20000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(d, n) schedule(static)
      for (long i = k + 1; i < n; i++) {
        if (k > 0) {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = 0; j < k; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
        d[i][k] = d[i][k] < d[i][k] + d[k][k] ? d[i][k] : d[i][k] + d[k][k];
        {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = k + 1; j < n; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
      }
    } else {
      for (long i = k + 1; i < n; i++) {
        if (k > 0) {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = 0; j < k; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
        d[i][k] = d[i][k] < d[i][k] + d[k][k] ? d[i][k] : d[i][k] + d[k][k];
        {
          int d_0 = d[i][k];
          #pragma omp simd
          for (long j = k + 1; j < n; j++)
            d[i][j] = d[i][j] < d_0 + d[k][j] ? d[i][j] : d_0 + d[k][j];
        }
      }
    }
  }
#pragma endscop
}

void relax(int steps, int n, double u[n][n])
{
#pragma scop
  if ((double)steps * (n - 2L) * (n - 2L) > 30000) {
    for (long t1 = 0; t1 <= scopt_floord(n + 2L * steps - 4, 32); t1++)
      if ((double)(scopt_min(t1, scopt_min(scopt_floord((long)n + steps - 3, 32), scopt_floord(32 * t1 + n + 29, 64))) - scopt_max((t1 + 1) / 2, t1 + scopt_floord(-(long)steps, 32) + 1) + 1) * (2L * n) > 4 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(n, steps, u) schedule(static)
        for (long ist = scopt_max((t1 + 1) / 2, t1 + scopt_floord(-(long)steps, 32) + 1); ist <= scopt_min(t1, scopt_min(scopt_floord((long)n + steps - 3, 32), scopt_floord(32 * t1 + n + 29, 64))); ist++)
          for (long t = scopt_max(32 * t1 - 32 * ist, 32 * ist - n + 2); t < scopt_min(steps, scopt_min(32 * t1 - 32 * ist + 32, 32 * ist + 31)); t++)
            for (long js = scopt_max(2 * t + 2, 32 * ist + t + 1); js < scopt_min(2 * t + 2L * n - 3, 32 * ist + t + n + 30); js++)
              for (long is2 = scopt_max(js - t - n + 2, scopt_max(t + 1, 32 * ist)); is2 < scopt_min(js - t, scopt_min(t + n - 1, 32 * ist + 32)); is2++) {
                scopt_scalar();
                u[is2 - t][js - is2 - t] = (u[is2 - t - 1][js - is2 - t] + u[is2 - t][js - is2 - t - 1] + u[is2 - t][js - is2 - t] + u[is2 - t][js - is2 - t + 1] + u[is2 - t + 1][js - is2 - t]) / 5.0;
              }
      } else {
        for (long ist = scopt_max((t1 + 1) / 2, t1 + scopt_floord(-(long)steps, 32) + 1); ist <= scopt_min(t1, scopt_min(scopt_floord((long)n + steps - 3, 32), scopt_floord(32 * t1 + n + 29, 64))); ist++)
          for (long t = scopt_max(32 * t1 - 32 * ist, 32 * ist - n + 2); t < scopt_min(steps, scopt_min(32 * t1 - 32 * ist + 32, 32 * ist + 31)); t++)
            for (long js = scopt_max(2 * t + 2, 32 * ist + t + 1); js < scopt_min(2 * t + 2L * n - 3, 32 * ist + t + n + 30); js++)
              for (long is2 = scopt_max(js - t - n + 2, scopt_max(t + 1, 32 * ist)); is2 < scopt_min(js - t, scopt_min(t + n - 1, 32 * ist + 32)); is2++) {
                scopt_scalar();
                u[is2 - t][js - is2 - t] = (u[is2 - t - 1][js - is2 - t] + u[is2 - t][js - is2 - t - 1] + u[is2 - t][js - is2 - t] + u[is2 - t][js - is2 - t + 1] + u[is2 - t + 1][js - is2 - t]) / 5.0;
              }
      }
  } else {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = (u[i - 1][j] + u[i][j - 1] + u[i][j] + u[i][j + 1] + u[i + 1][j]) / 5.0;
  }
#pragma endscop
}
