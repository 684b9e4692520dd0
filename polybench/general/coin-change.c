/* coin-change: in how many ways, modulo 2^32, each sum can be paid with coins. */
#include "general.h"

#ifndef COINS
#define COINS DATASET(5, 40, 100, 200, 400)
#endif
#ifndef SUM
#define SUM DATASET(200, 10000, 40000, 200000, 400000)
#endif
#define _PB_COINS POLYBENCH_LOOP_BOUND(COINS, coins)
#define _PB_SUM POLYBENCH_LOOP_BOUND(SUM, sum)

static void initialize(int coins, int POLYBENCH_1D(coin, COINS, coins))
{
    for (int c = 0; c < coins; c++)
        coin[c] = 1 + c + (int)noise(c, 0) % 50;
}

static void dump(int sum, unsigned POLYBENCH_1D(ways, SUM + 1, sum + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, ways, sum + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_coin_change(int coins, int sum, int POLYBENCH_1D(coin, COINS, coins),
                               unsigned POLYBENCH_1D(ways, SUM + 1, sum + 1))
{
    int c, s;

#pragma scop
    ways[0] = 1;
    for (s = 1; s <= _PB_SUM; s++)
        ways[s] = 0;
    for (c = 0; c < _PB_COINS; c++)
        for (s = coin[c]; s <= _PB_SUM; s++)
            ways[s] += ways[s - coin[c]];
#pragma endscop
}

int main(int argc, char **argv)
{
    int coins = COINS, sum = SUM;
    POLYBENCH_1D_ARRAY_DECL(coin, int, COINS, coins);
    POLYBENCH_1D_ARRAY_DECL(ways, unsigned, SUM + 1, sum + 1);

    initialize(coins, POLYBENCH_ARRAY(coin));
    polybench_start_instruments;
    kernel_coin_change(coins, sum, POLYBENCH_ARRAY(coin), POLYBENCH_ARRAY(ways));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(sum, POLYBENCH_ARRAY(ways)));
    POLYBENCH_FREE_ARRAY(coin);
    POLYBENCH_FREE_ARRAY(ways);
    return 0;
}
