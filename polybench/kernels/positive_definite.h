/* positive_definite.h: a symmetric positive definite matrix to factorize. Include after kernel.h, with N defined. */
#ifndef POSITIVE_DEFINITE_H
#define POSITIVE_DEFINITE_H

/* A := L L^T, where L is lower triangular with ones on its diagonal and l[i][j] = 1 - j/n below it.
   Row r of the product gathers its terms t in ascending order and skips those that are zero, so every element is the sum
   that a full product would give, to the last bit, for a sixth of the work. */
static void initialize_positive_definite(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n))
{
    POLYBENCH_2D_ARRAY_DECL(transposed, DATA_TYPE, N, N, n, n);

    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            (POLYBENCH_ARRAY(transposed))[j][i] = i == j ? 1 : (DATA_TYPE)(-j % n) / n + 1;
    for (int r = 0; r < n; r++) {
        for (int s = r; s < n; s++)
            A[r][s] = 0;
        for (int t = 0; t <= r; t++)
            for (int s = r; s < n; s++)
                A[r][s] += (POLYBENCH_ARRAY(transposed))[t][r] * (POLYBENCH_ARRAY(transposed))[t][s];
    }
    for (int r = 0; r < n; r++)
        for (int s = 0; s < r; s++)
            A[r][s] = A[s][r];
    POLYBENCH_FREE_ARRAY(transposed);
}

#endif
