/* grid-path: least cost of a path from the first row of a grid to each cell, each step straight or diagonal, in
   place. */
#include "general.h"

#ifndef H
#define H DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef W
#define W DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, int POLYBENCH_2D(cost, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            cost[y][x] = (int)(noise(y, x) % 100);
}

static void dump(int h, int w, int POLYBENCH_2D(cost, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, cost, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_grid_path(int h, int w, int POLYBENCH_2D(cost, H, W, h, w))
{
#pragma scop
    for (int y = 1; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            int least = cost[y - 1][x];
            if (x > 0 && cost[y - 1][x - 1] < least)
                least = cost[y - 1][x - 1];
            if (x < _PB_W - 1 && cost[y - 1][x + 1] < least)
                least = cost[y - 1][x + 1];
            cost[y][x] += least;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(cost, int, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(cost));
    polybench_start_instruments;
    kernel_grid_path(h, w, POLYBENCH_ARRAY(cost));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(cost)));
    POLYBENCH_FREE_ARRAY(cost);
    return 0;
}
