/* biquad: many channels, each through a recursive filter of second order with its own coefficients (direct form
   II, transposed). */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef CHANNELS
#define CHANNELS DATASET(5, 16, 64, 64, 128)
#endif
#ifndef SAMPLES
#define SAMPLES DATASET(200, 2400, 6000, 60000, 120000)
#endif
#define _PB_CHANNELS POLYBENCH_LOOP_BOUND(CHANNELS, channels)
#define _PB_SAMPLES POLYBENCH_LOOP_BOUND(SAMPLES, samples)

static void initialize(int channels, int samples, DATA_TYPE POLYBENCH_2D(coefficient, CHANNELS, 5, channels, 5),
                       DATA_TYPE POLYBENCH_2D(x, CHANNELS, SAMPLES, channels, samples))
{
    for (int c = 0; c < channels; c++) {
        coefficient[c][0] = 0.2f + 0.1f * UNIT(c, 0);
        coefficient[c][1] = 0.4f * UNIT(c, 1);
        coefficient[c][2] = 0.2f * UNIT(c, 2);
        coefficient[c][3] = -0.8f * UNIT(c, 3);
        coefficient[c][4] = 0.3f * UNIT(c, 4);
        for (int n = 0; n < samples; n++)
            x[c][n] = UNIT(c, n) - 0.5f;
    }
}

static void dump(int channels, int samples, DATA_TYPE POLYBENCH_2D(y, CHANNELS, SAMPLES, channels, samples))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, y, channels, samples);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_biquad(int channels, int samples, DATA_TYPE POLYBENCH_2D(coefficient, CHANNELS, 5, channels, 5),
                          DATA_TYPE POLYBENCH_2D(x, CHANNELS, SAMPLES, channels, samples),
                          DATA_TYPE POLYBENCH_2D(y, CHANNELS, SAMPLES, channels, samples))
{
#pragma scop
    for (int c = 0; c < _PB_CHANNELS; c++) {
        DATA_TYPE s1 = SCALAR_VAL(0.0), s2 = SCALAR_VAL(0.0);
        for (int n = 0; n < _PB_SAMPLES; n++) {
            DATA_TYPE v = coefficient[c][0] * x[c][n] + s1;
            s1 = coefficient[c][1] * x[c][n] - coefficient[c][3] * v + s2;
            s2 = coefficient[c][2] * x[c][n] - coefficient[c][4] * v;
            y[c][n] = v;
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int channels = CHANNELS, samples = SAMPLES;
    POLYBENCH_2D_ARRAY_DECL(coefficient, DATA_TYPE, CHANNELS, 5, channels, 5);
    POLYBENCH_2D_ARRAY_DECL(x, DATA_TYPE, CHANNELS, SAMPLES, channels, samples);
    POLYBENCH_2D_ARRAY_DECL(y, DATA_TYPE, CHANNELS, SAMPLES, channels, samples);

    initialize(channels, samples, POLYBENCH_ARRAY(coefficient), POLYBENCH_ARRAY(x));
    polybench_start_instruments;
    kernel_biquad(channels, samples, POLYBENCH_ARRAY(coefficient), POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(channels, samples, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(coefficient);
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
