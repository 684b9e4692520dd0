/* prefix-sums: prefix sums of each row, and of the rows' totals. */
#include "general.h"

#ifndef M
#define M DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef N
#define N DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, int POLYBENCH_2D(x, M, N, m, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = (int)(noise(i, j) % 64) - 30;
}

static void dump(int m, int n, int POLYBENCH_2D(sum, M, N, m, n), int POLYBENCH_1D(total, M, m))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, sum, m, n);
    DUMP_1D(INT, total, m);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_prefix_sums(int m, int n, int POLYBENCH_2D(x, M, N, m, n), int POLYBENCH_2D(sum, M, N, m, n),
                               int POLYBENCH_1D(total, M, m))
{
    int i, j, s;

#pragma scop
    for (i = 0; i < _PB_M; i++) {
        s = 0;
        for (j = 0; j < _PB_N; j++) {
            s += x[i][j];
            sum[i][j] = s;
        }
        total[i] = i > 0 ? total[i - 1] + s : s;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(x, int, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(sum, int, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(total, int, M, m);

    initialize(m, n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_prefix_sums(m, n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(total));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(total)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(sum);
    POLYBENCH_FREE_ARRAY(total);
    return 0;
}
