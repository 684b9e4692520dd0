/* pair-histogram: how many pairs of particles have a distance in each of some ranges. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(130, 500, 1600, 5000, 10000)
#endif
#ifndef BINS
#define BINS DATASET(20, 50, 100, 100, 100)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_BINS POLYBENCH_LOOP_BOUND(BINS, bins)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                       DATA_TYPE POLYBENCH_1D(z, N, n))
{
    for (int i = 0; i < n; i++) {
        x[i] = UNIT(i, 0);
        y[i] = UNIT(i, 1);
        z[i] = UNIT(i, 2);
    }
}

static void dump(int bins, int POLYBENCH_1D(count, BINS, bins))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, count, bins);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_pair_histogram(int n, int bins, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(y, N, n),
                                  DATA_TYPE POLYBENCH_1D(z, N, n), int POLYBENCH_1D(count, BINS, bins))
{
    int i, j, bin;

#pragma scop
    for (bin = 0; bin < _PB_BINS; bin++)
        count[bin] = 0;
    for (i = 0; i < _PB_N; i++)
        for (j = 0; j < i; j++) {
            DATA_TYPE dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            bin = (int)(SQRT_FUN(dx * dx + dy * dy + dz * dz) * (_PB_BINS / 2));
            if (bin < _PB_BINS)
                count[bin]++;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, bins = BINS;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(z, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(count, int, BINS, bins);

    initialize(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z));
    polybench_start_instruments;
    kernel_pair_histogram(n, bins, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z),
                          POLYBENCH_ARRAY(count));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(bins, POLYBENCH_ARRAY(count)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(z);
    POLYBENCH_FREE_ARRAY(count);
    return 0;
}
