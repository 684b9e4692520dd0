/* gemm-s16: product of 16-bit matrices, the second one transposed, with sums of 32 bits. */
#include "general.h"

#ifndef M
#define M DATASET(61, 150, 320, 700, 1100)
#endif
#ifndef N
#define N DATASET(70, 170, 370, 800, 1300)
#endif
#ifndef K
#define K DATASET(79, 190, 420, 900, 1400)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_K POLYBENCH_LOOP_BOUND(K, k)

static void initialize(int m, int n, int k, short POLYBENCH_2D(a, M, K, m, k), short POLYBENCH_2D(bt, N, K, n, k))
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            a[i][l] = (short)((int)(noise(i, l) % 1024) - 512);
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            bt[j][l] = (short)((int)(noise(j, l + 5) % 1024) - 512);
}

static void dump(int m, int n, int POLYBENCH_2D(c, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, c, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_gemm_s16(int m, int n, int k, short POLYBENCH_2D(a, M, K, m, k),
                            short POLYBENCH_2D(bt, N, K, n, k), int POLYBENCH_2D(c, M, N, m, n))
{
    int i, j, l;

#pragma scop
    for (i = 0; i < _PB_M; i++)
        for (j = 0; j < _PB_N; j++) {
            c[i][j] = 0;
            for (l = 0; l < _PB_K; l++)
                c[i][j] += a[i][l] * bt[j][l];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N, k = K;
    POLYBENCH_2D_ARRAY_DECL(a, short, M, K, m, k);
    POLYBENCH_2D_ARRAY_DECL(bt, short, N, K, n, k);
    POLYBENCH_2D_ARRAY_DECL(c, int, M, N, m, n);

    initialize(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(bt));
    polybench_start_instruments;
    kernel_gemm_s16(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(bt), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(bt);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
