/* rank1-update: A := A + alpha x y^T, then z = A^T w. */
#include "general.h"

#ifndef M
#define M DATASET(100, 400, 1300, 4000, 8000)
#endif
#ifndef N
#define N DATASET(100, 400, 1300, 4000, 8000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE *alpha, DATA_TYPE POLYBENCH_1D(x, M, m),
                       DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(w, M, m),
                       DATA_TYPE POLYBENCH_2D(A, M, N, m, n))
{
    *alpha = 0.75;
    for (int i = 0; i < m; i++) {
        x[i] = UNIT(i, 1);
        w[i] = UNIT(i, 2);
        for (int j = 0; j < n; j++)
            A[i][j] = UNIT(i, j + 5) - 0.5;
    }
    for (int j = 0; j < n; j++)
        y[j] = UNIT(j, 3);
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_2D(A, M, N, m, n), DATA_TYPE POLYBENCH_1D(z, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, A, m, n);
    DUMP_1D(REAL, z, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_rank1_update(int m, int n, DATA_TYPE alpha, DATA_TYPE POLYBENCH_1D(x, M, m),
                                DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(w, M, m),
                                DATA_TYPE POLYBENCH_2D(A, M, N, m, n), DATA_TYPE POLYBENCH_1D(z, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < _PB_M; i++)
        for (j = 0; j < _PB_N; j++)
            A[i][j] = A[i][j] + alpha * x[i] * y[j];
    for (j = 0; j < _PB_N; j++)
        z[j] = SCALAR_VAL(0.0);
    for (i = 0; i < _PB_M; i++)
        for (j = 0; j < _PB_N; j++)
            z[j] += A[i][j] * w[i];
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    DATA_TYPE alpha;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(w, DATA_TYPE, M, m);
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(z, DATA_TYPE, N, n);

    initialize(m, n, &alpha, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(w), POLYBENCH_ARRAY(A));
    polybench_start_instruments;
    kernel_rank1_update(m, n, alpha, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(w), POLYBENCH_ARRAY(A),
                        POLYBENCH_ARRAY(z));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(z)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(w);
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(z);
    return 0;
}
