// scopt: --tile-size 8
/* Loops that count down: the second needs the first one's order kept. */
void backwards(long n, double x[n], double y[n][n])
{
#pragma scop
    for (long i = n - 1; i >= 0; i--)
        for (long j = n - 1; j > i; j -= 1)
            y[i][j] = y[i][j] + x[n - 1 - j];
    for (long i = n - 2; i >= 0; --i)
        x[i] = x[i + 1] * 0.5;
#pragma endscop
}
