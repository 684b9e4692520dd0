/* polybench.c: the functions behind polybench.h. Compile it with the same -D flags as the kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "polybench.h"

#ifndef POLYBENCH_CACHE_SIZE_KB
#define POLYBENCH_CACHE_SIZE_KB 32770 /* more than the last-level cache that one core sees on most machines */
#endif

#define PAGE 4096

static void fail(const char *reason)
{
    fprintf(stderr, "polybench: %s\n", reason);
    exit(EXIT_FAILURE);
}

/* --- Arrays: page-aligned, then shifted by the inter-array padding ------------------------------------------------------------ */

/* Stands right before the data. */
typedef struct {
    void *block;
} Header;

void *polybench_alloc_data(unsigned long long elements, int element_size)
{
    static size_t shift = 0;
    void *block = NULL;

    shift += POLYBENCH_INTER_ARRAY_PADDING_FACTOR;
    if (element_size <= 0 || elements > (SIZE_MAX - shift - PAGE) / (size_t)element_size)
        fail("the array is larger than the address space");
    if (posix_memalign(&block, PAGE, PAGE + shift + (size_t)elements * (size_t)element_size))
        fail("out of memory");

    char *data = (char *)block + PAGE + shift;
    Header header = {block};
    memcpy(data - sizeof header, &header, sizeof header); /* memcpy: a padded array need not be aligned for a pointer */
    return data;
}

void polybench_free_data(void *data)
{
    Header header;

    if (!data)
        return;
    memcpy(&header, (char *)data - sizeof header, sizeof header);
    free(header.block);
}

/* --- Timing ------------------------------------------------------------------------------------------------------------------ */

double polybench_program_total_flops = 0;

#ifdef POLYBENCH_CYCLE_ACCURATE_TIMER
#if !defined(__x86_64__) && !defined(__i386__)
#error "POLYBENCH_CYCLE_ACCURATE_TIMER reads the time stamp counter of x86"
#endif
static unsigned long long start_cycle, stop_cycle;
#endif
static double start_second, stop_second;

static double seconds(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now))
        fail("clock_gettime");
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Evicts everything else by writing more than the cache holds. With OpenMP each thread clears its own core's caches, and the
   threads are there when the timer starts. */
void polybench_flush_cache(void)
{
    long count = POLYBENCH_CACHE_SIZE_KB * 1024L / (long)sizeof(double);
    /* volatile: the compiler sees that nobody reads the buffer, and would drop the loop */
    volatile double *buffer = malloc((size_t)count * sizeof(double));

    if (!buffer)
        fail("out of memory");
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long i = 0; i < count; i++)
        buffer[i] = (double)i;
    free((void *)buffer);
}

#ifdef POLYBENCH_LINUX_FIFO_SCHEDULER
static void schedule_as(int policy)
{
    struct sched_param parameters = {.sched_priority = sched_get_priority_max(policy)};

    if (sched_setscheduler(0, policy, &parameters))
        perror("polybench: sched_setscheduler");
}
#endif

void polybench_prepare_instruments(void)
{
#ifndef POLYBENCH_NO_FLUSH_CACHE
    polybench_flush_cache();
#endif
#ifdef POLYBENCH_LINUX_FIFO_SCHEDULER
    schedule_as(SCHED_FIFO);
#endif
}

void polybench_timer_start(void)
{
    polybench_prepare_instruments();
    start_second = seconds();
#ifdef POLYBENCH_CYCLE_ACCURATE_TIMER
    start_cycle = __builtin_ia32_rdtsc();
#endif
}

void polybench_timer_stop(void)
{
#ifdef POLYBENCH_CYCLE_ACCURATE_TIMER
    stop_cycle = __builtin_ia32_rdtsc();
#endif
    stop_second = seconds();
#ifdef POLYBENCH_LINUX_FIFO_SCHEDULER
    schedule_as(SCHED_OTHER);
#endif
}

void polybench_timer_print(void)
{
    double elapsed = stop_second - start_second;

#if defined(POLYBENCH_GFLOPS)
    if (polybench_program_total_flops == 0)
        fail("POLYBENCH_GFLOPS needs a program that sets polybench_program_total_flops");
    printf("%.2f\n", polybench_program_total_flops / elapsed / 1e9);
#elif defined(POLYBENCH_CYCLE_ACCURATE_TIMER)
    (void)elapsed;
    printf("%llu\n", stop_cycle - start_cycle);
#else
    printf("%.6f\n", elapsed);
#endif
}
