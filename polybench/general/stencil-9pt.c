/* stencil-9pt: a compact 9-point stencil in the plane, flat arrays, with the largest change of the last step. */
#include "general.h"

#ifndef NT
#define NT DATASET(3, 4, 8, 20, 40)
#endif
#ifndef H
#define H DATASET(79, 190, 420, 900, 1400)
#endif
#ifndef W
#define W DATASET(96, 240, 510, 1100, 1700)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE POLYBENCH_1D(a, H * W, h * w), DATA_TYPE POLYBENCH_1D(b, H * W, h * w))
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            a[i * w + j] = b[i * w + j] = UNIT(i, j);
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_1D(a, H * W, h * w), DATA_TYPE POLYBENCH_1D(change, 1, 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, a, h * w);
    DUMP_1D(REAL, change, 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_stencil_9pt(int nt, int h, int w, DATA_TYPE POLYBENCH_1D(a, H * W, h * w),
                               DATA_TYPE POLYBENCH_1D(b, H * W, h * w), DATA_TYPE POLYBENCH_1D(change, 1, 1))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        change[0] = SCALAR_VAL(0.0);
        for (int i = 1; i < _PB_H - 1; i++)
            for (int j = 1; j < _PB_W - 1; j++)
                b[i * _PB_W + j] = SCALAR_VAL(0.2) * (a[(i - 1) * _PB_W + j] + a[(i + 1) * _PB_W + j] + a[i * _PB_W + j - 1] + a[i * _PB_W + j + 1])
                               + SCALAR_VAL(0.05) * (a[(i - 1) * _PB_W + j - 1] + a[(i - 1) * _PB_W + j + 1] + a[(i + 1) * _PB_W + j - 1] + a[(i + 1) * _PB_W + j + 1]);
        for (int i = 1; i < _PB_H - 1; i++)
            for (int j = 1; j < _PB_W - 1; j++) {
                DATA_TYPE difference = FABS_FUN(b[i * _PB_W + j] - a[i * _PB_W + j]);
                if (difference > change[0])
                    change[0] = difference;
                a[i * _PB_W + j] = b[i * _PB_W + j];
            }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, h = H, w = W;
    POLYBENCH_1D_ARRAY_DECL(a, DATA_TYPE, H * W, h * w);
    POLYBENCH_1D_ARRAY_DECL(b, DATA_TYPE, H * W, h * w);
    POLYBENCH_1D_ARRAY_DECL(change, DATA_TYPE, 1, 1);

    initialize(h, w, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_stencil_9pt(nt, h, w, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(change));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(change)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(change);
    return 0;
}
