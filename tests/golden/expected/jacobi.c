// scopt: --tile-size 16
#define N 500

double A[N], B[N];

static inline long scopt_floord(long n, long d) { return n / d - (n % d < 0); }
static inline long scopt_min(long a, long b) { return a < b ? a : b; }
static inline long scopt_max(long a, long b) { return a > b ? a : b; }

/* A time loop around two sweeps: tiles need skewing, and threads a wavefront. */
void jacobi(int steps)
{
    int t, i;
#pragma scop
    for (long t1 = 0; t1 <= scopt_floord(N + 3L * steps - 4, 16); t1++) {
      #pragma omp parallel for if(scopt_min(t1, scopt_min(scopt_floord(N + 2L * steps - 3, 16), t1 + scopt_floord(N - 16 * t1 - 19, 48) + 1)) > scopt_max(t1 - (t1 + 3) / 3 + 20, t1 + scopt_floord(-(long)steps, 16) + 20)) schedule(static)
      for (long ist = scopt_max(t1 - (t1 + 3) / 3 + 1, t1 + scopt_floord(-(long)steps, 16) + 1); ist <= scopt_min(t1, scopt_min(scopt_floord(N + 2L * steps - 3, 16), t1 + scopt_floord(N - 16 * t1 - 19, 48) + 1)); ist++)
        for (long t = scopt_max(8 * ist + scopt_floord(N, 2) - N + 1, 16 * t1 - 16 * ist); t < scopt_min(steps, scopt_min(16 * t1 - 16 * ist + 16, 8 * ist + 8)); t++) {
          #pragma omp simd
          for (long is = scopt_max(16 * ist, 2 * t + 1); is <= scopt_min(2 * t + N - 2, 16 * ist + 15); is++)
            B[is - 2 * t] = 0.33333 * (A[is - 2 * t - 1] + A[is - 2 * t] + A[is - 2 * t + 1]);
          #pragma omp simd
          for (long is = scopt_max(16 * ist, 2 * t + 2); is < scopt_min(2 * t + N, 16 * ist + 16); is++)
            A[is - 2 * t - 1] = 0.33333 * (B[is - 2 * t - 2] + B[is - 2 * t - 1] + B[is - 2 * t]);
        }
    }
#pragma endscop
}
