/* complex-gemm: product of complex matrices whose real and imaginary parts are arrays of their own. */
#include "general.h"

#ifndef M
#define M DATASET(26, 65, 140, 300, 480)
#endif
#ifndef N
#define N DATASET(27, 67, 140, 310, 490)
#endif
#ifndef K
#define K DATASET(28, 69, 150, 320, 510)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_K POLYBENCH_LOOP_BOUND(K, k)

static void initialize(int m, int n, int k, DATA_TYPE POLYBENCH_2D(ar, M, K, m, k),
                       DATA_TYPE POLYBENCH_2D(ai, M, K, m, k), DATA_TYPE POLYBENCH_2D(br, K, N, k, n),
                       DATA_TYPE POLYBENCH_2D(bi, K, N, k, n))
{
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            ar[i][l] = UNIT(i, l) - 0.5;
            ai[i][l] = UNIT(i, l + 5000) - 0.5;
        }
    for (int l = 0; l < k; l++)
        for (int j = 0; j < n; j++) {
            br[l][j] = UNIT(j, l + 9000) - 0.5;
            bi[l][j] = UNIT(j, l + 12000) - 0.5;
        }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(cr, M, N, m, n), DATA_TYPE POLYBENCH_2D(ci, M, N, m, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, cr, m, n);
    DUMP_2D(REAL, ci, m, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_complex_gemm(int m, int n, int k, DATA_TYPE POLYBENCH_2D(ar, M, K, m, k),
                                DATA_TYPE POLYBENCH_2D(ai, M, K, m, k), DATA_TYPE POLYBENCH_2D(br, K, N, k, n),
                                DATA_TYPE POLYBENCH_2D(bi, K, N, k, n), DATA_TYPE POLYBENCH_2D(cr, M, N, m, n),
                                DATA_TYPE POLYBENCH_2D(ci, M, N, m, n))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++) {
            DATA_TYPE re = SCALAR_VAL(0.0), im = SCALAR_VAL(0.0);
            for (int l = 0; l < _PB_K; l++) {
                re += ar[i][l] * br[l][j] - ai[i][l] * bi[l][j];
                im += ar[i][l] * bi[l][j] + ai[i][l] * br[l][j];
            }
            cr[i][j] = re;
            ci[i][j] = im;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N, k = K;
    POLYBENCH_2D_ARRAY_DECL(ar, DATA_TYPE, M, K, m, k);
    POLYBENCH_2D_ARRAY_DECL(ai, DATA_TYPE, M, K, m, k);
    POLYBENCH_2D_ARRAY_DECL(br, DATA_TYPE, K, N, k, n);
    POLYBENCH_2D_ARRAY_DECL(bi, DATA_TYPE, K, N, k, n);
    POLYBENCH_2D_ARRAY_DECL(cr, DATA_TYPE, M, N, m, n);
    POLYBENCH_2D_ARRAY_DECL(ci, DATA_TYPE, M, N, m, n);

    initialize(m, n, k, POLYBENCH_ARRAY(ar), POLYBENCH_ARRAY(ai), POLYBENCH_ARRAY(br), POLYBENCH_ARRAY(bi));
    polybench_start_instruments;
    kernel_complex_gemm(m, n, k, POLYBENCH_ARRAY(ar), POLYBENCH_ARRAY(ai), POLYBENCH_ARRAY(br), POLYBENCH_ARRAY(bi),
                        POLYBENCH_ARRAY(cr), POLYBENCH_ARRAY(ci));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(cr), POLYBENCH_ARRAY(ci)));
    POLYBENCH_FREE_ARRAY(ar);
    POLYBENCH_FREE_ARRAY(ai);
    POLYBENCH_FREE_ARRAY(br);
    POLYBENCH_FREE_ARRAY(bi);
    POLYBENCH_FREE_ARRAY(cr);
    POLYBENCH_FREE_ARRAY(ci);
    return 0;
}
