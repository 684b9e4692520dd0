/* gray-scott: two reacting and diffusing substances in the plane, with new grids that take the place of the old
   ones. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(3, 6, 12, 20, 40)
#endif
#ifndef N
#define N DATASET(140, 340, 740, 1600, 2500)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *feed, DATA_TYPE *kill, DATA_TYPE POLYBENCH_3D(u, 2, N, N, 2, n, n),
                       DATA_TYPE POLYBENCH_3D(v, 2, N, N, 2, n, n))
{
    *feed = 0.04;
    *kill = 0.06;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                u[s][i][j] = 1 - 0.5f * UNIT(i / 8, j / 8);
                v[s][i][j] = 0.5f * UNIT(j / 8, i / 8 + 77);
            }
}

static void dump(int n, DATA_TYPE POLYBENCH_3D(u, 2, N, N, 2, n, n), DATA_TYPE POLYBENCH_3D(v, 2, N, N, 2, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, u, 2, n, n);
    DUMP_3D(REAL, v, 2, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_gray_scott(int nt, int n, DATA_TYPE feed, DATA_TYPE kill,
                              DATA_TYPE POLYBENCH_3D(u, 2, N, N, 2, n, n),
                              DATA_TYPE POLYBENCH_3D(v, 2, N, N, 2, n, n))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++)
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++) {
                int old = t % 2, new = 1 - t % 2;
                DATA_TYPE a = u[old][i][j], b = v[old][i][j];
                DATA_TYPE du = u[old][i - 1][j] + u[old][i + 1][j] + u[old][i][j - 1] + u[old][i][j + 1] - SCALAR_VAL(4.0) * a;
                DATA_TYPE dv = v[old][i - 1][j] + v[old][i + 1][j] + v[old][i][j - 1] + v[old][i][j + 1] - SCALAR_VAL(4.0) * b;
                u[new][i][j] = a + SCALAR_VAL(0.16) * du - a * b * b + feed * (SCALAR_VAL(1.0) - a);
                v[new][i][j] = b + SCALAR_VAL(0.08) * dv + a * b * b - (feed + kill) * b;
            }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    DATA_TYPE feed;
    DATA_TYPE kill;
    POLYBENCH_3D_ARRAY_DECL(u, DATA_TYPE, 2, N, N, 2, n, n);
    POLYBENCH_3D_ARRAY_DECL(v, DATA_TYPE, 2, N, N, 2, n, n);

    initialize(n, &feed, &kill, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(v));
    polybench_start_instruments;
    kernel_gray_scott(nt, n, feed, kill, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(v));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(u), POLYBENCH_ARRAY(v)));
    POLYBENCH_FREE_ARRAY(u);
    POLYBENCH_FREE_ARRAY(v);
    return 0;
}
