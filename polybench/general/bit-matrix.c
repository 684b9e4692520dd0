/* bit-matrix: product of matrices of bits over the field of two elements, 32 in a word: rows xored where a bit is
   set. */
#include "general.h"

#ifndef N
#define N DATASET(6, 14, 30, 64, 100)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, unsigned POLYBENCH_2D(a, 32 * N, N, 32 * n, n),
                       unsigned POLYBENCH_2D(b, 32 * N, N, 32 * n, n))
{
    for (int i = 0; i < 32 * n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = noise(i, j) << 16 | noise(i, j + 1000);
            b[i][j] = noise(j, i) << 16 | noise(j + 1000, i);
        }
}

static void dump(int n, unsigned POLYBENCH_2D(c, 32 * N, N, 32 * n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, c, 32 * n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_bit_matrix(int n, unsigned POLYBENCH_2D(a, 32 * N, N, 32 * n, n),
                              unsigned POLYBENCH_2D(b, 32 * N, N, 32 * n, n),
                              unsigned POLYBENCH_2D(c, 32 * N, N, 32 * n, n))
{
#pragma scop
    for (int i = 0; i < 32 * _PB_N; i++) {
        for (int j = 0; j < _PB_N; j++)
            c[i][j] = 0;
        for (int k = 0; k < _PB_N; k++)
            for (int bit = 0; bit < 32; bit++)
                if (a[i][k] >> bit & 1)
                    for (int j = 0; j < _PB_N; j++)
                        c[i][j] ^= b[32 * k + bit][j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_2D_ARRAY_DECL(a, unsigned, 32 * N, N, 32 * n, n);
    POLYBENCH_2D_ARRAY_DECL(b, unsigned, 32 * N, N, 32 * n, n);
    POLYBENCH_2D_ARRAY_DECL(c, unsigned, 32 * N, N, 32 * n, n);

    initialize(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b));
    polybench_start_instruments;
    kernel_bit_matrix(n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(c));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(c)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(b);
    POLYBENCH_FREE_ARRAY(c);
    return 0;
}
