/* pair-distances: Euclidean distances between all pairs of points in some dimensions, as a symmetric matrix. */
#include "general.h"

#ifndef N
#define N DATASET(52, 200, 630, 2000, 4000)
#endif
#ifndef D
#define D DATASET(4, 8, 16, 16, 16)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_D POLYBENCH_LOOP_BOUND(D, d)

static void initialize(int n, int d, DATA_TYPE POLYBENCH_2D(point, N, D, n, d))
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c++)
            point[i][c] = UNIT(i, c);
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(distance, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, distance, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_pair_distances(int n, int d, DATA_TYPE POLYBENCH_2D(point, N, D, n, d),
                                  DATA_TYPE POLYBENCH_2D(distance, N, N, n, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        distance[i][i] = SCALAR_VAL(0.0);
        for (int j = i + 1; j < _PB_N; j++) {
            DATA_TYPE sum = SCALAR_VAL(0.0);
            for (int c = 0; c < _PB_D; c++) {
                DATA_TYPE e = point[i][c] - point[j][c];
                sum += e * e;
            }
            distance[i][j] = SQRT_FUN(sum);
            distance[j][i] = distance[i][j];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, d = D;
    POLYBENCH_2D_ARRAY_DECL(point, DATA_TYPE, N, D, n, d);
    POLYBENCH_2D_ARRAY_DECL(distance, DATA_TYPE, N, N, n, n);

    initialize(n, d, POLYBENCH_ARRAY(point));
    polybench_start_instruments;
    kernel_pair_distances(n, d, POLYBENCH_ARRAY(point), POLYBENCH_ARRAY(distance));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(distance)));
    POLYBENCH_FREE_ARRAY(point);
    POLYBENCH_FREE_ARRAY(distance);
    return 0;
}
