/* dense-gradient: gradients of a fully connected layer with respect to its weights, bias and inputs, where the
   output was above 0. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(11, 28, 59, 128, 200)
#endif
#ifndef NI
#define NI DATASET(70, 170, 370, 800, 1300)
#endif
#ifndef NO
#define NO DATASET(70, 170, 370, 800, 1300)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NO POLYBENCH_LOOP_BOUND(NO, no)

static void initialize(int nb, int ni, int no, DATA_TYPE POLYBENCH_2D(x, NB, NI, nb, ni),
                       DATA_TYPE POLYBENCH_2D(weight, NO, NI, no, ni), DATA_TYPE POLYBENCH_2D(y, NB, NO, nb, no),
                       DATA_TYPE POLYBENCH_2D(dy, NB, NO, nb, no))
{
    for (int b = 0; b < nb; b++) {
        for (int i = 0; i < ni; i++)
            x[b][i] = UNIT(b, i) - 0.5f;
        for (int o = 0; o < no; o++) {
            y[b][o] = UNIT(o, b) - 0.5f;
            dy[b][o] = UNIT(b + 5, o) - 0.5f;
        }
    }
    for (int o = 0; o < no; o++)
        for (int i = 0; i < ni; i++)
            weight[o][i] = UNIT(i, o + 7) - 0.5f;
}

static void dump(int nb, int ni, int no, DATA_TYPE POLYBENCH_2D(dweight, NO, NI, no, ni),
                 DATA_TYPE POLYBENCH_1D(dbias, NO, no), DATA_TYPE POLYBENCH_2D(dx, NB, NI, nb, ni))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, dweight, no, ni);
    DUMP_1D(REAL, dbias, no);
    DUMP_2D(REAL, dx, nb, ni);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_dense_gradient(int nb, int ni, int no, DATA_TYPE POLYBENCH_2D(x, NB, NI, nb, ni),
                                  DATA_TYPE POLYBENCH_2D(weight, NO, NI, no, ni),
                                  DATA_TYPE POLYBENCH_2D(y, NB, NO, nb, no),
                                  DATA_TYPE POLYBENCH_2D(dy, NB, NO, nb, no),
                                  DATA_TYPE POLYBENCH_2D(dweight, NO, NI, no, ni),
                                  DATA_TYPE POLYBENCH_1D(dbias, NO, no), DATA_TYPE POLYBENCH_2D(dx, NB, NI, nb, ni))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++)
        for (int o = 0; o < _PB_NO; o++)
            if (y[b][o] <= SCALAR_VAL(0.0))
                dy[b][o] = SCALAR_VAL(0.0);
    for (int o = 0; o < _PB_NO; o++) {
        dbias[o] = SCALAR_VAL(0.0);
        for (int i = 0; i < _PB_NI; i++)
            dweight[o][i] = SCALAR_VAL(0.0);
    }
    for (int b = 0; b < _PB_NB; b++)
        for (int o = 0; o < _PB_NO; o++) {
            dbias[o] += dy[b][o];
            for (int i = 0; i < _PB_NI; i++)
                dweight[o][i] += dy[b][o] * x[b][i];
        }
    for (int b = 0; b < _PB_NB; b++)
        for (int i = 0; i < _PB_NI; i++) {
            DATA_TYPE sum = SCALAR_VAL(0.0);
            for (int o = 0; o < _PB_NO; o++)
                sum += dy[b][o] * weight[o][i];
            dx[b][i] = sum;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, ni = NI, no = NO;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, NB, NI, nb, ni);
    POLYBENCH_2D_ARRAY_DECL(weight, DATA_TYPE, NO, NI, no, ni);
    POLYBENCH_2D_ARRAY_DECL(y, DATA_TYPE, NB, NO, nb, no);
    POLYBENCH_2D_ARRAY_DECL(dy, DATA_TYPE, NB, NO, nb, no);
    POLYBENCH_2D_ARRAY_DECL(dweight, DATA_TYPE, NO, NI, no, ni);
    POLYBENCH_1D_ARRAY_DECL(dbias, DATA_TYPE, NO, no);
    POLYBENCH_2D_ARRAY_DECL(dx, DATA_TYPE, NB, NI, nb, ni);

    initialize(nb, ni, no, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(dy));
    polybench_start_instruments;
    kernel_dense_gradient(nb, ni, no, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(y),
                          POLYBENCH_ARRAY(dy), POLYBENCH_ARRAY(dweight), POLYBENCH_ARRAY(dbias), POLYBENCH_ARRAY(dx));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, ni, no, POLYBENCH_ARRAY(dweight), POLYBENCH_ARRAY(dbias), POLYBENCH_ARRAY(dx)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(dy);
    POLYBENCH_FREE_ARRAY(dweight);
    POLYBENCH_FREE_ARRAY(dbias);
    POLYBENCH_FREE_ARRAY(dx);
    return 0;
}
