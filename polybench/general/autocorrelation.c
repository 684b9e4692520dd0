/* autocorrelation: autocorrelation of a signal at the first LAGS lags, normalized by the one at lag 0. */
#include "general.h"

#ifndef N
#define N DATASET(1500, 6000, 19000, 60000, 120000)
#endif
#ifndef LAGS
#define LAGS DATASET(26, 100, 320, 1000, 2000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_LAGS POLYBENCH_LOOP_BOUND(LAGS, lags)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(x, N, n))
{
    for (int i = 0; i < n; i++)
        x[i] = UNIT(i, 0) - 0.5 + 0.25 * (i % 16 < 8 ? 1 : -1);
}

static void dump(int lags, DATA_TYPE POLYBENCH_1D(r, LAGS, lags))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, r, lags);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_autocorrelation(int n, int lags, DATA_TYPE POLYBENCH_1D(x, N, n),
                                   DATA_TYPE POLYBENCH_1D(r, LAGS, lags))
{
    int i, lag;

#pragma scop
    for (lag = 0; lag < _PB_LAGS; lag++) {
        r[lag] = SCALAR_VAL(0.0);
        for (i = lag; i < _PB_N; i++)
            r[lag] += x[i] * x[i - lag];
    }
    for (lag = _PB_LAGS - 1; lag >= 0; lag--)
        r[lag] = r[lag] / r[0];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, lags = LAGS;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(r, DATA_TYPE, LAGS, lags);

    initialize(n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_autocorrelation(n, lags, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(r));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(lags, POLYBENCH_ARRAY(r)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(r);
    return 0;
}
