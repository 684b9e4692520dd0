/* matvec4: products of many 4 x 4 matrices with vectors, matrices and vectors stored entry by entry. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(670, 10000, 100000, 1000000, 4000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(a, 4, 4, N, 4, 4, n), DATA_TYPE POLYBENCH_2D(x, 4, N, 4, n))
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < 4; i++) {
            x[i][p] = UNIT(p, i) - 0.5f;
            for (int j = 0; j < 4; j++)
                a[i][j][p] = UNIT(p, 4 * i + j + 10) - 0.5f;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(y, 4, N, 4, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, y, 4, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_matvec4(int n, DATA_TYPE POLYBENCH_3D(a, 4, 4, N, 4, 4, n), DATA_TYPE POLYBENCH_2D(x, 4, N, 4, n),
                           DATA_TYPE POLYBENCH_2D(y, 4, N, 4, n))
{
    int i, j, p;

#pragma scop
    for (p = 0; p < _PB_N; p++)
        for (i = 0; i < 4; i++) {
            y[i][p] = SCALAR_VAL(0.0);
            for (j = 0; j < 4; j++)
                y[i][p] += a[i][j][p] * x[j][p];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, 4, 4, N, 4, 4, n);
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, 4, N, 4, n);
    POLYBENCH_2D_ARRAY_DECL(y, DATA_TYPE, 4, N, 4, n);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_matvec4(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
