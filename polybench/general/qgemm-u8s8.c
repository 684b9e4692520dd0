/* qgemm-u8s8: product of matrices of 8 bits, unsigned by signed, with sums of 32 bits that are scaled and clamped
   to 8 bits again. */
#include "general.h"

#ifndef M
#define M DATASET(44, 110, 230, 500, 790)
#endif
#ifndef N
#define N DATASET(44, 110, 230, 500, 790)
#endif
#ifndef K
#define K DATASET(52, 130, 280, 600, 950)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_K POLYBENCH_LOOP_BOUND(K, k)

static void initialize(int m, int n, int k, unsigned char POLYBENCH_2D(a, M, K, m, k),
                       signed char POLYBENCH_2D(b, K, N, k, n))
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            a[i][l] = (unsigned char)(noise(i, l) % 256);
    for (int l = 0; l < k; l++)
        for (int j = 0; j < n; j++)
            b[l][j] = (signed char)((int)(noise(j, l + 5) % 255) - 127);
}

static void dump(int m, int n, int POLYBENCH_2D(sum, M, N, m, n), unsigned char POLYBENCH_2D(out, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, sum, m, n);
    DUMP_2D(INT, out, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_qgemm_u8s8(int m, int n, int k, unsigned char POLYBENCH_2D(a, M, K, m, k),
                              signed char POLYBENCH_2D(b, K, N, k, n), int POLYBENCH_2D(sum, M, N, m, n),
                              unsigned char POLYBENCH_2D(out, M, N, m, n))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++) {
            int s = 0;
            for (int l = 0; l < _PB_K; l++)
                s += (a[i][l] - 128) * b[l][j];
            sum[i][j] = s;
        }
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++) {
            int v = sum[i][j] / 2048 + 128;
            out[i][j] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N, k = K;
    POLYBENCH_2D_ARRAY_DECL(a, unsigned char, M, K, m, k);
    POLYBENCH_2D_ARRAY_DECL(b, signed char, K, N, k, n);
    POLYBENCH_2D_ARRAY_DECL(sum, int, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(out, unsigned char, M, N, m, n);

    initialize(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_qgemm_u8s8(m, n, k, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(out));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(sum), POLYBENCH_ARRAY(out)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(sum);
    POLYBENCH_FREE_ARRAY(out);
    return 0;
}
