#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --tile-size none
/* Scalars that live in one iteration: each thread has its own. One that lives on stays sequential. */
double locals(int n, int m, double a[n][m], double mean[n])
{
    double total = 0.0;
#pragma scop
    {
      double sum;
      double scaled;
      if ((double)n * m > 50000 && scopt_threads() > 1) {
        #pragma omp parallel for private(sum, scaled) firstprivate(a, m, mean, n) schedule(static)
        for (long i = 0; i < n; i++) {
          sum = 0.0;
          for (long j = 0; j < m; j++)
            sum += a[i][j];
          scaled = sum / m;
          mean[i] = scaled * scaled;
        }
      } else {
        for (long i = 0; i < n; i++) {
          sum = 0.0;
          for (long j = 0; j < m; j++)
            sum += a[i][j];
          scaled = sum / m;
          mean[i] = scaled * scaled;
        }
      }
      for (long i = 0; i < n; i++)
        total += mean[i];
    }
#pragma endscop
    return total;
}
