/* batched-gemm8: products of many pairs of 8 x 8 matrices in flat arrays, added to a third. */
#include "general.h"

#ifndef N
#define N DATASET(53, 800, 8000, 80000, 320000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(a, 64 * N, 64 * n), DATA_TYPE POLYBENCH_1D(b, 64 * N, 64 * n),
                       DATA_TYPE POLYBENCH_1D(c, 64 * N, 64 * n))
{
    for (int p = 0; p < 64 * n; p++) {
        a[p] = UNIT(p, 0) - 0.5;
        b[p] = UNIT(p, 1) - 0.5;
        c[p] = UNIT(p, 2);
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(c, 64 * N, 64 * n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, c, 64 * n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_batched_gemm8(int n, DATA_TYPE POLYBENCH_1D(a, 64 * N, 64 * n),
                                 DATA_TYPE POLYBENCH_1D(b, 64 * N, 64 * n), DATA_TYPE POLYBENCH_1D(c, 64 * N, 64 * n))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++)
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 8; k++)
                for (int j = 0; j < 8; j++)
                    c[64 * p + 8 * i + j] += a[64 * p + 8 * i + k] * b[64 * p + 8 * k + j];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(a, DATA_TYPE, 64 * N, 64 * n);
    POLYBENCH_1D_ARRAY_DECL(b, DATA_TYPE, 64 * N, 64 * n);
    POLYBENCH_1D_ARRAY_DECL(c, DATA_TYPE, 64 * N, 64 * n);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_start_instruments;
    kernel_batched_gemm8(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
