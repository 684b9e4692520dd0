/* unsharp-mask: an interleaved image of floats sharpened by its difference from a blurred copy, where that is
   large enough. */
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

static void initialize(int h, int w, DATA_TYPE *amount, DATA_TYPE *threshold,
                       DATA_TYPE POLYBENCH_3D(in, H, W, 3, h, w, 3), DATA_TYPE POLYBENCH_3D(blur, H, W, 3, h, w, 3))
{
    *amount = 1.5;
    *threshold = 0.05;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < 3; c++) {
                in[y][x][c] = UNIT(y, 3 * x + c);
                blur[y][x][c] = in[y][x][c];
            }
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_3D(out, H, W, 3, h, w, 3))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, out, h, w, 3);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_unsharp_mask(int h, int w, DATA_TYPE amount, DATA_TYPE threshold,
                                DATA_TYPE POLYBENCH_3D(in, H, W, 3, h, w, 3),
                                DATA_TYPE POLYBENCH_3D(blur, H, W, 3, h, w, 3),
                                DATA_TYPE POLYBENCH_3D(out, H, W, 3, h, w, 3))
{
#pragma scop
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++)
            for (int c = 0; c < 3; c++)
                blur[y][x][c] = SCALAR_VAL(0.25) * in[y][x][c] + SCALAR_VAL(0.125) * (in[y - 1][x][c] + in[y + 1][x][c] + in[y][x - 1][c] + in[y][x + 1][c])
                                + SCALAR_VAL(0.0625) * (in[y - 1][x - 1][c] + in[y - 1][x + 1][c] + in[y + 1][x - 1][c] + in[y + 1][x + 1][c]);
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++)
            for (int c = 0; c < 3; c++) {
                DATA_TYPE difference = in[y][x][c] - blur[y][x][c];
                if (difference > threshold || difference < -threshold)
                    out[y][x][c] = in[y][x][c] + amount * difference;
                else
                    out[y][x][c] = in[y][x][c];
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    DATA_TYPE amount;
    DATA_TYPE threshold;
    POLYBENCH_3D_ARRAY_DECL(in, DATA_TYPE, H, W, 3, h, w, 3);
    POLYBENCH_3D_ARRAY_DECL(blur, DATA_TYPE, H, W, 3, h, w, 3);
    POLYBENCH_3D_ARRAY_DECL(out, DATA_TYPE, H, W, 3, h, w, 3);

    initialize(h, w, &amount, &threshold, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(blur));
    polybench_start_instruments;
    kernel_unsharp_mask(h, w, amount, threshold, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(blur), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(blur);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
