/* embedding-sum: sums of the rows of a table that lists of words name, each list divided by its length. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NB
#define NB DATASET(30, 600, 4000, 40000, 80000)
#endif
#ifndef NL
#define NL DATASET(5, 20, 50, 50, 100)
#endif
#ifndef NV
#define NV DATASET(50, 500, 2000, 20000, 40000)
#endif
#ifndef ND
#define ND DATASET(12, 64, 64, 64, 64)
#endif
#define _PB_NB POLYBENCH_LOOP_BOUND(NB, nb)
#define _PB_NL POLYBENCH_LOOP_BOUND(NL, nl)
#define _PB_NV POLYBENCH_LOOP_BOUND(NV, nv)
#define _PB_ND POLYBENCH_LOOP_BOUND(ND, nd)

static void initialize(int nb, int nl, int nv, int nd, int POLYBENCH_2D(word, NB, NL, nb, nl),
                       int POLYBENCH_1D(length, NB, nb), DATA_TYPE POLYBENCH_2D(table, NV, ND, nv, nd))
{
    for (int b = 0; b < nb; b++) {
        length[b] = 1 + (int)noise(b, 1) % nl;
        for (int l = 0; l < nl; l++)
            word[b][l] = (int)noise(b, l) % nv;
    }
    for (int w = 0; w < nv; w++)
        for (int d = 0; d < nd; d++)
            table[w][d] = UNIT(w, d) - 0.5f;
}

static void dump(int nb, int nd, DATA_TYPE POLYBENCH_2D(out, NB, ND, nb, nd))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, out, nb, nd);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_embedding_sum(int nb, int nl, int nv, int nd, int POLYBENCH_2D(word, NB, NL, nb, nl),
                                 int POLYBENCH_1D(length, NB, nb), DATA_TYPE POLYBENCH_2D(table, NV, ND, nv, nd),
                                 DATA_TYPE POLYBENCH_2D(out, NB, ND, nb, nd))
{
#pragma scop
    for (int b = 0; b < _PB_NB; b++) {
        for (int d = 0; d < _PB_ND; d++)
            out[b][d] = SCALAR_VAL(0.0);
        for (int l = 0; l < _PB_NL; l++)
            if (l < length[b])
                for (int d = 0; d < _PB_ND; d++)
                    out[b][d] += table[word[b][l]][d];
        for (int d = 0; d < _PB_ND; d++)
            out[b][d] /= length[b];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nb = NB, nl = NL, nv = NV, nd = ND;
    POLYBENCH_2D_ARRAY_DECL(word, int, NB, NL, nb, nl);
    POLYBENCH_1D_ARRAY_DECL(length, int, NB, nb);
    POLYBENCH_2D_ARRAY_DECL(table, DATA_TYPE, NV, ND, nv, nd);
    POLYBENCH_2D_ARRAY_DECL(out, DATA_TYPE, NB, ND, nb, nd);

    initialize(nb, nl, nv, nd, POLYBENCH_ARRAY(word), POLYBENCH_ARRAY(length), POLYBENCH_ARRAY(table));
    polybench_start_instruments;
    kernel_embedding_sum(nb, nl, nv, nd, POLYBENCH_ARRAY(word), POLYBENCH_ARRAY(length), POLYBENCH_ARRAY(table),
                         POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nb, nd, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(word);
    POLYBENCH_FREE_ARRAY(length);
    POLYBENCH_FREE_ARRAY(table);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
