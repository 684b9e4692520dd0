#define N 300
void product(double C[N][N], double A[N][N], double B[N][N]);
