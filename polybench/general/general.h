/* general.h: what the kernels of this folder share beyond kernel.h: data that look like noise, and dumps of whole arrays. */
#ifndef GENERAL_H
#define GENERAL_H

#include "../kernels/kernel.h"

#if defined(DATA_TYPE_IS_FLOAT)
#define FABS_FUN(x) fabsf(x)
#else
#define FABS_FUN(x) fabs(x)
#endif

/* A number from 0 to 65535 that looks drawn by chance, the same one for the same arguments. */
static unsigned noise(unsigned i, unsigned j)
{
    unsigned x = i * 2654435761u ^ (j + 2654435769u) * 2246822519u;

    x = (x ^ x >> 15) * 2246822507u;
    x = (x ^ x >> 13) * 3266489909u;
    return x >> 16;
}

/* Such a number between 0 and 1, without 1. */
#define UNIT(i, j) ((DATA_TYPE)noise(i, j) / 65536)

/* The formats of values in a dump, and one of them; a new line starts before every 20th. */
#define REAL "%0.6lf "
#define INT "%d "
#define DUMP_ONE(format, position, value)                                 \
    do {                                                                  \
        if ((position) % 20 == 0)                                         \
            fprintf(POLYBENCH_DUMP_TARGET, "\n");                         \
        fprintf(POLYBENCH_DUMP_TARGET, format, value);                    \
    } while (0)

/* A whole array of one to four dimensions, with the format of its values. */
#define DUMP_1D(format, x, n1)                                            \
    do {                                                                  \
        POLYBENCH_DUMP_BEGIN(#x);                                         \
        for (int p1 = 0; p1 < (n1); p1++)                                 \
            DUMP_ONE(format, p1, x[p1]);                                  \
        POLYBENCH_DUMP_END(#x);                                           \
    } while (0)
#define DUMP_2D(format, x, n1, n2)                                        \
    do {                                                                  \
        POLYBENCH_DUMP_BEGIN(#x);                                         \
        for (int p1 = 0; p1 < (n1); p1++)                                 \
            for (int p2 = 0; p2 < (n2); p2++)                             \
                DUMP_ONE(format, p1 * (n2) + p2, x[p1][p2]);              \
        POLYBENCH_DUMP_END(#x);                                           \
    } while (0)
#define DUMP_3D(format, x, n1, n2, n3)                                    \
    do {                                                                  \
        POLYBENCH_DUMP_BEGIN(#x);                                         \
        for (int p1 = 0; p1 < (n1); p1++)                                 \
            for (int p2 = 0; p2 < (n2); p2++)                             \
                for (int p3 = 0; p3 < (n3); p3++)                         \
                    DUMP_ONE(format, (p1 * (n2) + p2) * (n3) + p3, x[p1][p2][p3]); \
        POLYBENCH_DUMP_END(#x);                                           \
    } while (0)
#define DUMP_4D(format, x, n1, n2, n3, n4)                                \
    do {                                                                  \
        POLYBENCH_DUMP_BEGIN(#x);                                         \
        for (int p1 = 0; p1 < (n1); p1++)                                 \
            for (int p2 = 0; p2 < (n2); p2++)                             \
                for (int p3 = 0; p3 < (n3); p3++)                         \
                    for (int p4 = 0; p4 < (n4); p4++)                     \
                        DUMP_ONE(format, ((p1 * (n2) + p2) * (n3) + p3) * (n4) + p4, x[p1][p2][p3][p4]); \
        POLYBENCH_DUMP_END(#x);                                           \
    } while (0)

#endif
