/* matrix-chain: least number of multiplications for each part of a chain of matrices, by the length of the part. */
#include "general.h"

#ifndef N
#define N DATASET(70, 170, 370, 800, 1300)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, int POLYBENCH_1D(extent, N + 1, n + 1), int POLYBENCH_2D(cost, N, N, n, n))
{
    for (int i = 0; i <= n; i++)
        extent[i] = 1 + (int)noise(i, 0) % 50;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            cost[i][j] = 0;
}

static void dump(int n, int POLYBENCH_2D(cost, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, cost, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_matrix_chain(int n, int POLYBENCH_1D(extent, N + 1, n + 1), int POLYBENCH_2D(cost, N, N, n, n))
{
#pragma scop
    for (int length = 2; length <= _PB_N; length++)
        for (int i = 0; i < _PB_N - length + 1; i++) {
            int j = i + length - 1;
            cost[i][j] = 2147483647;
            for (int k = i; k < j; k++) {
                int c = cost[i][k] + cost[k + 1][j] + extent[i] * extent[k + 1] * extent[j + 1];
                if (c < cost[i][j])
                    cost[i][j] = c;
            }
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(extent, int, N + 1, n + 1);
    POLYBENCH_2D_ARRAY_DECL(cost, int, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(extent), POLYBENCH_ARRAY(cost));
    polybench_start_instruments;
    kernel_matrix_chain(n, POLYBENCH_ARRAY(extent), POLYBENCH_ARRAY(cost));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(cost)));
    POLYBENCH_FREE_ARRAY(extent);
    POLYBENCH_FREE_ARRAY(cost);
    return 0;
}
