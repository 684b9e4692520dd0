/* haar: one level of the two-dimensional Haar transform: sums and differences of neighbours along the rows, then
   along the columns. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(26, 100, 320, 1000, 2000)
#endif
#ifndef W
#define W DATASET(39, 150, 470, 1500, 3000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE POLYBENCH_2D(image, 2 * H, 2 * W, 2 * h, 2 * w))
{
    for (int i = 0; i < 2 * h; i++)
        for (int j = 0; j < 2 * w; j++)
            image[i][j] = UNIT(i, j);
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(image, 2 * H, 2 * W, 2 * h, 2 * w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, image, 2 * h, 2 * w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_haar(int h, int w, DATA_TYPE POLYBENCH_2D(image, 2 * H, 2 * W, 2 * h, 2 * w),
                        DATA_TYPE POLYBENCH_2D(rows, 2 * H, 2 * W, 2 * h, 2 * w))
{
    int i, j;

#pragma scop
    for (i = 0; i < 2 * _PB_H; i++)
        for (j = 0; j < _PB_W; j++) {
            rows[i][j] = SCALAR_VAL(0.5) * (image[i][2 * j] + image[i][2 * j + 1]);
            rows[i][j + _PB_W] = SCALAR_VAL(0.5) * (image[i][2 * j] - image[i][2 * j + 1]);
        }
    for (i = 0; i < _PB_H; i++)
        for (j = 0; j < 2 * _PB_W; j++) {
            image[i][j] = SCALAR_VAL(0.5) * (rows[2 * i][j] + rows[2 * i + 1][j]);
            image[i + _PB_H][j] = SCALAR_VAL(0.5) * (rows[2 * i][j] - rows[2 * i + 1][j]);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(image, DATA_TYPE, 2 * H, 2 * W, 2 * h, 2 * w);
    POLYBENCH_2D_ARRAY_DECL(rows, DATA_TYPE, 2 * H, 2 * W, 2 * h, 2 * w);

    initialize(h, w, POLYBENCH_ARRAY(image));
    polybench_start_instruments;
    kernel_haar(h, w, POLYBENCH_ARRAY(image), POLYBENCH_ARRAY(rows));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(image)));
    POLYBENCH_FREE_ARRAY(image);
    POLYBENCH_FREE_ARRAY(rows);
    return 0;
}
