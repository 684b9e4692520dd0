/* dtw: dynamic time warping of two series: least sum of distances along a path that goes forwards in both. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef M
#define M DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef N
#define N DATASET(100, 400, 1300, 4000, 8000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_1D(a, M, m), DATA_TYPE POLYBENCH_1D(b, N, n))
{
    for (int i = 0; i < m; i++)
        a[i] = (DATA_TYPE)(i % 50) / 50 + UNIT(i, 0);
    for (int j = 0; j < n; j++)
        b[j] = (DATA_TYPE)(j % 55) / 50 + UNIT(j, 1);
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(cost, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, cost, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_dtw(int m, int n, DATA_TYPE POLYBENCH_1D(a, M, m), DATA_TYPE POLYBENCH_1D(b, N, n),
                       DATA_TYPE POLYBENCH_2D(cost, M, N, m, n))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE distance = FABS_FUN(a[i] - b[j]);
            if (i == 0 && j == 0)
                cost[i][j] = distance;
            else if (i == 0)
                cost[i][j] = distance + cost[i][j - 1];
            else if (j == 0)
                cost[i][j] = distance + cost[i - 1][j];
            else {
                DATA_TYPE least = cost[i - 1][j - 1];
                if (cost[i - 1][j] < least)
                    least = cost[i - 1][j];
                if (cost[i][j - 1] < least)
                    least = cost[i][j - 1];
                cost[i][j] = distance + least;
            }
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_1D_ARRAY_DECL(a, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(b, DATA_TYPE, N, n);
    POLYBENCH_2D_ARRAY_DECL(cost, DATA_TYPE, M, N, m, n);

    initialize(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_dtw(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(cost));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(cost)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(cost);
    return 0;
}
