// scopt: --tile-size none
/* C's / and % round towards zero. */
void divisions(int n, double a[n], double b[n][n], double hash[16])
{
#pragma scop
    for (int i = -5; i < n - 8; i++) {
        a[(i + 5) / 2] += 1.0;
        for (int j = 0; j <= i / 3; j++)
            b[i + 5][j] = a[j];
        if ((i - 1) % 4 == 0)
            hash[(i + 7) % 16] = a[i + 5];
    }
#pragma endscop
}
