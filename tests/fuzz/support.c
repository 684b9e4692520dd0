/* What every random program is linked with: deterministic data, and a record of every array, bit for bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Multiples of 1/4096 in -1 … 1. */
void fill_double(double *data, long count, unsigned seed)
{
    uint32_t state = seed;
    for (long i = 0; i < count; i++)
        data[i] = (double)(next(&state) % 8193) / 4096.0 - 1.0;
}

void fill_unsigned(unsigned *data, long count, unsigned seed)
{
    uint32_t state = seed;
    for (long i = 0; i < count; i++)
        data[i] = next(&state);
}

/* -1008 … 1008. */
void fill_int(int *data, long count, unsigned seed)
{
    uint32_t state = seed;
    for (long i = 0; i < count; i++)
        data[i] = (int)(next(&state) % 2017) - 1008;
}

/* kind: 0 double, 1 unsigned, 2 int. Prints a hash, or every element if DUMP is set. All NaNs count as one: which of two
 * NaNs an operation passes on is the compiler's choice. */
void record(const char *label, const void *data, long count, int kind)
{
    uint64_t hash = 0xcbf29ce484222325u;
    int dump = getenv("DUMP") != NULL;
    for (long i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (kind == 0) {
            double value = ((const double *)data)[i];
            memcpy(&bits, &value, sizeof bits);
            if (value != value)
                bits = 0x7ff8000000000000u;
        } else {
            bits = ((const uint32_t *)data)[i];
        }
        for (int byte = 0; byte < 8; byte++)
            hash = (hash ^ (bits >> (8 * byte) & 255)) * 0x100000001b3u;
        if (dump)
            printf("%s %ld %016llx\n", label, i, (unsigned long long)bits);
    }
    if (!dump)
        printf("%s %016llx\n", label, (unsigned long long)hash);
    fflush(stdout);
}
