/* covariance: the M x M matrix of sample covariances of M attributes, each observed N times (a column of data). */
#include "kernel.h"

#ifndef M
#define M DATASET(28, 80, 240, 1200, 2600)
#endif
#ifndef N
#define N DATASET(32, 100, 260, 1400, 3000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE *float_n, DATA_TYPE POLYBENCH_2D(data, N, M, n, m))
{
    *float_n = (DATA_TYPE)n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] = (DATA_TYPE)i * j / m;
}

static void dump(int m, DATA_TYPE POLYBENCH_2D(cov, M, M, m, m))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("cov");
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            DUMP_VALUE(i * m + j, cov[i][j]);
    POLYBENCH_DUMP_END("cov");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_covariance(int m, int n, DATA_TYPE float_n, DATA_TYPE POLYBENCH_2D(data, N, M, n, m),
                              DATA_TYPE POLYBENCH_2D(cov, M, M, m, m), DATA_TYPE POLYBENCH_1D(mean, M, m))
{
    int i, j, k;

#pragma scop
    for (j = 0; j < _PB_M; j++) {
        mean[j] = SCALAR_VAL(0.0);
        for (i = 0; i < _PB_N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (i = 0; i < _PB_N; i++)
        for (j = 0; j < _PB_M; j++)
            data[i][j] -= mean[j];
    for (i = 0; i < _PB_M; i++)
        for (j = i; j < _PB_M; j++) {
            cov[i][j] = SCALAR_VAL(0.0);
            for (k = 0; k < _PB_N; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (float_n - SCALAR_VAL(1.0));
            cov[j][i] = cov[i][j];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, m = M;
    DATA_TYPE float_n;
    POLYBENCH_2D_ARRAY_DECL(data, DATA_TYPE, N, M, n, m);
    POLYBENCH_2D_ARRAY_DECL(cov, DATA_TYPE, M, M, m, m);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, M, m);

    initialize(m, n, &float_n, POLYBENCH_ARRAY(data));
    polybench_start_instruments;
    kernel_covariance(m, n, float_n, POLYBENCH_ARRAY(data), POLYBENCH_ARRAY(cov), POLYBENCH_ARRAY(mean));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, POLYBENCH_ARRAY(cov)));
    POLYBENCH_FREE_ARRAY(data);
    POLYBENCH_FREE_ARRAY(cov);
    POLYBENCH_FREE_ARRAY(mean);
    return 0;
}
