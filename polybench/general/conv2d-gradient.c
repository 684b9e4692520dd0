/* conv2d-gradient: gradient of a convolution layer with respect to its 3 x 3 weights, channels first. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(2, 2, 4, 8, 16)
#endif
#ifndef NC
#define NC DATASET(3, 12, 20, 32, 32)
#endif
#ifndef NF
#define NF DATASET(4, 12, 20, 32, 64)
#endif
#ifndef H
#define H DATASET(6, 16, 22, 32, 32)
#endif
#ifndef W
#define W DATASET(7, 16, 22, 32, 32)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NC POLYBENCH_LOOP_BOUND(NC, nc)
#define _PB_NF POLYBENCH_LOOP_BOUND(NF, nf)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int nb, int nc, int nf, int h, int w,
                       DATA_TYPE POLYBENCH_4D(x, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2),
                       DATA_TYPE POLYBENCH_4D(dy, NB, NF, H, W, nb, nf, h, w))
{
    for (int b = 0; b < nb; b++) {
        for (int c = 0; c < nc; c++)
            for (int i = 0; i < h + 2; i++)
                for (int j = 0; j < w + 2; j++)
                    x[b][c][i][j] = UNIT(b * 100 + c, i * 100 + j) - 0.5f;
        for (int f = 0; f < nf; f++)
            for (int i = 0; i < h; i++)
                for (int j = 0; j < w; j++)
                    dy[b][f][i][j] = UNIT(b * 100 + f + 50, i * 100 + j) - 0.5f;
    }
}

static void dump(int nc, int nf, DATA_TYPE POLYBENCH_4D(dweight, NF, NC, 3, 3, nf, nc, 3, 3))
{
    POLYBENCH_DUMP_START;
    DUMP_4D(REAL, dweight, nf, nc, 3, 3);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_conv2d_gradient(int nb, int nc, int nf, int h, int w,
                                   DATA_TYPE POLYBENCH_4D(x, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2),
                                   DATA_TYPE POLYBENCH_4D(dy, NB, NF, H, W, nb, nf, h, w),
                                   DATA_TYPE POLYBENCH_4D(dweight, NF, NC, 3, 3, nf, nc, 3, 3))
{
    int b, f, c, i, j, p, q;

#pragma scop
    for (f = 0; f < _PB_NF; f++)
        for (c = 0; c < _PB_NC; c++)
            for (p = 0; p < 3; p++)
                for (q = 0; q < 3; q++) {
                    dweight[f][c][p][q] = SCALAR_VAL(0.0);
                    for (b = 0; b < _PB_NB; b++)
                        for (i = 0; i < _PB_H; i++)
                            for (j = 0; j < _PB_W; j++)
                                dweight[f][c][p][q] += x[b][c][i + p][j + q] * dy[b][f][i][j];
                }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, nc = NC, nf = NF, h = H, w = W;
    POLYBENCH_4D_ARRAY_DECL(x, DATA_TYPE, NB, NC, H + 2, W + 2, nb, nc, h + 2, w + 2);
    POLYBENCH_4D_ARRAY_DECL(dy, DATA_TYPE, NB, NF, H, W, nb, nf, h, w);
    POLYBENCH_4D_ARRAY_DECL(dweight, DATA_TYPE, NF, NC, 3, 3, nf, nc, 3, 3);

    initialize(nb, nc, nf, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(dy));
    polybench_start_instruments;
    kernel_conv2d_gradient(nb, nc, nf, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(dy), POLYBENCH_ARRAY(dweight));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nc, nf, POLYBENCH_ARRAY(dweight)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(dy);
    POLYBENCH_FREE_ARRAY(dweight);
    return 0;
}
