static inline long scopt_min(long a, long b) { return a < b ? a : b; }
static inline void scopt_apart(void) {
#ifdef __clang__
  __asm__ volatile ("" ::: "memory");
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
#define scopt_sums_0_0_vectors
typedef double scopt_sums_0_0_v __attribute__((vector_size(64), aligned(8), may_alias));
#define scopt_sums_0_0_low(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define scopt_sums_0_0_high(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define scopt_sums_0_0_short
typedef double scopt_sums_0_0_v __attribute__((vector_size(32), aligned(8), may_alias));
#define scopt_sums_0_0_even(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define scopt_sums_0_0_odd(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define scopt_sums_0_0_first(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define scopt_sums_0_0_last(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif
#if defined(__clang__)
__attribute__((min_vector_width(512)))
#elif defined(__GNUC__)
__attribute__((noinline, noclone))
#endif
static void scopt_sums_0_0(long count, const double *row0_0, const double *row0_1, const double *row0_2, const double *row0_3, const double *row0_4, const double *row0_5, const double *row0_6, const double *row0_7, const double *restrict common0, double *restrict own0) {
  long k = 0;
#ifdef scopt_sums_0_0_vectors
  scopt_sums_0_0_v own0_0 = *(const scopt_sums_0_0_v *)(own0 + 0);
  for (; k + 8 <= count; k += 8) {
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 0 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 8 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 16 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 24 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 32 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 40 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 48 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 56 : k));
    {
      scopt_sums_0_0_v r0a0 = *(const scopt_sums_0_0_v *)(row0_0 + k);
      scopt_sums_0_0_v r0a1 = *(const scopt_sums_0_0_v *)(row0_1 + k);
      scopt_sums_0_0_v r0a2 = *(const scopt_sums_0_0_v *)(row0_2 + k);
      scopt_sums_0_0_v r0a3 = *(const scopt_sums_0_0_v *)(row0_3 + k);
      scopt_sums_0_0_v r0a4 = *(const scopt_sums_0_0_v *)(row0_4 + k);
      scopt_sums_0_0_v r0a5 = *(const scopt_sums_0_0_v *)(row0_5 + k);
      scopt_sums_0_0_v r0a6 = *(const scopt_sums_0_0_v *)(row0_6 + k);
      scopt_sums_0_0_v r0a7 = *(const scopt_sums_0_0_v *)(row0_7 + k);
      scopt_sums_0_0_v r0b0 = scopt_sums_0_0_low(r0a0, r0a4), r0b1 = scopt_sums_0_0_high(r0a0, r0a4);
      scopt_sums_0_0_v r0b2 = scopt_sums_0_0_low(r0a1, r0a5), r0b3 = scopt_sums_0_0_high(r0a1, r0a5);
      scopt_sums_0_0_v r0b4 = scopt_sums_0_0_low(r0a2, r0a6), r0b5 = scopt_sums_0_0_high(r0a2, r0a6);
      scopt_sums_0_0_v r0b6 = scopt_sums_0_0_low(r0a3, r0a7), r0b7 = scopt_sums_0_0_high(r0a3, r0a7);
      scopt_sums_0_0_v r0c0 = scopt_sums_0_0_low(r0b0, r0b4), r0c1 = scopt_sums_0_0_high(r0b0, r0b4);
      scopt_sums_0_0_v r0c2 = scopt_sums_0_0_low(r0b1, r0b5), r0c3 = scopt_sums_0_0_high(r0b1, r0b5);
      scopt_sums_0_0_v r0c4 = scopt_sums_0_0_low(r0b2, r0b6), r0c5 = scopt_sums_0_0_high(r0b2, r0b6);
      scopt_sums_0_0_v r0c6 = scopt_sums_0_0_low(r0b3, r0b7), r0c7 = scopt_sums_0_0_high(r0b3, r0b7);
      scopt_sums_0_0_v r0d0 = scopt_sums_0_0_low(r0c0, r0c4), r0d1 = scopt_sums_0_0_high(r0c0, r0c4);
      scopt_sums_0_0_v r0d2 = scopt_sums_0_0_low(r0c1, r0c5), r0d3 = scopt_sums_0_0_high(r0c1, r0c5);
      scopt_sums_0_0_v r0d4 = scopt_sums_0_0_low(r0c2, r0c6), r0d5 = scopt_sums_0_0_high(r0c2, r0c6);
      scopt_sums_0_0_v r0d6 = scopt_sums_0_0_low(r0c3, r0c7), r0d7 = scopt_sums_0_0_high(r0c3, r0c7);
      own0_0 += r0d0 * common0[k + 0];
      own0_0 += r0d1 * common0[k + 1];
      own0_0 += r0d2 * common0[k + 2];
      own0_0 += r0d3 * common0[k + 3];
      own0_0 += r0d4 * common0[k + 4];
      own0_0 += r0d5 * common0[k + 5];
      own0_0 += r0d6 * common0[k + 6];
      own0_0 += r0d7 * common0[k + 7];
    }
  }
  *(scopt_sums_0_0_v *)(own0 + 0) = own0_0;
