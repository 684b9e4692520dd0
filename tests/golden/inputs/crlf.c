// scopt: --tile-size none
void crlf(int n, double a[n])
{
	/* lines end in CR LF */
#pragma scop
	for (int i = 0; i < n; i++)
		a[i] = 1.0;
#pragma endscop
}
