/* row-statistics: mean and variance of each row in one pass (Welford's method), and the Euclidean norm. */
#include "general.h"

#ifndef M
#define M DATASET(52, 200, 630, 2000, 4000)
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
            x[i][j] = UNIT(i, j) * (1 + i % 5);
}

static void dump(int m, DATA_TYPE POLYBENCH_1D(mean, M, m), DATA_TYPE POLYBENCH_1D(variance, M, m),
                 DATA_TYPE POLYBENCH_1D(norm, M, m))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, mean, m);
    DUMP_1D(REAL, variance, m);
    DUMP_1D(REAL, norm, m);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_row_statistics(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                                  DATA_TYPE POLYBENCH_1D(mean, M, m), DATA_TYPE POLYBENCH_1D(variance, M, m),
                                  DATA_TYPE POLYBENCH_1D(norm, M, m))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++) {
        DATA_TYPE average = SCALAR_VAL(0.0), s = SCALAR_VAL(0.0), squares = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE delta = x[i][j] - average;
            average += delta / (j + 1);
            s += delta * (x[i][j] - average);
            squares += x[i][j] * x[i][j];
        }
        mean[i] = average;
        variance[i] = s / (_PB_N - 1);
        norm[i] = SQRT_FUN(squares);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(variance, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(norm, DATA_TYPE, M, m);

    initialize(m, n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_row_statistics(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance),
                          POLYBENCH_ARRAY(norm));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance), POLYBENCH_ARRAY(norm)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(mean);
    POLYBENCH_FREE_ARRAY(variance);
    POLYBENCH_FREE_ARRAY(norm);
    return 0;
}
