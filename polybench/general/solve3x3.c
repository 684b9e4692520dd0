/* solve3x3: many systems of three equations by Cramer's rule. */
#include "general.h"

#ifndef N
#define N DATASET(530, 8000, 80000, 800000, 3200000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(a, N, 3, 3, n, 3, 3), DATA_TYPE POLYBENCH_2D(b, N, 3, n, 3))
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < 3; i++) {
            b[p][i] = UNIT(p, i);
            for (int j = 0; j < 3; j++)
                a[p][i][j] = UNIT(p, 3 * i + j + 10) + (i == j ? 2 : 0);
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(x, N, 3, n, 3))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, x, n, 3);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_solve3x3(int n, DATA_TYPE POLYBENCH_3D(a, N, 3, 3, n, 3, 3), DATA_TYPE POLYBENCH_2D(b, N, 3, n, 3),
                            DATA_TYPE POLYBENCH_2D(x, N, 3, n, 3))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        DATA_TYPE m0 = a[p][1][1] * a[p][2][2] - a[p][1][2] * a[p][2][1];
        DATA_TYPE m1 = a[p][1][2] * a[p][2][0] - a[p][1][0] * a[p][2][2];
        DATA_TYPE m2 = a[p][1][0] * a[p][2][1] - a[p][1][1] * a[p][2][0];
        DATA_TYPE inverse = SCALAR_VAL(1.0) / (a[p][0][0] * m0 + a[p][0][1] * m1 + a[p][0][2] * m2);
        x[p][0] = inverse * (b[p][0] * m0 + a[p][0][1] * (a[p][1][2] * b[p][2] - b[p][1] * a[p][2][2])
                             + a[p][0][2] * (b[p][1] * a[p][2][1] - a[p][1][1] * b[p][2]));
        x[p][1] = inverse * (a[p][0][0] * (b[p][1] * a[p][2][2] - a[p][1][2] * b[p][2]) + b[p][0] * m1
                             + a[p][0][2] * (a[p][1][0] * b[p][2] - b[p][1] * a[p][2][0]));
        x[p][2] = inverse * (a[p][0][0] * (a[p][1][1] * b[p][2] - b[p][1] * a[p][2][1])
                             + a[p][0][1] * (b[p][1] * a[p][2][0] - a[p][1][0] * b[p][2]) + b[p][0] * m2);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, N, 3, 3, n, 3, 3);
    POLYBENCH_2D_ARRAY_DECL(b, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, N, 3, n, 3);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_solve3x3(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(x));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(x)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(x);
    return 0;
}
