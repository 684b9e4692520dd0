#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --tile-size none
void trmm(int n, int m, float alpha, float A[restrict n][n], float B[restrict n][m])
{
#pragma scop
    for (long k = 1; k < n; k++)
      for (long i = 0; i < k; i++)
        if (m > 0) {
          float A_0 = A[k][i];
          if (m > 40000 && scopt_threads() > 1) {
            #pragma omp parallel for simd firstprivate(A_0, B, m) schedule(static)
            for (long j = 0; j < m; j++)
              B[i][j] += A_0 * B[k][j];
          } else {
            #pragma omp simd
            for (long j = 0; j < m; j++)
              B[i][j] += A_0 * B[k][j];
          }
        }
    if ((double)n * m > 300000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(B, alpha, m, n) schedule(static)
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = 0; j < m; j++)
          B[i][j] = alpha * B[i][j];
      }
    } else {
      for (long i = 0; i < n; i++) {
        #pragma omp simd
        for (long j = 0; j < m; j++)
          B[i][j] = alpha * B[i][j];
      }
    }
#pragma endscop
}
