// scopt: --tile-size none
void trmm(int n, int m, float alpha, float A[restrict n][n], float B[restrict n][m])
{
#pragma scop
    for (long k = 1; k < n; k++)
      for (long i = 0; i < k; i++)
        if (m > 0) {
          float A_0 = A[k][i];
          if (m > 20000) {
            #pragma omp parallel for simd firstprivate(A_0) schedule(static)
            for (long j = 0; j < m; j++)
              B[i][j] += A_0 * B[k][j];
          } else {
            #pragma omp simd
            for (long j = 0; j < m; j++)
              B[i][j] += A_0 * B[k][j];
          }
        }
    #pragma omp parallel for if((double)n * m > 300000) firstprivate(alpha) schedule(static)
    for (long i = 0; i < n; i++) {
      #pragma omp simd
      for (long j = 0; j < m; j++)
        B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}
