/* cross-correlation: a 16-bit pattern's correlation with a 16-bit signal at every position, and where it is
   largest. */
#include "general.h"

#ifndef N
#define N DATASET(5200, 20000, 63000, 200000, 400000)
#endif
#ifndef M
#define M DATASET(26, 100, 320, 1000, 2000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)

static void initialize(int n, int m, short POLYBENCH_1D(x, N + M, n + m), short POLYBENCH_1D(pattern, M, m))
{
    for (int i = 0; i < n + m; i++)
        x[i] = (short)((int)(noise(i, 0) % 512) - 256);
    for (int j = 0; j < m; j++)
        pattern[j] = (short)((int)(noise(n / 3 + j, 0) % 512) - 256);
}

static void dump(int n, int POLYBENCH_1D(r, N, n), int POLYBENCH_1D(best, 2, 2))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, r, n);
    DUMP_1D(INT, best, 2);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_cross_correlation(int n, int m, short POLYBENCH_1D(x, N + M, n + m),
                                     short POLYBENCH_1D(pattern, M, m), int POLYBENCH_1D(r, N, n),
                                     int POLYBENCH_1D(best, 2, 2))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        int sum = 0;
        for (int j = 0; j < _PB_M; j++)
            sum += x[i + j] * pattern[j];
        r[i] = sum;
    }
    best[0] = r[0];
    best[1] = 0;
    for (int i = 1; i < _PB_N; i++)
        if (r[i] > best[0]) {
            best[0] = r[i];
            best[1] = i;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, m = M;
    POLYBENCH_1D_ARRAY_DECL(x, short, N + M, n + m);
    POLYBENCH_1D_ARRAY_DECL(pattern, short, M, m);
    POLYBENCH_1D_ARRAY_DECL(r, int, N, n);
    POLYBENCH_1D_ARRAY_DECL(best, int, 2, 2);

    initialize(n, m, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(pattern));
    polybench_start_instruments;
    kernel_cross_correlation(n, m, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(pattern), POLYBENCH_ARRAY(r),
                             POLYBENCH_ARRAY(best));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(r), POLYBENCH_ARRAY(best)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(pattern);
    POLYBENCH_FREE_ARRAY(r);
    POLYBENCH_FREE_ARRAY(best);
    return 0;
}
