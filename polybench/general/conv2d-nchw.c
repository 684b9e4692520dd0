/* conv2d-nchw: a convolution layer of 3 x 3 weights over a batch of images, channels first. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(2, 2, 3, 4, 8)
#endif
#ifndef NC
#define NC DATASET(3, 12, 20, 32, 48)
#endif
#ifndef NF
#define NF DATASET(4, 12, 20, 32, 48)
#endif
#ifndef H
#define H DATASET(6, 20, 36, 56, 56)
#endif
#ifndef W
#define W DATASET(7, 20, 36, 56, 56)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NC POLYBENCH_LOOP_BOUND(NC, nc)
#define _PB_NF POLYBENCH_LOOP_BOUND(NF, nf)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int nb, int nc, int nf, int h, int w,
                       DATA_TYPE POLYBENCH_4D(x, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2),
                       DATA_TYPE POLYBENCH_4D(weight, NF, NC, 3, 3, nf, nc, 3, 3))
{
    for (int b = 0; b < nb; b++)
        for (int c = 0; c < nc; c++)
            for (int i = 0; i < h + 2; i++)
                for (int j = 0; j < w + 2; j++)
                    x[b][c][i][j] = i == 0 || j == 0 || i == h + 1 || j == w + 1 ? 0 : UNIT(b * 100 + c, i * 100 + j) - 0.5f;
    for (int f = 0; f < nf; f++)
        for (int c = 0; c < nc; c++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    weight[f][c][i][j] = UNIT(f, c * 9 + i * 3 + j) - 0.5f;
}

static void dump(int nb, int nf, int h, int w, DATA_TYPE POLYBENCH_4D(y, NB, NF, H, W, nb, nf, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_4D(REAL, y, nb, nf, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_conv2d_nchw(int nb, int nc, int nf, int h, int w,
                               DATA_TYPE POLYBENCH_4D(x, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2),
                               DATA_TYPE POLYBENCH_4D(weight, NF, NC, 3, 3, nf, nc, 3, 3),
                               DATA_TYPE POLYBENCH_4D(y, NB, NF, H, W, nb, nf, h, w))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++)
        for (int f = 0; f < _PB_NF; f++)
            for (int i = 0; i < _PB_H; i++)
                for (int j = 0; j < _PB_W; j++) {
                    DATA_TYPE sum = SCALAR_VAL(0.0);
                    for (int c = 0; c < _PB_NC; c++)
                        for (int p = 0; p < 3; p++)
                            for (int q = 0; q < 3; q++)
                                sum += x[b][c][i + p][j + q] * weight[f][c][p][q];
                    y[b][f][i][j] = sum;
                }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, nc = NC, nf = NF, h = H, w = W;
    POLYBENCH_4D_ARRAY_DECL(x, DATA_TYPE, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2);
    POLYBENCH_4D_ARRAY_DECL(weight, DATA_TYPE, NF, NC, 3, 3, nf, nc, 3, 3);
    POLYBENCH_4D_ARRAY_DECL(y, DATA_TYPE, NB, NF, H, W, nb, nf, h, w);

    initialize(nb, nc, nf, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight));
    polybench_start_instruments;
    kernel_conv2d_nchw(nb, nc, nf, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, nf, h, w, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
