#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
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
    for (long t1 = 2 - n; t1 < 1; t1++)
      x[-t1] = x[1 - t1] * 0.5;
#pragma endscop
}
