/* sph-density: density and pressure at particles in the plane: sums of a polynomial kernel over those that are
   near. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(210, 800, 2500, 8000, 16000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *h2, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n))
{
    *h2 = 0.0025;
    for (int i = 0; i < n; i++) {
        x[i] = UNIT(i, 0);
        y[i] = UNIT(i, 1);
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(density, N, n), DATA_TYPE POLYBENCH_1D(pressure, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, density, n);
    DUMP_1D(REAL, pressure, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_sph_density(int n, DATA_TYPE h2, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                               DATA_TYPE POLYBENCH_1D(density, N, n), DATA_TYPE POLYBENCH_1D(pressure, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        density[i] = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE dx = x[i] - x[j], dy = y[i] - y[j];
            DATA_TYPE d2 = dx * dx + dy * dy;
            if (d2 < h2) {
                DATA_TYPE near = SCALAR_VAL(1.0) - d2 / h2;
                density[i] += near * near * near;
            }
        }
        pressure[i] = density[i] > SCALAR_VAL(2.0) ? SCALAR_VAL(0.5) * (density[i] - SCALAR_VAL(2.0)) : SCALAR_VAL(0.0);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE h2;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(density, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(pressure, DATA_TYPE, N, n);

    initialize(n, &h2, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y));
    polybench_start_instruments;
    kernel_sph_density(n, h2, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(density),
                       POLYBENCH_ARRAY(pressure));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(density), POLYBENCH_ARRAY(pressure)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(density);
    POLYBENCH_FREE_ARRAY(pressure);
    return 0;
}
