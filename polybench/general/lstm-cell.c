/* lstm-cell: the elementwise part of LSTM cells: four gates with rational activations x / (1 + |x|), new states
   and outputs. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(46, 180, 570, 1800, 3600)
#endif
#ifndef NH
#define NH DATASET(52, 200, 630, 2000, 4000)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NH POLYBENCH_LOOP_BOUND(NH, nh)

#define SQUASH(x) ((x) / (SCALAR_VAL(1.0) + FABS_FUN(x)))
#define GATE(x) (SCALAR_VAL(0.5) + SCALAR_VAL(0.5) * SQUASH(x))

static void initialize(int nb, int nh, DATA_TYPE POLYBENCH_2D(gates, NB, 4 * NH, nb, 4 * nh),
                       DATA_TYPE POLYBENCH_2D(state, NB, NH, nb, nh))
{
    for (int b = 0; b < nb; b++) {
        for (int i = 0; i < 4 * nh; i++)
            gates[b][i] = 6 * UNIT(b, i) - 3;
        for (int i = 0; i < nh; i++)
            state[b][i] = UNIT(b, i + 90000) - 0.5f;
    }
}

static void dump(int nb, int nh, DATA_TYPE POLYBENCH_2D(state, NB, NH, nb, nh),
                 DATA_TYPE POLYBENCH_2D(out, NB, NH, nb, nh))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, state, nb, nh);
    DUMP_2D(REAL, out, nb, nh);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_lstm_cell(int nb, int nh, DATA_TYPE POLYBENCH_2D(gates, NB, 4 * NH, nb, 4 * nh),
                             DATA_TYPE POLYBENCH_2D(state, NB, NH, nb, nh),
                             DATA_TYPE POLYBENCH_2D(out, NB, NH, nb, nh))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++)
        for (int i = 0; i < _PB_NH; i++) {
            DATA_TYPE input = GATE(gates[b][i]);
            DATA_TYPE forget = GATE(gates[b][_PB_NH + i]);
            DATA_TYPE candidate = SQUASH(gates[b][2 * _PB_NH + i]);
            DATA_TYPE output = GATE(gates[b][3 * _PB_NH + i]);
            DATA_TYPE s = forget * state[b][i] + input * candidate;
            state[b][i] = s;
            out[b][i] = output * SQUASH(s);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, nh = NH;
    POLYBENCH_2D_ARRAY_DECL(gates, DATA_TYPE, NB, 4 * NH, nb, 4 * nh);
    POLYBENCH_2D_ARRAY_DECL(state, DATA_TYPE, NB, NH, nb, nh);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, NB, NH, nb, nh);

    initialize(nb, nh, POLYBENCH_ARRAY(gates), POLYBENCH_ARRAY(state));
    polybench_start_instruments;
    kernel_lstm_cell(nb, nh, POLYBENCH_ARRAY(gates), POLYBENCH_ARRAY(state), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, nh, POLYBENCH_ARRAY(state), POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(gates);
    POLYBENCH_FREE_ARRAY(state);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
