/* diffusion: diffusion in space with a conductivity that differs from cell to cell, by harmonic means at the
   faces. */
#include "general.h"

#ifndef N
#define N DATASET(17, 43, 93, 200, 320)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#define FACE(a, b) (SCALAR_VAL(2.0) * (a) * (b) / ((a) + (b)))

static void initialize(int n, DATA_TYPE *dt, DATA_TYPE POLYBENCH_3D(u, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(kappa, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(next, N, N, N, n, n, n))
{
    *dt = 0.1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                u[i][j][k] = next[i][j][k] = UNIT(i * 1000 + j, k);
                kappa[i][j][k] = 0.1 + UNIT(i * 1000 + j, k + 300);
            }
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(next, N, N, N, n, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, next, n, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_diffusion(int n, DATA_TYPE dt, DATA_TYPE POLYBENCH_3D(u, N, N, N, n, n, n),
                             DATA_TYPE POLYBENCH_3D(kappa, N, N, N, n, n, n),
                             DATA_TYPE POLYBENCH_3D(next, N, N, N, n, n, n))
{
#pragma scop
    for (int i = 1; i < _PB_N - 1; i++)
        for (int j = 1; j < _PB_N - 1; j++)
            for (int k = 1; k < _PB_N - 1; k++) {
                DATA_TYPE here = kappa[i][j][k];
                DATA_TYPE flux = FACE(here, kappa[i - 1][j][k]) * (u[i - 1][j][k] - u[i][j][k]);
                flux += FACE(here, kappa[i + 1][j][k]) * (u[i + 1][j][k] - u[i][j][k]);
                flux += FACE(here, kappa[i][j - 1][k]) * (u[i][j - 1][k] - u[i][j][k]);
                flux += FACE(here, kappa[i][j + 1][k]) * (u[i][j + 1][k] - u[i][j][k]);
                flux += FACE(here, kappa[i][j][k - 1]) * (u[i][j][k - 1] - u[i][j][k]);
                flux += FACE(here, kappa[i][j][k + 1]) * (u[i][j][k + 1] - u[i][j][k]);
                next[i][j][k] = u[i][j][k] + dt * flux;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE dt;
    POLYBENCH_3D_ARRAY_DECL(u, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(kappa, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(next, DATA_TYPE, N, N, N, n, n, n);

    initialize(n, &dt, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(kappa), POLYBENCH_ARRAY(next));
    polybench_start_instruments;
    kernel_diffusion(n, dt, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(kappa), POLYBENCH_ARRAY(next));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(next)));
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(kappa);
    POLYBENCH_FREE_ARRAY(next);
    return 0;
}
