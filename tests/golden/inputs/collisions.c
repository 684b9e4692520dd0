// scopt: --tile-size 4
/* Names that a generator would like to use for itself. */
double c0[64][64], t1[64], floord, min, max, lb, ub;

void collisions(int c1, int c2)
{
#pragma scop
    for (int t2 = 0; t2 < c1; t2++)
        for (int c3 = 0; c3 < c2; c3++)
            c0[t2][c3] = c0[t2][c3] * floord + t1[(t2 + c3) / 2] * min - max;
#pragma endscop
    lb = ub = c0[0][0];
}
