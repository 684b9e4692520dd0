/* fdtd-3d: electric and magnetic fields in space on Yee's grid, with a source in the middle. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(3, 5, 8, 8, 12)
#endif
#ifndef N
#define N DATASET(16, 32, 56, 100, 140)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_3D(ex, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(ey, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(ez, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(hx, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(hy, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(hz, N, N, N, n, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                ex[i][j][k] = 0.01f * UNIT(i * 1000 + j, k);
                ey[i][j][k] = 0.01f * UNIT(i * 1000 + j, k + 300);
                ez[i][j][k] = 0.01f * UNIT(i * 1000 + j, k + 600);
                hx[i][j][k] = hy[i][j][k] = hz[i][j][k] = 0;
            }
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(ex, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(ey, N, N, N, n, n, n),
                 DATA_TYPE POLYBENCH_3D(ez, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(hx, N, N, N, n, n, n),
                 DATA_TYPE POLYBENCH_3D(hy, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(hz, N, N, N, n, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, ex, n, n, n);
    DUMP_3D(REAL, ey, n, n, n);
    DUMP_3D(REAL, ez, n, n, n);
    DUMP_3D(REAL, hx, n, n, n);
    DUMP_3D(REAL, hy, n, n, n);
    DUMP_3D(REAL, hz, n, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_fdtd_3d(int nt, int n, DATA_TYPE POLYBENCH_3D(ex, N, N, N, n, n, n),
                           DATA_TYPE POLYBENCH_3D(ey, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(ez, N, N, N, n, n, n),
                           DATA_TYPE POLYBENCH_3D(hx, N, N, N, n, n, n), DATA_TYPE POLYBENCH_3D(hy, N, N, N, n, n, n),
                           DATA_TYPE POLYBENCH_3D(hz, N, N, N, n, n, n))
{
    int t, i, j, k;

#pragma scop
    for (t = 0; t < _PB_NT; t++) {
        for (i = 1; i < _PB_N; i++)
            for (j = 1; j < _PB_N; j++)
                for (k = 1; k < _PB_N; k++) {
                    ex[i][j][k] += SCALAR_VAL(0.5) * (hz[i][j][k] - hz[i][j - 1][k] - hy[i][j][k] + hy[i][j][k - 1]);
                    ey[i][j][k] += SCALAR_VAL(0.5) * (hx[i][j][k] - hx[i][j][k - 1] - hz[i][j][k] + hz[i - 1][j][k]);
                    ez[i][j][k] += SCALAR_VAL(0.5) * (hy[i][j][k] - hy[i - 1][j][k] - hx[i][j][k] + hx[i][j - 1][k]);
                }
        ez[_PB_N / 2][_PB_N / 2][_PB_N / 2] += SCALAR_VAL(1.0) / (1 + t);
        for (i = 0; i < _PB_N - 1; i++)
            for (j = 0; j < _PB_N - 1; j++)
                for (k = 0; k < _PB_N - 1; k++) {
                    hx[i][j][k] += SCALAR_VAL(0.5) * (ey[i][j][k + 1] - ey[i][j][k] - ez[i][j + 1][k] + ez[i][j][k]);
                    hy[i][j][k] += SCALAR_VAL(0.5) * (ez[i + 1][j][k] - ez[i][j][k] - ex[i][j][k + 1] + ex[i][j][k]);
                    hz[i][j][k] += SCALAR_VAL(0.5) * (ex[i][j + 1][k] - ex[i][j][k] - ey[i + 1][j][k] + ey[i][j][k]);
                }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    POLYBENCH_3D_ARRAY_DECL(ex, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(ey, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(ez, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(hx, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(hy, DATA_TYPE, N, N, N, n, n, n);
    POLYBENCH_3D_ARRAY_DECL(hz, DATA_TYPE, N, N, N, n, n, n);

    initialize(n, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(ez), POLYBENCH_ARRAY(hx),
               POLYBENCH_ARRAY(hy), POLYBENCH_ARRAY(hz));
    polybench_start_instruments;
    kernel_fdtd_3d(nt, n, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(ez), POLYBENCH_ARRAY(hx),
                   POLYBENCH_ARRAY(hy), POLYBENCH_ARRAY(hz));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(ez), POLYBENCH_ARRAY(hx),
                               POLYBENCH_ARRAY(hy), POLYBENCH_ARRAY(hz)));
    POLYBENCH_FREE_ARRAY(ex);
    POLYBENCH_FREE_ARRAY(ey);
    POLYBENCH_FREE_ARRAY(ez);
    POLYBENCH_FREE_ARRAY(hx);
    POLYBENCH_FREE_ARRAY(hy);
    POLYBENCH_FREE_ARRAY(hz);
    return 0;
}
