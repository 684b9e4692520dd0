/* What every random program is linked with: deterministic data, and a record of every array, bit for bit.
 * Cells: `count` elements, `stride` bytes apart, with `inner` cells each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Multiples of 1/4096 in -1 … 1, and some zeros of either sign. */
static double real(uint32_t *state)
{
    double value = (double)(next(state) % 8193) / 4096.0 - 1.0;
    switch (next(state) % 24) {
    case 0: return 0.0;
    case 1: return -0.0;
    default: return value;
    }
}

static void set(void *cell, int kind, int64_t integer, double value)
{
    switch (kind) {
    case 0: memcpy(cell, &value, 8); break;
    case 1: { int32_t x = (int32_t)integer; memcpy(cell, &x, 4); break; }
    case 2: { float x = (float)value; memcpy(cell, &x, 4); break; }
    case 3: memcpy(cell, &integer, 8); break;
    case 4: { uint8_t x = (uint8_t)integer; memcpy(cell, &x, 1); break; }
    case 5: { int16_t x = (int16_t)integer; memcpy(cell, &x, 2); break; }
    }
}

/* kind: 0 double, 1 int or unsigned, 2 float, 3 long long, 4 unsigned char, 5 short.
 * most: 0: what suits the kind; else numbers from 0 to most - 1. */
void fill(void *data, long count, long stride, long inner, int kind, unsigned seed, int most)
{
    static const int widths[] = {8, 4, 4, 8, 1, 2};
    uint32_t state = seed;
    for (long i = 0; i < count; i++)
        for (long j = 0; j < inner; j++) {
            char *cell = (char *)data + i * stride + j * widths[kind];
            if (most)  {
                int64_t small = next(&state) % (uint32_t)most;
                set(cell, kind, small, (double)small);
            } else {
                /* -1008 … 1008: products of a few are far from overflow. */
                int64_t integer = (int64_t)(next(&state) % 2017) - 1008;
                set(cell, kind, integer, kind == 0 || kind == 2 ? real(&state) : 0.0);
            }
        }
}

/* Prints a hash, or every cell if DUMP is set. All NaNs count as one: which of two NaNs an operation passes on is the compiler's choice. */
void record(const char *label, const void *data, long count, long stride, long inner, int kind)
{
    static const int widths[] = {8, 4, 4, 8, 1, 2};
    uint64_t hash = 0xcbf29ce484222325u;
    int dump = getenv("DUMP") != NULL;
    for (long i = 0; i < count; i++)
        for (long j = 0; j < inner; j++) {
            uint64_t bits = 0;
            const char *cell = (const char *)data + i * stride + j * widths[kind];
            memcpy(&bits, cell, (size_t)widths[kind]);
            if (kind == 0 && (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
                bits = 0x7ff8000000000000u;
            if (kind == 2 && (bits & 0x7fffffffu) > 0x7f800000u)
                bits = 0x7fc00000u;
            for (int byte = 0; byte < 8; byte++)
                hash = (hash ^ (bits >> (8 * byte) & 255)) * 0x100000001b3u;
            if (dump)
                printf("%s %ld %016llx\n", label, i * inner + j, (unsigned long long)bits);
        }
    if (!dump)
        printf("%s %016llx\n", label, (unsigned long long)hash);
    fflush(stdout);
}
