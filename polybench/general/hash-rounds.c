/* hash-rounds: words encrypted by rounds of additions, shifts and exclusive ors with a key (a Feistel network). */
#include "general.h"

#ifndef N
#define N DATASET(270, 4000, 40000, 400000, 1600000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, unsigned POLYBENCH_1D(key, 4, 4), unsigned POLYBENCH_2D(text, N, 2, n, 2))
{
    for (int e = 0; e < 4; e++)
        key[e] = noise(e, 1) << 16 | noise(e, 2);
    for (int p = 0; p < n; p++)
        for (int e = 0; e < 2; e++)
            text[p][e] = noise(p, e) << 16 | noise(p, e + 2);
}

static void dump(int n, unsigned POLYBENCH_2D(text, N, 2, n, 2))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, text, n, 2);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_hash_rounds(int n, unsigned POLYBENCH_1D(key, 4, 4), unsigned POLYBENCH_2D(text, N, 2, n, 2))
{
#pragma scop
    for (int p = 0; p < _PB_N; p++) {
        unsigned l = text[p][0], r = text[p][1], sum = 0;
        for (int round = 0; round < 16; round++) {
            sum += 0x9e3779b9u;
            l += ((r << 4) + key[0]) ^ (r + sum) ^ ((r >> 5) + key[1]);
            r += ((l << 4) + key[2]) ^ (l + sum) ^ ((l >> 5) + key[3]);
        }
        text[p][0] = l;
        text[p][1] = r;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(key, unsigned, 4, 4);
    POLYBENCH_2D_ARRAY_DECL(text, unsigned, N, 2, n, 2);

    initialize(n, POLYBENCH_ARRAY(key), POLYBENCH_ARRAY(text));
    polybench_start_instruments;
    kernel_hash_rounds(n, POLYBENCH_ARRAY(key), POLYBENCH_ARRAY(text));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(text)));
    POLYBENCH_FREE_ARRAY(key);
    POLYBENCH_FREE_ARRAY(text);
    return 0;
}
