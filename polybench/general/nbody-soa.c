/* nbody-soa: a step of particles under gravity, with an array for each coordinate: accelerations, then velocities
   and positions. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *dt, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                       DATA_TYPE POLYBENCH_1D(z, N, n), DATA_TYPE POLYBENCH_1D(u, N, n),
                       DATA_TYPE POLYBENCH_1D(v, N, n), DATA_TYPE POLYBENCH_1D(w, N, n),
                       DATA_TYPE POLYBENCH_1D(mass, N, n))
{
    *dt = 0.01;
    for (int i = 0; i < n; i++) {
        x[i] = 10 * UNIT(i, 0);
        y[i] = 10 * UNIT(i, 1);
        z[i] = 10 * UNIT(i, 2);
        mass[i] = 0.5f + UNIT(i, 3);
        u[i] = v[i] = w[i] = 0;
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                 DATA_TYPE POLYBENCH_1D(z, N, n), DATA_TYPE POLYBENCH_1D(u, N, n), DATA_TYPE POLYBENCH_1D(v, N, n),
                 DATA_TYPE POLYBENCH_1D(w, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, x, n);
    DUMP_1D(REAL, y, n);
    DUMP_1D(REAL, z, n);
    DUMP_1D(REAL, u, n);
    DUMP_1D(REAL, v, n);
    DUMP_1D(REAL, w, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_nbody_soa(int n, DATA_TYPE dt, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                             DATA_TYPE POLYBENCH_1D(z, N, n), DATA_TYPE POLYBENCH_1D(u, N, n),
                             DATA_TYPE POLYBENCH_1D(v, N, n), DATA_TYPE POLYBENCH_1D(w, N, n),
                             DATA_TYPE POLYBENCH_1D(mass, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < _PB_N; i++) {
        DATA_TYPE ax = SCALAR_VAL(0.0), ay = SCALAR_VAL(0.0), az = SCALAR_VAL(0.0);
        for (j = 0; j < _PB_N; j++) {
            DATA_TYPE dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            DATA_TYPE r2 = dx * dx + dy * dy + dz * dz + SCALAR_VAL(0.01);
            DATA_TYPE inverse = SCALAR_VAL(1.0) / SQRT_FUN(r2);
            DATA_TYPE s = mass[j] * inverse * inverse * inverse;
            ax += s * dx;
            ay += s * dy;
            az += s * dz;
        }
        u[i] += dt * ax;
        v[i] += dt * ay;
        w[i] += dt * az;
    }
    for (i = 0; i < _PB_N; i++) {
        x[i] += dt * u[i];
        y[i] += dt * v[i];
        z[i] += dt * w[i];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE dt;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(z, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(u, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(v, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(w, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(mass, DATA_TYPE, N, n);

    initialize(n, &dt, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z), POLYBENCH_ARRAY(u),
               POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(w), POLYBENCH_ARRAY(mass));
    polybench_start_instruments;
    kernel_nbody_soa(n, dt, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z), POLYBENCH_ARRAY(u),
                     POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(w), POLYBENCH_ARRAY(mass));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z), POLYBENCH_ARRAY(u),
                               POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(w)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(z);
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(v);
    POLYBENCH_FREE_ARRAY(w);
    POLYBENCH_FREE_ARRAY(mass);
    return 0;
}
