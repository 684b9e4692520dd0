/* stencil-27pt: a weighted mean of all 27 cells around each cell of a grid in space, by the number of steps that
   they are away. */
#include "general.h"

#ifndef N
#define N DATASET(19, 47, 100, 220, 350)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(a, N, N, N, n, n, n), DATA_TYPE POLYBENCH_1D(weight, 4, 4),
                       DATA_TYPE POLYBENCH_3D(b, N, N, N, n, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                a[i][j][k] = UNIT(i * 1000 + j, k);
                b[i][j][k] = 0;
            }
    for (int d = 0; d < 4; d++)
        weight[d] = 0.25 / (1 + d * d);
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(b, N, N, N, n, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, b, n, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_stencil_27pt(int n, DATA_TYPE POLYBENCH_3D(a, N, N, N, n, n, n),
                                DATA_TYPE POLYBENCH_1D(weight, 4, 4), DATA_TYPE POLYBENCH_3D(b, N, N, N, n, n, n))
{
#pragma scop
    for (int i = 1; i < _PB_N - 1; i++)
        for (int j = 1; j < _PB_N - 1; j++)
            for (int k = 1; k < _PB_N - 1; k++) {
                DATA_TYPE sum = SCALAR_VAL(0.0);
                for (int p = -1; p <= 1; p++)
                    for (int q = -1; q <= 1; q++)
                        for (int r = -1; r <= 1; r++)
                            sum += weight[p * p + q * q + r * r] * a[i + p][j + q][k + r];
                b[i][j][k] = sum;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_1D_ARRAY_DECL(weight, DATA_TYPE, 4, 4);
    POLYBENCH_3D_ARRAY_DECL(b, DATA_TYPE, N, N, N, n, n, n);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_stencil_27pt(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(b));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(b)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(b);
    return 0;
}
