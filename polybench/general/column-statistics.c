/* column-statistics: mean, variance, least and largest value of each column. */
#include "general.h"

#ifndef M
#define M DATASET(150, 600, 1900, 6000, 12000)
#endif
#ifndef N
#define N DATASET(52, 200, 630, 2000, 4000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = UNIT(i, j) * (1 + j % 5);
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(mean, N, n), DATA_TYPE POLYBENCH_1D(variance, N, n),
                 DATA_TYPE POLYBENCH_1D(least, N, n), DATA_TYPE POLYBENCH_1D(largest, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, mean, n);
    DUMP_1D(REAL, variance, n);
    DUMP_1D(REAL, least, n);
    DUMP_1D(REAL, largest, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_column_statistics(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                                     DATA_TYPE POLYBENCH_1D(mean, N, n), DATA_TYPE POLYBENCH_1D(variance, N, n),
                                     DATA_TYPE POLYBENCH_1D(least, N, n), DATA_TYPE POLYBENCH_1D(largest, N, n))
{
#pragma scop
    for (int j = 0; j < _PB_N; j++) {
        mean[j] = SCALAR_VAL(0.0);
        variance[j] = SCALAR_VAL(0.0);
        least[j] = x[0][j];
        largest[j] = x[0][j];
    }
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++) {
            mean[j] += x[i][j];
            if (x[i][j] < least[j])
                least[j] = x[i][j];
            if (x[i][j] > largest[j])
                largest[j] = x[i][j];
        }
    for (int j = 0; j < _PB_N; j++)
        mean[j] /= _PB_M;
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++)
            variance[j] += (x[i][j] - mean[j]) * (x[i][j] - mean[j]);
    for (int j = 0; j < _PB_N; j++)
        variance[j] /= _PB_M - 1;
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(variance, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(least, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(largest, DATA_TYPE, N, n);

    initialize(m, n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_column_statistics(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance),
                             POLYBENCH_ARRAY(least), POLYBENCH_ARRAY(largest));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance), POLYBENCH_ARRAY(least),
                               POLYBENCH_ARRAY(largest)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(mean);
    POLYBENCH_FREE_ARRAY(variance);
    POLYBENCH_FREE_ARRAY(least);
    POLYBENCH_FREE_ARRAY(largest);
    return 0;
}
