/* smith-waterman: local alignment of two sequences with affine costs of gaps, in 16 bits, and the best score of
   each row. */
#include "general.h"

#ifndef M
#define M DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef N
#define N DATASET(130, 500, 1600, 5000, 10000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void initialize(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n),
                       short POLYBENCH_2D(score, M + 1, N + 1, m + 1, n + 1),
                       short POLYBENCH_2D(gap_a, M + 1, N + 1, m + 1, n + 1),
                       short POLYBENCH_2D(gap_b, M + 1, N + 1, m + 1, n + 1), short POLYBENCH_1D(best, M + 1, m + 1))
{
    for (int i = 0; i < m; i++)
        a[i] = (char)(noise(i, 0) % 4);
    for (int j = 0; j < n; j++)
        b[j] = (char)(noise(j, 3) % 4);
    for (int i = 0; i <= m; i++) {
        best[i] = 0;
        for (int j = 0; j <= n; j++)
            score[i][j] = gap_a[i][j] = gap_b[i][j] = 0;
    }
}

static void dump(int m, int n, short POLYBENCH_2D(score, M + 1, N + 1, m + 1, n + 1),
                 short POLYBENCH_1D(best, M + 1, m + 1))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, score, m + 1, n + 1);
    DUMP_1D(INT, best, m + 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_smith_waterman(int m, int n, char POLYBENCH_1D(a, M, m), char POLYBENCH_1D(b, N, n),
                                  short POLYBENCH_2D(score, M + 1, N + 1, m + 1, n + 1),
                                  short POLYBENCH_2D(gap_a, M + 1, N + 1, m + 1, n + 1),
                                  short POLYBENCH_2D(gap_b, M + 1, N + 1, m + 1, n + 1),
                                  short POLYBENCH_1D(best, M + 1, m + 1))
{
#pragma scop
    for (int i = 1; i <= _PB_M; i++) {
        for (int j = 1; j <= _PB_N; j++) {
            gap_a[i][j] = MAX(score[i - 1][j] - 5, gap_a[i - 1][j] - 1);
            gap_b[i][j] = MAX(score[i][j - 1] - 5, gap_b[i][j - 1] - 1);
            short h = score[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
            h = MAX(h, gap_a[i][j]);
            h = MAX(h, gap_b[i][j]);
            h = MAX(h, 0);
            score[i][j] = h;
            best[i] = MAX(best[i], h);
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_1D_ARRAY_DECL(a, char, M, m);
    POLYBENCH_1D_ARRAY_DECL(b, char, N, n);
    POLYBENCH_2D_ARRAY_DECL(score, short, M + 1, N + 1, m + 1, n + 1);
    POLYBENCH_2D_ARRAY_DECL(gap_a, short, M + 1, N + 1, m + 1, n + 1);
    POLYBENCH_2D_ARRAY_DECL(gap_b, short, M + 1, N + 1, m + 1, n + 1);
    POLYBENCH_1D_ARRAY_DECL(best, short, M + 1, m + 1);

    initialize(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(score), POLYBENCH_ARRAY(gap_a),
               POLYBENCH_ARRAY(gap_b), POLYBENCH_ARRAY(best));
    polybench_start_instruments;
    kernel_smith_waterman(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(score),
                          POLYBENCH_ARRAY(gap_a), POLYBENCH_ARRAY(gap_b), POLYBENCH_ARRAY(best));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(score), POLYBENCH_ARRAY(best)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(score);
    POLYBENCH_FREE_ARRAY(gap_a);
    POLYBENCH_FREE_ARRAY(gap_b);
    POLYBENCH_FREE_ARRAY(best);
    return 0;
}
