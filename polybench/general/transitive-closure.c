/* transitive-closure: which nodes of a graph can be reached from which, in a matrix of bytes. */
#include "general.h"

#ifndef N
#define N DATASET(52, 130, 280, 600, 950)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, unsigned char POLYBENCH_2D(reach, N, N, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            reach[i][j] = i == j || (int)noise(i, j) % (4 * n) < 5;
}

static void dump(int n, unsigned char POLYBENCH_2D(reach, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, reach, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_transitive_closure(int n, unsigned char POLYBENCH_2D(reach, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (k = 0; k < _PB_N; k++)
        for (i = 0; i < _PB_N; i++)
            for (j = 0; j < _PB_N; j++)
                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(reach, unsigned char, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(reach));
    polybench_start_instruments;
    kernel_transitive_closure(n, POLYBENCH_ARRAY(reach));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(reach)));
    POLYBENCH_FREE_ARRAY(reach);
    return 0;
}
