/* dense-relu: a fully connected layer for a batch: weights, bias, and the larger of the result and 0. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(22, 55, 120, 256, 410)
#endif
#ifndef NI
#define NI DATASET(89, 220, 480, 1024, 1600)
#endif
#ifndef NO
#define NO DATASET(87, 220, 460, 1000, 1600)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NO POLYBENCH_LOOP_BOUND(NO, no)

static void initialize(int nb, int ni, int no, DATA_TYPE POLYBENCH_2D(x, NB, NI, nb, ni),
                       DATA_TYPE POLYBENCH_2D(weight, NO, NI, no, ni), DATA_TYPE POLYBENCH_1D(bias, NO, no))
{
    for (int b = 0; b < nb; b++)
        for (int i = 0; i < ni; i++)
            x[b][i] = UNIT(b, i) - 0.5f;
    for (int o = 0; o < no; o++) {
        bias[o] = UNIT(o, o) - 0.5f;
        for (int i = 0; i < ni; i++)
            weight[o][i] = UNIT(i, o + 7) - 0.5f;
    }
}

static void dump(int nb, int no, DATA_TYPE POLYBENCH_2D(y, NB, NO, nb, no))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, y, nb, no);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_dense_relu(int nb, int ni, int no, DATA_TYPE POLYBENCH_2D(x, NB, NI, nb, ni),
                              DATA_TYPE POLYBENCH_2D(weight, NO, NI, no, ni), DATA_TYPE POLYBENCH_1D(bias, NO, no),
                              DATA_TYPE POLYBENCH_2D(y, NB, NO, nb, no))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++)
        for (int o = 0; o < _PB_NO; o++) {
            DATA_TYPE sum = bias[o];
            for (int i = 0; i < _PB_NI; i++)
                sum += x[b][i] * weight[o][i];
            y[b][o] = sum > SCALAR_VAL(0.0) ? sum : SCALAR_VAL(0.0);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, ni = NI, no = NO;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, NB, NI, nb, ni);
    POLYBENCH_2D_ARRAY_DECL(weight, DATA_TYPE, NO, NI, no, ni);
    POLYBENCH_1D_ARRAY_DECL(bias, DATA_TYPE, NO, no);
    POLYBENCH_2D_ARRAY_DECL(y, DATA_TYPE, NB, NO, nb, no);

    initialize(nb, ni, no, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(bias));
    polybench_start_instruments;
    kernel_dense_relu(nb, ni, no, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(bias),
                      POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, no, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(bias);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
