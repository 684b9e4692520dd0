/* max-pool: maximum of each 2 x 2 part of many images, and which of the four it was. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NC
#define NC DATASET(11, 28, 59, 128, 200)
#endif
#ifndef H
#define H DATASET(12, 30, 65, 140, 220)
#endif
#ifndef W
#define W DATASET(12, 30, 65, 140, 220)
#endif
#define _PB_NC POLYBENCH_LOOP_BOUND(NC, nc)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int nc, int h, int w, DATA_TYPE POLYBENCH_3D(x, NC, 2 * H, 2 * W, nc, 2 * h, 2 * w))
{
    for (int c = 0; c < nc; c++)
        for (int i = 0; i < 2 * h; i++)
            for (int j = 0; j < 2 * w; j++)
                x[c][i][j] = UNIT(c, i * 1000 + j);
}

static void dump(int nc, int h, int w, DATA_TYPE POLYBENCH_3D(y, NC, H, W, nc, h, w),
                 unsigned char POLYBENCH_3D(which, NC, H, W, nc, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, y, nc, h, w);
    DUMP_3D(INT, which, nc, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_max_pool(int nc, int h, int w, DATA_TYPE POLYBENCH_3D(x, NC, 2 * H, 2 * W, nc, 2 * h, 2 * w),
                            DATA_TYPE POLYBENCH_3D(y, NC, H, W, nc, h, w),
                            unsigned char POLYBENCH_3D(which, NC, H, W, nc, h, w))
{
#pragma scop
    for (int c = 0; c < _PB_NC; c++)
        for (int i = 0; i < _PB_H; i++)
            for (int j = 0; j < _PB_W; j++) {
                DATA_TYPE best = x[c][2 * i][2 * j];
                int at = 0;
                for (int k = 1; k < 4; k++)
                    if (x[c][2 * i + k / 2][2 * j + k % 2] > best) {
                        best = x[c][2 * i + k / 2][2 * j + k % 2];
                        at = k;
                    }
                y[c][i][j] = best;
                which[c][i][j] = (unsigned char)at;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nc = NC, h = H, w = W;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, NC, 2 * H, 2 * W, nc, 2 * h, 2 * w);
    POLYBENCH_3D_ARRAY_DECL(y, DATA_TYPE, NC, H, W, nc, h, w);
    POLYBENCH_3D_ARRAY_DECL(which, unsigned char, NC, H, W, nc, h, w);

    initialize(nc, h, w, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_max_pool(nc, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(which));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nc, h, w, POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(which)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(which);
    return 0;
}
