/* kmeans: a round of k-means: points assigned to the nearest centre, then centres moved to the mean of theirs. */
#if !defined DATA_TYPE_IS_FLOAT && !defined DATA_TYPE_IS_DOUBLE && !defined DATA_TYPE_IS_INT
#define DATA_TYPE_IS_FLOAT
#endif
#include "general.h"

#ifndef N
#define N DATASET(80, 1200, 12000, 120000, 480000)
#endif
#ifndef K
#define K DATASET(5, 16, 16, 32, 32)
#endif
#ifndef D
#define D DATASET(3, 8, 16, 16, 16)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
#define _PB_K POLYBENCH_LOOP_BOUND(K, k)
#define _PB_D POLYBENCH_LOOP_BOUND(D, d)

static void initialize(int n, int k, int d, DATA_TYPE POLYBENCH_2D(point, N, D, n, d),
                       DATA_TYPE POLYBENCH_2D(centre, K, D, k, d))
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c++)
            point[i][c] = UNIT(i, c) + (DATA_TYPE)(i % 7) / 7;
    for (int c = 0; c < k; c++)
        for (int e = 0; e < d; e++)
            centre[c][e] = 2 * UNIT(c, e + 500);
}

static void dump(int n, int k, int d, int POLYBENCH_1D(assigned, N, n), int POLYBENCH_1D(count, K, k),
                 DATA_TYPE POLYBENCH_2D(centre, K, D, k, d))
{
    POLYBENCH_DUMP_START;
    DUMP_1D(INT, assigned, n);
    DUMP_1D(INT, count, k);
    DUMP_2D(REAL, centre, k, d);
    POLYBENCH_DUMP_FINISH;
}

static void kernel_kmeans(int n, int k, int d, DATA_TYPE POLYBENCH_2D(point, N, D, n, d),
                          DATA_TYPE POLYBENCH_2D(centre, K, D, k, d), DATA_TYPE POLYBENCH_2D(total, K, D, k, d),
                          int POLYBENCH_1D(count, K, k), int POLYBENCH_1D(assigned, N, n))
{
#pragma scop
    for (int c = 0; c < _PB_K; c++) {
        count[c] = 0;
        for (int e = 0; e < _PB_D; e++)
            total[c][e] = SCALAR_VAL(0.0);
    }
    for (int i = 0; i < _PB_N; i++) {
        DATA_TYPE best = SCALAR_VAL(1000000.0);
        int at = 0;
        for (int c = 0; c < _PB_K; c++) {
            DATA_TYPE distance = SCALAR_VAL(0.0);
            for (int e = 0; e < _PB_D; e++)
                distance += (point[i][e] - centre[c][e]) * (point[i][e] - centre[c][e]);
            if (distance < best) {
                best = distance;
                at = c;
            }
        }
        assigned[i] = at;
        count[at]++;
        for (int e = 0; e < _PB_D; e++)
            total[at][e] += point[i][e];
    }
    for (int c = 0; c < _PB_K; c++)
        if (count[c] > 0)
            for (int e = 0; e < _PB_D; e++)
                centre[c][e] = total[c][e] / count[c];
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = N, k = K, d = D;
    POLYBENCH_2D_ARRAY_DECL(point, DATA_TYPE, N, D, n, d);
    POLYBENCH_2D_ARRAY_DECL(centre, DATA_TYPE, K, D, k, d);
    POLYBENCH_2D_ARRAY_DECL(total, DATA_TYPE, K, D, k, d);
    POLYBENCH_1D_ARRAY_DECL(count, int, K, k);
    POLYBENCH_1D_ARRAY_DECL(assigned, int, N, n);

    initialize(n, k, d, POLYBENCH_ARRAY(point), POLYBENCH_ARRAY(centre));
    polybench_start_instruments;
    kernel_kmeans(n, k, d, POLYBENCH_ARRAY(point), POLYBENCH_ARRAY(centre), POLYBENCH_ARRAY(total),
                  POLYBENCH_ARRAY(count), POLYBENCH_ARRAY(assigned));
    polybench_stop_instruments;
    polybench_print_instruments;
    polybench_prevent_dce(dump(n, k, d, POLYBENCH_ARRAY(assigned), POLYBENCH_ARRAY(count), POLYBENCH_ARRAY(centre)));
    POLYBENCH_FREE_ARRAY(point);
    POLYBENCH_FREE_ARRAY(centre);
    POLYBENCH_FREE_ARRAY(total);
    POLYBENCH_FREE_ARRAY(count);
    POLYBENCH_FREE_ARRAY(assigned);
    return 0;
}
