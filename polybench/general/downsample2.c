/* downsample2: an 8-bit image at half the resolution: the rounded mean of 2 x 2 pixels, in flat arrays. */
#include "general.h"

#ifndef H
#define H DATASET(77, 300, 950, 3000, 6000)
#endif
#ifndef W
#define W DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_1D(in, 4 * H * W, 4 * h * w))
{
    for (int y = 0; y < 2 * h; y++)
        for (int x = 0; x < 2 * w; x++)
            in[y * 2 * w + x] = (unsigned char)(noise(y, x) % 256);
}

static void dump(int h, int w, unsigned char POLYBENCH_1D(out, H * W, h * w))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, out, h * w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_downsample2(int h, int w, unsigned char POLYBENCH_1D(in, 4 * H * W, 4 * h * w),
                               unsigned char POLYBENCH_1D(out, H * W, h * w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            int sum = in[2 * y * (2 * _PB_W) + 2 * x] + in[2 * y * (2 * _PB_W) + 2 * x + 1];
            sum += in[(2 * y + 1) * (2 * _PB_W) + 2 * x] + in[(2 * y + 1) * (2 * _PB_W) + 2 * x + 1];
            out[y * _PB_W + x] = (unsigned char)((sum + 2) >> 2);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_1D_ARRAY_DECL(in, unsigned char, 4 * H * W, 4 * h * w);
    POLYBENCH_1D_ARRAY_DECL(out, unsigned char, H * W, h * w);

    initialize(h, w, POLYBENCH_ARRAY(in));
    polybench_start_instruments;
    kernel_downsample2(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
