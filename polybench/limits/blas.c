/* blas.c: what a kernel of PolyBench does, by BLAS and LAPACK. Built for one kernel at a time:

       -DKERNEL_SOURCE='"…/gemm.c"' -DREFERENCE_gemm    the kernel's own source: from it come sizes and data type
       -DREFERENCE_CHECK                                compare with the kernel's function in place of timing: prints the largest
                                                        difference, relative to the largest value; for the kernels that
                                                        come with scopt (other suites order the arguments otherwise)

   A call on small matrices comes before the timed one, so that the library's threads and buffers are there: this is the rate that the
   library reaches, without what its first call costs. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define main suite_main
#include KERNEL_SOURCE
#undef main

#if defined(DATA_TYPE_IS_FLOAT)
#define BLAS(routine) cblas_s##routine
#define LAPACK(routine) s##routine##_
#elif defined(DATA_TYPE_IS_DOUBLE)
#define BLAS(routine) cblas_d##routine
#define LAPACK(routine) d##routine##_
#else
#error BLAS has no such data type
#endif

/* As cblas.h has them. It isn't included: its parameters have names that are macros here, such as M and N. */
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112, CblasLower = 122, CblasUnit = 132, CblasLeft = 141 };
void BLAS(gemm)(int, int, int, int, int, int, DATA_TYPE, const DATA_TYPE *, int, const DATA_TYPE *, int, DATA_TYPE, DATA_TYPE *, int);
void BLAS(syrk)(int, int, int, int, int, DATA_TYPE, const DATA_TYPE *, int, DATA_TYPE, DATA_TYPE *, int);
void BLAS(syr2k)(int, int, int, int, int, DATA_TYPE, const DATA_TYPE *, int, const DATA_TYPE *, int, DATA_TYPE, DATA_TYPE *, int);
void BLAS(trmm)(int, int, int, int, int, int, int, DATA_TYPE, const DATA_TYPE *, int, DATA_TYPE *, int);
void BLAS(symm)(int, int, int, int, int, DATA_TYPE, const DATA_TYPE *, int, const DATA_TYPE *, int, DATA_TYPE, DATA_TYPE *, int);
void LAPACK(potrf)(const char *, const int *, DATA_TYPE *, const int *, int *, size_t);
void LAPACK(getrf)(const int *, const int *, DATA_TYPE *, const int *, int *, int *);

static const DATA_TYPE alpha = 1.5, beta = 1.2;

static void multiply(int rows, int columns, int depth, DATA_TYPE factor, const DATA_TYPE *a, const DATA_TYPE *b, DATA_TYPE old, DATA_TYPE *c)
{
    BLAS(gemm)(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, factor, a, depth, b, columns, old, c, columns);
}

/* For each kernel: the matrices as MATRIX(name, rows, columns), or FRESH(…) where the suite's program doesn't initialize one, so that the operation is
   the first to touch its pages, as the kernel is; the operation; what the suite's function is called with. CHANGED is the result. */
#if defined(REFERENCE_gemm)
#define MATRICES MATRIX(A, NI, NK) MATRIX(B, NK, NJ) MATRIX(C, NI, NJ)
#define OPERATION multiply(NI, NJ, NK, alpha, A, B, beta, C)
#define ORIGINAL kernel_gemm(NI, NJ, NK, alpha, beta, (void *)A, (void *)B, (void *)C)
#define CHANGED C, NI, NJ
#elif defined(REFERENCE_2mm)
#define MATRICES FRESH(tmp, NI, NJ) MATRIX(A, NI, NK) MATRIX(B, NK, NJ) MATRIX(C, NJ, NL) MATRIX(D, NI, NL)
#define OPERATION (multiply(NI, NJ, NK, alpha, A, B, 0, tmp), multiply(NI, NL, NJ, 1, tmp, C, beta, D))
#define ORIGINAL kernel_2mm(NI, NJ, NK, NL, alpha, beta, (void *)tmp, (void *)A, (void *)B, (void *)C, (void *)D)
#define CHANGED D, NI, NL
#elif defined(REFERENCE_3mm)
#define MATRICES FRESH(E, NI, NJ) MATRIX(A, NI, NK) MATRIX(B, NK, NJ) FRESH(F, NJ, NL) MATRIX(C, NJ, NM) MATRIX(D, NM, NL) FRESH(G, NI, NL)
#define OPERATION (multiply(NI, NJ, NK, 1, A, B, 0, E), multiply(NJ, NL, NM, 1, C, D, 0, F), multiply(NI, NL, NJ, 1, E, F, 0, G))
#define ORIGINAL \
    kernel_3mm(NI, NJ, NK, NL, NM, (void *)A, (void *)B, (void *)C, (void *)D, (void *)E, (void *)F, (void *)G)
