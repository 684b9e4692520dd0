/* sobel: magnitude of the gradient of an 8-bit image by Sobel's operators, as the sum of absolute values, clamped. */
#include "general.h"

#ifndef H
#define H DATASET(140, 540, 1700, 5400, 11000)
#endif
#ifndef W
#define W DATASET(250, 960, 3000, 9600, 19000)
#endif
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                       unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            in[y][x] = (unsigned char)((x * 3 + y * 2) % 200 + noise(y, x) % 56);
            out[y][x] = 0;
        }
}

static void dump(int h, int w, unsigned char POLYBENCH_2D(out, H, W, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, out, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_sobel(int h, int w, unsigned char POLYBENCH_2D(in, H, W, h, w),
                         unsigned char POLYBENCH_2D(out, H, W, h, w))
{
#pragma scop
    for (int y = 1; y < _PB_H - 1; y++) {
        for (int x = 1; x < _PB_W - 1; x++) {
            int gx = in[y - 1][x + 1] + 2 * in[y][x + 1] + in[y + 1][x + 1] - in[y - 1][x - 1] - 2 * in[y][x - 1] - in[y + 1][x - 1];
            int gy = in[y + 1][x - 1] + 2 * in[y + 1][x] + in[y + 1][x + 1] - in[y - 1][x - 1] - 2 * in[y - 1][x] - in[y - 1][x + 1];
            int magnitude = (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
            out[y][x] = (unsigned char)(magnitude > 255 ? 255 : magnitude);
        }
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
    kernel_sobel(h, w, POLYBENCH_ARRAY(in), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(in);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
