/* life: Conway's game of life on bytes, in two grids in turn, with dead cells around. */
#include "general.h"

#ifndef NT
#define NT DATASET(4, 10, 20, 40, 80)
#endif
#ifndef H
#define H DATASET(87, 220, 460, 1000, 1600)
#endif
#ifndef W
#define W DATASET(100, 260, 560, 1200, 1900)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(cell, H + 2, W + 2, h + 2, w + 2),
                       unsigned char POLYBENCH_2D(next, H + 2, W + 2, h + 2, w + 2))
{
    for (int y = 0; y < h + 2; y++)
        for (int x = 0; x < w + 2; x++) {
            cell[y][x] = y > 0 && x > 0 && y <= h && x <= w && noise(y, x) % 3 == 0;
            next[y][x] = 0;
        }
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(cell, H + 2, W + 2, h + 2, w + 2))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, cell, h + 2, w + 2);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_life(int nt, int h, int w, unsigned char POLYBENCH_2D(cell, H + 2, W + 2, h + 2, w + 2),
                        unsigned char POLYBENCH_2D(next, H + 2, W + 2, h + 2, w + 2))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int y = 1; y <= _PB_H; y++)
            for (int x = 1; x <= _PB_W; x++) {
                int alive = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++)
                        if (dy != 0 || dx != 0)
                            alive += cell[y + dy][x + dx];
                next[y][x] = alive == 3 || (alive == 2 && cell[y][x]);
            }
        for (int y = 1; y <= _PB_H; y++)
            for (int x = 1; x <= _PB_W; x++)
                cell[y][x] = next[y][x];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(cell, unsigned char, H + 2, W + 2, h + 2, w + 2);
    POLYBENCH_2D_ARRAY_DECL(next, unsigned char, H + 2, W + 2, h + 2, w + 2);

    initialize(h, w, POLYBENCH_ARRAY(cell), POLYBENCH_ARRAY(next));
    polybench_start_instruments;
    kernel_life(nt, h, w, POLYBENCH_ARRAY(cell), POLYBENCH_ARRAY(next));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(cell)));
    POLYBENCH_FREE_ARRAY(cell);
    POLYBENCH_FREE_ARRAY(next);
    return 0;
}
