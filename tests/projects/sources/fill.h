#include "sizes.h"
extern double A[SIZE][SIZE], B[SIZE][SIZE];
int fill(double value);
