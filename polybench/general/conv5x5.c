/* conv5x5: 5 x 5 convolution of a grey image of floats; the border of two pixels stays. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(83, 320, 1000, 3200, 6400)
#endif
#ifndef W
#define W DATASET(120, 480, 1500, 4800, 9600)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                       DATA_TYPE POLYBENCH_2D(weight, 5, 5, 5, 5), DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = UNIT(y, x);
            out[y][x] = in[y][x];
        }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            weight[i][j] = (DATA_TYPE)(1 + i * (4 - i) + j * (4 - j)) / 125;
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_conv5x5(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                           DATA_TYPE POLYBENCH_2D(weight, 5, 5, 5, 5), DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 2; y < _PB_H - 2; y++)
        for (int x = 2; x < _PB_W - 2; x++) {
            DATA_TYPE sum = SCALAR_VAL(0.0);
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < 5; j++)
                    sum += weight[i][j] * in[y + i - 2][x + j - 2];
            out[y][x] = sum;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(weight, DATA_TYPE, 5, 5, 5, 5);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_conv5x5(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
