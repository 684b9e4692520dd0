/* adam-step: a step of the Adam optimizer: running means of gradients and of their squares, and new weights. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(3300, 50000, 500000, 5000000, 20000000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *rate, DATA_TYPE POLYBENCH_1D(weight, N, n),
                       DATA_TYPE POLYBENCH_1D(gradient, N, n), DATA_TYPE POLYBENCH_1D(m, N, n),
                       DATA_TYPE POLYBENCH_1D(v, N, n))
{
    *rate = 0.001;
    for (int i = 0; i < n; i++) {
        weight[i] = UNIT(i, 0) - 0.5f;
        gradient[i] = UNIT(i, 1) - 0.5f;
        m[i] = 0.1f * UNIT(i, 2);
        v[i] = 0.1f * UNIT(i, 3);
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(weight, N, n), DATA_TYPE POLYBENCH_1D(m, N, n),
                 DATA_TYPE POLYBENCH_1D(v, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, weight, n);
    DUMP_1D(REAL, m, n);
    DUMP_1D(REAL, v, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_adam_step(int n, DATA_TYPE rate, DATA_TYPE POLYBENCH_1D(weight, N, n),
                             DATA_TYPE POLYBENCH_1D(gradient, N, n), DATA_TYPE POLYBENCH_1D(m, N, n),
                             DATA_TYPE POLYBENCH_1D(v, N, n))
{
#pragma scop
    for (int i = 0; i < _PB_N; i++) {
        m[i] = SCALAR_VAL(0.9) * m[i] + SCALAR_VAL(0.1) * gradient[i];
        v[i] = SCALAR_VAL(0.999) * v[i] + SCALAR_VAL(0.001) * gradient[i] * gradient[i];
        DATA_TYPE step = m[i] / (SQRT_FUN(v[i]) + SCALAR_VAL(0.00000001));
        weight[i] -= rate * (step + SCALAR_VAL(0.01) * weight[i]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE rate;
    POLYBENCH_1D_ARRAY_DECL(weight, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(gradient, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(m, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(v, DATA_TYPE, N, n);

    initialize(n, &rate, POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(gradient), POLYBENCH_ARRAY(m), POLYBENCH_ARRAY(v));
    polybench_start_instruments;
    kernel_adam_step(n, rate, POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(gradient), POLYBENCH_ARRAY(m),
                     POLYBENCH_ARRAY(v));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(m), POLYBENCH_ARRAY(v)));
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(gradient);
    POLYBENCH_FREE_ARRAY(m);
    POLYBENCH_FREE_ARRAY(v);
    return 0;
}
