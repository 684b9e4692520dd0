/* spmv-ell: product of a sparse matrix in ELLPACK format with a vector, and the dot product of both vectors. */
#include "general.h"

#ifndef N
#define N DATASET(330, 5000, 50000, 500000, 2000000)
#endif
#ifndef WIDTH
#define WIDTH DATASET(3, 8, 16, 16, 16)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_WIDTH POLYBENCH_LOOP_BOUND(WIDTH, width)

static void initialize(int n, int width, int POLYBENCH_2D(column, WIDTH, N, width, n),
                       DATA_TYPE POLYBENCH_2D(entry, WIDTH, N, width, n), DATA_TYPE POLYBENCH_1D(x, N, n))
{
    for (int k = 0; k < width; k++)
        for (int i = 0; i < n; i++) {
            column[k][i] = (i + (int)noise(i, k) % 1000) % n;
            entry[k][i] = UNIT(i, k + 20) - 0.5;
        }
    for (int i = 0; i < n; i++)
        x[i] = UNIT(i, 99);
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(dot, 1, 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, y, n);
    DUMP_1D(REAL, dot, 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_spmv_ell(int n, int width, int POLYBENCH_2D(column, WIDTH, N, width, n),
                            DATA_TYPE POLYBENCH_2D(entry, WIDTH, N, width, n), DATA_TYPE POLYBENCH_1D(x, N, n),
                            DATA_TYPE POLYBENCH_1D(y, N, n), DATA_TYPE POLYBENCH_1D(dot, 1, 1))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        DATA_TYPE sum = SCALAR_VAL(0.0);
        for (int k = 0; k < _PB_WIDTH; k++)
            sum += entry[k][i] * x[column[k][i]];
        y[i] = sum;
    }
    dot[0] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_N; i++)
        dot[0] += x[i] * y[i];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, width = WIDTH;
    POLYBENCH_2D_ARRAY_DECL(column, int, WIDTH, N, width, n);
    POLYBENCH_2D_ARRAY_DECL(entry, DATA_TYPE, WIDTH, N, width, n);
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(dot, DATA_TYPE, 1, 1);

    initialize(n, width, POLYBENCH_ARRAY(column), POLYBENCH_ARRAY(entry), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_spmv_ell(n, width, POLYBENCH_ARRAY(column), POLYBENCH_ARRAY(entry), POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y),
                    POLYBENCH_ARRAY(dot));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(y), POLYBENCH_ARRAY(dot)));
    POLYBENCH_FREE_ARRAY(column);
    POLYBENCH_FREE_ARRAY(entry);
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    POLYBENCH_FREE_ARRAY(dot);
    return 0;
}
