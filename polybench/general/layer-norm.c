/* layer-norm: each row shifted and scaled to mean 0 and variance 1, then by learned factors. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(150, 600, 1900, 6000, 12000)
#endif
#ifndef ND
#define ND DATASET(26, 100, 320, 1024, 2000)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_ND POLYBENCH_LOOP_BOUND(ND, nd)

static void initialize(int nt, int nd, DATA_TYPE POLYBENCH_2D(x, NT, ND, nt, nd),
                       DATA_TYPE POLYBENCH_1D(scale, ND, nd), DATA_TYPE POLYBENCH_1D(shift, ND, nd))
{
    for (int i = 0; i < nd; i++) {
        scale[i] = 0.5f + UNIT(i, 3);
        shift[i] = UNIT(i, 4) - 0.5f;
        for (int t = 0; t < nt; t++)
            x[t][i] = UNIT(t, i) * (t % 5 + 1);
    }
}

static void dump(int nt, int nd, DATA_TYPE POLYBENCH_2D(y, NT, ND, nt, nd))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, y, nt, nd);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_layer_norm(int nt, int nd, DATA_TYPE POLYBENCH_2D(x, NT, ND, nt, nd),
                              DATA_TYPE POLYBENCH_1D(scale, ND, nd), DATA_TYPE POLYBENCH_1D(shift, ND, nd),
                              DATA_TYPE POLYBENCH_2D(y, NT, ND, nt, nd))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        DATA_TYPE mean = SCALAR_VAL(0.0), variance = SCALAR_VAL(0.0);
        for (int i = 0; i < _PB_ND; i++)
            mean += x[t][i];
        mean /= _PB_ND;
        for (int i = 0; i < _PB_ND; i++)
            variance += (x[t][i] - mean) * (x[t][i] - mean);
        variance /= _PB_ND;
        DATA_TYPE factor = SCALAR_VAL(1.0) / SQRT_FUN(variance + SCALAR_VAL(0.00001));
        for (int i = 0; i < _PB_ND; i++)
            y[t][i] = scale[i] * ((x[t][i] - mean) * factor) + shift[i];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, nd = ND;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, NT, ND, nt, nd);
    POLYBENCH_1D_ARRAY_DECL(scale, DATA_TYPE, ND, nd);
    POLYBENCH_1D_ARRAY_DECL(shift, DATA_TYPE, ND, nd);
    POLYBENCH_2D_ARRAY_DECL(y, DATA_TYPE, NT, ND, nt, nd);

    initialize(nt, nd, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(scale), POLYBENCH_ARRAY(shift));
    polybench_start_instruments;
    kernel_layer_norm(nt, nd, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(scale), POLYBENCH_ARRAY(shift), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nt, nd, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(scale);
    POLYBENCH_FREE_ARRAY(shift);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
