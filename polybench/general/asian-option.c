/* asian-option: pay-offs by the average and by the maximum along given paths of prices, and their means. */
#include "general.h"

#ifndef PATHS
#define PATHS DATASET(1000, 4000, 13000, 40000, 80000)
#endif
#ifndef N
#define N DATASET(13, 50, 160, 500, 1000)
#endif
#define _PB_PATHS POLYBENCH_LOOP_BOUND(PATHS, paths)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int paths, int n, DATA_TYPE *strike, DATA_TYPE POLYBENCH_2D(move, PATHS, N, paths, n))
{
    *strike = 100.0;
    for (int p = 0; p < paths; p++)
        for (int t = 0; t < n; t++)
            move[p][t] = 0.02 * (UNIT(p, t) - 0.5);
}

static void dump(int paths, DATA_TYPE POLYBENCH_1D(payoff, PATHS, paths),
                 DATA_TYPE POLYBENCH_1D(lookback, PATHS, paths), DATA_TYPE POLYBENCH_1D(mean, 2, 2))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, payoff, paths);
    DUMP_1D(REAL, lookback, paths);
    DUMP_1D(REAL, mean, 2);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_asian_option(int paths, int n, DATA_TYPE strike, DATA_TYPE POLYBENCH_2D(move, PATHS, N, paths, n),
                                DATA_TYPE POLYBENCH_1D(payoff, PATHS, paths),
                                DATA_TYPE POLYBENCH_1D(lookback, PATHS, paths), DATA_TYPE POLYBENCH_1D(mean, 2, 2))
{
#pragma scop
    mean[0] = SCALAR_VAL(0.0);
    mean[1] = SCALAR_VAL(0.0);
    for (int p = 0; p < _PB_PATHS; p++) {
        DATA_TYPE price = SCALAR_VAL(100.0), sum = SCALAR_VAL(0.0), highest = SCALAR_VAL(100.0);
        for (int t = 0; t < _PB_N; t++) {
            price *= SCALAR_VAL(1.0) + move[p][t];
            sum += price;
            if (price > highest)
                highest = price;
        }
        DATA_TYPE average = sum / _PB_N;
        payoff[p] = average > strike ? average - strike : SCALAR_VAL(0.0);
        lookback[p] = highest - price;
        mean[0] += payoff[p];
        mean[1] += lookback[p];
    }
    mean[0] /= _PB_PATHS;
    mean[1] /= _PB_PATHS;
#pragma endscop
}

int main(int argc, char **argv)
{
    int paths = PATHS, n = N;
    DATA_TYPE strike;
    POLYBENCH_2D_ARRAY_DECL(move, DATA_TYPE, PATHS, N, paths, n);
    POLYBENCH_1D_ARRAY_DECL(payoff, DATA_TYPE, PATHS, paths);
    POLYBENCH_1D_ARRAY_DECL(lookback, DATA_TYPE, PATHS, paths);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, 2, 2);

    initialize(paths, n, &strike, POLYBENCH_ARRAY(move));
    polybench_start_instruments;
    kernel_asian_option(paths, n, strike, POLYBENCH_ARRAY(move), POLYBENCH_ARRAY(payoff), POLYBENCH_ARRAY(lookback),
                        POLYBENCH_ARRAY(mean));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(paths, POLYBENCH_ARRAY(payoff), POLYBENCH_ARRAY(lookback), POLYBENCH_ARRAY(mean)));
    POLYBENCH_FREE_ARRAY(move);
    POLYBENCH_FREE_ARRAY(payoff);
    POLYBENCH_FREE_ARRAY(lookback);
    POLYBENCH_FREE_ARRAY(mean);
    return 0;
}
