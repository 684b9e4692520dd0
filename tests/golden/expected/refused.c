#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#else
static inline int scopt_threads(void) { return 1; }
#endif

// scopt: --tile-size none
/* The first region can't be handled and stays as it is, tabs and all; the second is done. */

void refused(int n, double a[n], double b[n])
{
#pragma scop
	for (int i = 0; i < n && a[i] != b[i]; i++)   /* where it ends is only known at run time */
		a[i] = b[i];
#pragma endscop

#pragma scop
	if (n > 200000 && scopt_threads() > 1) {
	  #pragma omp parallel for simd firstprivate(b, n) schedule(static)
	  for (long i = 0; i < n; i++)
	    b[i] = 2.0 * b[i];
	} else {
	  #pragma omp simd
	  for (long i = 0; i < n; i++)
	    b[i] = 2.0 * b[i];
	}
#pragma endscop
}
