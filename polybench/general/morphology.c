/* morphology: a thresholded 8-bit image, opened: eroded, then dilated, by a square of 3 x 3. */
#include "general.h"

#ifndef H
#define H DATASET(110, 430, 1400, 4320, 8600)
#endif
#ifndef W
#define W DATASET(200, 770, 2400, 7680, 15000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, int *level, unsigned char POLYBENCH_2D(in, H, W, h, w),
                       unsigned char POLYBENCH_2D(eroded, H, W, h, w), unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    *level = 48;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)(noise(y, x) % 256);
            eroded[y][x] = 0;
            out[y][x] = 0;
        }
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_morphology(int h, int w, int level, unsigned char POLYBENCH_2D(in, H, W, h, w),
                              unsigned char POLYBENCH_2D(binary, H, W, h, w),
                              unsigned char POLYBENCH_2D(eroded, H, W, h, w),
                              unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 0; y < _PB_H; y++)
        for (int x = 0; x < _PB_W; x++)
            binary[y][x] = in[y][x] >= level ? 255 : 0;
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++) {
            unsigned char least = 255;
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++)
                    if (binary[y + i][x + j] < least)
                        least = binary[y + i][x + j];
            eroded[y][x] = least;
        }
    for (int y = 1; y < _PB_H - 1; y++)
        for (int x = 1; x < _PB_W - 1; x++) {
            unsigned char most = 0;
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++)
                    if (eroded[y + i][x + j] > most)
                        most = eroded[y + i][x + j];
            out[y][x] = most;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int h = H, w = W;
    int level;
    POLYBENCH_2D_ARRAY_DECL(in, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(binary, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(eroded, unsigned char, H, W, h, w);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, H, W, h, w);

    initialize(h, w, &level, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(eroded), POLYBENCH_ARRAY(out));
    polybench_start_instruments;
    kernel_morphology(h, w, level, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(binary), POLYBENCH_ARRAY(eroded),
                      POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(binary);
    POLYBENCH_FREE_ARRAY(eroded);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
