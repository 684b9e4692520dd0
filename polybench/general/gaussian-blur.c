/* gaussian-blur: separable 5-tap blur: along the rows into an intermediate image, then along its columns; pixels
   beyond the border count as those at it. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(56, 220, 680, 2160, 4300)
#endif
#ifndef W
#define W DATASET(99, 380, 1200, 3840, 7700)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = UNIT(y, x);
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_gaussian_blur(int h, int w, DATA_TYPE POLYBENCH_2D(in, H, W, h, w),
                                 DATA_TYPE POLYBENCH_2D(rows, H, W, h, w), DATA_TYPE POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            int l2 = x < 2 ? 0 : x - 2, l1 = x < 1 ? 0 : x - 1;
            int r1 = x > _PB_W - 2 ? _PB_W - 1 : x + 1, r2 = x > _PB_W - 3 ? _PB_W - 1 : x + 2;
            rows[y][x] = SCALAR_VAL(0.0625) * (in[y][l2] + in[y][r2]) + SCALAR_VAL(0.25) * (in[y][l1] + in[y][r1]) + SCALAR_VAL(0.375) * in[y][x];
        }
    for (int y = 0; y < _PB_H; y++) {
        int u2 = y < 2 ? 0 : y - 2, u1 = y < 1 ? 0 : y - 1;
        int d1 = y > _PB_H - 2 ? _PB_H - 1 : y + 1, d2 = y > _PB_H - 3 ? _PB_H - 1 : y + 2;
        for (int x = 0; x < _PB_W; x++)
            out[y][x] = SCALAR_VAL(0.0625) * (rows[u2][x] + rows[d2][x]) + SCALAR_VAL(0.25) * (rows[u1][x] + rows[d1][x]) + SCALAR_VAL(0.375) * rows[y][x];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(rows, DATA_TYPE, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in));
    polybench_start_instruments;
    kernel_gaussian_blur(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(rows), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(rows);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
