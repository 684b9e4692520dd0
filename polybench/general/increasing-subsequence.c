/* increasing-subsequence: length of the longest increasing subsequence that ends at each element. */
#include "general.h"

#ifndef N
#define N DATASET(310, 1200, 3800, 12000, 24000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, int POLYBENCH_1D(x, N, n))
{
    for (int i = 0; i < n; i++)
        x[i] = (int)noise(i, 0) + i;
}

static void dump(int n, int POLYBENCH_1D(length, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, length, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_increasing_subsequence(int n, int POLYBENCH_1D(x, N, n), int POLYBENCH_1D(length, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        int longest = 0;
        for (int j = 0; j < i; j++)
            if (x[j] < x[i] && length[j] > longest)
                longest = length[j];
        length[i] = longest + 1;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(x, int, N, n);
    POLYBENCH_1D_ARRAY_DECL(length, int, N, n);

    initialize(n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_increasing_subsequence(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(length));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(length)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(length);
    return 0;
}
