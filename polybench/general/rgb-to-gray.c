/* rgb-to-gray: luminance of an interleaved 8-bit RGB image in a flat array, with weights in 256ths. */
#include "general.h"

#ifndef H
#define H DATASET(110, 430, 1400, 4320, 8600)
#endif
#ifndef W
#define W DATASET(200, 770, 2400, 7680, 15000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_1D(rgb, 3 * H * W, 3 * h * w))
{
    for (int p = 0; p < 3 * h * w; p++)
        rgb[p] = (unsigned char)(noise(p, 0) % 256);
}

static void dump(int h, int w, unsigned char POLYBENCH_1D(gray, H * W, h * w))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, gray, h * w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_rgb_to_gray(int h, int w, unsigned char POLYBENCH_1D(rgb, 3 * H * W, 3 * h * w),
                               unsigned char POLYBENCH_1D(gray, H * W, h * w))
{
    int i;

#pragma scop
    for (i = 0; i < _PB_H * _PB_W; i++)
        gray[i] = (unsigned char)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8);
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_1D_ARRAY_DECL(rgb, unsigned char, 3 * H * W, 3 * h * w);
    POLYBENCH_1D_ARRAY_DECL(gray, unsigned char, H * W, h * w);

    initialize(h, w, POLYBENCH_ARRAY(rgb));
    polybench_start_instruments;
    kernel_rgb_to_gray(h, w, POLYBENCH_ARRAY(rgb), POLYBENCH_ARRAY(gray));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(gray)));
    POLYBENCH_FREE_ARRAY(rgb);
    POLYBENCH_FREE_ARRAY(gray);
    return 0;
}
