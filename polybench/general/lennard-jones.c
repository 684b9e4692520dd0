/* lennard-jones: potential energy and forces of particles in a periodic box, each pair once and only below a
   cutoff; kinetic energy. */
#include "general.h"

#ifndef N
#define N DATASET(90, 350, 1100, 3500, 7000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *box, DATA_TYPE *cutoff, DATA_TYPE POLYBENCH_2D(x, N, 3, n, 3),
                       DATA_TYPE POLYBENCH_2D(v, N, 3, n, 3), DATA_TYPE POLYBENCH_2D(f, N, 3, n, 3))
{
    *box = 12.0;
    *cutoff = 3.0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            x[i][d] = 12 * UNIT(i, d);
            v[i][d] = UNIT(i, d + 5) - 0.5;
            f[i][d] = 0;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(f, N, 3, n, 3), DATA_TYPE POLYBENCH_1D(energy, 2, 2))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, f, n, 3);
    DUMP_1D(REAL, energy, 2);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_lennard_jones(int n, DATA_TYPE box, DATA_TYPE cutoff, DATA_TYPE POLYBENCH_2D(x, N, 3, n, 3),
                                 DATA_TYPE POLYBENCH_2D(v, N, 3, n, 3), DATA_TYPE POLYBENCH_2D(f, N, 3, n, 3),
                                 DATA_TYPE POLYBENCH_1D(energy, 2, 2))
{
#pragma scop
    DATA_TYPE kinetic = SCALAR_VAL(0.0), potential = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_N; i++)
        kinetic += SCALAR_VAL(0.5) * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    for (int i = 0; i < _PB_N - 1; i++)
        for (int j = i + 1; j < _PB_N; j++) {
            DATA_TYPE r[3], r2 = SCALAR_VAL(0.0);
            for (int d = 0; d < 3; d++) {
                r[d] = x[i][d] - x[j][d];
                if (r[d] > SCALAR_VAL(0.5) * box)
                    r[d] -= box;
                else if (r[d] < -SCALAR_VAL(0.5) * box)
                    r[d] += box;
                r2 += r[d] * r[d];
            }
            if (r2 < cutoff * cutoff) {
                DATA_TYPE s2 = SCALAR_VAL(1.0) / (r2 + SCALAR_VAL(0.5));
                DATA_TYPE s6 = s2 * s2 * s2;
                potential += SCALAR_VAL(4.0) * s6 * (s6 - SCALAR_VAL(1.0));
                for (int d = 0; d < 3; d++) {
                    DATA_TYPE g = SCALAR_VAL(24.0) * s6 * (SCALAR_VAL(2.0) * s6 - SCALAR_VAL(1.0)) * s2 * r[d];
                    f[i][d] += g;
                    f[j][d] -= g;
                }
            }
        }
    energy[0] = kinetic;
    energy[1] = potential;
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE box;
    DATA_TYPE cutoff;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_2D_ARRAY_DECL(v, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_2D_ARRAY_DECL(f, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_1D_ARRAY_DECL(energy, DATA_TYPE, 2, 2);

    initialize(n, &box, &cutoff, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(f));
    polybench_start_instruments;
    kernel_lennard_jones(n, box, cutoff, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(v), POLYBENCH_ARRAY(f),
                         POLYBENCH_ARRAY(energy));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(f), POLYBENCH_ARRAY(energy)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(v);
    POLYBENCH_FREE_ARRAY(f);
    POLYBENCH_FREE_ARRAY(energy);
    return 0;
}
