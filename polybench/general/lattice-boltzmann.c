/* lattice-boltzmann: flow by the lattice Boltzmann method in the plane with nine velocities: collision, then
   streaming with wrapped borders. */
#include "general.h"

#ifndef NT
#define NT DATASET(2, 3, 5, 8, 16)
#endif
#ifndef H
#define H DATASET(26, 65, 140, 300, 480)
#endif
#ifndef W
#define W DATASET(35, 86, 190, 400, 630)
#endif
#define _PB_NT POLYBENCH_LOOP_BOUND(NT, nt)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)
#define _PB_W POLYBENCH_LOOP_BOUND(W, w)

static void initialize(int h, int w, DATA_TYPE *omega, int POLYBENCH_1D(ex, 9, 9), int POLYBENCH_1D(ey, 9, 9),
                       DATA_TYPE POLYBENCH_1D(weight, 9, 9), DATA_TYPE POLYBENCH_3D(f, 9, H, W, 9, h, w))
{
    *omega = 1.2;
    int step[9][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int q = 0; q < 9; q++) {
        ex[q] = step[q][0];
        ey[q] = step[q][1];
        weight[q] = q == 0 ? 4.0 / 9 : q < 5 ? 1.0 / 9 : 1.0 / 36;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                f[q][y][x] = weight[q] * (1 + 0.1 * UNIT(q, y * 10000 + x));
    }
}

static void dump(int h, int w, DATA_TYPE POLYBENCH_3D(f, 9, H, W, 9, h, w))
{
    POLYBENCH_DUMP_START;
    DUMP_3D(REAL, f, 9, h, w);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_lattice_boltzmann(int nt, int h, int w, DATA_TYPE omega, int POLYBENCH_1D(ex, 9, 9),
                                     int POLYBENCH_1D(ey, 9, 9), DATA_TYPE POLYBENCH_1D(weight, 9, 9),
                                     DATA_TYPE POLYBENCH_3D(f, 9, H, W, 9, h, w),
                                     DATA_TYPE POLYBENCH_3D(g, 9, H, W, 9, h, w))
{
#pragma scop
    for (int t = 0; t < _PB_NT; t++) {
        for (int y = 0; y < _PB_H; y++)
            for (int x = 0; x < _PB_W; x++) {
                DATA_TYPE density = SCALAR_VAL(0.0), ux = SCALAR_VAL(0.0), uy = SCALAR_VAL(0.0);
                for (int q = 0; q < 9; q++) {
                    density += f[q][y][x];
                    ux += ex[q] * f[q][y][x];
                    uy += ey[q] * f[q][y][x];
                }
                ux /= density;
                uy /= density;
                DATA_TYPE square = SCALAR_VAL(1.5) * (ux * ux + uy * uy);
                for (int q = 0; q < 9; q++) {
                    DATA_TYPE eu = SCALAR_VAL(3.0) * (ex[q] * ux + ey[q] * uy);
                    DATA_TYPE equilibrium = weight[q] * density * (SCALAR_VAL(1.0) + eu + SCALAR_VAL(0.5) * eu * eu - square);
                    g[q][y][x] = f[q][y][x] - omega * (f[q][y][x] - equilibrium);
                }
            }
        for (int q = 0; q < 9; q++)
            for (int y = 0; y < _PB_H; y++)
                for (int x = 0; x < _PB_W; x++)
                    f[q][y][x] = g[q][(y - ey[q] + _PB_H) % _PB_H][(x - ex[q] + _PB_W) % _PB_W];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nt = NT, h = H, w = W;
    DATA_TYPE omega;
    POLYBENCH_1D_ARRAY_DECL(ex, int, 9, 9);
    POLYBENCH_1D_ARRAY_DECL(ey, int, 9, 9);
    POLYBENCH_1D_ARRAY_DECL(weight, DATA_TYPE, 9, 9);
    POLYBENCH_3D_ARRAY_DECL(f, DATA_TYPE, 9, H, W, 9, h, w);
    POLYBENCH_3D_ARRAY_DECL(g, DATA_TYPE, 9, H, W, 9, h, w);

    initialize(h, w, &omega, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(weight), POLYBENCH_ARRAY(f));
    polybench_start_instruments;
    kernel_lattice_boltzmann(nt, h, w, omega, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(weight),
                             POLYBENCH_ARRAY(f), POLYBENCH_ARRAY(g));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(h, w, POLYBENCH_ARRAY(f)));
    POLYBENCH_FREE_ARRAY(ex);
    POLYBENCH_FREE_ARRAY(ey);
    POLYBENCH_FREE_ARRAY(weight);
    POLYBENCH_FREE_ARRAY(f);
    POLYBENCH_FREE_ARRAY(g);
    return 0;
}
