/* overlap-add: frames of 512 samples, each weighted by a window and added to the signal at half a frame's
   distance. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef FRAMES
#define FRAMES DATASET(13, 200, 2000, 20000, 80000)
#endif
#define _PB_FRAMES POLYBENCH_LOOP_BOUND(FRAMES, frames)

static void initialize(int frames, DATA_TYPE POLYBENCH_2D(frame, FRAMES, 512, frames, 512),
                       DATA_TYPE POLYBENCH_1D(window, 512, 512))
{
    for (int i = 0; i < 512; i++)
        window[i] = (DATA_TYPE)(i < 256 ? i : 511 - i) / 256;
    for (int f = 0; f < frames; f++)
        for (int i = 0; i < 512; i++)
            frame[f][i] = UNIT(f, i) - 0.5f;
}

static void dump(int frames, DATA_TYPE POLYBENCH_1D(y, 256 * FRAMES + 256, 256 * frames + 256))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(REAL, y, 256 * frames + 256);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_overlap_add(int frames, DATA_TYPE POLYBENCH_2D(frame, FRAMES, 512, frames, 512),
                               DATA_TYPE POLYBENCH_1D(window, 512, 512),
                               DATA_TYPE POLYBENCH_1D(y, 256 * FRAMES + 256, 256 * frames + 256))
{
#pragma scop
    for (int n = 0; n < 256 * _PB_FRAMES + 256; n++)
        y[n] = SCALAR_VAL(0.0);
    for (int f = 0; f < _PB_FRAMES; f++)
        for (int i = 0; i < 512; i++)
            y[256 * f + i] += window[i] * frame[f][i];
#pragma endscop
}

int main(int argc, char **argv)
{
    int frames = FRAMES;
    POLYBENCH_2D_ARRAY_DECL(frame, DATA_TYPE, FRAMES, 512, frames, 512);
    POLYBENCH_1D_ARRAY_DECL(window, DATA_TYPE, 512, 512);
    POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, 256 * FRAMES + 256, 256 * frames + 256);

    initialize(frames, POLYBENCH_ARRAY(frame), POLYBENCH_ARRAY(window));
    polybench_start_instruments;
    kernel_overlap_add(frames, POLYBENCH_ARRAY(frame), POLYBENCH_ARRAY(window), POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(frames, POLYBENCH_ARRAY(y)));
    POLYBENCH_FREE_ARRAY(frame);
    POLYBENCH_FREE_ARRAY(window);
    POLYBENCH_FREE_ARRAY(y);
    return 0;
}
