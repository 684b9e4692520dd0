/* farthest-point: squared chord lengths between all pairs of points on a sphere that unit vectors give, and each
   point's farthest other. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(100, 400, 1300, 4000, 8000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_2D(p, N, 3, n, 3))
{
    for (int i = 0; i < n; i++) {
        DATA_TYPE x = UNIT(i, 0) - 0.5f, y = UNIT(i, 1) - 0.5f, z = UNIT(i, 2) - 0.5f;
        DATA_TYPE r = SQRT_FUN(x * x + y * y + z * z + 0.0001f);
        p[i][0] = x / r;
        p[i][1] = y / r;
        p[i][2] = z / r;
    }
}

static void dump(int n, int POLYBENCH_1D(farthest, N, n), DATA_TYPE POLYBENCH_1D(chord, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, farthest, n);
    DUMP_1D(REAL, chord, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_farthest_point(int n, DATA_TYPE POLYBENCH_2D(p, N, 3, n, 3), int POLYBENCH_1D(farthest, N, n),
                                  DATA_TYPE POLYBENCH_1D(chord, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        farthest[i] = i;
        chord[i] = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE c = SCALAR_VAL(2.0) - SCALAR_VAL(2.0) * (p[i][0] * p[j][0] + p[i][1] * p[j][1] + p[i][2] * p[j][2]);
            if (c > chord[i]) {
                chord[i] = c;
                farthest[i] = j;
            }
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(p, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_1D_ARRAY_DECL(farthest, int, N, n);
    POLYBENCH_1D_ARRAY_DECL(chord, DATA_TYPE, N, n);

    initialize(n, POLYBENCH_ARRAY(p));
    polybench_start_instruments;
    kernel_farthest_point(n, POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(farthest), POLYBENCH_ARRAY(chord));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(farthest), POLYBENCH_ARRAY(chord)));
    POLYBENCH_FREE_ARRAY(p);
    POLYBENCH_FREE_ARRAY(farthest);
    POLYBENCH_FREE_ARRAY(chord);
    return 0;
}
