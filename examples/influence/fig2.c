/* The running example of the constraint injection paper (Fig. 2a). fig2.yaml asks for the loops of Fig. 2c: both statements in common loops over
 * i and k, and an innermost loop over j, along which the large array D is contiguous.
 */
#define N 256

double A[N][N], B[N][N], C[N][N], D[N][N][N];

void fused_mul_sub_mul_tensoradd(void)
{
    int i, j, k;
#pragma scop
    for (i = 0; i < N; i++)
        for (k = 0; k < N; k++)
            B[i][k] = 2.0 * A[i][k] + 1.0;

    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            for (k = 0; k < N; k++)
                C[i][j] = C[i][j] + B[i][k] * D[k][i][j];
#pragma endscop
}
