/* tensor-3d: c[i][j] = sum over k and l of a[i][k][l] b[l][j][k]. */
#include "general.h"

#ifndef NI
#define NI DATASET(26, 51, 90, 160, 230)
#endif
#ifndef NJ
#define NJ DATASET(27, 54, 96, 170, 240)
#endif
#ifndef NK
#define NK DATASET(10, 19, 34, 60, 85)
#endif
#ifndef NL
#define NL DATASET(8, 16, 28, 50, 71)
#endif
#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NL POLYBENCH_LOOP_BOUND(NL, nl)

static void initialize(int ni, int nj, int nk, int nl, DATA_TYPE POLYBENCH_3D(a, NI, NK, NL, ni, nk, nl),
                       DATA_TYPE POLYBENCH_3D(b, NL, NJ, NK, nl, nj, nk))
{
    for (int k = 0; k < nk; k++)
        for (int l = 0; l < nl; l++) {
            for (int i = 0; i < ni; i++)
                a[i][k][l] = UNIT(i, k * 1000 + l) - 0.5;
            for (int j = 0; j < nj; j++)
                b[l][j][k] = UNIT(j, k * 1000 + l + 500) - 0.5;
        }
}

static void dump(int ni, int nj, DATA_TYPE POLYBENCH_2D(c, NI, NJ, ni, nj))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, c, ni, nj);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_tensor_3d(int ni, int nj, int nk, int nl, DATA_TYPE POLYBENCH_3D(a, NI, NK, NL, ni, nk, nl),
                             DATA_TYPE POLYBENCH_3D(b, NL, NJ, NK, nl, nj, nk),
                             DATA_TYPE POLYBENCH_2D(c, NI, NJ, ni, nj))
{
#pragma scop
    for (int i = 0; i < _PB_NI; i++)
        for (int j = 0; j < _PB_NJ; j++) {
            DATA_TYPE sum = SCALAR_VAL(0.0);
            for (int k = 0; k < _PB_NK; k++)
                for (int l = 0; l < _PB_NL; l++)
                    sum += a[i][k][l] * b[l][j][k];
            c[i][j] = sum;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int ni = NI, nj = NJ, nk = NK, nl = NL;
    POLYBENCH_3D_ARRAY_DECL(a, DATA_TYPE, NI, NK, NL, ni, nk, nl);
    POLYBENCH_3D_ARRAY_DECL(b, DATA_TYPE, NL, NJ, NK, nl, nj, nk);
    POLYBENCH_2D_ARRAY_DECL(c, DATA_TYPE, NI, NJ, ni, nj);

    initialize(ni, nj, nk, nl, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_tensor_3d(ni, nj, nk, nl, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(ni, nj, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
