// scopt: --tile-size none
#include <math.h>


#ifdef __GNUC__
double (sqrt)(double) __attribute__((const));
#endif

/* A condition on data goes into the statement; one on iterators into the loops. */
void conditions(int n, double a[n][n], double b[n])
{
#pragma scop
    #pragma omp parallel for if((double)n * n > 6000) schedule(static)
    for (long i = 0; i < n; i++) {
      #pragma omp simd
      for (long j = 0; j < n; j++) {
        if (a[i][j] > 1.0)
          a[i][j] = sqrt(a[i][j]);
        else
          a[i][j] = fabs(b[j]);
      }
      a[i][i] += b[i] > 0.0 ? b[i] : 0.0;
      if (i + 2 <= n)
        a[i][n - 1L] += b[i] > 0.0 ? b[i] : 0.0;
    }
#pragma endscop
}
