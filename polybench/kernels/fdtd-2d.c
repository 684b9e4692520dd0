/* fdtd-2d: Maxwell's equations in two dimensions with finite differences in the time domain: the electric field (ex, ey) and the
   magnetic field hz on an NX x NY grid take turns; fict drives the edge x = 0. */
#include "kernel.h"

#ifndef TMAX
#define TMAX DATASET(20, 40, 100, 500, 1000)
#endif
#ifndef NX
#define NX DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef NY
#define NY DATASET(30, 80, 240, 1200, 2600)
#endif
#define _PB_TMAX POLYBENCH_LOOP_BOUND(TMAX, tmax)
#define _PB_NX POLYBENCH_LOOP_BOUND(NX, nx)
#define _PB_NY POLYBENCH_LOOP_BOUND(NY, ny)

static void initialize(int tmax, int nx, int ny, DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny), DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny),
                       DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny), DATA_TYPE POLYBENCH_1D(fict, TMAX, tmax))
{
    for (int t = 0; t < tmax; t++)
        fict[t] = (DATA_TYPE)t;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            ex[i][j] = (DATA_TYPE)i * (j + 1) / nx;
            ey[i][j] = (DATA_TYPE)i * (j + 2) / ny;
            hz[i][j] = (DATA_TYPE)i * (j + 3) / nx;
        }
}

/* The end mark stands after the first array, where PolyBench/C prints it. */
static void dump(int nx, int ny, DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny), DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny),
                 DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("ex");
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            DUMP_VALUE(i * nx + j, ex[i][j]);
    POLYBENCH_DUMP_END("ex");
    POLYBENCH_DUMP_FINISH;
    POLYBENCH_DUMP_BEGIN("ey");
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            DUMP_VALUE(i * nx + j, ey[i][j]);
    POLYBENCH_DUMP_END("ey");
    POLYBENCH_DUMP_BEGIN("hz");
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            DUMP_VALUE(i * nx + j, hz[i][j]);
    POLYBENCH_DUMP_END("hz");
}

static void kernel_fdtd_2d(int tmax, int nx, int ny, DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny),
                           DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny), DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny),
                           DATA_TYPE POLYBENCH_1D(fict, TMAX, tmax))
{
    int t, i, j;

#pragma scop
    for (t = 0; t < _PB_TMAX; t++) {
        for (j = 0; j < _PB_NY; j++)
            ey[0][j] = fict[t];
        for (i = 1; i < _PB_NX; i++)
            for (j = 0; j < _PB_NY; j++)
                ey[i][j] = ey[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < _PB_NX; i++)
            for (j = 1; j < _PB_NY; j++)
                ex[i][j] = ex[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < _PB_NX - 1; i++)
            for (j = 0; j < _PB_NY - 1; j++)
                hz[i][j] = hz[i][j] - SCALAR_VAL(0.7) * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int tmax = TMAX, nx = NX, ny = NY;
    POLYBENCH_2D_ARRAY_DECL(ex, DATA_TYPE, NX, NY, nx, ny);
    POLYBENCH_2D_ARRAY_DECL(ey, DATA_TYPE, NX, NY, nx, ny);
    POLYBENCH_2D_ARRAY_DECL(hz, DATA_TYPE, NX, NY, nx, ny);
    POLYBENCH_1D_ARRAY_DECL(fict, DATA_TYPE, TMAX, tmax);

    initialize(tmax, nx, ny, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(hz), POLYBENCH_ARRAY(fict));
    polybench_start_instruments;
    kernel_fdtd_2d(tmax, nx, ny, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(hz), POLYBENCH_ARRAY(fict));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nx, ny, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(hz)));
    POLYBENCH_FREE_ARRAY(ex);
    POLYBENCH_FREE_ARRAY(ey);
    POLYBENCH_FREE_ARRAY(hz);
    POLYBENCH_FREE_ARRAY(fict);
    return 0;
}
