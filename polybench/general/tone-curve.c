/* tone-curve: an 8-bit image through a table of 256 levels, after its contrast was stretched. */
#include "general.h"

#ifndef H
#define H DATASET(110, 430, 1400, 4320, 8600)
#endif
#ifndef W
#define W DATASET(200, 770, 2400, 7680, 15000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, int *black, int *white, unsigned char POLYBENCH_1D(curve, 256, 256),
                       unsigned char POLYBENCH_2D(image, H, W, h, w))
{
    *black = 20;
    *white = 235;
    for (int v = 0; v < 256; v++)
        curve[v] = (unsigned char)(v * v / 255);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            image[y][x] = (unsigned char)(noise(y, x) % 256);
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(image, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, image, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_tone_curve(int h, int w, int black, int white, unsigned char POLYBENCH_1D(curve, 256, 256),
                              unsigned char POLYBENCH_2D(image, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++) {
            int v = (image[y][x] - black) * 255 / (white - black);
            if (v < 0)
                v = 0;
            if (v > 255)
                v = 255;
            image[y][x] = curve[v];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    int black;
    int white;
    POLYBENCH_1D_ARRAY_DECL(curve, unsigned char, 256, 256);
    POLYBENCH_2D_ARRAY_DECL(image, unsigned char, H, W, h, w);

    initialize(h, w, &black, &white, POLYBENCH_ARRAY(curve), POLYBENCH_ARRAY(image));
    polybench_start_instruments;
    kernel_tone_curve(h, w, black, white, POLYBENCH_ARRAY(curve), POLYBENCH_ARRAY(image));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(image)));
    POLYBENCH_FREE_ARRAY(curve);
    POLYBENCH_FREE_ARRAY(image);
    return 0;
}
