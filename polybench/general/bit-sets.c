/* bit-sets: how similar sets are that are given as words of bits: sizes of intersections and unions of all pairs,
   by counting bits. */
#include "general.h"

#ifndef N
#define N DATASET(52, 200, 630, 2000, 4000)
#endif
#ifndef WORDS
#define WORDS DATASET(3, 8, 16, 16, 16)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_WORDS POLYBENCH_LOOP_BOUND(WORDS, words)

static void initialize(int n, int words, unsigned POLYBENCH_2D(set, N, WORDS, n, words))
{
    for (int i = 0; i < n; i++)
        for (int w = 0; w < words; w++)
            set[i][w] = noise(i, w) << 16 | noise(i, w + 1000);
}

static void dump(int n, int POLYBENCH_2D(common, N, N, n, n), int POLYBENCH_2D(either, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, common, n, n);
    DUMP_2D(INT, either, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_bit_sets(int n, int words, unsigned POLYBENCH_2D(set, N, WORDS, n, words),
                            int POLYBENCH_2D(common, N, N, n, n), int POLYBENCH_2D(either, N, N, n, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++)
        for (int j = 0; j < _PB_N; j++) {
            int both = 0, any = 0;
            for (int w = 0; w < _PB_WORDS; w++) {
                unsigned x = set[i][w] & set[j][w], y = set[i][w] | set[j][w];
                x = x - (x >> 1 & 0x55555555u);
                x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
                x = (x + (x >> 4)) & 0x0f0f0f0fu;
                both += (int)(x * 0x01010101u >> 24);
                y = y - (y >> 1 & 0x55555555u);
                y = (y & 0x33333333u) + (y >> 2 & 0x33333333u);
                y = (y + (y >> 4)) & 0x0f0f0f0fu;
                any += (int)(y * 0x01010101u >> 24);
            }
            common[i][j] = both;
            either[i][j] = any;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, words = WORDS;
    POLYBENCH_2D_ARRAY_DECL(set, unsigned, N, WORDS, n, words);
    POLYBENCH_2D_ARRAY_DECL(common, int, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(either, int, N, N, n, n);

    initialize(n, words, POLYBENCH_ARRAY(set));
    polybench_start_instruments;
    kernel_bit_sets(n, words, POLYBENCH_ARRAY(set), POLYBENCH_ARRAY(common), POLYBENCH_ARRAY(either));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(common), POLYBENCH_ARRAY(either)));
    POLYBENCH_FREE_ARRAY(set);
    POLYBENCH_FREE_ARRAY(common);
    POLYBENCH_FREE_ARRAY(either);
    return 0;
}
