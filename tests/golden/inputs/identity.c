// scopt: --scheduler identity --tile-size none --no-simd
void rows(int n, int m, float a[n][m], float b[m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            a[i][j] *= 0.5f;
            b[j] += a[i][j];
        }
#pragma endscop
}
