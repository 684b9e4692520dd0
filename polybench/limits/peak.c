/* peak.c: the most operations a second that all threads reach together, in registers. -DELEMENT=double, float or int.

   Prints two figures: multiplications and additions (each of the two is one), and divisions. An integer ELEMENT: additions and exclusive
   ors, and 0, since vectors of integers have no division. The fastest of REPETITIONS repetitions counts. */
#include <omp.h>
#include <stdio.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / (int)sizeof(ELEMENT))
/* Short, so that some repetition of many is disturbed by nothing else on the machine. */
#define REPETITIONS 60
#define STEPS 400000
#define DIVISION_STEPS 40000

typedef ELEMENT vector __attribute__((vector_size(VECTOR_BYTES)));

/* Twelve chains hide a latency of 4 cycles on 3 units, 6 cycles on 2; they and two operands fit into 16 registers. Scalars, since arrays of
   accumulators are kept in memory by some compilers. */
#define ACCUMULATORS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define COUNT 12
#define DECLARE(n) vector a##n = start + n;
#define TOTAL(n) result += a##n;

#ifdef ELEMENT_IS_INTEGER
#define ARITHMETIC(n) a##n = (a##n + factor) ^ summand;
#else
#define ARITHMETIC(n) a##n = a##n * factor + summand;
#endif
#define DIVIDE(n) a##n = factor / a##n;

#define LOOP(name, STEP, steps)                                           \
    static vector name(vector start, vector factor, vector summand)       \
    {                                                                     \
        vector result = {0};                                              \
        ACCUMULATORS(DECLARE)                                             \
        for (int step = 0; step < steps; step++) {                        \
            ACCUMULATORS(STEP)                                            \
        }                                                                 \
        ACCUMULATORS(TOTAL)                                               \
        return result;                                                    \
    }

LOOP(arithmetic, ARITHMETIC, STEPS)
#ifndef ELEMENT_IS_INTEGER
LOOP(division, DIVIDE, DIVISION_STEPS)
#endif

/* Not constants for the compiler. Values stay near 1: the chains end at summand / (1 - factor), or go back and forth. */
static volatile ELEMENT start_value = 1, factor_value = (ELEMENT)0.75, summand_value = (ELEMENT)0.25;
static volatile ELEMENT sink;

/* Seconds of all threads' loops, the fastest repetition. Each starts when all threads are there, and ends when all are through. */
static double fastest(vector (*loop)(vector, vector, vector))
{
    double best = 1e30, started = 0;

#pragma omp parallel
    {
        vector zero = {0}, start = zero + start_value, factor = zero + factor_value, summand = zero + summand_value;

        for (int repetition = 0; repetition < REPETITIONS; repetition++) {
#pragma omp barrier
#pragma omp master
            started = omp_get_wtime();
#pragma omp barrier
            vector result = loop(start, factor, summand);
            for (int lane = 0; lane < LANES; lane++)
                sink = result[lane];
#pragma omp barrier
#pragma omp master
            {
                double seconds = omp_get_wtime() - started;
                best = seconds < best ? seconds : best;
            }
        }
    }
    return best;
}

int main(void)
{
    double elements = (double)COUNT * LANES * omp_get_max_threads();

    printf("%.6e ", 2 * elements * STEPS / fastest(arithmetic));
#ifdef ELEMENT_IS_INTEGER
    printf("0\n");
#else
    printf("%.6e\n", elements * DIVISION_STEPS / fastest(division));
#endif
    return 0;
}
