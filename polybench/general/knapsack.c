/* knapsack: largest value of things that fit into each capacity, taking each at most once. */
#include "general.h"

#ifndef THINGS
#define THINGS DATASET(77, 300, 950, 3000, 6000)
#endif
#ifndef CAPACITY
#define CAPACITY DATASET(260, 1000, 3200, 10000, 20000)
#endif
#define _PB_THINGS POLYBENCH_LOOP_BOUND(THINGS, things)
#define _PB_CAPACITY POLYBENCH_LOOP_BOUND(CAPACITY, capacity)

static void initialize(int things, int POLYBENCH_1D(weight, THINGS, things), int POLYBENCH_1D(value, THINGS, things))
{
    for (int i = 0; i < things; i++) {
        weight[i] = 1 + (int)noise(i, 0) % 100;
        value[i] = 1 + (int)noise(i, 1) % 1000;
    }
}

static void dump(int things, int capacity, int POLYBENCH_2D(best, THINGS + 1, CAPACITY + 1, things + 1, capacity + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, best, things + 1, capacity + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_knapsack(int things, int capacity, int POLYBENCH_1D(weight, THINGS, things),
                            int POLYBENCH_1D(value, THINGS, things),
                            int POLYBENCH_2D(best, THINGS + 1, CAPACITY + 1, things + 1, capacity + 1))
{
#pragma scop
    for (int w = 0; w <= _PB_CAPACITY; w++)
        best[0][w] = 0;
    for (int i = 1; i <= _PB_THINGS; i++)
        for (int w = 0; w <= _PB_CAPACITY; w++) {
            best[i][w] = best[i - 1][w];
            if (weight[i - 1] <= w) {
                int with = best[i - 1][w - weight[i - 1]] + value[i - 1];
                if (with > best[i][w])
                    best[i][w] = with;
            }
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int things = THINGS, capacity = CAPACITY;
    POLYBENCH_1D_ARRAY_DECL(weight, int, THINGS, things);
    POLYBENCH_1D_ARRAY_DECL(value, int, THINGS, things);
    POLYBENCH_2D_ARRAY_DECL(best, int, THINGS + 1, CAPACITY + 1, things + 1, capacity + 1);

    initialize(things, POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(value));
    polybench_start_instruments;
    kernel_knapsack(things, capacity, POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(value), POLYBENCH_ARRAY(best));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(things, capacity, POLYBENCH_ARRAY(best)));
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(value);
    POLYBENCH_FREE_ARRAY(best);
    return 0;
}
