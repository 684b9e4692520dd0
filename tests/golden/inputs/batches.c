// scopt:
/* Small problems side by side: stresses of 3 x 3 deformations run in batches, a problem a lane, whose cells are turned
 * into lanes; what is little work for each of a problem's cells stays as it is. */
void stresses(int n, double f[restrict n][3][3], double s[restrict n][6])
{
#pragma scop
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

/* What a problem keeps in scalars has lanes, too, and conditions on these choose; one loop goes through the rows of a
 * record, another through the whole of it. */
void likelihoods(int n, double p[restrict 4][4], double q[restrict 4][4], double *restrict l, double *restrict r,
                 double *restrict y, double *restrict best)
{
#pragma scop
    for (int s = 0; s < n; s++) {
        double most = 0;
        for (int c = 0; c < 4; c++)
            for (int i = 0; i < 4; i++) {
                double a = 0, b = 0;
                for (int j = 0; j < 4; j++) {
                    a += p[i][j] * l[(s * 4 + c) * 4 + j];
                    b += q[i][j] * r[(s * 4 + c) * 4 + j];
                }
                y[(s * 4 + c) * 4 + i] = a * b;
                if (a * b > most)
                    most = a * b;
            }
        for (int k = 0; k < 16; k++)
            y[s * 16 + k] /= most;
        best[s] = most;
    }
#pragma endscop
}

/* What a condition may leave as it was has to be copied to lanes. */
void marks(int n, double x[restrict n][16], double y[restrict n][16], double c[restrict n], double w[restrict 16][16])
{
#pragma scop
    for (int s = 0; s < n; s++)
        for (int k = 0; k < 16; k++) {
            double a = 0;
            if (c[s] > 0.5)
                x[s][k] = 1;
            for (int j = 0; j < 16; j++)
                a += w[k][j] * y[s][j];
            x[s][k] += a;
        }
#pragma endscop
}
