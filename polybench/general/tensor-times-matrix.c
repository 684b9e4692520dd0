/* tensor-times-matrix: the product of a tensor with a matrix along its middle dimension: y[i][s][k] = sum over j
   of x[i][j][k] u[s][j]. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NI
#define NI DATASET(19, 38, 67, 120, 170)
#endif
#ifndef NJ
#define NJ DATASET(19, 38, 67, 120, 170)
#endif
#ifndef NK
#define NK DATASET(19, 38, 67, 120, 170)
#endif
#ifndef NS
#define NS DATASET(10, 19, 34, 60, 85)
#endif
#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NS POLYBENCH_LOOP_BOUND(NS, ns)

static void initialize(int ni, int nj, int nk, int ns, DATA_TYPE POLYBENCH_3D(x, NI, NJ, NK, ni, nj, nk),
                       DATA_TYPE POLYBENCH_2D(u, NS, NJ, ns, nj))
{
    for (int j = 0; j < nj; j++) {
        for (int i = 0; i < ni; i++)
            for (int k = 0; k < nk; k++)
                x[i][j][k] = UNIT(i, j * 1000 + k) - 0.5f;
        for (int s = 0; s < ns; s++)
            u[s][j] = UNIT(j, s) - 0.5f;
    }
}

static void dump(int ni, int nk, int ns, DATA_TYPE POLYBENCH_3D(y, NI, NS, NK, ni, ns, nk))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, y, ni, ns, nk);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_tensor_times_matrix(int ni, int nj, int nk, int ns,
                                       DATA_TYPE POLYBENCH_3D(x, NI, NJ, NK, ni, nj, nk),
                                       DATA_TYPE POLYBENCH_2D(u, NS, NJ, ns, nj),
                                       DATA_TYPE POLYBENCH_3D(y, NI, NS, NK, ni, ns, nk))
{
#pragma scop
    for (int i = 0; i < _PB_NI; i++)
        for (int s = 0; s < _PB_NS; s++)
            for (int k = 0; k < _PB_NK; k++) {
                DATA_TYPE sum = SCALAR_VAL(0.0);
                for (int j = 0; j < _PB_NJ; j++)
                    sum += x[i][j][k] * u[s][j];
                y[i][s][k] = sum;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int ni = NI, nj = NJ, nk = NK, ns = NS;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, NI, NJ, NK, ni, nj, nk);
    POLYBENCH_2D_ARRAY_DECL(u, DATA_TYPE, NS, NJ, ns, nj);
    POLYBENCH_3D_ARRAY_DECL(y, DATA_TYPE, NI, NS, NK, ni, ns, nk);

    initialize(ni, nj, nk, ns, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(u));
    polybench_start_instruments;
    kernel_tensor_times_matrix(ni, nj, nk, ns, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(ni, nk, ns, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
