/* A matrix product as one would write it down. `make demo` runs scopt on this file and compares the two.
 *
 * Results go to stdout, the time to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef N
#define N 1600
#endif

static double A[N][N], B[N][N], C[N][N];

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* C = beta·C + alpha·A·B */
static void gemm(int n, double alpha, double beta)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < n; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
#pragma endscop
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : N;
    if (n < 0 || n > N) {
        fprintf(stderr, "usage: %s [n], n at most %d\n", argv[0], N);
        return 2;
    }

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i][j] = (double)((i * 7 + j * 3) % 11) / 11.0;
            B[i][j] = (double)((i * 5 + j * 13) % 17) / 17.0;
            C[i][j] = (double)((i + j) % 5) / 5.0;
        }

    double start = seconds();
    gemm(n, 1.5, 0.75);
    double elapsed = seconds() - start;

    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            sum += C[i][j] * (double)(i % 3 + 1);
            if ((i * n + j) % 1009 == 0)
                printf("C[%d][%d] = %a\n", i, j, C[i][j]);
        }
    printf("sum = %a\n", sum);
    fprintf(stderr, "%.3f\n", elapsed);
    return 0;
}
