/* decimate: 16-bit channels filtered by 32 coefficients and reduced to every fourth sample, with rounding and
   saturation. */
#include "general.h"

#ifndef CHANNELS
#define CHANNELS DATASET(2, 4, 16, 16, 32)
#endif
#ifndef SAMPLES
#define SAMPLES DATASET(60, 12000, 40000, 400000, 800000)
#endif
#define _PB_CHANNELS POLYBENCH_LOOP_BOUND(CHANNELS, channels)
#define _PB_SAMPLES POLYBENCH_LOOP_BOUND(SAMPLES, samples)

static void initialize(int channels, int samples,
                       short POLYBENCH_2D(x, CHANNELS, 4 * SAMPLES + 32, channels, 4 * samples + 32),
                       short POLYBENCH_1D(h, 32, 32))
{
    for (int k = 0; k < 32; k++)
        h[k] = (short)(3000 - 180 * (k < 16 ? 16 - k : k - 15));
    for (int c = 0; c < channels; c++)
        for (int n = 0; n < 4 * samples + 32; n++)
            x[c][n] = (short)((int)noise(c, n) - 32768);
}

static void dump(int channels, int samples, short POLYBENCH_2D(y, CHANNELS, SAMPLES, channels, samples))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(INT, y, channels, samples);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_decimate(int channels, int samples,
                            short POLYBENCH_2D(x, CHANNELS, 4 * SAMPLES + 32, channels, 4 * samples + 32),
                            short POLYBENCH_1D(h, 32, 32),
                            short POLYBENCH_2D(y, CHANNELS, SAMPLES, channels, samples))
{
#pragma scop
    for (int c = 0; c < _PB_CHANNELS; c++)
        for (int n = 0; n < _PB_SAMPLES; n++) {
            int sum = 1 << 14;
            for (int k = 0; k < 32; k++)
                sum += h[k] * (x[c][4 * n + k] / 4);
            sum >>= 15;
            if (sum > 32767)
                sum = 32767;
            else if (sum < -32768)
                sum = -32768;
            y[c][n] = (short)sum;
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int channels = CHANNELS, samples = SAMPLES;
    POLYBENCH_2D_ARRAY_DECL(x, short, CHANNELS, 4 * SAMPLES + 32, channels, 4 * samples + 32);
    POLYBENCH_1D_ARRAY_DECL(h, short, 32, 32);
    POLYBENCH_2D_ARRAY_DECL(y, short, CHANNELS, SAMPLES, channels, samples);

    initialize(channels, samples, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(h));
    polybench_start_instruments;
    kernel_decimate(channels, samples, POLYBENCH_ARRAY(x), POLYBENCH_ARRAY(h), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(channels, samples, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(x);
    POLYBENCH_FREE_ARRAY(h);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
