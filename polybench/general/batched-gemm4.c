/* batched-gemm4: products of many pairs of 4 x 4 matrices. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(670, 10000, 100000, 1000000, 4000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(a, N, 4, 4, n, 4, 4),
                       DATA_TYPE POLYBENCH_3D(b, N, 4, 4, n, 4, 4))
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                a[p][i][j] = UNIT(p, i * 4 + j) - 0.5f;
                b[p][i][j] = UNIT(p, i * 4 + j + 50) - 0.5f;
            }
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(c, N, 4, 4, n, 4, 4))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, c, n, 4, 4);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_batched_gemm4(int n, DATA_TYPE POLYBENCH_3D(a, N, 4, 4, n, 4, 4),
                                 DATA_TYPE POLYBENCH_3D(b, N, 4, 4, n, 4, 4),
                                 DATA_TYPE POLYBENCH_3D(c, N, 4, 4, n, 4, 4))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                c[p][i][j] = SCALAR_VAL(0.0);
                for (int k = 0; k < 4; k++)
                    c[p][i][j] += a[p][i][k] * b[p][k][j];
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, N, 4, 4, n, 4, 4);
    POLYBENCH_3D_ARRAY_DECL(b, DATA_TYPE, N, 4, 4, n, 4, 4);
    POLYBENCH_3D_ARRAY_DECL(c, DATA_TYPE, N, 4, 4, n, 4, 4);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_batched_gemm4(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
