#include <stdio.h>
#include "fill.h"

int name(char *text);

int main(void)
{
  char text[20];
  int line = fill(3), length = name(text);
  printf("%s %d %d %g %d\n", text, length, line, A[5][SIZE - 1], SIZE);
  return 0;
}
