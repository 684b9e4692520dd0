// scopt: --tile-size 8
/* Conditions on data: a variable decides about the loop inside, which has an iterator of its own. */
void opaque(int n, double A[64][64], double *x, double *y)
{
    int i, k;
#pragma scop
    for (k = 0; k < n; k++)
        y[k] = 0;
    for (i = 0; i < n; i++) {
        if (x[i] > 0)
            for (k = 0; k < n; k++)
                A[i][k] += k * y[i];
        else
            y[i] = A[i][0] < 1 ? 1 : A[i][0];
        for (k = 0; k < n; k++)
            A[i][k] = A[i][k] * 2 + y[k];
    }
#pragma endscop
}
