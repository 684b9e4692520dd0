/* mandelbrot: how many of 50 iterations of z := z^2 + c stay bounded, for each point of a grid; all are made. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef H
#define H DATASET(13, 50, 160, 500, 1000)
#endif
#ifndef W
#define W DATASET(18, 70, 220, 700, 1400)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(count, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            count[y][x] = 0;
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(count, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, count, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_mandelbrot(int h, int w, unsigned char POLYBENCH_2D(count, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            DATA_TYPE cr = -SCALAR_VAL(2.0) + SCALAR_VAL(3.0) * x / _PB_W, ci = -SCALAR_VAL(1.25) + SCALAR_VAL(2.5) * y / _PB_H;
            DATA_TYPE zr = SCALAR_VAL(0.0), zi = SCALAR_VAL(0.0);
            int n = 0;
            for (int k = 0; k < 50; k++) {
                DATA_TYPE rr = zr * zr, ii = zi * zi;
                if (rr + ii <= SCALAR_VAL(4.0)) {
                    zi = SCALAR_VAL(2.0) * zr * zi + ci;
                    zr = rr - ii + cr;
                    n++;
                }
            }
            count[y][x] = (unsigned char)n;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(count, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(count));
    polybench_start_instruments;
    kernel_mandelbrot(h, w, POLYBENCH_ARRAY(count));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(count)));
    POLYBENCH_FREE_ARRAY(count);
    return 0;
}
