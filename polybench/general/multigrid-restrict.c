/* multigrid-restrict: the residual of Poisson's equation on a grid in space, and its weighted restriction to the
   grid of half the resolution. */
#include "general.h"

#ifndef N
#define N DATASET(9, 22, 46, 100, 160)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n,
                       DATA_TYPE POLYBENCH_3D(u, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                       DATA_TYPE POLYBENCH_3D(f, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                       DATA_TYPE POLYBENCH_3D(residual, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                       DATA_TYPE POLYBENCH_3D(coarse, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1))
{
    for (int i = 0; i <= 2 * n; i++)
        for (int j = 0; j <= 2 * n; j++)
            for (int k = 0; k <= 2 * n; k++) {
                u[i][j][k] = UNIT(i * 1000 + j, k);
                f[i][j][k] = UNIT(i * 1000 + j, k + 500);
                residual[i][j][k] = 0;
            }
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++)
            for (int k = 0; k <= n; k++)
                coarse[i][j][k] = 0;
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(coarse, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, coarse, n + 1, n + 1, n + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_multigrid_restrict(int n,
                                      DATA_TYPE POLYBENCH_3D(u, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                                      DATA_TYPE POLYBENCH_3D(f, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                                      DATA_TYPE POLYBENCH_3D(residual, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1),
                                      DATA_TYPE POLYBENCH_3D(coarse, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1))
{
#pragma scop
    for (int i = 1; i < 2 * _PB_N; i++)
        for (int j = 1; j < 2 * _PB_N; j++)
            for (int k = 1; k < 2 * _PB_N; k++)
                residual[i][j][k] = f[i][j][k] + SCALAR_VAL(6.0) * u[i][j][k] - u[i - 1][j][k] - u[i + 1][j][k] - u[i][j - 1][k]
                                    - u[i][j + 1][k] - u[i][j][k - 1] - u[i][j][k + 1];
    for (int i = 1; i < _PB_N; i++)
        for (int j = 1; j < _PB_N; j++)
            for (int k = 1; k < _PB_N; k++) {
                DATA_TYPE sum = SCALAR_VAL(0.0);
                for (int p = -1; p <= 1; p++)
                    for (int q = -1; q <= 1; q++)
                        for (int r = -1; r <= 1; r++) {
                            DATA_TYPE weight = (p == 0 ? SCALAR_VAL(0.5) : SCALAR_VAL(0.25)) * (q == 0 ? SCALAR_VAL(0.5) : SCALAR_VAL(0.25)) * (r == 0 ? SCALAR_VAL(0.5) : SCALAR_VAL(0.25));
                            sum += weight * residual[2 * i + p][2 * j + q][2 * k + r];
                        }
                coarse[i][j][k] = sum;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(u, DATA_TYPE, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1);
    POLYBENCH_3D_ARRAY_DECL(f, DATA_TYPE, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1);
    POLYBENCH_3D_ARRAY_DECL(residual, DATA_TYPE, 2 * N + 1, 2 * N + 1, 2 * N + 1, 2 * n + 1, 2 * n + 1, 2 * n + 1);
    POLYBENCH_3D_ARRAY_DECL(coarse, DATA_TYPE, N + 1, N + 1, N + 1, n + 1, n + 1, n + 1);

    initialize(n, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(f), POLYBENCH_ARRAY(residual), POLYBENCH_ARRAY(coarse));
    polybench_start_instruments;
    kernel_multigrid_restrict(n, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(f), POLYBENCH_ARRAY(residual),
                              POLYBENCH_ARRAY(coarse));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(coarse)));
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(f);
    POLYBENCH_FREE_ARRAY(residual);
    POLYBENCH_FREE_ARRAY(coarse);
    return 0;
}
