/* lu: A = L U without pivoting, N x N; L (unit diagonal not stored) and U take A's place. */
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
        for (int j = 0; j < n; j++)
            DUMP_VALUE(i * n + j, A[i][j]);
    POLYBENCH_DUMP_END("A");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_lu(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < _PB_N; i++) {
        /* row i of L */
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        /* row i of U */
        for (j = i; j < _PB_N; j++)
            for (k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, N, n, n);

    initialize_positive_definite(n, POLYBENCH_ARRAY(A));
    polybench_start_instruments;
    kernel_lu(n, POLYBENCH_ARRAY(A));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(A)));
    POLYBENCH_FREE_ARRAY(A);
    return 0;
}
