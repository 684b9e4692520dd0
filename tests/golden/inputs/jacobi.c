// scopt: --tile-size 16
#define N 500

double A[N], B[N];

/* A time loop around two sweeps: tiles need skewing, and threads a wavefront. */
void jacobi(int steps)
{
    int t, i;
#pragma scop
    for (t = 0; t < steps; t++) {
        for (i = 1; i < N - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (i = 1; i < N - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
#pragma endscop
}
