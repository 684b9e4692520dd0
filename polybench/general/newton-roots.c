/* newton-roots: cube roots of an array by six steps of Newton's method from a guess. */
#include "general.h"

#ifndef N
#define N DATASET(2000, 30000, 300000, 3000000, 12000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_1D(x, N, n))
{
    for (int i = 0; i < n; i++)
        x[i] = 0.1 + 5 * UNIT(i, 0);
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(root, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, root, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_newton_roots(int n, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(root, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        DATA_TYPE r = x[i] < SCALAR_VAL(1.0) ? SCALAR_VAL(0.8) : SCALAR_VAL(1.2);
        for (int step = 0; step < 6; step++)
            r = r - (r * r * r - x[i]) / (SCALAR_VAL(3.0) * r * r);
        root[i] = r;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(root, DATA_TYPE, N, n);

    initialize(n, POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_newton_roots(n, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(root));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(root)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(root);
    return 0;
}
