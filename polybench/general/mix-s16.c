/* mix-s16: 16-bit tracks mixed with gains of eight fractional bits into one, with saturation, and its peak. */
#include "general.h"

#ifndef TRACKS
#define TRACKS DATASET(3, 8, 16, 16, 32)
#endif
#ifndef SAMPLES
#define SAMPLES DATASET(200, 40000, 200000, 2000000, 4000000)
#endif
#define _PB_TRACKS POLYBENCH_LOOP_BOUND(TRACKS, tracks)
#define _PB_SAMPLES POLYBENCH_LOOP_BOUND(SAMPLES, samples)

static void initialize(int tracks, int samples, short POLYBENCH_2D(track, TRACKS, SAMPLES, tracks, samples),
                       int POLYBENCH_1D(gain, TRACKS, tracks))
{
    for (int t = 0; t < tracks; t++) {
        gain[t] = 20 + 5 * t;
        for (int n = 0; n < samples; n++)
            track[t][n] = (short)((int)noise(t, n) - 32768);
    }
}

static void dump(int samples, short POLYBENCH_1D(out, SAMPLES, samples), int POLYBENCH_1D(peak, 1, 1))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, out, samples);
    DUMP_1D(INT, peak, 1);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_mix_s16(int tracks, int samples, short POLYBENCH_2D(track, TRACKS, SAMPLES, tracks, samples),
                           int POLYBENCH_1D(gain, TRACKS, tracks), short POLYBENCH_1D(out, SAMPLES, samples),
                           int POLYBENCH_1D(peak, 1, 1))
{
#pragma scop
    peak[0] = 0;
    for (int n = 0; n < _PB_SAMPLES; n++) {
        int sum = 0;
        for (int t = 0; t < _PB_TRACKS; t++)
            sum += gain[t] * track[t][n];
        sum = sum >> 8;
        sum = sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum;
        out[n] = (short)sum;
        int level = sum < 0 ? -sum : sum;
        if (level > peak[0])
            peak[0] = level;
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int tracks = TRACKS, samples = SAMPLES;
    POLYBENCH_2D_ARRAY_DECL(track, short, TRACKS, SAMPLES, tracks, samples);
    POLYBENCH_1D_ARRAY_DECL(gain, int, TRACKS, tracks);
    POLYBENCH_1D_ARRAY_DECL(out, short, SAMPLES, samples);
    POLYBENCH_1D_ARRAY_DECL(peak, int, 1, 1);

    initialize(tracks, samples, POLYBENCH_ARRAY(track), POLYBENCH_ARRAY(gain));
    polybench_start_instruments;
    kernel_mix_s16(tracks, samples, POLYBENCH_ARRAY(track), POLYBENCH_ARRAY(gain), POLYBENCH_ARRAY(out),
                   POLYBENCH_ARRAY(peak));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(samples, POLYBENCH_ARRAY(out), POLYBENCH_ARRAY(peak)));
    POLYBENCH_FREE_ARRAY(track);
    POLYBENCH_FREE_ARRAY(gain);
    POLYBENCH_FREE_ARRAY(out);
    POLYBENCH_FREE_ARRAY(peak);
    return 0;
}
