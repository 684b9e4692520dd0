// scopt: --tile-size none
int even[1000], odd[1000];

void strided(int n)
{
#pragma scop
    for (int i = 0; i < n; i += 2)
        even[i] = 3 * i;
    for (int i = 1; i <= 999; i += 3) {
        odd[i] = odd[i] + 1;
        if (i % 2 == 0)
            odd[i - 1] = 7;
    }
#pragma endscop
}
