/* symm: C := alpha A B + beta C, with A M x M symmetric, stored in its lower triangle, and B and C M x N. */
#include "kernel.h"

#ifndef M
#define M DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N DATASET(30, 80, 240, 1200, 2600)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE *alpha, DATA_TYPE *beta, DATA_TYPE POLYBENCH_2D(A, M, M, m, m),
                       DATA_TYPE POLYBENCH_2D(B, M, N, m, n), DATA_TYPE POLYBENCH_2D(C, M, N, m, n))
{
    *alpha = 1.5;
    *beta = 1.2;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = j <= i ? (DATA_TYPE)((i + j) % 100) / m : -999; /* the upper triangle is never read */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            B[i][j] = (DATA_TYPE)((n + i - j) % 100) / m;
            C[i][j] = (DATA_TYPE)((i + j) % 100) / m;
        }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(C, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("C");
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            DUMP_VALUE(i * m + j, C[i][j]);
    POLYBENCH_DUMP_END("C");
    POLYBENCH_DUMP_FINISH;
}

/* An element a of A's strict lower triangle counts twice: at its place in row k of C, and mirrored in row i. */
static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(A, M, M, m, m),
                        DATA_TYPE POLYBENCH_2D(B, M, N, m, n), DATA_TYPE POLYBENCH_2D(C, M, N, m, n))
{
    int i, j, k;
    DATA_TYPE temp2;

#pragma scop
    for (i = 0; i < _PB_M; i++)
        for (j = 0; j < _PB_N; j++) {
            temp2 = 0;
            for (k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    DATA_TYPE alpha, beta;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, M, M, m, m);
    POLYBENCH_2D_ARRAY_DECL(B, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(C, DATA_TYPE, M, N, m, n);

    initialize(m, n, &alpha, &beta, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B), POLYBENCH_ARRAY(C));
    polybench_start_instruments;
    kernel_symm(m, n, alpha, beta, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B), POLYBENCH_ARRAY(C));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(C)));
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(B);
    POLYBENCH_FREE_ARRAY(C);
    return 0;
}
