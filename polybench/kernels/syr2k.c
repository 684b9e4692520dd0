/* syr2k: C := alpha A B^T + alpha B A^T + beta C on the lower triangle, with A and B N x M and C N x N. */
#include "kernel.h"

#ifndef M
#define M DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N DATASET(30, 80, 240, 1200, 2600)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, int m, DATA_TYPE *alpha, DATA_TYPE *beta, DATA_TYPE POLYBENCH_2D(A, N, M, n, m),
                       DATA_TYPE POLYBENCH_2D(B, N, M, n, m), DATA_TYPE POLYBENCH_2D(C, N, N, n, n))
{
    *alpha = 1.5;
    *beta = 1.2;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            A[i][k] = (DATA_TYPE)((i * k + 1) % n) / n;
            B[i][k] = (DATA_TYPE)((i * k + 2) % m) / m;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = (DATA_TYPE)((i * j + 3) % n) / m;
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(C, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("C");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            DUMP_VALUE(i * n + j, C[i][j]);
    POLYBENCH_DUMP_END("C");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_syr2k(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE POLYBENCH_2D(A, N, M, n, m),
                         DATA_TYPE POLYBENCH_2D(B, N, M, n, m), DATA_TYPE POLYBENCH_2D(C, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < _PB_N; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < _PB_M; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, m = M;
    DATA_TYPE alpha, beta;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, M, n, m);
    POLYBENCH_2D_ARRAY_DECL(B, DATA_TYPE, N, M, n, m);
    POLYBENCH_2D_ARRAY_DECL(C, DATA_TYPE, N, N, n, n);

    initialize(n, m, &alpha, &beta, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B), POLYBENCH_ARRAY(C));
    polybench_start_instruments;
    kernel_syr2k(n, m, alpha, beta, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B), POLYBENCH_ARRAY(C));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(C)));
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(B);
    POLYBENCH_FREE_ARRAY(C);
    return 0;
}