#elif defined(scopt_sums_0_0_short)
  scopt_sums_0_0_v own0_0 = *(const scopt_sums_0_0_v *)(own0 + 0);
  scopt_sums_0_0_v own0_1 = *(const scopt_sums_0_0_v *)(own0 + 4);
  for (; k + 4 <= count; k += 4) {
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 0 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 8 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 16 : k));
    __builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 512 ? 8 * (count + k) + 24 : k));
    {
      scopt_sums_0_0_v r0a0 = *(const scopt_sums_0_0_v *)(row0_0 + k);
      scopt_sums_0_0_v r0a1 = *(const scopt_sums_0_0_v *)(row0_1 + k);
      scopt_sums_0_0_v r0a2 = *(const scopt_sums_0_0_v *)(row0_2 + k);
      scopt_sums_0_0_v r0a3 = *(const scopt_sums_0_0_v *)(row0_3 + k);
      scopt_sums_0_0_v r0b0 = scopt_sums_0_0_even(r0a0, r0a1), r0b1 = scopt_sums_0_0_odd(r0a0, r0a1);
      scopt_sums_0_0_v r0b2 = scopt_sums_0_0_even(r0a2, r0a3), r0b3 = scopt_sums_0_0_odd(r0a2, r0a3);
      scopt_sums_0_0_v r0c0 = scopt_sums_0_0_first(r0b0, r0b2), r0c2 = scopt_sums_0_0_last(r0b0, r0b2);
      scopt_sums_0_0_v r0c1 = scopt_sums_0_0_first(r0b1, r0b3), r0c3 = scopt_sums_0_0_last(r0b1, r0b3);
      own0_0 += r0c0 * common0[k + 0];
      own0_0 += r0c1 * common0[k + 1];
      own0_0 += r0c2 * common0[k + 2];
      own0_0 += r0c3 * common0[k + 3];
    }
    {
      scopt_sums_0_0_v r0a0 = *(const scopt_sums_0_0_v *)(row0_4 + k);
      scopt_sums_0_0_v r0a1 = *(const scopt_sums_0_0_v *)(row0_5 + k);
      scopt_sums_0_0_v r0a2 = *(const scopt_sums_0_0_v *)(row0_6 + k);
      scopt_sums_0_0_v r0a3 = *(const scopt_sums_0_0_v *)(row0_7 + k);
      scopt_sums_0_0_v r0b0 = scopt_sums_0_0_even(r0a0, r0a1), r0b1 = scopt_sums_0_0_odd(r0a0, r0a1);
      scopt_sums_0_0_v r0b2 = scopt_sums_0_0_even(r0a2, r0a3), r0b3 = scopt_sums_0_0_odd(r0a2, r0a3);
      scopt_sums_0_0_v r0c0 = scopt_sums_0_0_first(r0b0, r0b2), r0c2 = scopt_sums_0_0_last(r0b0, r0b2);
      scopt_sums_0_0_v r0c1 = scopt_sums_0_0_first(r0b1, r0b3), r0c3 = scopt_sums_0_0_last(r0b1, r0b3);
      own0_1 += r0c0 * common0[k + 0];
      own0_1 += r0c1 * common0[k + 1];
      own0_1 += r0c2 * common0[k + 2];
      own0_1 += r0c3 * common0[k + 3];
    }
  }
  *(scopt_sums_0_0_v *)(own0 + 0) = own0_0;
  *(scopt_sums_0_0_v *)(own0 + 4) = own0_1;
