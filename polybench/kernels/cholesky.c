/* cholesky: A = L L^T for a symmetric positive definite A, N x N; L takes the place of A's lower triangle. */
#include "kernel.h"

#ifndef N
#define N DATASET(40, 120, 400, 2000, 4000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#include "positive_definite.h"

static void dump(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("A");
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            DUMP_VALUE(i * n + j, A[i][j]);
    POLYBENCH_DUMP_END("A");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_cholesky(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < _PB_N; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = SQRT_FUN(A[i][i]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, N, n, n);

    initialize_positive_definite(n, POLYBENCH_ARRAY(A));
    polybench_start_instruments;
    kernel_cholesky(n, POLYBENCH_ARRAY(A));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(A)));
    POLYBENCH_FREE_ARRAY(A);
    return 0;
}
