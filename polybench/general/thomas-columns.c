/* thomas-columns: many tridiagonal systems by Thomas' algorithm, each in a column, with the same matrix. */
#include "general.h"

#ifndef N
#define N DATASET(77, 300, 950, 3000, 6000)
#endif
#ifndef M
#define M DATASET(100, 400, 1300, 4000, 8000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)

static void initialize(int n, int m, DATA_TYPE POLYBENCH_1D(lower, N, n), DATA_TYPE POLYBENCH_1D(diagonal, N, n),
                       DATA_TYPE POLYBENCH_1D(upper, N, n), DATA_TYPE POLYBENCH_2D(x, N, M, n, m))
{
    for (int i = 0; i < n; i++) {
        lower[i] = UNIT(i, 0) - 0.5;
        diagonal[i] = 2 + UNIT(i, 1);
        upper[i] = UNIT(i, 2) - 0.5;
        for (int s = 0; s < m; s++)
            x[i][s] = UNIT(i, s + 100);
    }
}

static void dump(int n, int m, DATA_TYPE POLYBENCH_2D(x, N, M, n, m), DATA_TYPE POLYBENCH_1D(factor, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, x, n, m);
    DUMP_1D(REAL, factor, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_thomas_columns(int n, int m, DATA_TYPE POLYBENCH_1D(lower, N, n),
                                  DATA_TYPE POLYBENCH_1D(diagonal, N, n), DATA_TYPE POLYBENCH_1D(upper, N, n),
                                  DATA_TYPE POLYBENCH_1D(factor, N, n), DATA_TYPE POLYBENCH_2D(x, N, M, n, m))
{
    int i, s;
    DATA_TYPE pivot;

#pragma scop
    factor[0] = upper[0] / diagonal[0];
    for (s = 0; s < _PB_M; s++)
        x[0][s] = x[0][s] / diagonal[0];
    for (i = 1; i < _PB_N; i++) {
        pivot = diagonal[i] - lower[i] * factor[i - 1];
        factor[i] = upper[i] / pivot;
        for (s = 0; s < _PB_M; s++)
            x[i][s] = (x[i][s] - lower[i] * x[i - 1][s]) / pivot;
    }
    for (i = _PB_N - 2; i >= 0; i--)
        for (s = 0; s < _PB_M; s++)
            x[i][s] -= factor[i] * x[i + 1][s];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, m = M;
    POLYBENCH_1D_ARRAY_DECL(lower, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(diagonal, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(upper, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(factor, DATA_TYPE, N, n);
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, N, M, n, m);

    initialize(n, m, POLYBENCH_ARRAY(lower), POLYBENCH_ARRAY(diagonal), POLYBENCH_ARRAY(upper), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_thomas_columns(n, m, POLYBENCH_ARRAY(lower), POLYBENCH_ARRAY(diagonal), POLYBENCH_ARRAY(upper),
                          POLYBENCH_ARRAY(factor), POLYBENCH_ARRAY(x));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, m, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(factor)));
    POLYBENCH_FREE_ARRAY(lower);
    POLYBENCH_FREE_ARRAY(diagonal);
    POLYBENCH_FREE_ARRAY(upper);
    POLYBENCH_FREE_ARRAY(factor);
    POLYBENCH_FREE_ARRAY(x);
    return 0;
}