#endif
  double own0_at0 = own0[0], own0_at1 = own0[1], own0_at2 = own0[2], own0_at3 = own0[3], own0_at4 = own0[4], own0_at5 = own0[5], own0_at6 = own0[6], own0_at7 = own0[7];
  for (; k < count; k++) {
    own0_at0 += row0_0[k] * common0[k];
    own0_at1 += row0_1[k] * common0[k];
    own0_at2 += row0_2[k] * common0[k];
    own0_at3 += row0_3[k] * common0[k];
    own0_at4 += row0_4[k] * common0[k];
    own0_at5 += row0_5[k] * common0[k];
    own0_at6 += row0_6[k] * common0[k];
    own0_at7 += row0_7[k] * common0[k];
  }
  own0[0] = own0_at0; own0[1] = own0_at1; own0[2] = own0_at2; own0[3] = own0_at3; own0[4] = own0_at4; own0[5] = own0_at5; own0[6] = own0_at6; own0[7] = own0_at7;
}

// scopt:
/* Sums over rows, over columns, and a triangular solver: eight rows at a time. */
void sums(int n, int m, double A[restrict n][m], double x[restrict n], double y[restrict m])
{
#pragma scop
    if ((double)n * m > 800) {
      if (n > 300000 && scopt_threads() > 1) {
        #pragma omp parallel for simd firstprivate(n, x) schedule(static)
        for (long i = 0; i < n; i++)
          x[i] = 0;
      } else {
        #pragma omp simd
        for (long i = 0; i < n; i++)
          x[i] = 0;
      }
      if ((double)n * m > 10000 && n > 8 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(A, m, n, x, y) schedule(static)
        for (long i = 0; i < n; i += 8)
          if (i + 8 <= n) {
            scopt_sums_0_0(((long)m), &A[i][0], &A[i + 1][0], &A[i + 2][0], &A[i + 3][0], &A[i + 4][0], &A[i + 5][0], &A[i + 6][0], &A[i + 7][0], &y[0], &x[i]);
          } else {
            for (long i2 = i; i2 < n; i2++)
              if (m > 0) {
                double x_0 = x[i2];
                for (long j = 0; j < m; j++)
                  x_0 += A[i2][j] * y[j];
                x[i2] = x_0;
              }
          }
      } else {
        for (long i = 0; i < n; i += 8)
          if (i + 8 <= n) {
            scopt_sums_0_0(((long)m), &A[i][0], &A[i + 1][0], &A[i + 2][0], &A[i + 3][0], &A[i + 4][0], &A[i + 5][0], &A[i + 6][0], &A[i + 7][0], &y[0], &x[i]);
          } else {
            for (long i2 = i; i2 < n; i2++)
              if (m > 0) {
                double x_0 = x[i2];
                for (long j = 0; j < m; j++)
                  x_0 += A[i2][j] * y[j];
                x[i2] = x_0;
              }
          }
      }
      if ((double)m * n > 40000 && m > 512 && scopt_threads() > 1) {
        #pragma omp parallel for firstprivate(A, m, n, x, y) schedule(static)
        for (long jt = 0; jt < m; jt += 512)
          for (long i = 0; i < n; i += 8)
            if (i + 8 <= n) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              #pragma omp simd
              for (long j = jt; j < scopt_min(m, jt + 512); j++) {
                double y_0 = y[j];
                y_0 -= x_0 * A[i][j];
                y_0 -= x_1 * A[i + 1][j];
                y_0 -= x_2 * A[i + 2][j];
                y_0 -= x_3 * A[i + 3][j];
                y_0 -= x_4 * A[i + 4][j];
                y_0 -= x_5 * A[i + 5][j];
                y_0 -= x_6 * A[i + 6][j];
                y_0 -= x_7 * A[i + 7][j];
                y[j] = y_0;
              }
            } else {
              for (long i2 = i; i2 < n; i2++) {
                double x_0 = x[i2];
                #pragma omp simd
                for (long j = jt; j < scopt_min(m, jt + 512); j++)
                  y[j] -= x_0 * A[i2][j];
              }
            }
      } else {
        for (long jt = 0; jt < m; jt += 512)
          for (long i = 0; i < n; i += 8)
            if (i + 8 <= n) {
              double x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
              double x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
              #pragma omp simd
              for (long j = jt; j < scopt_min(m, jt + 512); j++) {
                double y_0 = y[j];
                y_0 -= x_0 * A[i][j];
                y_0 -= x_1 * A[i + 1][j];
                y_0 -= x_2 * A[i + 2][j];
                y_0 -= x_3 * A[i + 3][j];
                y_0 -= x_4 * A[i + 4][j];
                y_0 -= x_5 * A[i + 5][j];
                y_0 -= x_6 * A[i + 6][j];
                y_0 -= x_7 * A[i + 7][j];
                y[j] = y_0;
              }
            } else {
              for (long i2 = i; i2 < n; i2++) {
                double x_0 = x[i2];
                #pragma omp simd
                for (long j = jt; j < scopt_min(m, jt + 512); j++)
                  y[j] -= x_0 * A[i2][j];
              }
            }
      }
    } else {
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < m; j++)
            x[i] += A[i][j] * y[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] -= x[i] * A[i][j];
    }
