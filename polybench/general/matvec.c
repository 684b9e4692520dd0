/* matvec: y = A x and z = A^T y in one pass after the other over a matrix of floats stored by rows. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef M
#define M DATASET(65, 250, 790, 2500, 5000)
#endif
#ifndef N
#define N DATASET(77, 300, 950, 3000, 6000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_2D(A, M, N, m, n), DATA_TYPE POLYBENCH_1D(x, N, n))
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = (UNIT(i, j) - 0.5f) / 64;
    for (int j = 0; j < n; j++)
        x[j] = UNIT(j, 77);
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_1D(y, M, m), DATA_TYPE POLYBENCH_1D(z, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, y, m);
    DUMP_1D(REAL, z, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_matvec(int m, int n, DATA_TYPE POLYBENCH_2D(A, M, N, m, n), DATA_TYPE POLYBENCH_1D(x, N, n),
                          DATA_TYPE POLYBENCH_1D(y, M, m), DATA_TYPE POLYBENCH_1D(z, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++) {
        DATA_TYPE sum = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++)
            sum += A[i][j] * x[j];
        y[i] = sum;
    }
    for (int j = 0; j < _PB_N; j++) {
        DATA_TYPE sum = SCALAR_VAL(0.0);
        for (int i = 0; i < _PB_M; i++)
            sum += A[i][j] * y[i];
        z[j] = sum;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, M, N, m, n);
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, M, m);
    POLYBENCH_1D_ARRAY_DECL(z, DATA_TYPE, N, n);

    initialize(m, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_matvec(m, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(z)));
    POLYBENCH_FREE_ARRAY(A);
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(z);
    return 0;
}
