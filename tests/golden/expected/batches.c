static inline long scopt_max(long a, long b) { return a > b ? a : b; }
static inline void scopt_scalar(void) {
#ifdef __clang__
  __asm__ volatile ("");
#endif
}
#if defined(_OPENMP) || defined(SCOPT_THREADS)
int (omp_get_max_threads)(void);
#if defined(__linux__) && defined(__LP64__)
/* all there are; one, where other programs took the cores in the last 10 ms */
int scopt_threads_clock(int, long *) __asm__("clock_gettime");
static inline int scopt_threads(void)
{
  static __thread long begun, had, busy;
  long now[2], used[2];
  const int most = (omp_get_max_threads)();
  if (most < 2 || scopt_threads_clock(1, now) != 0)
    return most;
  const long passed = now[0] * 1000000000 + now[1] - begun;
  if (passed > 10000000 && scopt_threads_clock(2, used) == 0) {
    const long share = used[0] * 1000000000 + used[1] - had;
    busy = passed < 500000000 && share < passed - passed / 4 && share > passed / 16;
    begun += passed;
    had += share;
  }
  return busy ? 1 : most;
}
#else
static inline int scopt_threads(void) { return (omp_get_max_threads)(); }
#endif
#else
static inline int scopt_threads(void) { return 1; }
#endif

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_0_0_vectors
typedef double scopt_turn_0_0_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_0_0_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_0_0_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_0_0_short
typedef double scopt_turn_0_0_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_turn_0_0_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_turn_0_0_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_turn_0_0_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_turn_0_0_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_0_0(long rows, long count, const double *restrict from, long length, double *restrict to) {
  long k = 0;
#ifdef scopt_turn_0_0_vectors
  for (; k + 8 <= count; k += 8) {
    long i = 0;
    for (; i + 8 <= rows; i += 8) {
      scopt_turn_0_0_v a0 = *(const scopt_turn_0_0_v *)(from + (i + 0) * length + k);
      scopt_turn_0_0_v a1 = *(const scopt_turn_0_0_v *)(from + (i + 1) * length + k);
      scopt_turn_0_0_v a2 = *(const scopt_turn_0_0_v *)(from + (i + 2) * length + k);
      scopt_turn_0_0_v a3 = *(const scopt_turn_0_0_v *)(from + (i + 3) * length + k);
      scopt_turn_0_0_v a4 = *(const scopt_turn_0_0_v *)(from + (i + 4) * length + k);
      scopt_turn_0_0_v a5 = *(const scopt_turn_0_0_v *)(from + (i + 5) * length + k);
      scopt_turn_0_0_v a6 = *(const scopt_turn_0_0_v *)(from + (i + 6) * length + k);
      scopt_turn_0_0_v a7 = *(const scopt_turn_0_0_v *)(from + (i + 7) * length + k);
      scopt_turn_0_0_v b0 = scopt_turn_0_0_low(a0, a4), b1 = scopt_turn_0_0_high(a0, a4);
      scopt_turn_0_0_v b2 = scopt_turn_0_0_low(a1, a5), b3 = scopt_turn_0_0_high(a1, a5);
      scopt_turn_0_0_v b4 = scopt_turn_0_0_low(a2, a6), b5 = scopt_turn_0_0_high(a2, a6);
      scopt_turn_0_0_v b6 = scopt_turn_0_0_low(a3, a7), b7 = scopt_turn_0_0_high(a3, a7);
      scopt_turn_0_0_v c0 = scopt_turn_0_0_low(b0, b4), c1 = scopt_turn_0_0_high(b0, b4);
      scopt_turn_0_0_v c2 = scopt_turn_0_0_low(b1, b5), c3 = scopt_turn_0_0_high(b1, b5);
      scopt_turn_0_0_v c4 = scopt_turn_0_0_low(b2, b6), c5 = scopt_turn_0_0_high(b2, b6);
      scopt_turn_0_0_v c6 = scopt_turn_0_0_low(b3, b7), c7 = scopt_turn_0_0_high(b3, b7);
      scopt_turn_0_0_v d0 = scopt_turn_0_0_low(c0, c4), d1 = scopt_turn_0_0_high(c0, c4);
      scopt_turn_0_0_v d2 = scopt_turn_0_0_low(c1, c5), d3 = scopt_turn_0_0_high(c1, c5);
      scopt_turn_0_0_v d4 = scopt_turn_0_0_low(c2, c6), d5 = scopt_turn_0_0_high(c2, c6);
      scopt_turn_0_0_v d6 = scopt_turn_0_0_low(c3, c7), d7 = scopt_turn_0_0_high(c3, c7);
      *(scopt_turn_0_0_v *)(to + (k + 0) * 8 + i) = d0;
      *(scopt_turn_0_0_v *)(to + (k + 1) * 8 + i) = d1;
      *(scopt_turn_0_0_v *)(to + (k + 2) * 8 + i) = d2;
      *(scopt_turn_0_0_v *)(to + (k + 3) * 8 + i) = d3;
      *(scopt_turn_0_0_v *)(to + (k + 4) * 8 + i) = d4;
      *(scopt_turn_0_0_v *)(to + (k + 5) * 8 + i) = d5;
      *(scopt_turn_0_0_v *)(to + (k + 6) * 8 + i) = d6;
      *(scopt_turn_0_0_v *)(to + (k + 7) * 8 + i) = d7;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 8; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#elif defined(scopt_turn_0_0_short)
  for (; k + 4 <= count; k += 4) {
    long i = 0;
    for (; i + 4 <= rows; i += 4) {
      scopt_turn_0_0_v a0 = *(const scopt_turn_0_0_v *)(from + (i + 0) * length + k);
      scopt_turn_0_0_v a1 = *(const scopt_turn_0_0_v *)(from + (i + 1) * length + k);
      scopt_turn_0_0_v a2 = *(const scopt_turn_0_0_v *)(from + (i + 2) * length + k);
      scopt_turn_0_0_v a3 = *(const scopt_turn_0_0_v *)(from + (i + 3) * length + k);
      scopt_turn_0_0_v b0 = scopt_turn_0_0_even(a0, a1), b1 = scopt_turn_0_0_odd(a0, a1);
      scopt_turn_0_0_v b2 = scopt_turn_0_0_even(a2, a3), b3 = scopt_turn_0_0_odd(a2, a3);
      scopt_turn_0_0_v c0 = scopt_turn_0_0_first(b0, b2), c2 = scopt_turn_0_0_last(b0, b2);
      scopt_turn_0_0_v c1 = scopt_turn_0_0_first(b1, b3), c3 = scopt_turn_0_0_last(b1, b3);
      *(scopt_turn_0_0_v *)(to + (k + 0) * 8 + i) = c0;
      *(scopt_turn_0_0_v *)(to + (k + 1) * 8 + i) = c1;
      *(scopt_turn_0_0_v *)(to + (k + 2) * 8 + i) = c2;
      *(scopt_turn_0_0_v *)(to + (k + 3) * 8 + i) = c3;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 4; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#endif
  for (; k < count; k++)
    for (long i = 0; i < rows; i++)
      to[k * 8 + i] = from[i * length + k];
}

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_2_0_vectors
typedef double scopt_turn_2_0_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_2_0_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_2_0_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_2_0_short
typedef double scopt_turn_2_0_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_turn_2_0_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_turn_2_0_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_turn_2_0_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_turn_2_0_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_2_0(long rows, long count, const double *restrict from, long length, double *restrict to) {
  long k = 0;
#ifdef scopt_turn_2_0_vectors
  for (; k + 8 <= count; k += 8) {
    long i = 0;
    for (; i + 8 <= rows; i += 8) {
      scopt_turn_2_0_v a0 = *(const scopt_turn_2_0_v *)(from + (i + 0) * length + k);
      scopt_turn_2_0_v a1 = *(const scopt_turn_2_0_v *)(from + (i + 1) * length + k);
      scopt_turn_2_0_v a2 = *(const scopt_turn_2_0_v *)(from + (i + 2) * length + k);
      scopt_turn_2_0_v a3 = *(const scopt_turn_2_0_v *)(from + (i + 3) * length + k);
      scopt_turn_2_0_v a4 = *(const scopt_turn_2_0_v *)(from + (i + 4) * length + k);
      scopt_turn_2_0_v a5 = *(const scopt_turn_2_0_v *)(from + (i + 5) * length + k);
      scopt_turn_2_0_v a6 = *(const scopt_turn_2_0_v *)(from + (i + 6) * length + k);
      scopt_turn_2_0_v a7 = *(const scopt_turn_2_0_v *)(from + (i + 7) * length + k);
      scopt_turn_2_0_v b0 = scopt_turn_2_0_low(a0, a4), b1 = scopt_turn_2_0_high(a0, a4);
      scopt_turn_2_0_v b2 = scopt_turn_2_0_low(a1, a5), b3 = scopt_turn_2_0_high(a1, a5);
      scopt_turn_2_0_v b4 = scopt_turn_2_0_low(a2, a6), b5 = scopt_turn_2_0_high(a2, a6);
      scopt_turn_2_0_v b6 = scopt_turn_2_0_low(a3, a7), b7 = scopt_turn_2_0_high(a3, a7);
      scopt_turn_2_0_v c0 = scopt_turn_2_0_low(b0, b4), c1 = scopt_turn_2_0_high(b0, b4);
      scopt_turn_2_0_v c2 = scopt_turn_2_0_low(b1, b5), c3 = scopt_turn_2_0_high(b1, b5);
      scopt_turn_2_0_v c4 = scopt_turn_2_0_low(b2, b6), c5 = scopt_turn_2_0_high(b2, b6);
      scopt_turn_2_0_v c6 = scopt_turn_2_0_low(b3, b7), c7 = scopt_turn_2_0_high(b3, b7);
      scopt_turn_2_0_v d0 = scopt_turn_2_0_low(c0, c4), d1 = scopt_turn_2_0_high(c0, c4);
      scopt_turn_2_0_v d2 = scopt_turn_2_0_low(c1, c5), d3 = scopt_turn_2_0_high(c1, c5);
      scopt_turn_2_0_v d4 = scopt_turn_2_0_low(c2, c6), d5 = scopt_turn_2_0_high(c2, c6);
      scopt_turn_2_0_v d6 = scopt_turn_2_0_low(c3, c7), d7 = scopt_turn_2_0_high(c3, c7);
      *(scopt_turn_2_0_v *)(to + (k + 0) * 8 + i) = d0;
      *(scopt_turn_2_0_v *)(to + (k + 1) * 8 + i) = d1;
      *(scopt_turn_2_0_v *)(to + (k + 2) * 8 + i) = d2;
      *(scopt_turn_2_0_v *)(to + (k + 3) * 8 + i) = d3;
      *(scopt_turn_2_0_v *)(to + (k + 4) * 8 + i) = d4;
      *(scopt_turn_2_0_v *)(to + (k + 5) * 8 + i) = d5;
      *(scopt_turn_2_0_v *)(to + (k + 6) * 8 + i) = d6;
      *(scopt_turn_2_0_v *)(to + (k + 7) * 8 + i) = d7;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 8; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#elif defined(scopt_turn_2_0_short)
  for (; k + 4 <= count; k += 4) {
    long i = 0;
    for (; i + 4 <= rows; i += 4) {
      scopt_turn_2_0_v a0 = *(const scopt_turn_2_0_v *)(from + (i + 0) * length + k);
      scopt_turn_2_0_v a1 = *(const scopt_turn_2_0_v *)(from + (i + 1) * length + k);
      scopt_turn_2_0_v a2 = *(const scopt_turn_2_0_v *)(from + (i + 2) * length + k);
      scopt_turn_2_0_v a3 = *(const scopt_turn_2_0_v *)(from + (i + 3) * length + k);
      scopt_turn_2_0_v b0 = scopt_turn_2_0_even(a0, a1), b1 = scopt_turn_2_0_odd(a0, a1);
      scopt_turn_2_0_v b2 = scopt_turn_2_0_even(a2, a3), b3 = scopt_turn_2_0_odd(a2, a3);
      scopt_turn_2_0_v c0 = scopt_turn_2_0_first(b0, b2), c2 = scopt_turn_2_0_last(b0, b2);
      scopt_turn_2_0_v c1 = scopt_turn_2_0_first(b1, b3), c3 = scopt_turn_2_0_last(b1, b3);
      *(scopt_turn_2_0_v *)(to + (k + 0) * 8 + i) = c0;
      *(scopt_turn_2_0_v *)(to + (k + 1) * 8 + i) = c1;
      *(scopt_turn_2_0_v *)(to + (k + 2) * 8 + i) = c2;
      *(scopt_turn_2_0_v *)(to + (k + 3) * 8 + i) = c3;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 4; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#endif
  for (; k < count; k++)
    for (long i = 0; i < rows; i++)
      to[k * 8 + i] = from[i * length + k];
}

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_2_1_vectors
typedef double scopt_turn_2_1_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_2_1_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_2_1_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_2_1_short
typedef double scopt_turn_2_1_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_turn_2_1_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_turn_2_1_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_turn_2_1_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_turn_2_1_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_2_1(long rows, long count, double *restrict to, long length, const double *restrict from) {
  long i = 0;
#ifdef scopt_turn_2_1_vectors
  for (; i + 8 <= rows; i += 8) {
    long k = 0;
    for (; k + 8 <= count; k += 8) {
      scopt_turn_2_1_v a0 = *(const scopt_turn_2_1_v *)(from + (k + 0) * 8 + i);
      scopt_turn_2_1_v a1 = *(const scopt_turn_2_1_v *)(from + (k + 1) * 8 + i);
      scopt_turn_2_1_v a2 = *(const scopt_turn_2_1_v *)(from + (k + 2) * 8 + i);
      scopt_turn_2_1_v a3 = *(const scopt_turn_2_1_v *)(from + (k + 3) * 8 + i);
      scopt_turn_2_1_v a4 = *(const scopt_turn_2_1_v *)(from + (k + 4) * 8 + i);
      scopt_turn_2_1_v a5 = *(const scopt_turn_2_1_v *)(from + (k + 5) * 8 + i);
      scopt_turn_2_1_v a6 = *(const scopt_turn_2_1_v *)(from + (k + 6) * 8 + i);
      scopt_turn_2_1_v a7 = *(const scopt_turn_2_1_v *)(from + (k + 7) * 8 + i);
      scopt_turn_2_1_v b0 = scopt_turn_2_1_low(a0, a4), b1 = scopt_turn_2_1_high(a0, a4);
      scopt_turn_2_1_v b2 = scopt_turn_2_1_low(a1, a5), b3 = scopt_turn_2_1_high(a1, a5);
      scopt_turn_2_1_v b4 = scopt_turn_2_1_low(a2, a6), b5 = scopt_turn_2_1_high(a2, a6);
      scopt_turn_2_1_v b6 = scopt_turn_2_1_low(a3, a7), b7 = scopt_turn_2_1_high(a3, a7);
      scopt_turn_2_1_v c0 = scopt_turn_2_1_low(b0, b4), c1 = scopt_turn_2_1_high(b0, b4);
      scopt_turn_2_1_v c2 = scopt_turn_2_1_low(b1, b5), c3 = scopt_turn_2_1_high(b1, b5);
      scopt_turn_2_1_v c4 = scopt_turn_2_1_low(b2, b6), c5 = scopt_turn_2_1_high(b2, b6);
      scopt_turn_2_1_v c6 = scopt_turn_2_1_low(b3, b7), c7 = scopt_turn_2_1_high(b3, b7);
      scopt_turn_2_1_v d0 = scopt_turn_2_1_low(c0, c4), d1 = scopt_turn_2_1_high(c0, c4);
      scopt_turn_2_1_v d2 = scopt_turn_2_1_low(c1, c5), d3 = scopt_turn_2_1_high(c1, c5);
      scopt_turn_2_1_v d4 = scopt_turn_2_1_low(c2, c6), d5 = scopt_turn_2_1_high(c2, c6);
      scopt_turn_2_1_v d6 = scopt_turn_2_1_low(c3, c7), d7 = scopt_turn_2_1_high(c3, c7);
      *(scopt_turn_2_1_v *)(to + (i + 0) * length + k) = d0;
      *(scopt_turn_2_1_v *)(to + (i + 1) * length + k) = d1;
      *(scopt_turn_2_1_v *)(to + (i + 2) * length + k) = d2;
      *(scopt_turn_2_1_v *)(to + (i + 3) * length + k) = d3;
      *(scopt_turn_2_1_v *)(to + (i + 4) * length + k) = d4;
      *(scopt_turn_2_1_v *)(to + (i + 5) * length + k) = d5;
      *(scopt_turn_2_1_v *)(to + (i + 6) * length + k) = d6;
      *(scopt_turn_2_1_v *)(to + (i + 7) * length + k) = d7;
    }
    for (; k < count; k++)
      for (long n = i; n < i + 8; n++)
        to[n * length + k] = from[k * 8 + n];
  }
#elif defined(scopt_turn_2_1_short)
  for (; i + 4 <= rows; i += 4) {
    long k = 0;
    for (; k + 4 <= count; k += 4) {
      scopt_turn_2_1_v a0 = *(const scopt_turn_2_1_v *)(from + (k + 0) * 8 + i);
      scopt_turn_2_1_v a1 = *(const scopt_turn_2_1_v *)(from + (k + 1) * 8 + i);
      scopt_turn_2_1_v a2 = *(const scopt_turn_2_1_v *)(from + (k + 2) * 8 + i);
      scopt_turn_2_1_v a3 = *(const scopt_turn_2_1_v *)(from + (k + 3) * 8 + i);
      scopt_turn_2_1_v b0 = scopt_turn_2_1_even(a0, a1), b1 = scopt_turn_2_1_odd(a0, a1);
      scopt_turn_2_1_v b2 = scopt_turn_2_1_even(a2, a3), b3 = scopt_turn_2_1_odd(a2, a3);
      scopt_turn_2_1_v c0 = scopt_turn_2_1_first(b0, b2), c2 = scopt_turn_2_1_last(b0, b2);
      scopt_turn_2_1_v c1 = scopt_turn_2_1_first(b1, b3), c3 = scopt_turn_2_1_last(b1, b3);
      *(scopt_turn_2_1_v *)(to + (i + 0) * length + k) = c0;
      *(scopt_turn_2_1_v *)(to + (i + 1) * length + k) = c1;
      *(scopt_turn_2_1_v *)(to + (i + 2) * length + k) = c2;
      *(scopt_turn_2_1_v *)(to + (i + 3) * length + k) = c3;
    }
    for (; k < count; k++)
      for (long n = i; n < i + 4; n++)
        to[n * length + k] = from[k * 8 + n];
  }
#endif
  for (; i < rows; i++)
    for (long k = 0; k < count; k++)
      to[i * length + k] = from[k * 8 + i];
}

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_3_0_vectors
typedef double scopt_turn_3_0_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_3_0_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_3_0_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_3_0_short
typedef double scopt_turn_3_0_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_turn_3_0_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_turn_3_0_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_turn_3_0_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_turn_3_0_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_3_0(long rows, long count, const double *restrict from, long length, double *restrict to) {
  long k = 0;
#ifdef scopt_turn_3_0_vectors
  for (; k + 8 <= count; k += 8) {
    long i = 0;
    for (; i + 8 <= rows; i += 8) {
      scopt_turn_3_0_v a0 = *(const scopt_turn_3_0_v *)(from + (i + 0) * length + k);
      scopt_turn_3_0_v a1 = *(const scopt_turn_3_0_v *)(from + (i + 1) * length + k);
      scopt_turn_3_0_v a2 = *(const scopt_turn_3_0_v *)(from + (i + 2) * length + k);
      scopt_turn_3_0_v a3 = *(const scopt_turn_3_0_v *)(from + (i + 3) * length + k);
      scopt_turn_3_0_v a4 = *(const scopt_turn_3_0_v *)(from + (i + 4) * length + k);
      scopt_turn_3_0_v a5 = *(const scopt_turn_3_0_v *)(from + (i + 5) * length + k);
      scopt_turn_3_0_v a6 = *(const scopt_turn_3_0_v *)(from + (i + 6) * length + k);
      scopt_turn_3_0_v a7 = *(const scopt_turn_3_0_v *)(from + (i + 7) * length + k);
      scopt_turn_3_0_v b0 = scopt_turn_3_0_low(a0, a4), b1 = scopt_turn_3_0_high(a0, a4);
      scopt_turn_3_0_v b2 = scopt_turn_3_0_low(a1, a5), b3 = scopt_turn_3_0_high(a1, a5);
      scopt_turn_3_0_v b4 = scopt_turn_3_0_low(a2, a6), b5 = scopt_turn_3_0_high(a2, a6);
      scopt_turn_3_0_v b6 = scopt_turn_3_0_low(a3, a7), b7 = scopt_turn_3_0_high(a3, a7);
      scopt_turn_3_0_v c0 = scopt_turn_3_0_low(b0, b4), c1 = scopt_turn_3_0_high(b0, b4);
      scopt_turn_3_0_v c2 = scopt_turn_3_0_low(b1, b5), c3 = scopt_turn_3_0_high(b1, b5);
      scopt_turn_3_0_v c4 = scopt_turn_3_0_low(b2, b6), c5 = scopt_turn_3_0_high(b2, b6);
      scopt_turn_3_0_v c6 = scopt_turn_3_0_low(b3, b7), c7 = scopt_turn_3_0_high(b3, b7);
      scopt_turn_3_0_v d0 = scopt_turn_3_0_low(c0, c4), d1 = scopt_turn_3_0_high(c0, c4);
      scopt_turn_3_0_v d2 = scopt_turn_3_0_low(c1, c5), d3 = scopt_turn_3_0_high(c1, c5);
      scopt_turn_3_0_v d4 = scopt_turn_3_0_low(c2, c6), d5 = scopt_turn_3_0_high(c2, c6);
      scopt_turn_3_0_v d6 = scopt_turn_3_0_low(c3, c7), d7 = scopt_turn_3_0_high(c3, c7);
      *(scopt_turn_3_0_v *)(to + (k + 0) * 8 + i) = d0;
      *(scopt_turn_3_0_v *)(to + (k + 1) * 8 + i) = d1;
      *(scopt_turn_3_0_v *)(to + (k + 2) * 8 + i) = d2;
      *(scopt_turn_3_0_v *)(to + (k + 3) * 8 + i) = d3;
      *(scopt_turn_3_0_v *)(to + (k + 4) * 8 + i) = d4;
      *(scopt_turn_3_0_v *)(to + (k + 5) * 8 + i) = d5;
      *(scopt_turn_3_0_v *)(to + (k + 6) * 8 + i) = d6;
      *(scopt_turn_3_0_v *)(to + (k + 7) * 8 + i) = d7;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 8; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#elif defined(scopt_turn_3_0_short)
  for (; k + 4 <= count; k += 4) {
    long i = 0;
    for (; i + 4 <= rows; i += 4) {
      scopt_turn_3_0_v a0 = *(const scopt_turn_3_0_v *)(from + (i + 0) * length + k);
      scopt_turn_3_0_v a1 = *(const scopt_turn_3_0_v *)(from + (i + 1) * length + k);
      scopt_turn_3_0_v a2 = *(const scopt_turn_3_0_v *)(from + (i + 2) * length + k);
      scopt_turn_3_0_v a3 = *(const scopt_turn_3_0_v *)(from + (i + 3) * length + k);
      scopt_turn_3_0_v b0 = scopt_turn_3_0_even(a0, a1), b1 = scopt_turn_3_0_odd(a0, a1);
      scopt_turn_3_0_v b2 = scopt_turn_3_0_even(a2, a3), b3 = scopt_turn_3_0_odd(a2, a3);
      scopt_turn_3_0_v c0 = scopt_turn_3_0_first(b0, b2), c2 = scopt_turn_3_0_last(b0, b2);
      scopt_turn_3_0_v c1 = scopt_turn_3_0_first(b1, b3), c3 = scopt_turn_3_0_last(b1, b3);
      *(scopt_turn_3_0_v *)(to + (k + 0) * 8 + i) = c0;
      *(scopt_turn_3_0_v *)(to + (k + 1) * 8 + i) = c1;
      *(scopt_turn_3_0_v *)(to + (k + 2) * 8 + i) = c2;
      *(scopt_turn_3_0_v *)(to + (k + 3) * 8 + i) = c3;
    }
    for (; i < rows; i++)
      for (long n = k; n < k + 4; n++)
        to[n * 8 + i] = from[i * length + n];
  }
#endif
  for (; k < count; k++)
    for (long i = 0; i < rows; i++)
      to[k * 8 + i] = from[i * length + k];
}

#if defined(__AVX512F__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_3_1_vectors
typedef double scopt_turn_3_1_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_turn_3_1_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_turn_3_1_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_turn_3_1_short
typedef double scopt_turn_3_1_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_turn_3_1_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_turn_3_1_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_turn_3_1_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_turn_3_1_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_turn_3_1(long rows, long count, double *restrict to, long length, const double *restrict from) {
  long i = 0;
#ifdef scopt_turn_3_1_vectors
  for (; i + 8 <= rows; i += 8) {
    long k = 0;
    for (; k + 8 <= count; k += 8) {
      scopt_turn_3_1_v a0 = *(const scopt_turn_3_1_v *)(from + (k + 0) * 8 + i);
      scopt_turn_3_1_v a1 = *(const scopt_turn_3_1_v *)(from + (k + 1) * 8 + i);
      scopt_turn_3_1_v a2 = *(const scopt_turn_3_1_v *)(from + (k + 2) * 8 + i);
      scopt_turn_3_1_v a3 = *(const scopt_turn_3_1_v *)(from + (k + 3) * 8 + i);
      scopt_turn_3_1_v a4 = *(const scopt_turn_3_1_v *)(from + (k + 4) * 8 + i);
      scopt_turn_3_1_v a5 = *(const scopt_turn_3_1_v *)(from + (k + 5) * 8 + i);
      scopt_turn_3_1_v a6 = *(const scopt_turn_3_1_v *)(from + (k + 6) * 8 + i);
      scopt_turn_3_1_v a7 = *(const scopt_turn_3_1_v *)(from + (k + 7) * 8 + i);
      scopt_turn_3_1_v b0 = scopt_turn_3_1_low(a0, a4), b1 = scopt_turn_3_1_high(a0, a4);
      scopt_turn_3_1_v b2 = scopt_turn_3_1_low(a1, a5), b3 = scopt_turn_3_1_high(a1, a5);
      scopt_turn_3_1_v b4 = scopt_turn_3_1_low(a2, a6), b5 = scopt_turn_3_1_high(a2, a6);
      scopt_turn_3_1_v b6 = scopt_turn_3_1_low(a3, a7), b7 = scopt_turn_3_1_high(a3, a7);
      scopt_turn_3_1_v c0 = scopt_turn_3_1_low(b0, b4), c1 = scopt_turn_3_1_high(b0, b4);
      scopt_turn_3_1_v c2 = scopt_turn_3_1_low(b1, b5), c3 = scopt_turn_3_1_high(b1, b5);
      scopt_turn_3_1_v c4 = scopt_turn_3_1_low(b2, b6), c5 = scopt_turn_3_1_high(b2, b6);
      scopt_turn_3_1_v c6 = scopt_turn_3_1_low(b3, b7), c7 = scopt_turn_3_1_high(b3, b7);
      scopt_turn_3_1_v d0 = scopt_turn_3_1_low(c0, c4), d1 = scopt_turn_3_1_high(c0, c4);
      scopt_turn_3_1_v d2 = scopt_turn_3_1_low(c1, c5), d3 = scopt_turn_3_1_high(c1, c5);
      scopt_turn_3_1_v d4 = scopt_turn_3_1_low(c2, c6), d5 = scopt_turn_3_1_high(c2, c6);
      scopt_turn_3_1_v d6 = scopt_turn_3_1_low(c3, c7), d7 = scopt_turn_3_1_high(c3, c7);
      *(scopt_turn_3_1_v *)(to + (i + 0) * length + k) = d0;
      *(scopt_turn_3_1_v *)(to + (i + 1) * length + k) = d1;
      *(scopt_turn_3_1_v *)(to + (i + 2) * length + k) = d2;
      *(scopt_turn_3_1_v *)(to + (i + 3) * length + k) = d3;
      *(scopt_turn_3_1_v *)(to + (i + 4) * length + k) = d4;
      *(scopt_turn_3_1_v *)(to + (i + 5) * length + k) = d5;
      *(scopt_turn_3_1_v *)(to + (i + 6) * length + k) = d6;
      *(scopt_turn_3_1_v *)(to + (i + 7) * length + k) = d7;
    }
    for (; k < count; k++)
      for (long n = i; n < i + 8; n++)
        to[n * length + k] = from[k * 8 + n];
  }
#elif defined(scopt_turn_3_1_short)
  for (; i + 4 <= rows; i += 4) {
    long k = 0;
    for (; k + 4 <= count; k += 4) {
      scopt_turn_3_1_v a0 = *(const scopt_turn_3_1_v *)(from + (k + 0) * 8 + i);
      scopt_turn_3_1_v a1 = *(const scopt_turn_3_1_v *)(from + (k + 1) * 8 + i);
      scopt_turn_3_1_v a2 = *(const scopt_turn_3_1_v *)(from + (k + 2) * 8 + i);
      scopt_turn_3_1_v a3 = *(const scopt_turn_3_1_v *)(from + (k + 3) * 8 + i);
      scopt_turn_3_1_v b0 = scopt_turn_3_1_even(a0, a1), b1 = scopt_turn_3_1_odd(a0, a1);
      scopt_turn_3_1_v b2 = scopt_turn_3_1_even(a2, a3), b3 = scopt_turn_3_1_odd(a2, a3);
      scopt_turn_3_1_v c0 = scopt_turn_3_1_first(b0, b2), c2 = scopt_turn_3_1_last(b0, b2);
      scopt_turn_3_1_v c1 = scopt_turn_3_1_first(b1, b3), c3 = scopt_turn_3_1_last(b1, b3);
      *(scopt_turn_3_1_v *)(to + (i + 0) * length + k) = c0;
      *(scopt_turn_3_1_v *)(to + (i + 1) * length + k) = c1;
      *(scopt_turn_3_1_v *)(to + (i + 2) * length + k) = c2;
      *(scopt_turn_3_1_v *)(to + (i + 3) * length + k) = c3;
    }
    for (; k < count; k++)
      for (long n = i; n < i + 4; n++)
        to[n * length + k] = from[k * 8 + n];
  }
#endif
  for (; i < rows; i++)
    for (long k = 0; k < count; k++)
      to[i * length + k] = from[k * 8 + i];
}

// scopt:
/* Small problems side by side: stresses of 3 x 3 deformations run in batches, a problem a lane, whose cells are turned
 * into lanes; what is little work for each of a problem's cells stays as it is. */
void stresses(int n, double f[restrict n][3][3], double s[restrict n][6])
{
#pragma scop
    if (n > 80 && n > 10) {
      {
        double j0;
        double j1;
        double j2;
        double det;
        double q;
        double lam;
        double b00;
        double b11;
        double b22;
        double b01;
        double b02;
        double b12;
        _Alignas(64) double f_rows[3][3][8];
        _Alignas(64) double s_rows[6][8];
        #pragma omp parallel for if(n > 1000) private(j0, j1, b02, b12, q, b00, lam, b11, b22, b01, j2, det, f_rows, s_rows) firstprivate(f, n, s) schedule(static)
        for (long rowt = 0; rowt < n - 7L; rowt += 8) {
          scopt_turn_0_0(8L, 9L, &f[rowt][0][0], sizeof(f[0]) / sizeof(f[0][0][0]), &f_rows[0][0][0]);
          #pragma omp simd private(j0, j1, b02, b12, q, b00, lam, b11, b22, b01, j2, det)
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long p = rowt; p < rowt + 8; p++) {
            j0 = f_rows[1][1][p - rowt] * f_rows[2][2][p - rowt] - f_rows[1][2][p - rowt] * f_rows[2][1][p - rowt];
            j1 = f_rows[1][2][p - rowt] * f_rows[2][0][p - rowt] - f_rows[1][0][p - rowt] * f_rows[2][2][p - rowt];
            j2 = f_rows[1][0][p - rowt] * f_rows[2][1][p - rowt] - f_rows[1][1][p - rowt] * f_rows[2][0][p - rowt];
            det = f_rows[0][0][p - rowt] * j0 + f_rows[0][1][p - rowt] * j1 + f_rows[0][2][p - rowt] * j2;
            q = 1 / det;
            lam = 0.5 * (det - q);
            b00 = f_rows[0][0][p - rowt] * f_rows[0][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[0][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[0][2][p - rowt];
            b11 = f_rows[1][0][p - rowt] * f_rows[1][0][p - rowt] + f_rows[1][1][p - rowt] * f_rows[1][1][p - rowt] + f_rows[1][2][p - rowt] * f_rows[1][2][p - rowt];
            b22 = f_rows[2][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[2][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[2][2][p - rowt] * f_rows[2][2][p - rowt];
            b01 = f_rows[0][0][p - rowt] * f_rows[1][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[1][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[1][2][p - rowt];
            b02 = f_rows[0][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[0][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[0][2][p - rowt] * f_rows[2][2][p - rowt];
            b12 = f_rows[1][0][p - rowt] * f_rows[2][0][p - rowt] + f_rows[1][1][p - rowt] * f_rows[2][1][p - rowt] + f_rows[1][2][p - rowt] * f_rows[2][2][p - rowt];
            s_rows[0][p - rowt] = q * (b00 - 1) + lam;
            s_rows[1][p - rowt] = q * (b11 - 1) + lam;
            s_rows[2][p - rowt] = q * (b22 - 1) + lam;
            s_rows[3][p - rowt] = q * b01;
            s_rows[4][p - rowt] = q * b02;
            s_rows[5][p - rowt] = q * b12;
          }
          for (long row = rowt; row < rowt + 8; row++)
            for (long column = 0; column < 6; column++)
              s[row][column] = s_rows[column][row - rowt];
        }
        for (long p = scopt_max(0, n - 7L); p < n; p++) {
          scopt_scalar();
          if (p + 7 >= n + p % 8) {
            j0 = f[p][1][1] * f[p][2][2] - f[p][1][2] * f[p][2][1];
            j1 = f[p][1][2] * f[p][2][0] - f[p][1][0] * f[p][2][2];
            j2 = f[p][1][0] * f[p][2][1] - f[p][1][1] * f[p][2][0];
            det = f[p][0][0] * j0 + f[p][0][1] * j1 + f[p][0][2] * j2;
            q = 1 / det;
            lam = 0.5 * (det - q);
            b00 = f[p][0][0] * f[p][0][0] + f[p][0][1] * f[p][0][1] + f[p][0][2] * f[p][0][2];
            b11 = f[p][1][0] * f[p][1][0] + f[p][1][1] * f[p][1][1] + f[p][1][2] * f[p][1][2];
            b22 = f[p][2][0] * f[p][2][0] + f[p][2][1] * f[p][2][1] + f[p][2][2] * f[p][2][2];
            b01 = f[p][0][0] * f[p][1][0] + f[p][0][1] * f[p][1][1] + f[p][0][2] * f[p][1][2];
            b02 = f[p][0][0] * f[p][2][0] + f[p][0][1] * f[p][2][1] + f[p][0][2] * f[p][2][2];
            b12 = f[p][1][0] * f[p][2][0] + f[p][1][1] * f[p][2][1] + f[p][1][2] * f[p][2][2];
            s[p][0] = q * (b00 - 1) + lam;
            s[p][1] = q * (b11 - 1) + lam;
            s[p][2] = q * (b22 - 1) + lam;
            s[p][3] = q * b01;
            s[p][4] = q * b02;
            s[p][5] = q * b12;
          }
        }
      }
    } else {
    for (int p = 0; p < n; p++) {
        double j0 = f[p][1][1]*f[p][2][2] - f[p][1][2]*f[p][2][1];
        double j1 = f[p][1][2]*f[p][2][0] - f[p][1][0]*f[p][2][2];
        double j2 = f[p][1][0]*f[p][2][1] - f[p][1][1]*f[p][2][0];
        double det = f[p][0][0]*j0 + f[p][0][1]*j1 + f[p][0][2]*j2;
        double q = 1 / det, lam = 0.5 * (det - q);
        double b00 = f[p][0][0]*f[p][0][0] + f[p][0][1]*f[p][0][1] + f[p][0][2]*f[p][0][2];
        double b11 = f[p][1][0]*f[p][1][0] + f[p][1][1]*f[p][1][1] + f[p][1][2]*f[p][1][2];
        double b22 = f[p][2][0]*f[p][2][0] + f[p][2][1]*f[p][2][1] + f[p][2][2]*f[p][2][2];
        double b01 = f[p][0][0]*f[p][1][0] + f[p][0][1]*f[p][1][1] + f[p][0][2]*f[p][1][2];
        double b02 = f[p][0][0]*f[p][2][0] + f[p][0][1]*f[p][2][1] + f[p][0][2]*f[p][2][2];
        double b12 = f[p][1][0]*f[p][2][0] + f[p][1][1]*f[p][2][1] + f[p][1][2]*f[p][2][2];
        s[p][0] = q * (b00 - 1) + lam; s[p][1] = q * (b11 - 1) + lam; s[p][2] = q * (b22 - 1) + lam;
        s[p][3] = q * b01; s[p][4] = q * b02; s[p][5] = q * b12;
    }
    }
#pragma endscop
}

void products(int n, double x[restrict n][5], double y[restrict n][5])
{
#pragma scop
    if (n > 8000 && scopt_threads() > 1) {
      #pragma omp parallel for firstprivate(n, x, y) schedule(static)
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        y[p][0] = 0.5 * x[p][0] + x[p][1];
        y[p][4] = 0.5 * x[p][4] + x[p][2];
      }
    } else {
      for (long p = 0; p < n; p++) {
        scopt_scalar();
        y[p][0] = 0.5 * x[p][0] + x[p][1];
        y[p][4] = 0.5 * x[p][4] + x[p][2];
      }
    }
#pragma endscop
}

/* What a problem keeps in scalars has lanes, too, and conditions on these choose; one loop goes through the rows of a
 * record, another through the whole of it. */
void likelihoods(int n, double p[restrict 4][4], double q[restrict 4][4], double *restrict l, double *restrict r,
                 double *restrict y, double *restrict best)
{
#pragma scop
    {
      double most;
      double a;
      double b;
      _Alignas(64) double most_rows[8];
      _Alignas(64) double a_rows[8];
      _Alignas(64) double b_rows[8];
      _Alignas(64) double l_rows[4][4][8];
      _Alignas(64) double r_rows[4][4][8];
      _Alignas(64) double y_rows[16][8];
      if (n > 200 && scopt_threads() > 1) {
        #pragma omp parallel for private(most_rows, a_rows, b_rows, l_rows, r_rows, y_rows) firstprivate(best, l, n, p, q, r, y) schedule(static)
        for (long rowt = 0; rowt < n - 7L; rowt += 8) {
          scopt_turn_2_0(8L, 16L, &l[rowt * 4 * 4], 4 * 4, &l_rows[0][0][0]);
          scopt_turn_2_0(8L, 16L, &r[rowt * 4 * 4], 4 * 4, &r_rows[0][0][0]);
          #pragma omp simd
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long s = rowt; s < rowt + 8; s++)
            most_rows[s - rowt] = 0;
          for (long c = 0; c < 4; c++)
            for (long i = 0; i < 4; i++) {
              #pragma omp simd
              #ifdef __clang__
              #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
              #endif
              for (long s = rowt; s < rowt + 8; s++) {
                a_rows[s - rowt] = 0;
                b_rows[s - rowt] = 0;
              }
              for (long j = 0; j < 4; j++) {
                double p_0 = p[i][j];
                double q_0 = q[i][j];
                #pragma omp simd
                #ifdef __clang__
                #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
                #endif
                for (long s = rowt; s < rowt + 8; s++) {
                  a_rows[s - rowt] += p_0 * l_rows[c][j][s - rowt];
                  b_rows[s - rowt] += q_0 * r_rows[c][j][s - rowt];
                }
              }
              #pragma omp simd
              #ifdef __clang__
              #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
              #endif
              for (long s = rowt; s < rowt + 8; s++) {
                y_rows[4 * c + i][s - rowt] = a_rows[s - rowt] * b_rows[s - rowt];
                most_rows[s - rowt] = a_rows[s - rowt] * b_rows[s - rowt] > most_rows[s - rowt] ? (double)(a_rows[s - rowt] * b_rows[s - rowt]) : most_rows[s - rowt];
              }
            }
          for (long k = 0; k < 16; k++) {
            #pragma omp simd
            #ifdef __clang__
            #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
            #endif
            for (long s = rowt; s < rowt + 8; s++)
              y_rows[k][s - rowt] /= most_rows[s - rowt];
          }
          #pragma omp simd
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long s = rowt; s < rowt + 8; s++)
            best[s] = most_rows[s - rowt];
          scopt_turn_2_1(8L, 16L, &y[rowt * 16], 16, &y_rows[0][0]);
        }
      } else {
        for (long rowt = 0; rowt < n - 7L; rowt += 8) {
          scopt_turn_2_0(8L, 16L, &l[rowt * 4 * 4], 4 * 4, &l_rows[0][0][0]);
          scopt_turn_2_0(8L, 16L, &r[rowt * 4 * 4], 4 * 4, &r_rows[0][0][0]);
          #pragma omp simd
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long s = rowt; s < rowt + 8; s++)
            most_rows[s - rowt] = 0;
          for (long c = 0; c < 4; c++)
            for (long i = 0; i < 4; i++) {
              #pragma omp simd
              #ifdef __clang__
              #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
              #endif
              for (long s = rowt; s < rowt + 8; s++) {
                a_rows[s - rowt] = 0;
                b_rows[s - rowt] = 0;
              }
              for (long j = 0; j < 4; j++) {
                double p_0 = p[i][j];
                double q_0 = q[i][j];
                #pragma omp simd
                #ifdef __clang__
                #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
                #endif
                for (long s = rowt; s < rowt + 8; s++) {
                  a_rows[s - rowt] += p_0 * l_rows[c][j][s - rowt];
                  b_rows[s - rowt] += q_0 * r_rows[c][j][s - rowt];
                }
              }
              #pragma omp simd
              #ifdef __clang__
              #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
              #endif
              for (long s = rowt; s < rowt + 8; s++) {
                y_rows[4 * c + i][s - rowt] = a_rows[s - rowt] * b_rows[s - rowt];
                most_rows[s - rowt] = a_rows[s - rowt] * b_rows[s - rowt] > most_rows[s - rowt] ? (double)(a_rows[s - rowt] * b_rows[s - rowt]) : most_rows[s - rowt];
              }
            }
          for (long k = 0; k < 16; k++) {
            #pragma omp simd
            #ifdef __clang__
            #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
            #endif
            for (long s = rowt; s < rowt + 8; s++)
              y_rows[k][s - rowt] /= most_rows[s - rowt];
          }
          #pragma omp simd
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long s = rowt; s < rowt + 8; s++)
            best[s] = most_rows[s - rowt];
          scopt_turn_2_1(8L, 16L, &y[rowt * 16], 16, &y_rows[0][0]);
        }
      }
      for (long s = scopt_max(0, n - 7L); s < n; s++)
        if (s + 7 >= n + s % 8) {
          most = 0;
          for (long c = 0; c < 4; c++)
            for (long i = 0; i < 4; i++) {
              a = 0;
              b = 0;
              for (long j = 0; j < 4; j++) {
                a += p[i][j] * l[(s * 4 + c) * 4 + j];
                b += q[i][j] * r[(s * 4 + c) * 4 + j];
              }
              y[s * 16 + 4 * c + i] = a * b;
              if (a * b > most)
                most = a * b;
            }
          #pragma omp simd
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(2)
          #endif
          for (long k = 0; k < 16; k++)
            y[s * 16 + k] /= most;
          best[s] = most;
        }
    }
#pragma endscop
}

/* What a condition may leave as it was has to be copied to lanes. */
void marks(int n, double x[restrict n][16], double y[restrict n][16], double c[restrict n], double w[restrict 16][16])
{
#pragma scop
    {
      double a;
      _Alignas(64) double x_rows[16][8];
      _Alignas(64) double y_rows[16][8];
      #pragma omp parallel for if(n > 200) private(a, x_rows, y_rows) firstprivate(c, n, w, x, y) schedule(static)
      for (long rowt = 0; rowt < n - 7L; rowt += 8) {
        scopt_turn_3_0(8L, 16L, &x[rowt][0], sizeof(x[0]) / sizeof(x[0][0]), &x_rows[0][0]);
        scopt_turn_3_0(8L, 16L, &y[rowt][0], sizeof(y[0]) / sizeof(y[0][0]), &y_rows[0][0]);
        for (long k = 0; k < 16; k++) {
          double w_0 = w[k][0];
          double w_1 = w[k][1];
          double w_2 = w[k][2];
          double w_3 = w[k][3];
          double w_4 = w[k][4];
          double w_5 = w[k][5];
          double w_6 = w[k][6];
          double w_7 = w[k][7];
          double w_8 = w[k][8];
          double w_9 = w[k][9];
          double w_10 = w[k][10];
          double w_11 = w[k][11];
          double w_12 = w[k][12];
          double w_13 = w[k][13];
          double w_14 = w[k][14];
          double w_15 = w[k][15];
          #pragma omp simd private(a)
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(1)
          #endif
          for (long s = rowt; s < rowt + 8; s++) {
            a = 0;
            if (c[s] > 0.5)
              x_rows[k][s - rowt] = 1;
            a += w_0 * y_rows[0][s - rowt];
            a += w_1 * y_rows[1][s - rowt];
            a += w_2 * y_rows[2][s - rowt];
            a += w_3 * y_rows[3][s - rowt];
            a += w_4 * y_rows[4][s - rowt];
            a += w_5 * y_rows[5][s - rowt];
            a += w_6 * y_rows[6][s - rowt];
            a += w_7 * y_rows[7][s - rowt];
            a += w_8 * y_rows[8][s - rowt];
            a += w_9 * y_rows[9][s - rowt];
            a += w_10 * y_rows[10][s - rowt];
            a += w_11 * y_rows[11][s - rowt];
            a += w_12 * y_rows[12][s - rowt];
            a += w_13 * y_rows[13][s - rowt];
            a += w_14 * y_rows[14][s - rowt];
            a += w_15 * y_rows[15][s - rowt];
            x_rows[k][s - rowt] += a;
          }
        }
        scopt_turn_3_1(8L, 16L, &x[rowt][0], sizeof(x[0]) / sizeof(x[0][0]), &x_rows[0][0]);
      }
      for (long s = scopt_max(0, n - 7L); s < n; s++)
        if (s + 7 >= n + s % 8) {
          double c_0 = c[s], y_0 = y[s][0], y_1 = y[s][1], y_2 = y[s][2];
          double y_3 = y[s][3], y_4 = y[s][4], y_5 = y[s][5], y_6 = y[s][6];
          double y_7 = y[s][7], y_8 = y[s][8], y_9 = y[s][9], y_10 = y[s][10];
          double y_11 = y[s][11], y_12 = y[s][12], y_13 = y[s][13], y_14 = y[s][14];
          double y_15 = y[s][15];
          #pragma omp simd private(a)
          #ifdef __clang__
          #pragma clang loop unroll(disable) vectorize_width(8) interleave_count(2)
          #endif
          for (long k = 0; k < 16; k++) {
            a = 0;
            if (c_0 > 0.5)
              x[s][k] = 1;
            a += w[k][0] * y_0;
            a += w[k][1] * y_1;
            a += w[k][2] * y_2;
            a += w[k][3] * y_3;
            a += w[k][4] * y_4;
            a += w[k][5] * y_5;
            a += w[k][6] * y_6;
            a += w[k][7] * y_7;
            a += w[k][8] * y_8;
            a += w[k][9] * y_9;
            a += w[k][10] * y_10;
            a += w[k][11] * y_11;
            a += w[k][12] * y_12;
            a += w[k][13] * y_13;
            a += w[k][14] * y_14;
            a += w[k][15] * y_15;
            x[s][k] += a;
          }
        }
    }
#pragma endscop
}
