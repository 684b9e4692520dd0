// scopt: --tile-size 16
static double A[300][300], x[300], y[300];

static inline long scopt_min(long a, long b) { return a < b ? a : b; }

void first(void)
{
#pragma scop
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < 300; i++) {
      #pragma omp simd
      for (long j = 0; j < 300; j++)
        A[i][j] = A[i][j] + x[i] * y[j];
    }
#pragma endscop
}

void second(void)
{
    int i, j;
#pragma scop
    #pragma omp parallel for schedule(static)
    for (long it = 0; it < 300; it += 16)
      for (long j = 0; j < 300; j++) {
        #pragma omp simd
        for (long i = it; i < scopt_min(300, it + 16); i++)
          x[i] = x[i] + A[j][i] * y[j];
      }
    #pragma omp simd
    for (long i = 0; i < 300; i++)
      y[i] = x[i];
#pragma endscop
}
