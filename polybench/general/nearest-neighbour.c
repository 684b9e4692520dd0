/* nearest-neighbour: which of a set of points in space is nearest to each of many others, and its squared
   distance. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef M
#define M DATASET(150, 600, 1900, 6000, 12000)
#endif
#ifndef N
#define N DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(query, M, 3, m, 3),
                       DATA_TYPE POLYBENCH_2D(point, N, 3, n, 3))
{
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i < m; i++)
            query[i][d] = UNIT(i, d);
        for (int j = 0; j < n; j++)
            point[j][d] = UNIT(j, d + 10);
    }
}

static void dump(int m, int POLYBENCH_1D(nearest, M, m), DATA_TYPE POLYBENCH_1D(distance, M, m))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, nearest, m);
    DUMP_1D(REAL, distance, m);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_nearest_neighbour(int m, int n, DATA_TYPE POLYBENCH_2D(query, M, 3, m, 3),
                                     DATA_TYPE POLYBENCH_2D(point, N, 3, n, 3), int POLYBENCH_1D(nearest, M, m),
                                     DATA_TYPE POLYBENCH_1D(distance, M, m))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++) {
        DATA_TYPE best = SCALAR_VAL(1000.0);
        int at = -1;
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE dx = query[i][0] - point[j][0], dy = query[i][1] - point[j][1], dz = query[i][2] - point[j][2];
            DATA_TYPE d2 = dx * dx + dy * dy + dz * dz;
            if (d2 < best) {
                best = d2;
                at = j;
            }
        }
        nearest[i] = at;
        distance[i] = best;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(query, DATA_TYPE, M, 3, m, 3);
    POLYBENCH_2D_ARRAY_DECL(point, DATA_TYPE, N, 3, n, 3);
    POLYBENCH_1D_ARRAY_DECL(nearest, int, M, m);
    POLYBENCH_1D_ARRAY_DECL(distance, DATA_TYPE, M, m);

    initialize(m, n, POLYBENCH_ARRAY(query), POLYBENCH_ARRAY(point));
    polybench_start_instruments;
    kernel_nearest_neighbour(m, n, POLYBENCH_ARRAY(query), POLYBENCH_ARRAY(point), POLYBENCH_ARRAY(nearest),
                             POLYBENCH_ARRAY(distance));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, POLYBENCH_ARRAY(nearest), POLYBENCH_ARRAY(distance)));
    POLYBENCH_FREE_ARRAY(query);
    POLYBENCH_FREE_ARRAY(point);
    POLYBENCH_FREE_ARRAY(nearest);
    POLYBENCH_FREE_ARRAY(distance);
    return 0;
}
