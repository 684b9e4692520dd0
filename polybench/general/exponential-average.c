/* exponential-average: exponential moving average and deviation of many channels whose samples lie interleaved. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(1500, 6000, 19000, 60000, 120000)
#endif
#ifndef CHANNELS
#define CHANNELS DATASET(7, 32, 64, 128, 256)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_CHANNELS POLYBENCH_LOOP_BOUND(CHANNELS, channels)

static void initialize(int n, int channels, DATA_TYPE *alpha, DATA_TYPE POLYBENCH_2D(x, N, CHANNELS, n, channels))
{
    *alpha = 0.05;
    for (int t = 0; t < n; t++)
        for (int c = 0; c < channels; c++)
            x[t][c] = UNIT(t, c) + (DATA_TYPE)(t % 100) / 50;
}

static void dump(int n, int channels, DATA_TYPE POLYBENCH_2D(mean, N, CHANNELS, n, channels),
                 DATA_TYPE POLYBENCH_2D(deviation, N, CHANNELS, n, channels))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, mean, n, channels);
    DUMP_2D(REAL, deviation, n, channels);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_exponential_average(int n, int channels, DATA_TYPE alpha,
                                       DATA_TYPE POLYBENCH_2D(x, N, CHANNELS, n, channels),
                                       DATA_TYPE POLYBENCH_2D(mean, N, CHANNELS, n, channels),
                                       DATA_TYPE POLYBENCH_2D(deviation, N, CHANNELS, n, channels))
{
#pragma scop
    for (int c = 0; c < _PB_CHANNELS; c++) {
        mean[0][c] = x[0][c];
        deviation[0][c] = SCALAR_VAL(0.0);
    }
    for (int t = 1; t < _PB_N; t++)
        for (int c = 0; c < _PB_CHANNELS; c++) {
            mean[t][c] = alpha * x[t][c] + (SCALAR_VAL(1.0) - alpha) * mean[t - 1][c];
            DATA_TYPE d = x[t][c] - mean[t][c];
            deviation[t][c] = alpha * (d < SCALAR_VAL(0.0) ? -d : d) + (SCALAR_VAL(1.0) - alpha) * deviation[t - 1][c];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, channels = CHANNELS;
    DATA_TYPE alpha;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, N, CHANNELS, n, channels);
    POLYBENCH_2D_ARRAY_DECL(mean, DATA_TYPE, N, CHANNELS, n, channels);
    POLYBENCH_2D_ARRAY_DECL(deviation, DATA_TYPE, N, CHANNELS, n, channels);

    initialize(n, channels, &alpha, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_exponential_average(n, channels, alpha, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(mean),
                               POLYBENCH_ARRAY(deviation));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, channels, POLYBENCH_ARRAY(mean), POLYBENCH_ARRAY(deviation)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(mean);
    POLYBENCH_FREE_ARRAY(deviation);
    return 0;
}
