/* conv3x3-u8: 3 x 3 convolution of an 8-bit image with integer weights whose sum is 16, rounded and clamped. */
#include "general.h"

#ifndef H
#define H DATASET(110, 430, 1400, 4320, 8600)
#endif
#ifndef W
#define W DATASET(200, 770, 2400, 7680, 15000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w), int POLYBENCH_2D(weight, 3, 3, 3, 3),
                       unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)(noise(y, x) % 256);
            out[y][x] = 0;
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            weight[i][j] = i == 1 && j == 1 ? 24 : -1;
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_conv3x3_u8(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                              int POLYBENCH_2D(weight, 3, 3, 3, 3), unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++) {
            int sum = 8;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    sum += weight[i][j] * in[y + i - 1][x + j - 1];
            sum = sum / 16;
            out[y][x] = (unsigned char)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(weight, int, 3, 3, 3, 3);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, H, W, h, w);

    initialize(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_conv3x3_u8(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
