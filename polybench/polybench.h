/*
 * polybench.h: arrays, timing and dumps for kernels in the style of PolyBench/C.
 *
 * The macros have the names and meanings of PolyBench/C 4.2.1, so that sources written for one header compile with the other.
 * Link with polybench.c, compiled with the same -D flags:
 *
 *   POLYBENCH_TIME                 print the seconds that the kernel took (POLYBENCH_CYCLE_ACCURATE_TIMER: cycles, x86 only)
 *   POLYBENCH_GFLOPS               print GFLOP/s; the program sets polybench_program_total_flops
 *   POLYBENCH_DUMP_ARRAYS          print all live-out data on stderr
 *   POLYBENCH_STACK_ARRAYS         arrays on the stack rather than on the heap
 *   POLYBENCH_USE_C99_PROTO        array extents are the function's parameters rather than constants
 *   POLYBENCH_USE_SCALAR_LB        loop bounds are constants rather than the function's parameters
 *   POLYBENCH_USE_RESTRICT         array parameters are restrict
 *   POLYBENCH_PADDING_FACTOR=n     n unused elements at the end of every dimension
 *   POLYBENCH_INTER_ARRAY_PADDING_FACTOR=n   the k-th heap array starts k*n bytes after a page's start
 *   POLYBENCH_NO_FLUSH_CACHE, POLYBENCH_CACHE_SIZE_KB=n   what happens to the caches before the timer starts
 *   POLYBENCH_LINUX_FIFO_SCHEDULER real-time scheduling while the timer runs (needs root)
 */
#ifndef POLYBENCH_H
#define POLYBENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef POLYBENCH_PAPI
#error "POLYBENCH_PAPI: hardware counters are not supported; measure with POLYBENCH_TIME, or with perf from outside"
#endif

/* --- Options that choose between two spellings ------------------------------------------------------------------------------- */

#ifndef POLYBENCH_PADDING_FACTOR
#define POLYBENCH_PADDING_FACTOR 0
#endif

#ifdef POLYBENCH_INTER_ARRAY_PADDING_FACTOR
#define POLYBENCH_ENABLE_INTARRAY_PAD
#else
#define POLYBENCH_INTER_ARRAY_PADDING_FACTOR 0
#endif

#ifdef POLYBENCH_USE_C99_PROTO
#define POLYBENCH_C99_SELECT(constant, parameter) parameter
#else
#define POLYBENCH_C99_SELECT(constant, parameter) constant
#endif

#ifdef POLYBENCH_USE_SCALAR_LB
#define POLYBENCH_LOOP_BOUND(constant, parameter) constant
#else
#define POLYBENCH_LOOP_BOUND(constant, parameter) parameter
#endif

#ifdef POLYBENCH_USE_RESTRICT
#define POLYBENCH_RESTRICT restrict
#else
#define POLYBENCH_RESTRICT
#endif

/* --- Arrays ------------------------------------------------------------------------------------------------------------------
 * POLYBENCH_<n>D(x, constants..., parameters...)                  x as a function's parameter
 * POLYBENCH_<n>D_F(x, constants..., parameters...)                x as a declarator in a function's body
 * POLYBENCH_<n>D_ARRAY_DECL(x, type, constants..., parameters...) declares x and gives it storage
 * POLYBENCH_ARRAY(x), POLYBENCH_FREE_ARRAY(x)                 x as an argument; the end of its storage
 */

#define POLYBENCH_EXTENT(c, p) POLYBENCH_C99_SELECT(c, p) + POLYBENCH_PADDING_FACTOR

#define POLYBENCH_1D_F(x, c1, p1) x[POLYBENCH_EXTENT(c1, p1)]
#define POLYBENCH_2D_F(x, c1, c2, p1, p2) POLYBENCH_1D_F(x, c1, p1)[POLYBENCH_EXTENT(c2, p2)]
#define POLYBENCH_3D_F(x, c1, c2, c3, p1, p2, p3) POLYBENCH_2D_F(x, c1, c2, p1, p2)[POLYBENCH_EXTENT(c3, p3)]
#define POLYBENCH_4D_F(x, c1, c2, c3, c4, p1, p2, p3, p4) POLYBENCH_3D_F(x, c1, c2, c3, p1, p2, p3)[POLYBENCH_EXTENT(c4, p4)]
#define POLYBENCH_5D_F(x, c1, c2, c3, c4, c5, p1, p2, p3, p4, p5) \
    POLYBENCH_4D_F(x, c1, c2, c3, c4, p1, p2, p3, p4)[POLYBENCH_EXTENT(c5, p5)]

#define POLYBENCH_1D(x, c1, p1) x[POLYBENCH_RESTRICT POLYBENCH_EXTENT(c1, p1)]
#define POLYBENCH_2D(x, c1, c2, p1, p2) POLYBENCH_1D(x, c1, p1)[POLYBENCH_EXTENT(c2, p2)]
#define POLYBENCH_3D(x, c1, c2, c3, p1, p2, p3) POLYBENCH_2D(x, c1, c2, p1, p2)[POLYBENCH_EXTENT(c3, p3)]
#define POLYBENCH_4D(x, c1, c2, c3, c4, p1, p2, p3, p4) POLYBENCH_3D(x, c1, c2, c3, p1, p2, p3)[POLYBENCH_EXTENT(c4, p4)]
#define POLYBENCH_5D(x, c1, c2, c3, c4, c5, p1, p2, p3, p4, p5) \
    POLYBENCH_4D(x, c1, c2, c3, c4, p1, p2, p3, p4)[POLYBENCH_EXTENT(c5, p5)]

