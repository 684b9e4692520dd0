/* bilateral: 5 x 5 bilateral filter of an 8-bit image: weights by distance, times weights by difference that are
   looked up. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(15, 60, 190, 600, 1200)
#endif
#ifndef W
#define W DATASET(21, 80, 250, 800, 1600)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                       DATA_TYPE POLYBENCH_2D(near, 5, 5, 5, 5), DATA_TYPE POLYBENCH_1D(alike, 256, 256),
                       unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)((x + y) % 160 + noise(y, x) % 64);
            out[y][x] = in[y][x];
        }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            near[i][j] = (DATA_TYPE)1 / (1 + (i - 2) * (i - 2) + (j - 2) * (j - 2));
    for (int d = 0; d < 256; d++)
        alike[d] = (DATA_TYPE)100 / (100 + d * d);
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_bilateral(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                             DATA_TYPE POLYBENCH_2D(near, 5, 5, 5, 5), DATA_TYPE POLYBENCH_1D(alike, 256, 256),
                             unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 2; y < _PB_H - 2; y++)
        for (int x = 2; x < _PB_W - 2; x++) {
            DATA_TYPE sum = SCALAR_VAL(0.0), total = SCALAR_VAL(0.0);
            for (int i = -2; i <= 2; i++)
                for (int j = -2; j <= 2; j++) {
                    int difference = in[y + i][x + j] - in[y][x];
                    DATA_TYPE weight = near[i + 2][j + 2] * alike[difference < 0 ? -difference : difference];
                    sum += weight * in[y + i][x + j];
                    total += weight;
                }
            out[y][x] = (unsigned char)(sum / total + SCALAR_VAL(0.5));
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(near, DATA_TYPE, 5, 5, 5, 5);
    POLYBENCH_1D_ARRAY_DECL(alike, DATA_TYPE, 256, 256);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(near), POLYBENCH_ARRAY(alike), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_bilateral(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(near), POLYBENCH_ARRAY(alike), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(near);
    POLYBENCH_FREE_ARRAY(alike);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
