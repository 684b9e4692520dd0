/* average-pool: mean of 3 x 3 pixels at every second position, channels first, where those beyond the border count
   as 0. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NC
#define NC DATASET(22, 55, 120, 256, 410)
#endif
#ifndef H
#define H DATASET(10, 24, 52, 112, 180)
#endif
#ifndef W
#define W DATASET(10, 24, 52, 112, 180)
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

static void dump(int nc, int h, int w, DATA_TYPE POLYBENCH_3D(y, NC, H, W, nc, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, y, nc, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_average_pool(int nc, int h, int w, DATA_TYPE POLYBENCH_3D(x, NC, 2 * H, 2 * W, nc, 2 * h, 2 * w),
                                DATA_TYPE POLYBENCH_3D(y, NC, H, W, nc, h, w))
{
#pragma scop
    for (int c = 0; c < _PB_NC; c++)
        for (int i = 0; i < _PB_H; i++)
            for (int j = 0; j < _PB_W; j++) {
                DATA_TYPE sum = SCALAR_VAL(0.0);
                for (int p = 2 * i - 1; p <= 2 * i + 1; p++)
                    for (int q = 2 * j - 1; q <= 2 * j + 1; q++)
                        if (p >= 0 && q >= 0 && p < 2 * _PB_H && q < 2 * _PB_W)
                            sum += x[c][p][q];
                y[c][i][j] = sum / SCALAR_VAL(9.0);
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nc = NC, h = H, w = W;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, NC, 2 * H, 2 * W, nc, 2 * h, 2 * w);
    POLYBENCH_3D_ARRAY_DECL(y, DATA_TYPE, NC, H, W, nc, h, w);

    initialize(nc, h, w, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_average_pool(nc, h, w, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nc, h, w, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
