// scopt: --tile-size 4
/* Names that a generator would like to use for itself. */
double c0[64][64], t1[64], floord, min, max, lb, ub;

static inline long scopt_min(long a, long b) { return a < b ? a : b; }
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

void collisions(int c1, int c2)
{
#pragma scop
    if ((double)c1 * c2 > 2000) {
      if ((double)c1 * c2 > 60000 && scopt_threads() > 1) {
        #pragma omp parallel for collapse(2) firstprivate(c1, c2) schedule(static)
        for (long t2t = 0; t2t < c1; t2t += 4)
          for (long c3t = 0; c3t < c2; c3t += 4)
            for (long t2 = t2t; t2 < scopt_min(c1, t2t + 4); t2++) {
              #pragma omp simd
              for (long c3 = c3t; c3 < scopt_min(c2, c3t + 4); c3++)
                c0[t2][c3] = c0[t2][c3] * floord + t1[((int)t2 + (int)c3) / 2] * min - max;
            }
      } else {
        for (long t2t = 0; t2t < c1; t2t += 4)
          for (long c3t = 0; c3t < c2; c3t += 4)
            for (long t2 = t2t; t2 < scopt_min(c1, t2t + 4); t2++) {
              #pragma omp simd
              for (long c3 = c3t; c3 < scopt_min(c2, c3t + 4); c3++)
                c0[t2][c3] = c0[t2][c3] * floord + t1[((int)t2 + (int)c3) / 2] * min - max;
            }
      }
    } else {
    for (int t2 = 0; t2 < c1; t2++)
        for (int c3 = 0; c3 < c2; c3++)
            c0[t2][c3] = c0[t2][c3] * floord + t1[(t2 + c3) / 2] * min - max;
    }
#pragma endscop
    lb = ub = c0[0][0];
}
