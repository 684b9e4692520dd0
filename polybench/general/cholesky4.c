/* cholesky4: Cholesky factors of many symmetric 4 x 4 matrices, in place, and the product of each one's diagonal. */
#include "general.h"

#ifndef N
#define N DATASET(530, 8000, 80000, 800000, 3200000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(a, N, 4, 4, n, 4, 4))
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j <= i; j++)
                a[p][i][j] = a[p][j][i] = UNIT(p, 4 * i + j) + (i == j ? 4 : 0);
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(a, N, 4, 4, n, 4, 4), DATA_TYPE POLYBENCH_1D(root, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, a, n, 4, 4);
    DUMP_1D(REAL, root, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_cholesky4(int n, DATA_TYPE POLYBENCH_3D(a, N, 4, 4, n, 4, 4), DATA_TYPE POLYBENCH_1D(root, N, n))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        root[p] = SCALAR_VAL(1.0);
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < j; k++)
                a[p][j][j] -= a[p][j][k] * a[p][j][k];
            a[p][j][j] = SQRT_FUN(a[p][j][j]);
            for (int i = j + 1; i < 4; i++) {
                for (int k = 0; k < j; k++)
                    a[p][i][j] -= a[p][i][k] * a[p][j][k];
                a[p][i][j] /= a[p][j][j];
            }
            root[p] *= a[p][j][j];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, N, 4, 4, n, 4, 4);
    POLYBENCH_1D_ARRAY_DECL(root, DATA_TYPE, N, n);

    initialize(n, POLYBENCH_ARRAY(a));
    polybench_start_instruments;
    kernel_cholesky4(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(root));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(root)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(root);
    return 0;
}
