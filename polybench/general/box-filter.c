/* box-filter: mean of 7 x 7 pixels of an 8-bit image: sums of columns that slide along the row. */
#include "general.h"

#ifndef H
#define H DATASET(56, 220, 680, 2160, 4300)
#endif
#ifndef W
#define W DATASET(99, 380, 1200, 3840, 7700)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                       unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)(noise(y, x) % 256);
            out[y][x] = 0;
        }
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_box_filter(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                              int POLYBENCH_1D(column, W, w), unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 3; y < _PB_H - 3; y++) {
        for (int x = 0; x < _PB_W; x++) {
            column[x] = 0;
            for (int k = -3; k <= 3; k++)
                column[x] += in[y + k][x];
        }
        int sum = 0;
        for (int x = 0; x < 6; x++)
            sum += column[x];
        for (int x = 3; x < _PB_W - 3; x++) {
            sum += column[x + 3];
            out[y][x] = (unsigned char)((sum + 24) / 49);
            sum -= column[x - 3];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_1D_ARRAY_DECL(column, int, W, w);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_box_filter(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(column), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(column);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
