/* dft: discrete Fourier transform of real signals, straight from its definition, with tables of N sines and
   cosines. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(77, 300, 950, 3000, 6000)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *scale, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(cosine, N, n),
                       DATA_TYPE POLYBENCH_1D(sine, N, n))
{
    *scale = 1 / (DATA_TYPE)65536;
    for (int i = 0; i < n; i++) {
        x[i] = UNIT(i, 0) - 0.5f;
        cosine[i] = (DATA_TYPE)cos(6.283185307179586 * i / n);
        sine[i] = (DATA_TYPE)sin(6.283185307179586 * i / n);
    }
}

static void dump(int n, DATA_TYPE POLYBENCH_1D(re, N, n), DATA_TYPE POLYBENCH_1D(im, N, n),
                 DATA_TYPE POLYBENCH_1D(power, N, n))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, re, n);
    DUMP_1D(REAL, im, n);
    DUMP_1D(REAL, power, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_dft(int n, DATA_TYPE scale, DATA_TYPE POLYBENCH_1D(x, N, n), DATA_TYPE POLYBENCH_1D(cosine, N, n),
                       DATA_TYPE POLYBENCH_1D(sine, N, n), DATA_TYPE POLYBENCH_1D(re, N, n),
                       DATA_TYPE POLYBENCH_1D(im, N, n), DATA_TYPE POLYBENCH_1D(power, N, n))
{
#pragma scop
    for (int k = 0; k < _PB_N; k++) {
        re[k] = SCALAR_VAL(0.0);
        im[k] = SCALAR_VAL(0.0);
        for (int t = 0; t < _PB_N; t++) {
            re[k] += x[t] * cosine[k * t % _PB_N];
            im[k] -= x[t] * sine[k * t % _PB_N];
        }
        power[k] = scale * (re[k] * re[k] + im[k] * im[k]);
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N;
    DATA_TYPE scale;
    POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(cosine, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(sine, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(re, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(im, DATA_TYPE, N, n);
    POLYBENCH_1D_ARRAY_DECL(power, DATA_TYPE, N, n);

    initialize(n, &scale, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(cosine), POLYBENCH_ARRAY(sine));
    polybench_start_instruments;
    kernel_dft(n, scale, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(cosine), POLYBENCH_ARRAY(sine), POLYBENCH_ARRAY(re),
               POLYBENCH_ARRAY(im), POLYBENCH_ARRAY(power));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(re), POLYBENCH_ARRAY(im), POLYBENCH_ARRAY(power)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(cosine);
    POLYBENCH_FREE_ARRAY(sine);
    POLYBENCH_FREE_ARRAY(re);
    POLYBENCH_FREE_ARRAY(im);
    POLYBENCH_FREE_ARRAY(power);
    return 0;
}
