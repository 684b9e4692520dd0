/* trmm: B := alpha A^T B, with A M x M lower triangular with a unit diagonal, and B M x N. */
#include "kernel.h"

#ifndef M
#define M DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N DATASET(30, 80, 240, 1200, 2600)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

/* Only the lower triangle of A is set: nothing reads the rest. */
static void initialize(int m, int n, DATA_TYPE *alpha, DATA_TYPE POLYBENCH_2D(A, M, M, m, m), DATA_TYPE POLYBENCH_2D(B, M, N, m, n))
{
    *alpha = 1.5;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < i; j++)
            A[i][j] = (DATA_TYPE)((i + j) % m) / m;
        A[i][i] = 1.0;
        for (int j = 0; j < n; j++)
            B[i][j] = (DATA_TYPE)((n + (i - j)) % n) / n;
    }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(B, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("B");
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            DUMP_VALUE(i * m + j, B[i][j]);
    POLYBENCH_DUMP_END("B");
    POLYBENCH_DUMP_FINISH;
}

/* In place: row i of the result needs the old rows i and below, so rows are made from the top. */
static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE POLYBENCH_2D(A, M, M, m, m), DATA_TYPE POLYBENCH_2D(B, M, N, m, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < _PB_M; i++)
        for (j = 0; j < _PB_N; j++) {
            for (k = i + 1; k < _PB_M; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    DATA_TYPE alpha;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, M, M, m, m);
    POLYBENCH_2D_ARRAY_DECL(B, DATA_TYPE, M, N, m, n);

    initialize(m, n, &alpha, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B));
    polybench_start_instruments;
    kernel_trmm(m, n, alpha, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(B)));
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(B);
    return 0;
}
