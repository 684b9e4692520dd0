/* black-scholes: the Black-Scholes equation backwards in time for many strikes: an explicit step on a grid of
   prices, with early exercise. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NK
#define NK DATASET(3, 16, 40, 128, 256)
#endif
#ifndef NS
#define NS DATASET(12, 300, 500, 500, 500)
#endif
#ifndef NT
#define NT DATASET(6, 100, 250, 800, 1600)
#endif
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NS POLYBENCH_LOOP_BOUND(NS, ns)
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)

static void initialize(int nk, int ns, DATA_TYPE *dt, DATA_TYPE POLYBENCH_2D(value, NK, NS, nk, ns),
                       DATA_TYPE POLYBENCH_2D(next, NK, NS, nk, ns))
{
    *dt = 0.2;
    for (int k = 0; k < nk; k++)
        for (int s = 0; s < ns; s++)
            value[k][s] = next[k][s] = 100 * (k + 1) > 64 * s ? (DATA_TYPE)(100 * (k + 1) - 64 * s) / 100 : 0;
}

static void dump(int nk, int ns, DATA_TYPE POLYBENCH_2D(value, NK, NS, nk, ns))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, value, nk, ns);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_black_scholes(int nk, int ns, int nt, DATA_TYPE dt, DATA_TYPE POLYBENCH_2D(value, NK, NS, nk, ns),
                                 DATA_TYPE POLYBENCH_2D(next, NK, NS, nk, ns))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int k = 0; k < _PB_NK; k++)
            for (int s = 1; s < _PB_NS - 1; s++) {
                DATA_TYPE diffusion = value[k][s - 1] - SCALAR_VAL(2.0) * value[k][s] + value[k][s + 1];
                DATA_TYPE drift = value[k][s + 1] - value[k][s - 1];
                next[k][s] = value[k][s] + dt * (diffusion + SCALAR_VAL(0.05) * drift - SCALAR_VAL(0.01) * value[k][s]);
            }
        for (int k = 0; k < _PB_NK; k++)
            for (int s = 1; s < _PB_NS - 1; s++) {
                DATA_TYPE now = k + SCALAR_VAL(1.0) - SCALAR_VAL(0.64) * s;
                value[k][s] = next[k][s] > now ? next[k][s] : now;
            }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nk = NK, ns = NS, nt = NT;
    DATA_TYPE dt;
    POLYBENCH_2D_ARRAY_DECL(value, DATA_TYPE, NK, NS, nk, ns);
    POLYBENCH_2D_ARRAY_DECL(next, DATA_TYPE, NK, NS, nk, ns);

    initialize(nk, ns, &dt, POLYBENCH_ARRAY(value), POLYBENCH_ARRAY(next));
    polybench_start_instruments;
    kernel_black_scholes(nk, ns, nt, dt, POLYBENCH_ARRAY(value), POLYBENCH_ARRAY(next));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(nk, ns, POLYBENCH_ARRAY(value)));
    POLYBENCH_FREE_ARRAY(value);
    POLYBENCH_FREE_ARRAY(next);
    return 0;
}
