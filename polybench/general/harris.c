/* harris: response of Harris' corner detector: derivatives, their products, sums of 3 x 3, determinant and trace. */
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
            in[y][x] = (x / 8 + y / 8) % 2 + 0.25f * UNIT(y, x);
            out[y][x] = 0;
        }
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_harris(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                          DATA_TYPE POLYBENCH_2D(xx, H, W, h, w), DATA_TYPE POLYBENCH_2D(xy, H, W, h, w),
                          DATA_TYPE POLYBENCH_2D(yy, H, W, h, w), DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++) {
            DATA_TYPE dx = (in[y - 1][x + 1] - in[y - 1][x - 1]) + SCALAR_VAL(2.0) * (in[y][x + 1] - in[y][x - 1]) + (in[y + 1][x + 1] - in[y + 1][x - 1]);
            DATA_TYPE dy = (in[y + 1][x - 1] - in[y - 1][x - 1]) + SCALAR_VAL(2.0) * (in[y + 1][x] - in[y - 1][x]) + (in[y + 1][x + 1] - in[y - 1][x + 1]);
            xx[y][x] = dx * dx;
            xy[y][x] = dx * dy;
            yy[y][x] = dy * dy;
        }
    for (int y = 2; y < _PB_H - 2; y++)
        for (int x = 2; x < _PB_W - 2; x++) {
            DATA_TYPE a = SCALAR_VAL(0.0), b = SCALAR_VAL(0.0), c = SCALAR_VAL(0.0);
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++) {
                    a += xx[y + i][x + j];
                    b += xy[y + i][x + j];
                    c += yy[y + i][x + j];
                }
            DATA_TYPE trace = a + c;
            out[y][x] = a * c - b * b - SCALAR_VAL(0.04) * trace * trace;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(xx, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(xy, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(yy, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_harris(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(xx), POLYBENCH_ARRAY(xy), POLYBENCH_ARRAY(yy),
                  POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(xx);
    POLYBENCH_FREE_ARRAY(xy);
    POLYBENCH_FREE_ARRAY(yy);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
