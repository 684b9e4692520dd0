// scopt: --tile-size none
/* Scalars that live in one iteration: each thread has its own. One that lives on stays sequential. */
double locals(int n, int m, double a[n][m], double mean[n])
{
    double total = 0.0;
#pragma scop
    {
      double sum;
      double scaled;
      #pragma omp parallel for if((double)n * m > 50000) private(sum, scaled) schedule(static)
      for (long i = 0; i < n; i++) {
        sum = 0.0;
        for (long j = 0; j < m; j++)
          sum += a[i][j];
        scaled = sum / m;
        mean[i] = scaled * scaled;
      }
      for (long i = 0; i < n; i++)
        total += mean[i];
    }
#pragma endscop
    return total;
}
