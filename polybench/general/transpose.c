/* transpose: the transposed of a rectangular matrix, flat, plus its norm of largest row sums. */
#include "general.h"

#ifndef M
#define M DATASET(77, 300, 950, 3000, 6000)
#endif
#ifndef N
#define N DATASET(100, 400, 1300, 4000, 8000)
#endif
#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE POLYBENCH_1D(a, M * N, m * n))
{
    for (int p = 0; p < m * n; p++)
        a[p] = UNIT(p, 0) - 0.5;
}

static void dump(int m, int n, DATA_TYPE POLYBENCH_1D(t, M * N, m * n), DATA_TYPE POLYBENCH_1D(norm, 1, 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, t, m * n);
    DUMP_1D(REAL, norm, 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_transpose(int m, int n, DATA_TYPE POLYBENCH_1D(a, M * N, m * n),
                             DATA_TYPE POLYBENCH_1D(t, M * N, m * n), DATA_TYPE POLYBENCH_1D(norm, 1, 1))
{
#pragma scop
    for (int i = 0; i < _PB_M; i++)
        for (int j = 0; j < _PB_N; j++)
            t[j * _PB_M + i] = a[i * _PB_N + j];
    norm[0] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_M; i++) {
        DATA_TYPE sum = SCALAR_VAL(0.0);
        for (int j = 0; j < _PB_N; j++)
            sum += FABS_FUN(a[i * _PB_N + j]);
        if (sum > norm[0])
            norm[0] = sum;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int m = M, n = N;
    POLYBENCH_1D_ARRAY_DECL(a, DATA_TYPE, M * N, m * n);
    POLYBENCH_1D_ARRAY_DECL(t, DATA_TYPE, M * N, m * n);
    POLYBENCH_1D_ARRAY_DECL(norm, DATA_TYPE, 1, 1);

    initialize(m, n, POLYBENCH_ARRAY(a));
    polybench_start_instruments;
    kernel_transpose(m, n, POLYBENCH_ARRAY(a), POLYBENCH_ARRAY(t), POLYBENCH_ARRAY(norm));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(m, n, POLYBENCH_ARRAY(t), POLYBENCH_ARRAY(norm)));
    POLYBENCH_FREE_ARRAY(a);
    POLYBENCH_FREE_ARRAY(t);
    POLYBENCH_FREE_ARRAY(norm);
    return 0;
}
