// scopt: --tile-size none
/* Everything outside of the regions stays: comments, blank lines, odd   spacing, a backslash \
   at the end of a line, “quotes” beyond ASCII. */
#define SCALE(x) (3.0 * (x))

void comments(int n, double *restrict a, const double *restrict b)
{
    /* above the region */
    #pragma scop
    /* inside, above the loop */
    for (int i = 0; i < n; i++) // beside the loop
        a[i] = SCALE(b[i]); /* beside the statement */
    #pragma endscop
    // below the region
}


/* no newline at the end */