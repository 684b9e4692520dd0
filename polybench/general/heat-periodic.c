/* heat-periodic: heat in the plane, in two grids in turn, with neighbours beyond a border on the other side. */
#include "general.h"

#ifndef NT
#define NT DATASET(3, 4, 8, 20, 40)
#endif
#ifndef N
#define N DATASET(87, 220, 460, 1000, 1600)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_2D(a, N, N, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = UNIT(i, j);
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(a, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, a, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_heat_periodic(int nt, int n, DATA_TYPE POLYBENCH_2D(a, N, N, n, n),
                                 DATA_TYPE POLYBENCH_2D(b, N, N, n, n))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int i = 0; i < _PB_N; i++)
            for (int j = 0; j < _PB_N; j++)
                b[i][j] = a[i][j] + SCALAR_VAL(0.125) * (a[(i + 1) % _PB_N][j] + a[(i + _PB_N - 1) % _PB_N][j] + a[i][(j + 1) % _PB_N] + a[i][(j + _PB_N - 1) % _PB_N]
                                             - SCALAR_VAL(4.0) * a[i][j]);
        for (int i = 0; i < _PB_N; i++)
            for (int j = 0; j < _PB_N; j++)
                a[i][j] = b[i][j] + SCALAR_VAL(0.125) * (b[(i + 1) % _PB_N][j] + b[(i + _PB_N - 1) % _PB_N][j] + b[i][(j + 1) % _PB_N] + b[i][(j + _PB_N - 1) % _PB_N]
                                             - SCALAR_VAL(4.0) * b[i][j]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    POLYBENCH_2D_ARRAY_DECL(a, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(b, DATA_TYPE, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(a));
    polybench_start_instruments;
    kernel_heat_periodic(nt, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(a)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    return 0;
}
