/* sort8: many rows of eight numbers, each sorted by a network of compare-exchanges. */
#include "general.h"

#ifndef N
#define N DATASET(2000, 30000, 300000, 3000000, 12000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

/* The smaller of x[i] and x[j] first. */
#define EXCHANGE(x, i, j)             \
    {                                 \
        int a = x[i], b = x[j];       \
        x[i] = a < b ? a : b;         \
        x[j] = a < b ? b : a;         \
    }

static void initialize(int n, int POLYBENCH_2D(row, N, 8, n, 8))
{
    for (int p = 0; p < n; p++)
        for (int i = 0; i < 8; i++)
            row[p][i] = (int)noise(p, i);
}

static void dump(int n, int POLYBENCH_2D(row, N, 8, n, 8))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, row, n, 8);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_sort8(int n, int POLYBENCH_2D(row, N, 8, n, 8))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        EXCHANGE(row[p], 0, 2)
        EXCHANGE(row[p], 1, 3)
        EXCHANGE(row[p], 4, 6)
        EXCHANGE(row[p], 5, 7)
        EXCHANGE(row[p], 0, 4)
        EXCHANGE(row[p], 1, 5)
        EXCHANGE(row[p], 2, 6)
        EXCHANGE(row[p], 3, 7)
        EXCHANGE(row[p], 0, 1)
        EXCHANGE(row[p], 2, 3)
        EXCHANGE(row[p], 4, 5)
        EXCHANGE(row[p], 6, 7)
        EXCHANGE(row[p], 2, 4)
        EXCHANGE(row[p], 3, 5)
        EXCHANGE(row[p], 1, 4)
        EXCHANGE(row[p], 3, 6)
        EXCHANGE(row[p], 1, 2)
        EXCHANGE(row[p], 3, 4)
        EXCHANGE(row[p], 5, 6)
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(row, int, N, 8, n, 8);

    initialize(n, POLYBENCH_ARRAY(row));
    polybench_start_instruments;
    kernel_sort8(n, POLYBENCH_ARRAY(row));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(row)));
    POLYBENCH_FREE_ARRAY(row);
    return 0;
}
