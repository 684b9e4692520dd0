#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --tile-size none
void crlf(int n, double a[n])
{
	/* lines end in CR LF */
#pragma scop
	if (n > 300000 && scopt_threads() > 1) {
	  #pragma omp parallel for simd firstprivate(a, n) schedule(static)
	  for (long i = 0; i < n; i++)
	    a[i] = 1.0;
	} else {
	  #pragma omp simd
	  for (long i = 0; i < n; i++)
	    a[i] = 1.0;
	}
#pragma endscop
}
