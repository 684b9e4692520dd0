/* binomial-option: prices of American options, each by a binomial tree. */
#include "general.h"

#ifndef NO
#define NO DATASET(9, 22, 46, 100, 160)
#endif
#ifndef N
#define N DATASET(87, 220, 460, 1000, 1600)
#endif
#define _PB_NO POLYBENCH_LOOP_BOUND(NO, no)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int no, DATA_TYPE POLYBENCH_1D(spot, NO, no), DATA_TYPE POLYBENCH_1D(strike, NO, no))
{
    for (int o = 0; o < no; o++) {
        spot[o] = 80 + 40 * UNIT(o, 0);
        strike[o] = 80 + 40 * UNIT(o, 1);
    }
}

static void dump(int no, DATA_TYPE POLYBENCH_1D(price, NO, no))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, price, no);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_binomial_option(int no, int n, DATA_TYPE POLYBENCH_1D(spot, NO, no),
                                   DATA_TYPE POLYBENCH_1D(strike, NO, no),
                                   DATA_TYPE POLYBENCH_2D(value, NO, N + 1, no, n + 1),
                                   DATA_TYPE POLYBENCH_1D(price, NO, no))
{
#pragma scop
    for (int o = 0; o < _PB_NO; o++) {
        DATA_TYPE up = SCALAR_VAL(1.005), down = SCALAR_VAL(0.995), rise = SCALAR_VAL(0.51), discount = SCALAR_VAL(0.99999);
        DATA_TYPE lowest = spot[o];
        for (int i = 0; i < _PB_N; i++)
            lowest *= down;
        DATA_TYPE s = lowest;
        for (int i = 0; i <= _PB_N; i++) {
            value[o][i] = strike[o] > s ? strike[o] - s : SCALAR_VAL(0.0);
            s *= up / down;
        }
        for (int t = _PB_N - 1; t >= 0; t--) {
            lowest /= down;
            s = lowest;
            for (int i = 0; i <= t; i++) {
                DATA_TYPE wait = discount * (rise * value[o][i + 1] + (SCALAR_VAL(1.0) - rise) * value[o][i]);
                DATA_TYPE now = strike[o] - s;
                value[o][i] = wait > now ? wait : now;
                s *= up / down;
            }
        }
        price[o] = value[o][0];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int no = NO, n = N;
    POLYBENCH_1D_ARRAY_DECL(spot, DATA_TYPE, NO, no);
    POLYBENCH_1D_ARRAY_DECL(strike, DATA_TYPE, NO, no);
    POLYBENCH_2D_ARRAY_DECL(value, DATA_TYPE, NO, N + 1, no, n + 1);
    POLYBENCH_1D_ARRAY_DECL(price, DATA_TYPE, NO, no);

    initialize(no, POLYBENCH_ARRAY(spot), POLYBENCH_ARRAY(strike));
    polybench_start_instruments;
    kernel_binomial_option(no, n, POLYBENCH_ARRAY(spot), POLYBENCH_ARRAY(strike), POLYBENCH_ARRAY(value),
                           POLYBENCH_ARRAY(price));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(no, POLYBENCH_ARRAY(price)));
    POLYBENCH_FREE_ARRAY(spot);
    POLYBENCH_FREE_ARRAY(strike);
    POLYBENCH_FREE_ARRAY(value);
    POLYBENCH_FREE_ARRAY(price);
    return 0;
}
