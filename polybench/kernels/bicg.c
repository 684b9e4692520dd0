/* bicg: s := A^T r and q := A p, with A N x M (the two products of a step of the biconjugate gradient method). */
#include "kernel.h"

#ifndef M
#define M DATASET(38, 116, 390, 1900, 1800)
#endif
#ifndef N
#define N DATASET(42, 124, 410, 2100, 2200)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(A, N, M, n, m), DATA_TYPE POLYBENCH_1D(p, M, m),
                       DATA_TYPE POLYBENCH_1D(r, N, n))
{
    for (int j = 0; j < m; j++)
        p[j] = (DATA_TYPE)(j % m) / m;
    for (int i = 0; i < n; i++) {
        r[i] = (DATA_TYPE)(i % n) / n;
        for (int j = 0; j < m; j++)
            A[i][j] = (DATA_TYPE)(i * (j + 1) % n) / n;
    }
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_1D(s, M, m), DATA_TYPE POLYBENCH_1D(q, N, n))
{
    POLYBENCH_DUMP_START;
    POLYBENCH_DUMP_BEGIN("s");
    for (int j = 0; j < m; j++)
        DUMP_VALUE(j, s[j]);
    POLYBENCH_DUMP_END("s");
    POLYBENCH_DUMP_BEGIN("q");
    for (int i = 0; i < n; i++)
        DUMP_VALUE(i, q[i]);
    POLYBENCH_DUMP_END("q");
    POLYBENCH_DUMP_FINISH;
}

static void kernel_bicg(int m, int n, DATA_TYPE POLYBENCH_2D(A, N, M, n, m), DATA_TYPE POLYBENCH_1D(s, M, m),
                        DATA_TYPE POLYBENCH_1D(q, N, n), DATA_TYPE POLYBENCH_1D(p, M, m), DATA_TYPE POLYBENCH_1D(r, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < _PB_M; i++)
        s[i] = 0;
    for (i = 0; i < _PB_N; i++) {
        q[i] = SCALAR_VAL(0.0);
        for (j = 0; j < _PB_M; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, m = M;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, M, n, m);
    POLYBENCH_1D_ARRAY_DECL(s, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(q, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(p, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(r, DATA_TYPE, N, n);

    initialize(m, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(r));
    polybench_start_instruments;
    kernel_bicg(m, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(s), POLYBENCH_ARRAY(q), POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(r));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(s), POLYBENCH_ARRAY(q)));
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(s);
    POLYBENCH_FREE_ARRAY(q);
    POLYBENCH_FREE_ARRAY(p);
    POLYBENCH_FREE_ARRAY(r);
    return 0;
}
