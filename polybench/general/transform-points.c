/* transform-points: points in space through a 4 x 4 matrix of a camera, with the division by depth, from one flat
   array to another. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(2000, 30000, 300000, 3000000, 12000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(matrix, 16, 16), DATA_TYPE POLYBENCH_1D(point, 3 * N, 3 * n))
{
    for (int e = 0; e < 16; e++)
        matrix[e] = UNIT(e, 5) - (e < 12 ? 0.5f : 0);
    matrix[15] = 2;
    for (int p = 0; p < 3 * n; p++)
        point[p] = UNIT(p, 0);
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(seen, 3 * N, 3 * n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, seen, 3 * n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_transform_points(int n, DATA_TYPE POLYBENCH_1D(matrix, 16, 16),
                                    DATA_TYPE POLYBENCH_1D(point, 3 * N, 3 * n),
                                    DATA_TYPE POLYBENCH_1D(seen, 3 * N, 3 * n))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        DATA_TYPE x = point[3 * p], y = point[3 * p + 1], z = point[3 * p + 2];
        DATA_TYPE depth = matrix[12] * x + matrix[13] * y + matrix[14] * z + matrix[15];
        for (int i = 0; i < 3; i++)
            seen[3 * p + i] = (matrix[4 * i] * x + matrix[4 * i + 1] * y + matrix[4 * i + 2] * z + matrix[4 * i + 3]) / depth;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(matrix, DATA_TYPE, 16, 16);
    POLYBENCH_1D_ARRAY_DECL(point, DATA_TYPE, 3 * N, 3 * n);
    POLYBENCH_1D_ARRAY_DECL(seen, DATA_TYPE, 3 * N, 3 * n);

    initialize(n, POLYBENCH_ARRAY(matrix), POLYBENCH_ARRAY(point));
    polybench_start_instruments;
    kernel_transform_points(n, POLYBENCH_ARRAY(matrix), POLYBENCH_ARRAY(point), POLYBENCH_ARRAY(seen));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(seen)));
    POLYBENCH_FREE_ARRAY(matrix);
    POLYBENCH_FREE_ARRAY(point);
    POLYBENCH_FREE_ARRAY(seen);
    return 0;
}
