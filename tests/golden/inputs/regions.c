// scopt: --tile-size 16
static double A[300][300], x[300], y[300];

void first(void)
{
#pragma scop
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 300; j++)
            A[i][j] = A[i][j] + x[i] * y[j];
#pragma endscop
}

void second(void)
{
    int i, j;
#pragma scop
    for (i = 0; i < 300; i++)
        for (j = 0; j < 300; j++)
            x[i] = x[i] + A[j][i] * y[j];
    for (i = 0; i < 300; i++)
        y[i] = x[i];
#pragma endscop
}
