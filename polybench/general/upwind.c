/* upwind: advection in the plane, with differences taken against the wind, whose direction differs from cell to
   cell. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(3, 6, 12, 20, 40)
#endif
#ifndef N
#define N DATASET(87, 220, 460, 1000, 1600)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *dt, DATA_TYPE POLYBENCH_2D(c, N, N, n, n),
                       DATA_TYPE POLYBENCH_2D(next, N, N, n, n), DATA_TYPE POLYBENCH_2D(u, N, N, n, n),
                       DATA_TYPE POLYBENCH_2D(v, N, N, n, n))
{
    *dt = 0.4;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i][j] = i / 8 % 2 == j / 8 % 2;
            next[i][j] = 0;
            u[i][j] = UNIT(i / 4, j / 4) - 0.5f;
            v[i][j] = UNIT(j / 4, i / 4 + 99) - 0.5f;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(c, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, c, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_upwind(int nt, int n, DATA_TYPE dt, DATA_TYPE POLYBENCH_2D(c, N, N, n, n),
                          DATA_TYPE POLYBENCH_2D(next, N, N, n, n), DATA_TYPE POLYBENCH_2D(u, N, N, n, n),
                          DATA_TYPE POLYBENCH_2D(v, N, N, n, n))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++) {
                DATA_TYPE dx, dy;
                if (u[i][j] > SCALAR_VAL(0.0))
                    dx = c[i][j] - c[i - 1][j];
                else
                    dx = c[i + 1][j] - c[i][j];
                if (v[i][j] > SCALAR_VAL(0.0))
                    dy = c[i][j] - c[i][j - 1];
                else
                    dy = c[i][j + 1] - c[i][j];
                next[i][j] = c[i][j] - dt * (u[i][j] * dx + v[i][j] * dy);
            }
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++)
                c[i][j] = next[i][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    DATA_TYPE dt;
    POLYBENCH_2D_ARRAY_DECL(c, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(next, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(u, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(v, DATA_TYPE, N, N, n, n);

    initialize(n, &dt, POLYBENCH_ARRAY(c), POLYBENCH_ARRAY(next), POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(v));
    polybench_start_instruments;
    kernel_upwind(nt, n, dt, POLYBENCH_ARRAY(c), POLYBENCH_ARRAY(next), POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(v));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(c);
    POLYBENCH_FREE_ARRAY(next);
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(v);
    return 0;
}
