/* fir: a signal through a filter of 64 coefficients. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(670, 10000, 100000, 1000000, 4000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(x, N + 64, n + 64), DATA_TYPE POLYBENCH_1D(h, 64, 64))
{
    for (int i = 0; i < n + 64; i++)
        x[i] = UNIT(i, 0) - 0.5f;
    for (int k = 0; k < 64; k++)
        h[k] = (DATA_TYPE)1 / (1 + (k - 32) * (k - 32));
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(y, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, y, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_fir(int n, DATA_TYPE POLYBENCH_1D(x, N + 64, n + 64), DATA_TYPE POLYBENCH_1D(h, 64, 64),
                       DATA_TYPE POLYBENCH_1D(y, N, n))
{
    int i, k;
    DATA_TYPE sum;

#pragma scop
    for (i = 0; i < _PB_N; i++) {
        sum = SCALAR_VAL(0.0);
        for (k = 0; k < 64; k++)
            sum += h[k] * x[i + 63 - k];
        y[i] = sum;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N + 64, n + 64);
    POLYBENCH_1D_ARRAY_DECL(h, DATA_TYPE, 64, 64);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);

    initialize(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(h));
    polybench_start_instruments;
    kernel_fir(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(h), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(h);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
