/* column-sums: cumulative sums down each column, and each value's share of its column's total. */
#include "general.h"

#ifndef M
#define M DATASET(77, 300, 950, 3000, 6000)
#endif
#ifndef N
#define N DATASET(77, 300, 950, 3000, 6000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = 0.1 + UNIT(i, j);
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(sum, M, N, m, n), DATA_TYPE POLYBENCH_2D(share, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, sum, m, n);
    DUMP_2D(REAL, share, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_column_sums(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                               DATA_TYPE POLYBENCH_2D(sum, M, N, m, n), DATA_TYPE POLYBENCH_2D(share, M, N, m, n))
{
#pragma scop
    for (int j = 0; j < _PB_N; j++) {
        sum[0][j] = x[0][j];
        for (int i = 1; i < _PB_M; i++)
            sum[i][j] = sum[i - 1][j] + x[i][j];
        for (int i = 0; i < _PB_M; i++)
            share[i][j] = x[i][j] / sum[_PB_M - 1][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(sum, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(share, DATA_TYPE, M, N, m, n);

    initialize(m, n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_column_sums(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(share));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(share)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(sum);
    POLYBENCH_FREE_ARRAY(share);
    return 0;
}
