// scopt: --tile-size none
/* Everything outside of the regions stays: comments, blank lines, odd   spacing, a backslash \
   at the end of a line, “quotes” beyond ASCII. */
#define SCALE(x) (3.0 * (x))

#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

void comments(int n, double *restrict a, const double *restrict b)
{
    /* above the region */
    #pragma scop
    /* inside, above the loop */
    if (n > 200000 && scopt_threads() > 1) {
      #pragma omp parallel for simd firstprivate(a, b, n) schedule(static)
      for (long i = 0; i < n; i++)
        a[i] = 3.0 * b[i];
    } else {
      #pragma omp simd
      for (long i = 0; i < n; i++)
        a[i] = 3.0 * b[i];
    }
    #pragma endscop
    // below the region
}


/* no newline at the end */