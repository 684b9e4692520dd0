/* covariance-table: covariances of a table with few columns and many rows. */
#include "general.h"

#ifndef M
#define M DATASET(270, 4000, 40000, 400000, 1600000)
#endif
#ifndef N
#define N DATASET(5, 16, 16, 16, 16)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = UNIT(i, j) + 0.5 * UNIT(i, j / 2);
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(cov, N, N, n, n), DATA_TYPE POLYBENCH_1D(mean, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, cov, n, n);
    DUMP_1D(REAL, mean, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_covariance_table(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                                    DATA_TYPE POLYBENCH_1D(mean, N, n), DATA_TYPE POLYBENCH_2D(cov, N, N, n, n))
{
#pragma scop
    for (int j = 0; j < _PB_N; j++)
        mean[j] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++)
            mean[j] += x[i][j];
    for (int j = 0; j < _PB_N; j++)
        mean[j] /= _PB_M;
    for (int j = 0; j < _PB_N; j++)
        for (int k = 0; k < _PB_N; k++)
            cov[j][k] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++)
            for (int k = 0; k <= j; k++)
                cov[j][k] += (x[i][j] - mean[j]) * (x[i][k] - mean[k]);
    for (int j = 0; j < _PB_N; j++)
        for (int k = 0; k <= j; k++) {
            cov[j][k] /= _PB_M - 1;
            cov[k][j] = cov[j][k];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, N, n);
    POLYBENCH_2D_ARRAY_DECL(cov, DATA_TYPE, N, N, n, n);

    initialize(m, n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_covariance_table(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(cov));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(cov), POLYBENCH_ARRAY(mean)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(mean);
    POLYBENCH_FREE_ARRAY(cov);
    return 0;
}
