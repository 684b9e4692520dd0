// scopt:
/* Sums over rows, over columns, and a triangular solver: eight rows at a time. */
void sums(int n, int m, double A[restrict n][m], double x[restrict n], double y[restrict m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < m; j++)
            x[i] += A[i][j] * y[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] -= x[i] * A[i][j];
#pragma endscop
}

void solve(int n, float L[restrict n][n], float *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}
