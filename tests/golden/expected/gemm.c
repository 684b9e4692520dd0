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

// scopt: --tile-size 32 --no-register-tile
/* The matrix product of PolyBench's shape: an imperfect nest, VLA parameters. */
void gemm(int ni, int nj, int nk, double alpha, double beta, double C[ni][nj], double A[ni][nk], double B[nk][nj])
{
#pragma scop
    if ((double)ni * nk * nj > 5000) {
      if ((double)ni * nj > 200000 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(C, beta, ni, nj) schedule(static)
        for (long i = 0; i < ni; i++) {
          #pragma omp simd
          for (long j = 0; j < nj; j++)
            C[i][j] *= beta;
        }
      } else {
        for (long i = 0; i < ni; i++) {
          #pragma omp simd
          for (long j = 0; j < nj; j++)
            C[i][j] *= beta;
        }
      }
      if ((double)ni * nk * nj > 80000 && ni > 32 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(A, B, C, alpha, ni, nj, nk) schedule(static)
        for (long it = 0; it < ni; it += 32)
          for (long kt = 0; kt < nk; kt += 32)
            for (long jt = 0; jt < nj; jt += 32)
              for (long i = it; i < scopt_min(ni, it + 32); i++)
                for (long k = kt; k < scopt_min(nk, kt + 32); k++) {
                  double A_0 = A[i][k];
                  #pragma omp simd
                  for (long j = jt; j < scopt_min(nj, jt + 32); j++)
                    C[i][j] += alpha * A_0 * B[k][j];
                }
      } else {
        for (long it = 0; it < ni; it += 32)
          for (long kt = 0; kt < nk; kt += 32)
            for (long jt = 0; jt < nj; jt += 32)
              for (long i = it; i < scopt_min(ni, it + 32); i++)
                for (long k = kt; k < scopt_min(nk, kt + 32); k++) {
                  double A_0 = A[i][k];
                  #pragma omp simd
                  for (long j = jt; j < scopt_min(nj, jt + 32); j++)
                    C[i][j] += alpha * A_0 * B[k][j];
                }
      }
    } else {
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            C[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
    }
#pragma endscop
}
