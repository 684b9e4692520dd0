/* red-black: Gauss-Seidel sweeps of Poisson's equation over the red cells, then over the black ones, with
   overrelaxation. */
#include "general.h"

#ifndef NT
#define NT DATASET(3, 6, 10, 20, 40)
#endif
#ifndef N
#define N DATASET(100, 260, 560, 1200, 1900)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *omega, DATA_TYPE POLYBENCH_2D(u, N, N, n, n),
                       DATA_TYPE POLYBENCH_2D(f, N, N, n, n))
{
    *omega = 1.5;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u[i][j] = UNIT(i, j);
            f[i][j] = UNIT(j, i + 9) - 0.5;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(u, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, u, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_red_black(int nt, int n, DATA_TYPE omega, DATA_TYPE POLYBENCH_2D(u, N, N, n, n),
                             DATA_TYPE POLYBENCH_2D(f, N, N, n, n))
{
    int t, i, j, colour;

#pragma scop
    for (t = 0; t < _PB_NT; t++)
        for (colour = 0; colour < 2; colour++)
            for (i = 1; i < _PB_N - 1; i++)
                for (j = 1; j < _PB_N - 1; j++)
                    if ((i + j) % 2 == colour)
                        u[i][j] += omega * SCALAR_VAL(0.25) * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - SCALAR_VAL(4.0) * u[i][j] - f[i][j]);
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    DATA_TYPE omega;
    POLYBENCH_2D_ARRAY_DECL(u, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(f, DATA_TYPE, N, N, n, n);

    initialize(n, &omega, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(f));
    polybench_start_instruments;
    kernel_red_black(nt, n, omega, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(f));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(u)));
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(f);
    return 0;
}
