// scopt: --tile-size none
int even[1000], odd[1000];

#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

void strided(int n)
{
#pragma scop
    if (n > 800000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(n) schedule(static)
      for (long i = 0; i < n; i += 2)
        even[i] = 3 * (int)i;
      for (long i = 1; i < 1000; i += 3)
        odd[i] = odd[i] + 1;
      for (long i = 4; i < 1000; i += 6)
        odd[i - 1] = 7;
    } else {
    for (int i = 0; i < n; i += 2)
        even[i] = 3 * i;
    for (int i = 1; i <= 999; i += 3) {
        odd[i] = odd[i] + 1;
        if (i % 2 == 0)
            odd[i - 1] = 7;
    }
    }
#pragma endscop
}
