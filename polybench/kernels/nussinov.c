/* nussinov: RNA folding. table[i][j] is the largest number of nested base pairs in the part i ... j of the sequence. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_INT
#endif
#include "kernel.h"

#ifndef N
#define N DATASET(60, 180, 500, 2500, 5500)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

/* The bases A, G, C, T are 0, 1, 2, 3; A pairs with T, and G with C. */
typedef char base;
#define match(b1, b2) (((b1) + (b2)) == 3 ? 1 : 0)
#define max_score(s1, s2) ((s1) >= (s2) ? (s1) : (s2))

static void initialize(int n, base POLYBENCH_1D(seq, N, n), DATA_TYPE POLYBENCH_2D(table, N, N, n, n))
{
    for (int i = 0; i < n; i++) {
        seq[i] = (base)((i + 1) % 4);
        for (int j = 0; j < n; j++)
            table[i][j] = 0;
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(table, N, N, n, n))
{
    int position = 0;

    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("table");
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            DUMP_VALUE(position, table[i][j]);
            position++;
        }
    POLYBENCH_DUMP_END("table");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_nussinov(int n, base POLYBENCH_1D(seq, N, n), DATA_TYPE POLYBENCH_2D(table, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = _PB_N - 1; i >= 0; i--) {
        for (j = i + 1; j < _PB_N; j++) {
            /* j stays alone, or i does */
            if (j - 1 >= 0)
                table[i][j] = max_score(table[i][j], table[i][j - 1]);
            if (i + 1 < _PB_N)
                table[i][j] = max_score(table[i][j], table[i + 1][j]);
            /* i pairs with j, unless they are neighbours */
            if (j - 1 >= 0 && i + 1 < _PB_N) {
                if (i < j - 1)
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
                else
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1]);
            }
            /* two foldings side by side */
            for (k = i + 1; k < j; k++)
                table[i][j] = max_score(table[i][j], table[i][k] + table[k + 1][j]);
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(seq, base, N, n);
    POLYBENCH_2D_ARRAY_DECL(table, DATA_TYPE, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(seq), POLYBENCH_ARRAY(table));
    polybench_start_instruments;
    kernel_nussinov(n, POLYBENCH_ARRAY(seq), POLYBENCH_ARRAY(table));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(table)));
    POLYBENCH_FREE_ARRAY(seq);
    POLYBENCH_FREE_ARRAY(table);
    return 0;
}