/* A heap array is a pointer to the whole array: its extents stay part of its type. */
#define POLYBENCH_ALLOC_ARRAY(type, extents) (type(*) extents) polybench_alloc_data(sizeof(type extents) / sizeof(type), sizeof(type))
#define POLYBENCH_ALLOC_1D_ARRAY(n1, type) POLYBENCH_ALLOC_ARRAY(type, POLYBENCH_1D_F(, n1, n1))
#define POLYBENCH_ALLOC_2D_ARRAY(n1, n2, type) POLYBENCH_ALLOC_ARRAY(type, POLYBENCH_2D_F(, n1, n2, n1, n2))
#define POLYBENCH_ALLOC_3D_ARRAY(n1, n2, n3, type) POLYBENCH_ALLOC_ARRAY(type, POLYBENCH_3D_F(, n1, n2, n3, n1, n2, n3))
#define POLYBENCH_ALLOC_4D_ARRAY(n1, n2, n3, n4, type) POLYBENCH_ALLOC_ARRAY(type, POLYBENCH_4D_F(, n1, n2, n3, n4, n1, n2, n3, n4))
#define POLYBENCH_ALLOC_5D_ARRAY(n1, n2, n3, n4, n5, type) \
    POLYBENCH_ALLOC_ARRAY(type, POLYBENCH_5D_F(, n1, n2, n3, n4, n5, n1, n2, n3, n4, n5))

#ifdef POLYBENCH_STACK_ARRAYS
#define POLYBENCH_ARRAY(x) x
#define POLYBENCH_FREE_ARRAY(x)
#define POLYBENCH_DECL_VAR(x) x
#define POLYBENCH_STORAGE(type, extents)
#else
#define POLYBENCH_ARRAY(x) *x
#define POLYBENCH_FREE_ARRAY(x) polybench_free_data((void *)x);
#define POLYBENCH_DECL_VAR(x) (*x)
#define POLYBENCH_STORAGE(type, extents) = POLYBENCH_ALLOC_ARRAY(type, extents)
#endif

#define POLYBENCH_1D_ARRAY_DECL(x, type, c1, p1) \
    type POLYBENCH_1D_F(POLYBENCH_DECL_VAR(x), c1, p1) POLYBENCH_STORAGE(type, POLYBENCH_1D_F(, c1, p1));
#define POLYBENCH_2D_ARRAY_DECL(x, type, c1, c2, p1, p2) \
    type POLYBENCH_2D_F(POLYBENCH_DECL_VAR(x), c1, c2, p1, p2) POLYBENCH_STORAGE(type, POLYBENCH_2D_F(, c1, c2, p1, p2));
#define POLYBENCH_3D_ARRAY_DECL(x, type, c1, c2, c3, p1, p2, p3) \
    type POLYBENCH_3D_F(POLYBENCH_DECL_VAR(x), c1, c2, c3, p1, p2, p3) \
        POLYBENCH_STORAGE(type, POLYBENCH_3D_F(, c1, c2, c3, p1, p2, p3));
#define POLYBENCH_4D_ARRAY_DECL(x, type, c1, c2, c3, c4, p1, p2, p3, p4) \
    type POLYBENCH_4D_F(POLYBENCH_DECL_VAR(x), c1, c2, c3, c4, p1, p2, p3, p4) \
        POLYBENCH_STORAGE(type, POLYBENCH_4D_F(, c1, c2, c3, c4, p1, p2, p3, p4));
#define POLYBENCH_5D_ARRAY_DECL(x, type, c1, c2, c3, c4, c5, p1, p2, p3, p4, p5) \
    type POLYBENCH_5D_F(POLYBENCH_DECL_VAR(x), c1, c2, c3, c4, c5, p1, p2, p3, p4, p5) \
        POLYBENCH_STORAGE(type, POLYBENCH_5D_F(, c1, c2, c3, c4, c5, p1, p2, p3, p4, p5));

extern void *polybench_alloc_data(unsigned long long elements, int element_size);
extern void polybench_free_data(void *data);

/* --- Dumps -------------------------------------------------------------------------------------------------------------------
 * Without POLYBENCH_DUMP_ARRAYS the dump is still compiled, behind a condition that only a run can decide: the compiler has to
 * compute all that it would print.
 */

#ifdef POLYBENCH_DUMP_ARRAYS
#define POLYBENCH_DCE_ONLY_CODE
#else
#define POLYBENCH_DCE_ONLY_CODE if (argc > 42 && !strcmp(argv[0], ""))
#endif
#define polybench_prevent_dce(call) POLYBENCH_DCE_ONLY_CODE call

#define POLYBENCH_DUMP_TARGET stderr
#define POLYBENCH_DUMP_START fprintf(POLYBENCH_DUMP_TARGET, "==BEGIN DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_FINISH fprintf(POLYBENCH_DUMP_TARGET, "==END   DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_BEGIN(name) fprintf(POLYBENCH_DUMP_TARGET, "begin dump: %s", name)
#define POLYBENCH_DUMP_END(name) fprintf(POLYBENCH_DUMP_TARGET, "\nend   dump: %s\n", name)

/* --- Timing ------------------------------------------------------------------------------------------------------------------ */

#if defined(POLYBENCH_TIME) || defined(POLYBENCH_GFLOPS)
#define polybench_start_instruments polybench_timer_start();
#define polybench_stop_instruments polybench_timer_stop();
#define polybench_print_instruments polybench_timer_print();
#else
#define polybench_start_instruments
#define polybench_stop_instruments
#define polybench_print_instruments
#endif

extern double polybench_program_total_flops;
extern void polybench_timer_start(void);
extern void polybench_timer_stop(void);
extern void polybench_timer_print(void);
extern void polybench_prepare_instruments(void);
extern void polybench_flush_cache(void);

#endif
