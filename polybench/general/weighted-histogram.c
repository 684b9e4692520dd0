/* weighted-histogram: a histogram of 16 ranges for each of many series, with a weight for each value. */
#include "general.h"

#ifndef M
#define M DATASET(52, 200, 630, 2000, 4000)
#endif
#ifndef N
#define N DATASET(260, 1000, 3200, 10000, 20000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                       DATA_TYPE POLYBENCH_2D(weight, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            x[i][j] = UNIT(i, j) * UNIT(j, i);
            weight[i][j] = UNIT(i, j + 50000);
        }
}

static void dump(int m, DATA_TYPE POLYBENCH_2D(histogram, M, 16, m, 16))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, histogram, m, 16);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_weighted_histogram(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                                      DATA_TYPE POLYBENCH_2D(weight, M, N, m, n),
                                      DATA_TYPE POLYBENCH_2D(histogram, M, 16, m, 16))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++) {
        for (int b = 0; b < 16; b++)
            histogram[i][b] = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++) {
            int b = (int)(SCALAR_VAL(16.0) * x[i][j]);
            histogram[i][b] += weight[i][j];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(weight, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(histogram, DATA_TYPE, M, 16, m, 16);

    initialize(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight));
    polybench_start_instruments;
    kernel_weighted_histogram(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(histogram));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, POLYBENCH_ARRAY(histogram)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(histogram);
    return 0;
}
