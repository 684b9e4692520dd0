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
      for (long j = 0; j < 300; j += 8)
        if (j <= 288) {
          double y_0 = y[j], y_1 = y[j + 1], y_2 = y[j + 2], y_3 = y[j + 3];
          double y_4 = y[j + 4], y_5 = y[j + 5], y_6 = y[j + 6], y_7 = y[j + 7];
          #pragma omp simd
          for (long i = it; i < scopt_min(300, it + 16); i++) {
            double x_0 = x[i];
            x_0 = x_0 + A[j][i] * y_0;
            x_0 = x_0 + A[j + 1][i] * y_1;
            x_0 = x_0 + A[j + 2][i] * y_2;
            x_0 = x_0 + A[j + 3][i] * y_3;
            x_0 = x_0 + A[j + 4][i] * y_4;
            x_0 = x_0 + A[j + 5][i] * y_5;
            x_0 = x_0 + A[j + 6][i] * y_6;
            x_0 = x_0 + A[j + 7][i] * y_7;
            x[i] = x_0;
          }
        } else {
          for (long j2 = 296; j2 < 300; j2++) {
            double y_0 = y[j2];
            #pragma omp simd
            for (long i = it; i < scopt_min(300, it + 16); i++)
              x[i] = x[i] + A[j2][i] * y_0;
          }
        }
    #pragma omp simd
    for (long i = 0; i < 300; i++)
      y[i] = x[i];
#pragma endscop
}
