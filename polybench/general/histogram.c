/* histogram: how often each of the 256 grey levels occurs in an 8-bit image, and the levels' cumulative numbers. */
#include "general.h"

#ifndef H
#define H DATASET(110, 430, 1400, 4320, 8600)
#endif
#ifndef W
#define W DATASET(200, 770, 2400, 7680, 15000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = (unsigned char)((noise(y, x) % 256 + noise(x, y) % 256) / 2);
}

static void dump(int POLYBENCH_1D(count, 256, 256), int POLYBENCH_1D(cumulative, 256, 256))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, count, 256);
    DUMP_1D(INT, cumulative, 256);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_histogram(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                             int POLYBENCH_1D(count, 256, 256), int POLYBENCH_1D(cumulative, 256, 256))
{
#pragma scop
    for (int v = 0; v < 256; v++)
        count[v] = 0;
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++)
            count[in[y][x]]++;
    cumulative[0] = count[0];
    for (int v = 1; v < 256; v++)
        cumulative[v] = cumulative[v - 1] + count[v];
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_1D_ARRAY_DECL(count, int, 256, 256);
    POLYBENCH_1D_ARRAY_DECL(cumulative, int, 256, 256);

    initialize(h, w, POLYBENCH_ARRAY(in));
    polybench_start_instruments;
    kernel_histogram(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(count), POLYBENCH_ARRAY(cumulative));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(POLYBENCH_ARRAY(count), POLYBENCH_ARRAY(cumulative)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(count);
    POLYBENCH_FREE_ARRAY(cumulative);
    return 0;
}
