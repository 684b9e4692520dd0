/* thomas-rows: many tridiagonal systems by Thomas' algorithm, each in a row of its own. */
#include "general.h"

#ifndef M
#define M DATASET(52, 200, 630, 2000, 4000)
#endif
#ifndef N
#define N DATASET(26, 100, 320, 1000, 2000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(lower, M, N, m, n),
                       DATA_TYPE POLYBENCH_2D(diagonal, M, N, m, n), DATA_TYPE POLYBENCH_2D(upper, M, N, m, n),
                       DATA_TYPE POLYBENCH_2D(rhs, M, N, m, n))
{
    for (int s = 0; s < m; s++)
        for (int i = 0; i < n; i++) {
            lower[s][i] = UNIT(s, i) - 0.5;
            diagonal[s][i] = 2 + UNIT(s, i + 20000);
            upper[s][i] = UNIT(s, i + 40000) - 0.5;
            rhs[s][i] = UNIT(s, i + 60000);
        }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, x, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_thomas_rows(int m, int n, DATA_TYPE POLYBENCH_2D(lower, M, N, m, n),
                               DATA_TYPE POLYBENCH_2D(diagonal, M, N, m, n),
                               DATA_TYPE POLYBENCH_2D(upper, M, N, m, n), DATA_TYPE POLYBENCH_2D(rhs, M, N, m, n),
                               DATA_TYPE POLYBENCH_2D(x, M, N, m, n))
{
#pragma scop
    for (int s = 0; s < _PB_M; s++) {
        for (int i = 1; i < _PB_N; i++) {
            DATA_TYPE w = lower[s][i] / diagonal[s][i - 1];
            diagonal[s][i] -= w * upper[s][i - 1];
            rhs[s][i] -= w * rhs[s][i - 1];
        }
        x[s][_PB_N - 1] = rhs[s][_PB_N - 1] / diagonal[s][_PB_N - 1];
        for (int i = _PB_N - 2; i >= 0; i--)
            x[s][i] = (rhs[s][i] - upper[s][i] * x[s][i + 1]) / diagonal[s][i];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(lower, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(diagonal, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(upper, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(rhs, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);

    initialize(m, n, POLYBENCH_ARRAY(lower), POLYBENCH_ARRAY(diagonal), POLYBENCH_ARRAY(upper), POLYBENCH_ARRAY(rhs));
    polybench_start_instruments;
    kernel_thomas_rows(m, n, POLYBENCH_ARRAY(lower), POLYBENCH_ARRAY(diagonal), POLYBENCH_ARRAY(upper),
                       POLYBENCH_ARRAY(rhs), POLYBENCH_ARRAY(x));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(x)));
    POLYBENCH_FREE_ARRAY(lower);
    POLYBENCH_FREE_ARRAY(diagonal);
    POLYBENCH_FREE_ARRAY(upper);
    POLYBENCH_FREE_ARRAY(rhs);
    POLYBENCH_FREE_ARRAY(x);
    return 0;
}