#pragma endscop
}

void solve(int n, float L[restrict n][n], float *restrict x)
{
#pragma scop
    for (long i = 0; i < n; i += 8) {
      if (i + 8 <= n) {
        if (i > 0) {
          float x_0 = x[i], x_1 = x[i + 1], x_2 = x[i + 2], x_3 = x[i + 3];
          float x_4 = x[i + 4], x_5 = x[i + 5], x_6 = x[i + 6], x_7 = x[i + 7];
          for (long j = 0; j < i; j++) {
            x_0 -= L[i][j] * x[j];
            x_1 -= L[i + 1][j] * x[j];
            scopt_apart();
            x_2 -= L[i + 2][j] * x[j];
            x_3 -= L[i + 3][j] * x[j];
            scopt_apart();
            x_4 -= L[i + 4][j] * x[j];
            x_5 -= L[i + 5][j] * x[j];
            scopt_apart();
            x_6 -= L[i + 6][j] * x[j];
            x_7 -= L[i + 7][j] * x[j];
          }
          x[i] = x_0;
          x[i + 1] = x_1;
          x[i + 2] = x_2;
          x[i + 3] = x_3;
          x[i + 4] = x_4;
          x[i + 5] = x_5;
          x[i + 6] = x_6;
          x[i + 7] = x_7;
        }
      }
      for (long i2 = i; i2 < scopt_min(n, i + 8); i2++) {
        if (i + 8 <= n) {
          if (i < i2) {
            float x_0 = x[i2];
            for (long j = i; j < i2; j++)
              x_0 -= L[i2][j] * x[j];
            x[i2] = x_0;
          }
        } else if (i2 > 0) {
          float x_0 = x[i2];
          for (long j = 0; j < i2; j++)
            x_0 -= L[i2][j] * x[j];
          x[i2] = x_0;
        }
        x[i2] = x[i2] / L[i2][i2];
      }
    }
#pragma endscop
}
