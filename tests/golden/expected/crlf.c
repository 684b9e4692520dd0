// scopt: --tile-size none
void crlf(int n, double a[n])
{
	/* lines end in CR LF */
#pragma scop
	#pragma omp parallel for simd if(parallel: n > 300000) schedule(static)
	for (long i = 0; i < n; i++)
	  a[i] = 1.0;
#pragma endscop
}
