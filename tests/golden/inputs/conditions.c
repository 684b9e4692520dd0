// scopt: --tile-size none
#include <math.h>

/* A condition on data goes into the statement; one on iterators into the loops. */
void conditions(int n, double a[n][n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (a[i][j] > 1.0)
                a[i][j] = sqrt(a[i][j]);
            else
                a[i][j] = fabs(b[j]);
            if (i == j || j == n - 1)
                a[i][j] += b[i] > 0.0 ? b[i] : 0.0;
        }
#pragma endscop
}
