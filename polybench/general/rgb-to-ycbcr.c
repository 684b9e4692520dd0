/* rgb-to-ycbcr: an interleaved 8-bit RGB image as three planes Y, Cb, Cr, the two of colour at half the
   resolution. */
#include "general.h"

#ifndef H
#define H DATASET(28, 110, 340, 1080, 2200)
#endif
#ifndef W
#define W DATASET(50, 190, 610, 1920, 3800)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_3D(rgb, 2 * H, 2 * W, 3, 2 * h, 2 * w, 3))
{
    for (int y = 0; y < 2 * h; y++)
        for (int x = 0; x < 2 * w; x++)
            for (int c = 0; c < 3; c++)
                rgb[y][x][c] = (unsigned char)(noise(y, 3 * x + c) % 256);
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(luma, 2 * H, 2 * W, 2 * h, 2 * w),
                 unsigned char POLYBENCH_2D(cb, H, W, h, w), unsigned char POLYBENCH_2D(cr, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, luma, 2 * h, 2 * w);
    DUMP_2D(INT, cb, h, w);
    DUMP_2D(INT, cr, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_rgb_to_ycbcr(int h, int w, unsigned char POLYBENCH_3D(rgb, 2 * H, 2 * W, 3, 2 * h, 2 * w, 3),
                                unsigned char POLYBENCH_2D(luma, 2 * H, 2 * W, 2 * h, 2 * w),
                                unsigned char POLYBENCH_2D(cb, H, W, h, w),
                                unsigned char POLYBENCH_2D(cr, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < 2 * _PB_H; y++)
        for (int x = 0; x < 2 * _PB_W; x++) {
            int r = rgb[y][x][0], g = rgb[y][x][1], b = rgb[y][x][2];
            luma[y][x] = (unsigned char)(((66 * r + 129 * g + 25 * b + 128) >> 8) + 16);
        }
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            int r = 0, g = 0, b = 0;
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    r += rgb[2 * y + i][2 * x + j][0];
                    g += rgb[2 * y + i][2 * x + j][1];
                    b += rgb[2 * y + i][2 * x + j][2];
                }
            cb[y][x] = (unsigned char)((-38 * r - 74 * g + 112 * b + 512) / 1024 + 128);
            cr[y][x] = (unsigned char)((112 * r - 94 * g - 18 * b + 512) / 1024 + 128);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_3D_ARRAY_DECL(rgb, unsigned char, 2 * H, 2 * W, 3, 2 * h, 2 * w, 3);
    POLYBENCH_2D_ARRAY_DECL(luma, unsigned char, 2 * H, 2 * W, 2 * h, 2 * w);
    POLYBENCH_2D_ARRAY_DECL(cb, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(cr, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(rgb));
    polybench_start_instruments;
    kernel_rgb_to_ycbcr(h, w, POLYBENCH_ARRAY(rgb), POLYBENCH_ARRAY(luma), POLYBENCH_ARRAY(cb), POLYBENCH_ARRAY(cr));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(luma), POLYBENCH_ARRAY(cb), POLYBENCH_ARRAY(cr)));
    POLYBENCH_FREE_ARRAY(rgb);
    POLYBENCH_FREE_ARRAY(luma);
    POLYBENCH_FREE_ARRAY(cb);
    POLYBENCH_FREE_ARRAY(cr);
    return 0;
}
