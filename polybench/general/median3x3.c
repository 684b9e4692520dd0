/* median3x3: median of 3 x 3 pixels of an 8-bit image, by a network of minima and maxima. */
#include "general.h"

#ifndef H
#define H DATASET(140, 540, 1700, 5400, 11000)
#endif
#ifndef W
#define W DATASET(250, 960, 3000, 9600, 19000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))
/* a and b in order */
#define ORDER(a, b)                        \
    do {                                   \
        unsigned char smaller = MIN(a, b); \
        b = MAX(a, b);                     \
        a = smaller;                       \
    } while (0)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                       unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)(noise(y, x) % 256);
            out[y][x] = in[y][x];
        }
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_median3x3(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                             unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++) {
            unsigned char p0 = in[y - 1][x - 1], p1 = in[y - 1][x], p2 = in[y - 1][x + 1];
            unsigned char p3 = in[y][x - 1], p4 = in[y][x], p5 = in[y][x + 1];
            unsigned char p6 = in[y + 1][x - 1], p7 = in[y + 1][x], p8 = in[y + 1][x + 1];
            ORDER(p0, p1);
            ORDER(p1, p2);
            ORDER(p0, p1);
            ORDER(p3, p4);
            ORDER(p4, p5);
            ORDER(p3, p4);
            ORDER(p6, p7);
            ORDER(p7, p8);
            ORDER(p6, p7);
            /* the largest of the least, the middle of the middle, the least of the largest */
            unsigned char low = MAX(MAX(p0, p3), p6), high = MIN(MIN(p2, p5), p8);
            ORDER(p1, p4);
            unsigned char middle = MAX(p1, MIN(p4, p7));
            ORDER(low, middle);
            out[y][x] = MAX(low, MIN(middle, high));
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_median3x3(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
