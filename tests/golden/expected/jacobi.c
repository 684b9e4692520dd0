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
      #pragma omp parallel for if(scopt_min(t1, scopt_min(scopt_floord(N + 2L * steps - 3, 16), scopt_floord(32 * t1 + N + 29, 48))) > scopt_max(t1 - (t1 + 3) / 3 + 20, t1 + scopt_floord(-(long)steps, 16) + 20)) schedule(static)
      for (long t2 = scopt_max(t1 - (t1 + 3) / 3 + 1, t1 + scopt_floord(-(long)steps, 16) + 1); t2 <= scopt_min(t1, scopt_min(scopt_floord(N + 2L * steps - 3, 16), scopt_floord(32 * t1 + N + 29, 48))); t2++)
        for (long t = scopt_max(8 * t2 + scopt_floord(N, 2) - N + 1, 16 * t1 - 16 * t2); t < scopt_min(steps, scopt_min(16 * t1 - 16 * t2 + 16, 8 * t2 + 8)); t++) {
          #pragma omp simd
          for (long i = scopt_max(1, 16 * t2 - 2 * t); i < scopt_min(16 * t2 - 2 * t + 16, N - 1L); i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
          #pragma omp simd
          for (long i = scopt_max(1, 16 * t2 - 2 * t - 1); i < scopt_min(16 * t2 - 2 * t + 15, N - 1L); i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
        }
    }
#pragma endscop
}
