/* batch-norm: batch normalization of a layer's output with known means and variances, and the larger of the result
   and 0. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(11, 28, 59, 128, 200)
#endif
#ifndef NC
#define NC DATASET(11, 28, 59, 128, 200)
#endif
#ifndef P
#define P DATASET(270, 680, 1500, 3136, 5000)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NC POLYBENCH_LOOP_BOUND(NC, nc)
#define _PB_P POLYBENCH_LOOP_BOUND(P, p)

static void initialize(int nb, int nc, int p, DATA_TYPE POLYBENCH_3D(x, NB, NC, P, nb, nc, p),
                       DATA_TYPE POLYBENCH_1D(mean, NC, nc), DATA_TYPE POLYBENCH_1D(variance, NC, nc),
                       DATA_TYPE POLYBENCH_1D(scale, NC, nc), DATA_TYPE POLYBENCH_1D(shift, NC, nc))
{
    for (int c = 0; c < nc; c++) {
        mean[c] = UNIT(c, 1);
        variance[c] = 0.5f + UNIT(c, 2);
        scale[c] = 0.5f + UNIT(c, 3);
        shift[c] = UNIT(c, 4) - 0.5f;
        for (int b = 0; b < nb; b++)
            for (int i = 0; i < p; i++)
                x[b][c][i] = 2 * UNIT(b * 1000 + c, i);
    }
}

static void dump(int nb, int nc, int p, DATA_TYPE POLYBENCH_3D(x, NB, NC, P, nb, nc, p))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, x, nb, nc, p);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_batch_norm(int nb, int nc, int p, DATA_TYPE POLYBENCH_3D(x, NB, NC, P, nb, nc, p),
                              DATA_TYPE POLYBENCH_1D(mean, NC, nc), DATA_TYPE POLYBENCH_1D(variance, NC, nc),
                              DATA_TYPE POLYBENCH_1D(scale, NC, nc), DATA_TYPE POLYBENCH_1D(shift, NC, nc))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++)
        for (int c = 0; c < _PB_NC; c++) {
            DATA_TYPE factor = scale[c] / SQRT_FUN(variance[c] + SCALAR_VAL(0.00001));
            for (int i = 0; i < _PB_P; i++) {
                x[b][c][i] = factor * (x[b][c][i] - mean[c]) + shift[c];
                if (x[b][c][i] < SCALAR_VAL(0.0))
                    x[b][c][i] = SCALAR_VAL(0.0);
            }
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, nc = NC, p = P;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, NB, NC, P, nb, nc, p);
    POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, NC, nc);
    POLYBENCH_1D_ARRAY_DECL(variance, DATA_TYPE, NC, nc);
    POLYBENCH_1D_ARRAY_DECL(scale, DATA_TYPE, NC, nc);
    POLYBENCH_1D_ARRAY_DECL(shift, DATA_TYPE, NC, nc);

    initialize(nb, nc, p, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance),
               POLYBENCH_ARRAY(scale), POLYBENCH_ARRAY(shift));
    polybench_start_instruments;
    kernel_batch_norm(nb, nc, p, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(variance),
                      POLYBENCH_ARRAY(scale), POLYBENCH_ARRAY(shift));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, nc, p, POLYBENCH_ARRAY(x)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(mean);
    POLYBENCH_FREE_ARRAY(variance);
    POLYBENCH_FREE_ARRAY(scale);
    POLYBENCH_FREE_ARRAY(shift);
    return 0;
}
