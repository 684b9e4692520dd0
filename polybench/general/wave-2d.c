/* wave-2d: the wave equation in the plane with three levels of time and a damping layer. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(5, 12, 24, 40, 80)
#endif
#ifndef N
#define N DATASET(87, 220, 460, 1000, 1600)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE POLYBENCH_2D(before, N, N, n, n), DATA_TYPE POLYBENCH_2D(now, N, N, n, n),
                       DATA_TYPE POLYBENCH_2D(after, N, N, n, n), DATA_TYPE POLYBENCH_2D(damping, N, N, n, n))
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int di = i - n / 2, dj = j - n / 2;
            now[i][j] = before[i][j] = 1 / (1 + (DATA_TYPE)(di * di + dj * dj) / 16);
            after[i][j] = 0;
            damping[i][j] = i < 4 || j < 4 || i >= n - 4 || j >= n - 4 ? 0.9f : 1;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(now, N, N, n, n), DATA_TYPE POLYBENCH_2D(before, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, now, n, n);
    DUMP_2D(REAL, before, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_wave_2d(int nt, int n, DATA_TYPE POLYBENCH_2D(before, N, N, n, n),
                           DATA_TYPE POLYBENCH_2D(now, N, N, n, n), DATA_TYPE POLYBENCH_2D(after, N, N, n, n),
                           DATA_TYPE POLYBENCH_2D(damping, N, N, n, n))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++)
                after[i][j] = damping[i][j] * (SCALAR_VAL(2.0) * now[i][j] - before[i][j]
                                               + SCALAR_VAL(0.25) * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - SCALAR_VAL(4.0) * now[i][j]));
        for (int i = 0; i < _PB_N; i++)
            for (int j = 0; j < _PB_N; j++) {
                before[i][j] = now[i][j];
                now[i][j] = after[i][j];
            }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    POLYBENCH_2D_ARRAY_DECL(before, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(now, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(after, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(damping, DATA_TYPE, N, N, n, n);

    initialize(n, POLYBENCH_ARRAY(before), POLYBENCH_ARRAY(now), POLYBENCH_ARRAY(after), POLYBENCH_ARRAY(damping));
    polybench_start_instruments;
    kernel_wave_2d(nt, n, POLYBENCH_ARRAY(before), POLYBENCH_ARRAY(now), POLYBENCH_ARRAY(after),
                   POLYBENCH_ARRAY(damping));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(now), POLYBENCH_ARRAY(before)));
    POLYBENCH_FREE_ARRAY(before);
    POLYBENCH_FREE_ARRAY(now);
    POLYBENCH_FREE_ARRAY(after);
    POLYBENCH_FREE_ARRAY(damping);
    return 0;
}
