#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --scheduler identity --tile-size none --no-simd
void rows(int n, int m, float a[n][m], float b[m])
{
#pragma scop
    for (long i = 0; i < n; i++)
      if (m > 20000 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(a, b, m) schedule(static)
        for (long j = 0; j < m; j++) {
          a[i][j] *= 0.5f;
          b[j] += a[i][j];
        }
      } else {
        for (long j = 0; j < m; j++) {
          a[i][j] *= 0.5f;
          b[j] += a[i][j];
        }
      }
#pragma endscop
}
