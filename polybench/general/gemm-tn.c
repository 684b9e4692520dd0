/* gemm-tn: C := A^T B + C, with the first matrix transposed, in flat arrays. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef M
#define M DATASET(44, 110, 230, 500, 790)
#endif
#ifndef N
#define N DATASET(52, 130, 280, 600, 950)
#endif
#ifndef K
#define K DATASET(61, 150, 320, 700, 1100)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_K POLYBENCH_LOOP_BOUND(K, k)

static void initialize(int m, int n, int k, DATA_TYPE POLYBENCH_1D(a, K * M, k * m),
                       DATA_TYPE POLYBENCH_1D(b, K * N, k * n), DATA_TYPE POLYBENCH_1D(c, M * N, m * n))
{
    for (int p = 0; p < k * m; p++)
        a[p] = UNIT(p, 0) - 0.5f;
    for (int p = 0; p < k * n; p++)
        b[p] = UNIT(p, 1) - 0.5f;
    for (int p = 0; p < m * n; p++)
        c[p] = UNIT(p, 2);
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_1D(c, M * N, m * n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, c, m * n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_gemm_tn(int m, int n, int k, DATA_TYPE POLYBENCH_1D(a, K * M, k * m),
                           DATA_TYPE POLYBENCH_1D(b, K * N, k * n), DATA_TYPE POLYBENCH_1D(c, M * N, m * n))
{
#pragma scop
    for (int l = 0; l < _PB_K; l++)
        for (int i = 0; i < _PB_M; i++)
            for (int j = 0; j < _PB_N; j++)
                c[i * _PB_N + j] += a[l * _PB_M + i] * b[l * _PB_N + j];
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N, k = K;
    POLYBENCH_1D_ARRAY_DECL(a, DATA_TYPE, K * M, k * m);
    POLYBENCH_1D_ARRAY_DECL(b, DATA_TYPE, K * N, k * n);
    POLYBENCH_1D_ARRAY_DECL(c, DATA_TYPE, M * N, m * n);

    initialize(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_start_instruments;
    kernel_gemm_tn(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
