#include "fill.h"

double A[SIZE][SIZE], B[SIZE][SIZE];

int fill(double value)
{
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++)
      A[i][j] = 2 * B[j][i] + value;
  return __LINE__;
}
