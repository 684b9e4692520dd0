int name(char *text)
{
  *text++ = 'a';
  *text = 0;
  return 1;
}
