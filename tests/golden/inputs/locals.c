// scopt: --tile-size none
/* Scalars that live in one iteration: each thread has its own. One that lives on stays sequential. */
double locals(int n, int m, double a[n][m], double mean[n])
{
    double total = 0.0;
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++)
            sum += a[i][j];
        double scaled = sum / m;
        mean[i] = scaled * scaled;
    }
    for (int i = 0; i < n; i++)
        total += mean[i];
#pragma endscop
    return total;
}
