/* edit-distance: least number of insertions, deletions and replacements between two strings, in two rows that
   swap. */
#include "general.h"

#ifndef M
#define M DATASET(210, 800, 2500, 8000, 16000)
#endif
#ifndef N
#define N DATASET(210, 800, 2500, 8000, 16000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n))
{
    for (int i = 0; i < m; i++)
        a[i] = (char)('a' + noise(i, 0) % 20);
    for (int j = 0; j < n; j++)
        b[j] = (char)('a' + noise(j, j % 3) % 20);
}

static void dump(int n, int POLYBENCH_1D(previous, N + 1, n + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, previous, n + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_edit_distance(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n),
                                 int POLYBENCH_1D(previous, N + 1, n + 1), int POLYBENCH_1D(current, N + 1, n + 1))
{
#pragma scop
    for (int j = 0; j <= _PB_N; j++)
        previous[j] = j;
    for (int i = 1; i <= _PB_M; i++) {
        current[0] = i;
        for (int j = 1; j <= _PB_N; j++) {
            int cost = previous[j - 1] + (a[i - 1] != b[j - 1]);
            if (previous[j] + 1 < cost)
                cost = previous[j] + 1;
            if (current[j - 1] + 1 < cost)
                cost = current[j - 1] + 1;
            current[j] = cost;
        }
        for (int j = 0; j <= _PB_N; j++)
            previous[j] = current[j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_1D_ARRAY_DECL(a, char, M, m);
    POLYBENCH_1D_ARRAY_DECL(b, char, N, n);
    POLYBENCH_1D_ARRAY_DECL(previous, int, N + 1, n + 1);
    POLYBENCH_1D_ARRAY_DECL(current, int, N + 1, n + 1);

    initialize(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_edit_distance(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(previous),
                         POLYBENCH_ARRAY(current));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(previous)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(previous);
    POLYBENCH_FREE_ARRAY(current);
    return 0;
}
