/* multigrid-prolong: a coarse correction in space, interpolated linearly and added to the grid of twice the
   resolution. */
#include "general.h"

#ifndef N
#define N DATASET(10, 26, 56, 120, 190)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(coarse, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1),
                       DATA_TYPE POLYBENCH_3D(fine, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1))
{
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++)
            for (int k = 0; k <= n; k++)
                coarse[i][j][k] = UNIT(i * 1000 + j, k);
    for (int i = 0; i <= 2 * n; i++)
        for (int j = 0; j <= 2 * n; j++)
            for (int k = 0; k <= 2 * n; k++)
                fine[i][j][k] = UNIT(i * 1000 + j, k + 500);
}

static void dump(int n,
                 DATA_TYPE POLYBENCH_3D(fine, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, fine, 2 * n + 1, 2 * n + 1, 2 * n + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_multigrid_prolong(int n, DATA_TYPE POLYBENCH_3D(coarse, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1),
                                     DATA_TYPE POLYBENCH_3D(fine, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++)
        for (int j = 0; j < _PB_N; j++)
            for (int k = 0; k < _PB_N; k++) {
                DATA_TYPE c000 = coarse[i][j][k], c001 = coarse[i][j][k + 1];
                DATA_TYPE c010 = coarse[i][j + 1][k], c011 = coarse[i][j + 1][k + 1];
                DATA_TYPE c100 = coarse[i + 1][j][k], c101 = coarse[i + 1][j][k + 1];
                DATA_TYPE c110 = coarse[i + 1][j + 1][k], c111 = coarse[i + 1][j + 1][k + 1];
                fine[2 * i][2 * j][2 * k] += c000;
                fine[2 * i][2 * j][2 * k + 1] += SCALAR_VAL(0.5) * (c000 + c001);
                fine[2 * i][2 * j + 1][2 * k] += SCALAR_VAL(0.5) * (c000 + c010);
                fine[2 * i][2 * j + 1][2 * k + 1] += SCALAR_VAL(0.25) * (c000 + c001 + c010 + c011);
                fine[2 * i + 1][2 * j][2 * k] += SCALAR_VAL(0.5) * (c000 + c100);
                fine[2 * i + 1][2 * j][2 * k + 1] += SCALAR_VAL(0.25) * (c000 + c001 + c100 + c101);
                fine[2 * i + 1][2 * j + 1][2 * k] += SCALAR_VAL(0.25) * (c000 + c010 + c100 + c110);
                fine[2 * i + 1][2 * j + 1][2 * k + 1] += SCALAR_VAL(0.125) * (c000 + c001 + c010 + c011 + c100 + c101 + c110 + c111);
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(coarse, DATA_TYPE, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1);
    POLYBENCH_3D_ARRAY_DECL(fine, DATA_TYPE, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1);

    initialize(n, POLYBENCH_ARRAY(coarse), POLYBENCH_ARRAY(fine));
    polybench_start_instruments;
    kernel_multigrid_prolong(n, POLYBENCH_ARRAY(coarse), POLYBENCH_ARRAY(fine));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(fine)));
    POLYBENCH_FREE_ARRAY(coarse);
    POLYBENCH_FREE_ARRAY(fine);
    return 0;
}
