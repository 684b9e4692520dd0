// scopt:
/* Small problems side by side: factors of 3 x 3 matrices run in batches, a problem a lane; what is little work for each
 * of a problem's cells stays as it is. */
void factors(int n, double a[restrict n][3][3])
{
#pragma scop
    for (int p = 0; p < n; p++)
        for (int k = 0; k < 3; k++)
            for (int i = k + 1; i < 3; i++) {
                a[p][i][k] /= a[p][k][k];
                for (int j = k + 1; j < 3; j++)
                    a[p][i][j] -= a[p][i][k] * a[p][k][j];
            }
#pragma endscop
}

void products(int n, double x[restrict n][5], double y[restrict n][5])
{
#pragma scop
    for (int p = 0; p < n; p++) {
        y[p][0] = 0.5 * x[p][0] + x[p][1];
        y[p][4] = 0.5 * x[p][4] + x[p][2];
    }
#pragma endscop
}
