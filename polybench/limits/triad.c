/* triad.c: bytes a second of a[i] = b[i] + s * c[i] by all threads, on three arrays of LENGTH doubles: 24 bytes an element, as STREAM
   counts them (McCalpin, "Memory bandwidth and machine balance in current high performance computers", 1995). A line that is written
   without having been read may be read by the hardware all the same; that isn't counted. The arrays are walked through REPETITIONS
   times, in WINDOWS parts that are timed one by one, each larger than the last cache: the fastest part counts, which nothing else on the
   machine may have disturbed.
   Each thread is the first to touch what it uses, so that it gets memory near to it. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define REPETITIONS 12
#define WINDOWS 4

static volatile double factor = 3;

int main(void)
{
    long length = LENGTH / WINDOWS * WINDOWS, part = length / WINDOWS;
    double *a = malloc(length * sizeof *a), *b = malloc(length * sizeof *b), *c = malloc(length * sizeof *c);
    double best = 1e30, s = factor;

    if (!a || !b || !c) {
        fprintf(stderr, "error: no memory for three arrays of %ld doubles\n", length);
        return 1;
    }
    for (long low = 0; low < length; low += part) {
#pragma omp parallel for schedule(static)
        for (long i = low; i < low + part; i++) {
            a[i] = 0;
            b[i] = i;
            c[i] = 1;
        }
    }
    for (int repetition = 0; repetition < REPETITIONS; repetition++)
        for (long low = 0; low < length; low += part) {
            double started = omp_get_wtime();
#pragma omp parallel for schedule(static)
            for (long i = low; i < low + part; i++)
                a[i] = b[i] + s * c[i];
            double seconds = omp_get_wtime() - started;
            best = seconds < best ? seconds : best;
        }
    if (a[length - 1] != length - 1 + s) {
        fprintf(stderr, "error: the triad's result is wrong\n");
        return 1;
    }
    printf("%.6e\n", 24.0 * part / best);
    return 0;
}
