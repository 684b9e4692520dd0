/* goertzel: power of a few frequencies in each of many blocks of samples, by Goertzel's recurrence. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef BLOCKS
#define BLOCKS DATASET(31, 120, 380, 1200, 2400)
#endif
#ifndef SAMPLES
#define SAMPLES DATASET(21, 80, 250, 800, 1600)
#endif
#define _PB_BLOCKS POLYBENCH_LOOP_BOUND(BLOCKS, blocks)
#define _PB_SAMPLES POLYBENCH_LOOP_BOUND(SAMPLES, samples)

static void initialize(int blocks, int samples, DATA_TYPE POLYBENCH_2D(x, BLOCKS, SAMPLES, blocks, samples),
                       DATA_TYPE POLYBENCH_1D(coefficient, 16, 16))
{
    for (int k = 0; k < 16; k++)
        coefficient[k] = 2 * (DATA_TYPE)cos(0.1 + 0.17 * k);
    for (int b = 0; b < blocks; b++)
        for (int n = 0; n < samples; n++)
            x[b][n] = UNIT(b, n) - 0.5f;
}

static void dump(int blocks, DATA_TYPE POLYBENCH_2D(power, BLOCKS, 16, blocks, 16))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, power, blocks, 16);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_goertzel(int blocks, int samples, DATA_TYPE POLYBENCH_2D(x, BLOCKS, SAMPLES, blocks, samples),
                            DATA_TYPE POLYBENCH_1D(coefficient, 16, 16),
                            DATA_TYPE POLYBENCH_2D(power, BLOCKS, 16, blocks, 16))
{
#pragma scop
    for (int b = 0; b < _PB_BLOCKS; b++)
        for (int k = 0; k < 16; k++) {
            DATA_TYPE s0, s1 = SCALAR_VAL(0.0), s2 = SCALAR_VAL(0.0);
            for (int n = 0; n < _PB_SAMPLES; n++) {
                s0 = x[b][n] + coefficient[k] * s1 - s2;
                s2 = s1;
                s1 = s0;
            }
            power[b][k] = s1 * s1 + s2 * s2 - coefficient[k] * s1 * s2;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int blocks = BLOCKS, samples = SAMPLES;
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, BLOCKS, SAMPLES, blocks, samples);
    POLYBENCH_1D_ARRAY_DECL(coefficient, DATA_TYPE, 16, 16);
    POLYBENCH_2D_ARRAY_DECL(power, DATA_TYPE, BLOCKS, 16, blocks, 16);

    initialize(blocks, samples, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(coefficient));
    polybench_start_instruments;
    kernel_goertzel(blocks, samples, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(coefficient), POLYBENCH_ARRAY(power));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(blocks, POLYBENCH_ARRAY(power)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(coefficient);
    POLYBENCH_FREE_ARRAY(power);
    return 0;
}
