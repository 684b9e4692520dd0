/* horner: a polynomial of degree 15 at many points, and its derivative. */
#include "general.h"

#ifndef N
#define N DATASET(2000, 30000, 300000, 3000000, 12000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(coefficient, 16, 16), DATA_TYPE POLYBENCH_1D(x, N, n))
{
    for (int k = 0; k < 16; k++)
        coefficient[k] = (k % 2 ? -1 : 1) * (1 + UNIT(k, 0)) / (k + 1);
    for (int i = 0; i < n; i++)
        x[i] = 2 * UNIT(i, 1) - 1;
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(value, N, n), DATA_TYPE POLYBENCH_1D(slope, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, value, n);
    DUMP_1D(REAL, slope, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_horner(int n, DATA_TYPE POLYBENCH_1D(coefficient, 16, 16), DATA_TYPE POLYBENCH_1D(x, N, n),
                          DATA_TYPE POLYBENCH_1D(value, N, n), DATA_TYPE POLYBENCH_1D(slope, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        DATA_TYPE p = coefficient[15], d = SCALAR_VAL(0.0);
        for (int k = 14; k >= 0; k--) {
            d = d * x[i] + p;
            p = p * x[i] + coefficient[k];
        }
        value[i] = p;
        slope[i] = d;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(coefficient, DATA_TYPE, 16, 16);
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(value, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(slope, DATA_TYPE, N, n);

    initialize(n, POLYBENCH_ARRAY(coefficient), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_horner(n, POLYBENCH_ARRAY(coefficient), POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(value),
                  POLYBENCH_ARRAY(slope));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(value), POLYBENCH_ARRAY(slope)));
    POLYBENCH_FREE_ARRAY(coefficient);
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(value);
    POLYBENCH_FREE_ARRAY(slope);
    return 0;
}
