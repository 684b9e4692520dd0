/* alpha-blend: one interleaved 8-bit RGBA image laid over another, in place, in flat arrays. */
#include "general.h"

#ifndef N
#define N DATASET(5300, 80000, 800000, 8000000, 32000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, unsigned char POLYBENCH_1D(front, 4 * N, 4 * n),
                       unsigned char POLYBENCH_1D(back, 4 * N, 4 * n))
{
    for (int p = 0; p < 4 * n; p++) {
        front[p] = (unsigned char)(noise(p, 1) % 256);
        back[p] = (unsigned char)(noise(p, 2) % 256);
    }
}

static void dump(int n, unsigned char POLYBENCH_1D(back, 4 * N, 4 * n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, back, 4 * n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_alpha_blend(int n, unsigned char POLYBENCH_1D(front, 4 * N, 4 * n),
                               unsigned char POLYBENCH_1D(back, 4 * N, 4 * n))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        int alpha = front[4 * p + 3];
        for (int c = 0; c < 3; c++) {
            int mixed = front[4 * p + c] * alpha + back[4 * p + c] * (255 - alpha) + 127;
            back[4 * p + c] = (unsigned char)(mixed / 255);
        }
        back[4 * p + 3] = (unsigned char)(alpha + (255 - alpha) * back[4 * p + 3] / 255);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(front, unsigned char, 4 * N, 4 * n);
    POLYBENCH_1D_ARRAY_DECL(back, unsigned char, 4 * N, 4 * n);

    initialize(n, POLYBENCH_ARRAY(front), POLYBENCH_ARRAY(back));
    polybench_start_instruments;
    kernel_alpha_blend(n, POLYBENCH_ARRAY(front), POLYBENCH_ARRAY(back));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(back)));
    POLYBENCH_FREE_ARRAY(front);
    POLYBENCH_FREE_ARRAY(back);
    return 0;
}
