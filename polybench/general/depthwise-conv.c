/* depthwise-conv: a convolution layer that gives each channel its own 3 x 3 weights, channels last, with a bias
   and clipping to 0 ... 6. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(20, 48, 100, 224, 360)
#endif
#ifndef W
#define W DATASET(20, 48, 100, 224, 360)
#endif
#ifndef NC
#define NC DATASET(8, 21, 45, 96, 150)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)
#define _PB_NC POLYBENCH_LOOP_BOUND(NC, nc)

static void initialize(int h, int w, int nc, DATA_TYPE POLYBENCH_3D(x, H + 2, W + 2, NC, h + 2, w + 2, nc),
                       DATA_TYPE POLYBENCH_3D(weight, 3, 3, NC, 3, 3, nc), DATA_TYPE POLYBENCH_1D(bias, NC, nc))
{
    for (int i = 0; i < h + 2; i++)
        for (int j = 0; j < w + 2; j++)
            for (int c = 0; c < nc; c++)
                x[i][j][c] = 4 * UNIT(i * 500 + j, c) - 1;
    for (int c = 0; c < nc; c++) {
        bias[c] = UNIT(c, 3);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                weight[i][j][c] = UNIT(c, i * 3 + j + 10) - 0.25f;
    }
}

static void dump(int h, int w, int nc, DATA_TYPE POLYBENCH_3D(y, H, W, NC, h, w, nc))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, y, h, w, nc);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_depthwise_conv(int h, int w, int nc, DATA_TYPE POLYBENCH_3D(x, H + 2, W + 2, NC, h + 2, w + 2, nc),
                                  DATA_TYPE POLYBENCH_3D(weight, 3, 3, NC, 3, 3, nc),
                                  DATA_TYPE POLYBENCH_1D(bias, NC, nc), DATA_TYPE POLYBENCH_3D(y, H, W, NC, h, w, nc))
{
#pragma scop
    for (int i = 0; i < _PB_H; i++)
        for (int j = 0; j < _PB_W; j++)
            for (int c = 0; c < _PB_NC; c++) {
                DATA_TYPE sum = bias[c];
                for (int p = 0; p < 3; p++)
                    for (int q = 0; q < 3; q++)
                        sum += x[i + p][j + q][c] * weight[p][q][c];
                y[i][j][c] = sum < SCALAR_VAL(0.0) ? SCALAR_VAL(0.0) : sum > SCALAR_VAL(6.0) ? SCALAR_VAL(6.0) : sum;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W, nc = NC;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, H + 2, W + 2, NC, h + 2, w + 2, nc);
    POLYBENCH_3D_ARRAY_DECL(weight, DATA_TYPE, 3, 3, NC, 3, 3, nc);
    POLYBENCH_1D_ARRAY_DECL(bias, DATA_TYPE, NC, nc);
    POLYBENCH_3D_ARRAY_DECL(y, DATA_TYPE, H, W, NC, h, w, nc);

    initialize(h, w, nc, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(bias));
    polybench_start_instruments;
    kernel_depthwise_conv(h, w, nc, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(bias),
                          POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, nc, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(bias);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
