static inline long scopt_floord(long n, long d) { return n / d - (n % d < 0); }
#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --tile-size none
/* C's / and % round towards zero. */
void divisions(int n, double a[n], double b[n][n], double hash[16])
{
#pragma scop
    for (long i = -5; i < n - 8L; i++) {
      if ((i - 1) % 4 == 0)
        hash[((int)i + 7) % 16] = a[i + 5];
      a[((int)i + 5) / 2] += 1.0;
    }
    if (n > 20000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(a, b, n) schedule(dynamic, 8)
      for (long i = -2; i < n - 8L; i++) {
        #pragma omp simd
        for (long j = 0; j <= scopt_floord(i, 3); j++)
          b[i + 5][j] = a[j];
        if (i < 0)
          b[i + 5][0] = a[0];
      }
    } else {
      for (long i = -2; i < n - 8L; i++) {
        #pragma omp simd
        for (long j = 0; j <= scopt_floord(i, 3); j++)
          b[i + 5][j] = a[j];
        if (i < 0)
          b[i + 5][0] = a[0];
      }
    }
#pragma endscop
}
