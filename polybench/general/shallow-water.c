/* shallow-water: a shallow layer of water by the Lax-Friedrichs scheme: heights and momenta, with walls at the
   borders. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef NT
#define NT DATASET(2, 4, 6, 10, 20)
#endif
#ifndef N
#define N DATASET(52, 130, 280, 600, 950)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

static void initialize(int n, DATA_TYPE *dt, DATA_TYPE POLYBENCH_2D(h, N, N, n, n),
                       DATA_TYPE POLYBENCH_2D(p, N, N, n, n), DATA_TYPE POLYBENCH_2D(q, N, N, n, n))
{
    *dt = 0.02;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            h[i][j] = 1 + 0.2f * UNIT(i / 4, j / 4);
            p[i][j] = q[i][j] = 0;
        }
}

static void dump(int n, DATA_TYPE POLYBENCH_2D(h, N, N, n, n), DATA_TYPE POLYBENCH_2D(p, N, N, n, n),
                 DATA_TYPE POLYBENCH_2D(q, N, N, n, n))
{
    POLYBENCH_DUMP_START;
    DUMP_2D(REAL, h, n, n);
    DUMP_2D(REAL, p, n, n);
    DUMP_2D(REAL, q, n, n);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_shallow_water(int nt, int n, DATA_TYPE dt, DATA_TYPE POLYBENCH_2D(h, N, N, n, n),
                                 DATA_TYPE POLYBENCH_2D(p, N, N, n, n), DATA_TYPE POLYBENCH_2D(q, N, N, n, n),
                                 DATA_TYPE POLYBENCH_2D(h2, N, N, n, n), DATA_TYPE POLYBENCH_2D(p2, N, N, n, n),
                                 DATA_TYPE POLYBENCH_2D(q2, N, N, n, n))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++) {
                DATA_TYPE hl = h[i][j - 1], hr = h[i][j + 1], hu = h[i - 1][j], hd = h[i + 1][j];
                DATA_TYPE pl = p[i][j - 1], pr = p[i][j + 1], pu = p[i - 1][j], pd = p[i + 1][j];
                DATA_TYPE ql = q[i][j - 1], qr = q[i][j + 1], qu = q[i - 1][j], qd = q[i + 1][j];
                h2[i][j] = SCALAR_VAL(0.25) * (hl + hr + hu + hd) - dt * (pr - pl + qd - qu);
                p2[i][j] = SCALAR_VAL(0.25) * (pl + pr + pu + pd)
                           - dt * (pr * pr / hr + SCALAR_VAL(4.9) * hr * hr - pl * pl / hl - SCALAR_VAL(4.9) * hl * hl + pd * qd / hd - pu * qu / hu);
                q2[i][j] = SCALAR_VAL(0.25) * (ql + qr + qu + qd)
                           - dt * (qd * qd / hd + SCALAR_VAL(4.9) * hd * hd - qu * qu / hu - SCALAR_VAL(4.9) * hu * hu + pr * qr / hr - pl * ql / hl);
            }
        for (int i = 1; i < _PB_N - 1; i++)
            for (int j = 1; j < _PB_N - 1; j++) {
                h[i][j] = h2[i][j];
                p[i][j] = p2[i][j];
                q[i][j] = q2[i][j];
            }
        for (int i = 1; i < _PB_N - 1; i++) {
            h[i][0] = h[i][1];
            h[i][_PB_N - 1] = h[i][_PB_N - 2];
            p[i][0] = -p[i][1];
            p[i][_PB_N - 1] = -p[i][_PB_N - 2];
            h[0][i] = h[1][i];
            h[_PB_N - 1][i] = h[_PB_N - 2][i];
            q[0][i] = -q[1][i];
            q[_PB_N - 1][i] = -q[_PB_N - 2][i];
        }
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, n = N;
    DATA_TYPE dt;
    POLYBENCH_2D_ARRAY_DECL(h, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(p, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(q, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(h2, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(p2, DATA_TYPE, N, N, n, n);
    POLYBENCH_2D_ARRAY_DECL(q2, DATA_TYPE, N, N, n, n);

    initialize(n, &dt, POLYBENCH_ARRAY(h), POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(q));
    polybench_start_instruments;
    kernel_shallow_water(nt, n, dt, POLYBENCH_ARRAY(h), POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(q), POLYBENCH_ARRAY(h2),
                         POLYBENCH_ARRAY(p2), POLYBENCH_ARRAY(q2));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, POLYBENCH_ARRAY(h), POLYBENCH_ARRAY(p), POLYBENCH_ARRAY(q)));
    POLYBENCH_FREE_ARRAY(h);
    POLYBENCH_FREE_ARRAY(p);
    POLYBENCH_FREE_ARRAY(q);
    POLYBENCH_FREE_ARRAY(h2);
    POLYBENCH_FREE_ARRAY(p2);
    POLYBENCH_FREE_ARRAY(q2);
    return 0;
}
