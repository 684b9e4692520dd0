/* attention: attention of several heads: scores Q K^T, masked so that no position sees later ones, softmax, and
   weighted sums of V. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NH
#define NH DATASET(2, 4, 4, 8, 8)
#endif
#ifndef NT
#define NT DATASET(14, 40, 120, 320, 640)
#endif
#ifndef ND
#define ND DATASET(5, 32, 64, 64, 64)
#endif
#define _PB_NH POLYBENCH_LOOP_BOUND(NH, nh)
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_ND POLYBENCH_LOOP_BOUND(ND, nd)

static void initialize(int nh, int nt, int nd, DATA_TYPE POLYBENCH_3D(q, NH, NT, ND, nh, nt, nd),
                       DATA_TYPE POLYBENCH_3D(k, NH, NT, ND, nh, nt, nd),
                       DATA_TYPE POLYBENCH_3D(v, NH, NT, ND, nh, nt, nd))
{
    for (int h = 0; h < nh; h++)
        for (int t = 0; t < nt; t++)
            for (int d = 0; d < nd; d++) {
                q[h][t][d] = UNIT(h * 5000 + t, d) - 0.5f;
                k[h][t][d] = UNIT(h * 5000 + t, d + 1000) - 0.5f;
                v[h][t][d] = UNIT(h * 5000 + t, d + 2000);
            }
}

static void dump(int nh, int nt, int nd, DATA_TYPE POLYBENCH_3D(out, NH, NT, ND, nh, nt, nd))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, out, nh, nt, nd);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_attention(int nh, int nt, int nd, DATA_TYPE POLYBENCH_3D(q, NH, NT, ND, nh, nt, nd),
                             DATA_TYPE POLYBENCH_3D(k, NH, NT, ND, nh, nt, nd),
                             DATA_TYPE POLYBENCH_3D(v, NH, NT, ND, nh, nt, nd),
                             DATA_TYPE POLYBENCH_3D(score, NH, NT, NT, nh, nt, nt),
                             DATA_TYPE POLYBENCH_3D(out, NH, NT, ND, nh, nt, nd))
{
#pragma scop
    for (int h = 0; h < _PB_NH; h++)
        for (int i = 0; i < _PB_NT; i++) {
            DATA_TYPE largest = -SCALAR_VAL(1000.0);
            for (int j = 0; j <= i; j++) {
                DATA_TYPE sum = SCALAR_VAL(0.0);
                for (int d = 0; d < _PB_ND; d++)
                    sum += q[h][i][d] * k[h][j][d];
                score[h][i][j] = sum * SCALAR_VAL(0.125);
                largest = score[h][i][j] > largest ? score[h][i][j] : largest;
            }
            DATA_TYPE total = SCALAR_VAL(0.0);
            for (int j = 0; j <= i; j++) {
                score[h][i][j] = EXP_FUN(score[h][i][j] - largest);
                total += score[h][i][j];
            }
            for (int d = 0; d < _PB_ND; d++)
                out[h][i][d] = SCALAR_VAL(0.0);
            for (int j = 0; j <= i; j++)
                for (int d = 0; d < _PB_ND; d++)
                    out[h][i][d] += score[h][i][j] / total * v[h][j][d];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nh = NH, nt = NT, nd = ND;
    POLYBENCH_3D_ARRAY_DECL(q, DATA_TYPE, NH, NT, ND, nh, nt, nd);
    POLYBENCH_3D_ARRAY_DECL(k, DATA_TYPE, NH, NT, ND, nh, nt, nd);
    POLYBENCH_3D_ARRAY_DECL(v, DATA_TYPE, NH, NT, ND, nh, nt, nd);
    POLYBENCH_3D_ARRAY_DECL(score, DATA_TYPE, NH, NT, NT, nh, nt, nt);
    POLYBENCH_3D_ARRAY_DECL(out, DATA_TYPE, NH, NT, ND, nh, nt, nd);

    initialize(nh, nt, nd, POLYBENCH_ARRAY(q), POLYBENCH_ARRAY(k), POLYBENCH_ARRAY(v));
    polybench_start_instruments;
    kernel_attention(nh, nt, nd, POLYBENCH_ARRAY(q), POLYBENCH_ARRAY(k), POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(score),
                     POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nh, nt, nd, POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(q);
    POLYBENCH_FREE_ARRAY(k);
    POLYBENCH_FREE_ARRAY(v);
    POLYBENCH_FREE_ARRAY(score);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
