/*
 * exact.h: forced into a kernel with -include, it makes dumps print every bit.
 *
 * PolyBench prints two decimals, which hides most wrong results. Here a floating-point value goes out as a hexadecimal float,
 * without a change to the kernel's source.
 */
#ifndef POLYBENCH_EXACT_H
#define POLYBENCH_EXACT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* fprintf, but a format that starts with a conversion to fixed point ("%0.2lf ") prints as "%a ". */
static inline int polybench_exact_fprintf(FILE *stream, const char *format, ...)
{
    va_list arguments;
    int fixed_point = format[0] == '%' && strspn(format + 1, "0123456789.l") + 1 < strlen(format)
                      && format[strspn(format + 1, "0123456789.l") + 1] == 'f';

    va_start(arguments, format);
    int result = vfprintf(stream, fixed_point ? "%a " : format, arguments);
    va_end(arguments);
    return result;
}
#define fprintf polybench_exact_fprintf

#endif
