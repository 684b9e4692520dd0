#include <stdio.h>
#include "product.h"

static double A[N][N], B[N][N], C[N][N];

int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (i * j) % 17 / 17.0;
      B[i][j] = (i + 2 * j) % 23 / 23.0;
    }
  product(C, A, B);
  for (int i = 0; i < N; i++)
    printf("%a %a\n", C[i][i], C[i][N - 1]);
  return 0;
}
