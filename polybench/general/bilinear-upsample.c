/* bilinear-upsample: an image of floats at twice the resolution, each new pixel weighted from its four neighbours. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(28, 110, 340, 1080, 2200)
#endif
#ifndef W
#define W DATASET(50, 190, 610, 1920, 3800)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                       DATA_TYPE POLYBENCH_2D(out, 2 * H, 2 * W, 2 * h, 2 * w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = UNIT(y, x);
    for (int y = 0; y < 2 * h; y++)
        for (int x = 0; x < 2 * w; x++)
            out[y][x] = 0;
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(out, 2 * H, 2 * W, 2 * h, 2 * w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, 2 * h, 2 * w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_bilinear_upsample(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                                     DATA_TYPE POLYBENCH_2D(out, 2 * H, 2 * W, 2 * h, 2 * w))
{
#pragma scop
    for (int y = 0; y < 2 * _PB_H - 2; y++)
        for (int x = 0; x < 2 * _PB_W - 2; x++) {
            int y0 = y / 2, x0 = x / 2;
            DATA_TYPE fy = SCALAR_VAL(0.5) * (y % 2), fx = SCALAR_VAL(0.5) * (x % 2);
            DATA_TYPE top = in[y0][x0] + fx * (in[y0][x0 + 1] - in[y0][x0]);
            DATA_TYPE bottom = in[y0 + 1][x0] + fx * (in[y0 + 1][x0 + 1] - in[y0 + 1][x0]);
            out[y][x] = top + fy * (bottom - top);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, 2 * H, 2 * W, 2 * h, 2 * w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_bilinear_upsample(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
