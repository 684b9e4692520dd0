/* lcs: length of the longest common subsequence of two strings. */
#include "general.h"

#ifndef M
#define M DATASET(150, 600, 1900, 6000, 12000)
#endif
#ifndef N
#define N DATASET(150, 600, 1900, 6000, 12000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n))
{
    for (int i = 0; i < m; i++)
        a[i] = (char)('a' + noise(i, 0) % 4);
    for (int j = 0; j < n; j++)
        b[j] = (char)('a' + noise(j, 1) % 4);
}

static void dump(int m, int n, int POLYBENCH_2D(length, M + 1, N + 1, m + 1, n + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, length, m + 1, n + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_lcs(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n),
                       int POLYBENCH_2D(length, M + 1, N + 1, m + 1, n + 1))
{
    int i, j;

#pragma scop
    for (i = 0; i <= _PB_M; i++)
        length[i][0] = 0;
    for (j = 0; j <= _PB_N; j++)
        length[0][j] = 0;
    for (i = 1; i <= _PB_M; i++)
        for (j = 1; j <= _PB_N; j++) {
            if (a[i - 1] == b[j - 1])
                length[i][j] = length[i - 1][j - 1] + 1;
            else if (length[i - 1][j] >= length[i][j - 1])
                length[i][j] = length[i - 1][j];
            else
                length[i][j] = length[i][j - 1];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_1D_ARRAY_DECL(a, char, M, m);
    POLYBENCH_1D_ARRAY_DECL(b, char, N, n);
    POLYBENCH_2D_ARRAY_DECL(length, int, M + 1, N + 1, m + 1, n + 1);

    initialize(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_lcs(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(length));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(length)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(length);
    return 0;
}
