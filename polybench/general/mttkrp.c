/* mttkrp: matricized tensor times Khatri-Rao product: m[i][r] = sum over j and k of x[i][j][k] b[j][r] c[k][r]. */
#include "general.h"

#ifndef NI
#define NI DATASET(22, 44, 79, 140, 200)
#endif
#ifndef NJ
#define NJ DATASET(24, 47, 84, 150, 210)
#endif
#ifndef NK
#define NK DATASET(26, 51, 90, 160, 230)
#endif
#ifndef NR
#define NR DATASET(5, 10, 18, 32, 45)
#endif
#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NR POLYBENCH_LOOP_BOUND(NR, nr)

static void initialize(int ni, int nj, int nk, int nr, DATA_TYPE POLYBENCH_3D(x, NI, NJ, NK, ni, nj, nk),
                       DATA_TYPE POLYBENCH_2D(b, NJ, NR, nj, nr), DATA_TYPE POLYBENCH_2D(c, NK, NR, nk, nr))
{
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            for (int k = 0; k < nk; k++)
                x[i][j][k] = UNIT(i, j * 1000 + k) - 0.5;
    for (int s = 0; s < nr; s++) {
        for (int j = 0; j < nj; j++)
            b[j][s] = UNIT(j, s);
        for (int k = 0; k < nk; k++)
            c[k][s] = UNIT(k, s + 100);
    }
}

static void dump(int ni, int nr, DATA_TYPE POLYBENCH_2D(m, NI, NR, ni, nr))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, m, ni, nr);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_mttkrp(int ni, int nj, int nk, int nr, DATA_TYPE POLYBENCH_3D(x, NI, NJ, NK, ni, nj, nk),
                          DATA_TYPE POLYBENCH_2D(b, NJ, NR, nj, nr), DATA_TYPE POLYBENCH_2D(c, NK, NR, nk, nr),
                          DATA_TYPE POLYBENCH_2D(m, NI, NR, ni, nr))
{
    int i, j, k, s;

#pragma scop
    for (i = 0; i < _PB_NI; i++)
        for (s = 0; s < _PB_NR; s++)
            m[i][s] = SCALAR_VAL(0.0);
    for (i = 0; i < _PB_NI; i++)
        for (j = 0; j < _PB_NJ; j++)
            for (k = 0; k < _PB_NK; k++)
                for (s = 0; s < _PB_NR; s++)
                    m[i][s] += x[i][j][k] * b[j][s] * c[k][s];
#pragma endscop
}

int main(int argc, char **argv)
{
    int ni = NI, nj = NJ, nk = NK, nr = NR;
    POLYBENCH_3D_ARRAY_DECL(x, DATA_TYPE, NI, NJ, NK, ni, nj, nk);
    POLYBENCH_2D_ARRAY_DECL(b, DATA_TYPE, NJ, NR, nj, nr);
    POLYBENCH_2D_ARRAY_DECL(c, DATA_TYPE, NK, NR, nk, nr);
    POLYBENCH_2D_ARRAY_DECL(m, DATA_TYPE, NI, NR, ni, nr);

    initialize(ni, nj, nk, nr, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_start_instruments;
    kernel_mttkrp(ni, nj, nk, nr, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c), POLYBENCH_ARRAY(m));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(ni, nr, POLYBENCH_ARRAY(m)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    POLYBENCH_FREE_ARRAY(m);
    return 0;
}
