/* kernel.h: what the kernels share: the choice of a data set and of a data type, and how one value is dumped. */
#ifndef KERNEL_H
#define KERNEL_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "polybench.h"

/* The size that belongs to the data set asked for; LARGE if none is. -DN=... and the like override single sizes. */
#if defined(MINI_DATASET)
#define DATASET(mini, small, medium, large, extralarge) mini
#elif defined(SMALL_DATASET)
#define DATASET(mini, small, medium, large, extralarge) small
#elif defined(MEDIUM_DATASET)
#define DATASET(mini, small, medium, large, extralarge) medium
#elif defined(EXTRALARGE_DATASET)
#define DATASET(mini, small, medium, large, extralarge) extralarge
#else
#define DATASET(mini, small, medium, large, extralarge) large
#endif

/* double, unless the command line or the kernel chose another type. */
#if defined(DATA_TYPE_IS_INT)
#define DATA_TYPE int
#define DATA_PRINTF_MODIFIER "%d "
#elif defined(DATA_TYPE_IS_FLOAT)
#define DATA_TYPE float
#define DATA_PRINTF_MODIFIER "%0.2f "
#define SCALAR_VAL(x) x##f
#define SQRT_FUN(x) sqrtf(x)
#define EXP_FUN(x) expf(x)
#define POW_FUN(x, y) powf(x, y)
#else
#ifndef DATA_TYPE_IS_DOUBLE
#define DATA_TYPE_IS_DOUBLE
#endif
#define DATA_TYPE double
#define DATA_PRINTF_MODIFIER "%0.2lf "
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) sqrt(x)
#define EXP_FUN(x) exp(x)
#define POW_FUN(x, y) pow(x, y)
#endif

/* One value of a dump; a new line starts before every position that is a multiple of 20. */
#define DUMP_VALUE(position, value)                                       \
    do {                                                                  \
        if ((position) % 20 == 0)                                         \
            fprintf(POLYBENCH_DUMP_TARGET, "\n");                         \
        fprintf(POLYBENCH_DUMP_TARGET, DATA_PRINTF_MODIFIER, value);      \
    } while (0)

#endif
