/* integral-image: sums of all pixels above and to the left, for an 8-bit image. */
#include "general.h"

#ifndef H
#define H DATASET(56, 220, 680, 2160, 4300)
#endif
#ifndef W
#define W DATASET(99, 380, 1200, 3840, 7700)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = (unsigned char)(noise(y, x) % 256);
}

static void dump(int h, int w, unsigned POLYBENCH_2D(sum, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, sum, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_integral_image(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                                  unsigned POLYBENCH_2D(sum, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++) {
        unsigned row = 0;
        for (int x = 0; x < _PB_W; x++) {
            row += in[y][x];
            sum[y][x] = y > 0 ? sum[y - 1][x] + row : row;
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(sum, unsigned, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in));
    polybench_start_instruments;
    kernel_integral_image(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(sum));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(sum)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(sum);
    return 0;
}
