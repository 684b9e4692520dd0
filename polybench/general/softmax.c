/* softmax: softmax of each row, in place: the row's maximum, exponentials of the distances from it, their sum. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef ND
#define ND DATASET(26, 100, 320, 1000, 2000)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_ND POLYBENCH_LOOP_BOUND(ND, nd)

static void initialize(int nt, int nd, DATA_TYPE POLYBENCH_2D(x, NT, ND, nt, nd))
{
    for (int t = 0; t < nt; t++)
        for (int i = 0; i < nd; i++)
            x[t][i] = 8 * UNIT(t, i);
}

static void dump(int nt, int nd, DATA_TYPE POLYBENCH_2D(x, NT, ND, nt, nd))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, x, nt, nd);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_softmax(int nt, int nd, DATA_TYPE POLYBENCH_2D(x, NT, ND, nt, nd))
{
    int t, i;
    DATA_TYPE largest, sum;

#pragma scop
    for (t = 0; t < _PB_NT; t++) {
        largest = x[t][0];
        for (i = 1; i < _PB_ND; i++)
            if (x[t][i] > largest)
                largest = x[t][i];
        sum = SCALAR_VAL(0.0);
        for (i = 0; i < _PB_ND; i++) {
            x[t][i] = EXP_FUN(x[t][i] - largest);
            sum += x[t][i];
        }
        for (i = 0; i < _PB_ND; i++)
            x[t][i] /= sum;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, nd = ND;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, NT, ND, nt, nd);

    initialize(nt, nd, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_softmax(nt, nd, POLYBENCH_ARRAY(x));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nt, nd, POLYBENCH_ARRAY(x)));
    POLYBENCH_FREE_ARRAY(x);
    return 0;
}
