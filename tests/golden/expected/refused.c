// scopt: --tile-size none
/* The first region can't be handled and stays as it is, tabs and all; the second is done. */

void refused(int n, double a[n], double b[n])
{
#pragma scop
	for (int i = 0; i < n && a[i] != b[i]; i++)   /* where it ends is only known at run time */
		a[i] = b[i];
#pragma endscop

#pragma scop
	#pragma omp parallel for simd if(parallel: n > 200000) schedule(static)
	for (long i = 0; i < n; i++)
	  b[i] = 2.0 * b[i];
#pragma endscop
}
