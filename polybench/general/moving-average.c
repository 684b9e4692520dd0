/* moving-average: moving averages of many series over a window, and how often the series are above them. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef M
#define M DATASET(26, 100, 320, 1000, 2000)
#endif
#ifndef N
#define N DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef WINDOW
#define WINDOW DATASET(5, 10, 20, 20, 20)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_WINDOW POLYBENCH_LOOP_BOUND(WINDOW, window)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                       DATA_TYPE POLYBENCH_2D(average, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            x[i][j] = UNIT(i, j) + (DATA_TYPE)(j % 100) / 100;
            average[i][j] = 0;
        }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(average, M, N, m, n), int POLYBENCH_1D(above, M, m))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, average, m, n);
    DUMP_1D(INT, above, m);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_moving_average(int m, int n, int window, DATA_TYPE POLYBENCH_2D(x, M, N, m, n),
                                  DATA_TYPE POLYBENCH_2D(average, M, N, m, n), int POLYBENCH_1D(above, M, m))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++) {
        above[i] = 0;
        for (int j = _PB_WINDOW - 1; j < _PB_N; j++) {
            DATA_TYPE sum = SCALAR_VAL(0.0);
            for (int k = 0; k < _PB_WINDOW; k++)
                sum += x[i][j - k];
            average[i][j] = sum / _PB_WINDOW;
            if (x[i][j] > average[i][j])
                above[i]++;
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N, window = WINDOW;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(average, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(above, int, M, m);

    initialize(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(average));
    polybench_start_instruments;
    kernel_moving_average(m, n, window, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(average), POLYBENCH_ARRAY(above));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(average), POLYBENCH_ARRAY(above)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(average);
    POLYBENCH_FREE_ARRAY(above);
    return 0;
}
