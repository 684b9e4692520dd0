// scopt: --tile-size 32
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Bounds by macros, by ?: and by &&. */
void bounds(int n, int w, double a[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = MAX(0, i - w); j <= MIN(n - 1, i + w); j++)
            a[i][j] = 2.0 * a[i][j];
    for (int i = 0; i < n && i < 2 * w; i++)
        for (int j = (i > 3 ? i : 3); j < n; j++)
            a[i][j] -= 1.0;
#pragma endscop
}
