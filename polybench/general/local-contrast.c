/* local-contrast: each pixel's distance from the mean of its 5 x 5 neighbourhood, in standard deviations. */
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

static void initialize(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w), DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = UNIT(y, x);
            out[y][x] = 0;
        }
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_local_contrast(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                                  DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 2; y < _PB_H - 2; y++)
        for (int x = 2; x < _PB_W - 2; x++) {
            DATA_TYPE sum = SCALAR_VAL(0.0), squares = SCALAR_VAL(0.0);
            for (int i = -2; i <= 2; i++)
                for (int j = -2; j <= 2; j++) {
                    sum += in[y + i][x + j];
                    squares += in[y + i][x + j] * in[y + i][x + j];
                }
            DATA_TYPE mean = sum / SCALAR_VAL(25.0);
            DATA_TYPE variance = squares / SCALAR_VAL(25.0) - mean * mean;
            out[y][x] = (in[y][x] - mean) / SQRT_FUN((variance > SCALAR_VAL(0.0) ? variance : SCALAR_VAL(0.0)) + SCALAR_VAL(0.0001));
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_local_contrast(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
