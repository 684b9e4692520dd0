/* tensor-4d: a contraction of coupled clusters: r[a][b][i][j] += t[a][c][i][k] v[k][c][b][j], summed over c and k. */
#include "general.h"

#ifndef V
#define V DATASET(8, 13, 19, 28, 35)
#endif
#ifndef O
#define O DATASET(5, 6, 10, 14, 18)
#endif
#define _PB_V POLYBENCH_LOOP_BOUND(V, v)
#define _PB_O POLYBENCH_LOOP_BOUND(O, o)

static void initialize(int v, int o, DATA_TYPE POLYBENCH_4D(t, V, V, O, O, v, v, o, o),
                       DATA_TYPE POLYBENCH_4D(v4, O, V, V, O, o, v, v, o),
                       DATA_TYPE POLYBENCH_4D(r, V, V, O, O, v, v, o, o))
{
    for (int a = 0; a < v; a++)
        for (int b = 0; b < v; b++)
            for (int i = 0; i < o; i++)
                for (int j = 0; j < o; j++) {
                    t[a][b][i][j] = UNIT(a * 100 + b, i * 100 + j) - 0.5;
                    v4[i][a][b][j] = UNIT(i * 100 + a, b * 100 + j + 50) - 0.5;
                    r[a][b][i][j] = UNIT(a * 100 + i, b * 100 + j);
                }
}

static void dump(int v, int o, DATA_TYPE POLYBENCH_4D(r, V, V, O, O, v, v, o, o))
{
    POLYBENCH_DUMP_START;
    DUMP_4D(REAL, r, v, v, o, o);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_tensor_4d(int v, int o, DATA_TYPE POLYBENCH_4D(t, V, V, O, O, v, v, o, o),
                             DATA_TYPE POLYBENCH_4D(v4, O, V, V, O, o, v, v, o),
                             DATA_TYPE POLYBENCH_4D(r, V, V, O, O, v, v, o, o))
{
    int a, b, c, i, j, k;

#pragma scop
    for (a = 0; a < _PB_V; a++)
        for (b = 0; b < _PB_V; b++)
            for (i = 0; i < _PB_O; i++)
                for (j = 0; j < _PB_O; j++)
                    for (c = 0; c < _PB_V; c++)
                        for (k = 0; k < _PB_O; k++)
                            r[a][b][i][j] += t[a][c][i][k] * v4[k][c][b][j];
#pragma endscop
}

int main(int argc, char **argv)
{
    int v = V, o = O;
    POLYBENCH_4D_ARRAY_DECL(t, DATA_TYPE, V, V, O, O, v, v, o, o);
    POLYBENCH_4D_ARRAY_DECL(v4, DATA_TYPE, O, V, V, O, o, v, v, o);
    POLYBENCH_4D_ARRAY_DECL(r, DATA_TYPE, V, V, O, O, v, v, o, o);

    initialize(v, o, POLYBENCH_ARRAY(t), POLYBENCH_ARRAY(v4), POLYBENCH_ARRAY(r));
    polybench_start_instruments;
    kernel_tensor_4d(v, o, POLYBENCH_ARRAY(t), POLYBENCH_ARRAY(v4), POLYBENCH_ARRAY(r));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(v, o, POLYBENCH_ARRAY(r)));
    POLYBENCH_FREE_ARRAY(t);
    POLYBENCH_FREE_ARRAY(v4);
    POLYBENCH_FREE_ARRAY(r);
    return 0;
}
