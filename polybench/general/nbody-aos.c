/* nbody-aos: gravity between all pairs of particles whose coordinates lie together, with softened distances. */
#include "general.h"

#ifndef N
#define N DATASET(77, 300, 950, 3000, 6000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_2D(position, N, 3, n, 3), DATA_TYPE POLYBENCH_1D(mass, N, n))
{
    for (int i = 0; i < n; i++) {
        mass[i] = 0.5 + UNIT(i, 3);
        for (int d = 0; d < 3; d++)
            position[i][d] = 10 * UNIT(i, d);
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(force, N, 3, n, 3))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, force, n, 3);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_nbody_aos(int n, DATA_TYPE POLYBENCH_2D(position, N, 3, n, 3), DATA_TYPE POLYBENCH_1D(mass, N, n),
                             DATA_TYPE POLYBENCH_2D(force, N, 3, n, 3))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        DATA_TYPE fx = SCALAR_VAL(0.0), fy = SCALAR_VAL(0.0), fz = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE dx = position[j][0] - position[i][0];
            DATA_TYPE dy = position[j][1] - position[i][1];
            DATA_TYPE dz = position[j][2] - position[i][2];
            DATA_TYPE r2 = dx * dx + dy * dy + dz * dz + SCALAR_VAL(0.01);
            DATA_TYPE s = mass[j] / (r2 * SQRT_FUN(r2));
            fx += s * dx;
            fy += s * dy;
            fz += s * dz;
        }
        force[i][0] = mass[i] * fx;
        force[i][1] = mass[i] * fy;
        force[i][2] = mass[i] * fz;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(position, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_1D_ARRAY_DECL(mass, DATA_TYPE, N, n);
    POLYBENCH_2D_ARRAY_DECL(force, DATA_TYPE, N, 3, n, 3);

    initialize(n, POLYBENCH_ARRAY(position), POLYBENCH_ARRAY(mass));
    polybench_start_instruments;
    kernel_nbody_aos(n, POLYBENCH_ARRAY(position), POLYBENCH_ARRAY(mass), POLYBENCH_ARRAY(force));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(force)));
    POLYBENCH_FREE_ARRAY(position);
    POLYBENCH_FREE_ARRAY(mass);
    POLYBENCH_FREE_ARRAY(force);
    return 0;
}
