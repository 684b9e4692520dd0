// scopt: --tile-size none
int even[1000], odd[1000];

void strided(int n)
{
#pragma scop
    #pragma omp parallel for if(n > 800000) firstprivate(n) schedule(static)
    for (long i = 0; i < n; i += 2)
      even[i] = 3 * (int)i;
    for (long i = 1; i < 1000; i += 3)
      odd[i] = odd[i] + 1;
    for (long i = 4; i < 1000; i += 6)
      odd[i - 1] = 7;
#pragma endscop
}