#define CHANGED G, NI, NL
#elif defined(REFERENCE_syrk)
#define MATRICES MATRIX(A, N, M) MATRIX(C, N, N)
#define OPERATION BLAS(syrk)(CblasRowMajor, CblasLower, CblasNoTrans, N, M, alpha, A, M, beta, C, N)
#define ORIGINAL kernel_syrk(N, M, alpha, beta, (void *)A, (void *)C)
#define CHANGED C, N, N
#elif defined(REFERENCE_syr2k)
#define MATRICES MATRIX(A, N, M) MATRIX(B, N, M) MATRIX(C, N, N)
#define OPERATION BLAS(syr2k)(CblasRowMajor, CblasLower, CblasNoTrans, N, M, alpha, A, M, B, M, beta, C, N)
#define ORIGINAL kernel_syr2k(N, M, alpha, beta, (void *)A, (void *)B, (void *)C)
#define CHANGED C, N, N
#elif defined(REFERENCE_trmm)
#define MATRICES MATRIX(A, M, M) MATRIX(B, M, N)
#define OPERATION BLAS(trmm)(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, M, N, alpha, A, M, B, N)
#define ORIGINAL kernel_trmm(M, N, alpha, (void *)A, (void *)B)
#define CHANGED B, M, N
#elif defined(REFERENCE_symm)
#define MATRICES MATRIX(A, M, M) MATRIX(B, M, N) MATRIX(C, M, N)
#define OPERATION BLAS(symm)(CblasRowMajor, CblasLeft, CblasLower, M, N, alpha, A, M, B, N, beta, C, N)
#define ORIGINAL kernel_symm(M, N, alpha, beta, (void *)A, (void *)B, (void *)C)
#define CHANGED C, M, N
#elif defined(REFERENCE_cholesky)
/* The lower triangle by rows is LAPACK's upper one, by columns. */
static void factorize(DATA_TYPE *a)
{
    int n = N, info;
    LAPACK(potrf)("U", &n, a, &n, &info, 1);
    if (info)
        abort();
}
#define MATRICES MATRIX(A, N, N)
#define OPERATION factorize(A)
#define ORIGINAL kernel_cholesky(N, (void *)A)
#define CHANGED A, N, N
#elif defined(REFERENCE_lu)
/* LAPACK looks for pivots, which the suite's lu doesn't: more work, though little. Where the diagonal dominates, it finds it. The matrix is
   symmetric, so that its factors by columns are those by rows, transposed. */
#define TRANSPOSED 1
static void factorize(DATA_TYPE *a)
{
    int n = N, info, *pivots = malloc(N * sizeof *pivots);
    LAPACK(getrf)(&n, &n, a, &n, pivots, &info);
    free(pivots);
    if (info)
        abort();
}
#define MATRICES MATRIX(A, N, N)
#define OPERATION factorize(A)
#define ORIGINAL kernel_lu(N, (void *)A)
#define CHANGED A, N, N
#else
#error there is no such operation in BLAS
#endif
#ifndef TRANSPOSED
#define TRANSPOSED 0
#endif

/* A matrix that nothing has been written to. */
static DATA_TYPE *allocated(long rows, long columns)
{
    DATA_TYPE *matrix = aligned_alloc(4096, (rows * columns * sizeof *matrix + 4095) / 4096 * 4096);

    if (!matrix)
        abort();
    return matrix;
}

/* A matrix of numbers between 0 and 1; a square one is symmetric with a diagonal that dominates. */
static DATA_TYPE *filled(long rows, long columns)
{
    DATA_TYPE *matrix = allocated(rows, columns);

    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++)
            matrix[i * columns + j] = (DATA_TYPE)((i * j + i + j) % 1009) / 1009;
    if (rows == columns)
        for (long i = 0; i < rows; i++)
            matrix[i * columns + i] += rows;
    return matrix;
}

#ifdef REFERENCE_CHECK
static DATA_TYPE *copied(const DATA_TYPE *matrix, long rows, long columns)
{
    DATA_TYPE *copy = malloc(rows * columns * sizeof *copy);
    if (!copy)
        abort();
    return memcpy(copy, matrix, rows * columns * sizeof *copy);
}

/* The lower triangle of a square result, or all of it for lu; all of a rectangular one. */
static double difference(const DATA_TYPE *expected, const DATA_TYPE *actual, long rows, long columns)
{
    double largest = 0, worst = 0;

    for (long i = 0; i < rows; i++)
        for (long j = 0; j < (rows == columns && !TRANSPOSED ? i + 1 : columns); j++) {
            double value = expected[i * columns + j], other = actual[TRANSPOSED ? j * rows + i : i * columns + j];
            largest = fmax(largest, fabs(value));
            worst = isnan(other) ? INFINITY : fmax(worst, fabs(value - other));
        }
    return worst / largest;
}
#define DIFFERENCE(matrix, rows, columns) difference(expected, matrix, rows, columns)
#define COPIED(matrix, rows, columns) copied(matrix, rows, columns)
#define APPLY(macro, arguments) macro(arguments)
#endif

static void warm_up(void)
{
    DATA_TYPE *a = filled(256, 256), *b = filled(256, 256), *c = filled(256, 256);

    multiply(256, 256, 256, 1, a, b, 0, c);
    free(a);
    free(b);
    free(c);
}

int main(void)
{
#define MATRIX(name, rows, columns) DATA_TYPE *name = filled(rows, columns);
#define FRESH(name, rows, columns) DATA_TYPE *name = allocated(rows, columns);
    MATRICES
#undef MATRIX
#undef FRESH
    warm_up();
#ifdef REFERENCE_CHECK
    {
#define FRESH(name, rows, columns)
#define MATRIX(name, rows, columns) *name##_kept = copied(name, rows, columns),
        DATA_TYPE MATRICES *expected;
#undef MATRIX
        ORIGINAL;
        expected = APPLY(COPIED, CHANGED);
#define MATRIX(name, rows, columns) memcpy(name, name##_kept, (size_t)(rows) * (columns) * sizeof *name);
        MATRICES
#undef MATRIX
        OPERATION;
        printf("%.3e\n", APPLY(DIFFERENCE, CHANGED));
    }
#else
    polybench_start_instruments;
    OPERATION;
    polybench_stop_instruments;
    polybench_print_instruments;
#endif
    return 0;
}
