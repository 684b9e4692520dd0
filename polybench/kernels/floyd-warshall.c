/* floyd-warshall: the lengths of the shortest paths between all pairs of N vertices. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_INT
#endif
#include "kernel.h"

#ifndef N
#define N DATASET(60, 180, 500, 2800, 5600)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

/* 999 stands for "no edge". */
static void initialize(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int unconnected = (i + j) % 7 == 0 || (i + j) % 11 == 0 || (i + j) % 13 == 0;

            path[i][j] = unconnected ? 999 : i * j % 7 + 1;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("path");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            DUMP_VALUE(i * n + j, path[i][j]);
    POLYBENCH_DUMP_END("path");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_floyd_warshall(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (k = 0; k < _PB_N; k++)
        for (i = 0; i < _PB_N; i++)
            for (j = 0; j < _PB_N; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(path, DATA_TYPE, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(path));
    polybench_start_instruments;
    kernel_floyd_warshall(n, POLYBENCH_ARRAY(path));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(path)));
    POLYBENCH_FREE_ARRAY(path);
    return 0;
}
