// scopt: --tile-size none
/* Everything outside of the regions stays: comments, blank lines, odd   spacing, a backslash \
   at the end of a line, “quotes” beyond ASCII. */
#define SCALE(x) (3.0 * (x))

void comments(int n, double *restrict a, const double *restrict b)
{
    /* above the region */
    #pragma scop
    /* inside, above the loop */
    #pragma omp parallel for simd if(parallel: n > 200000) schedule(static)
    for (long i = 0; i < n; i++)
      a[i] = 3.0 * b[i];
    #pragma endscop
    // below the region
}


/* no newline at the end */