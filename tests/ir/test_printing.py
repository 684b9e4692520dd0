"""Nodes as text: every construct once, as it is read and as it is printed."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.printing import CPrinter

SOURCE = r"""
typedef struct { int a; } B, *C; struct { int a:3; int :2; } x, *y; static union { struct q b; } u, *uu;
enum E { A1, A2 = 3, A3 } e; enum F; int (*fp)(int, double *, ...); int (*arr)[3];
int *const *volatile p2; const char *s = "a" "b";
int f(a, b) int a; double b; { return a; }
_Alignas(16) int al; static inline int g(int n, int a[static const 3], int b[*]) {
 int i, *j = &i, k[3] = {1, [2] = 3};
 struct P { int x, y; } pt = { .x = 1, .y = (2, 3) };
 for (int i = 0, *q = j; i < n; i++, q--) if (i) a[i] += -i * (n - 1) / 2; else if (n) { ; } else continue;
 for (;;) break; do { i--; --i; } while (i); do i++; while (!i); while (i) i = n = 3, n++;
 switch (i) { case 1: i = 2; break; case 2: { } default: n = 1; }
 goto end; end: ; i = ({ int z = 3; z + 1; }) + (i ? n : j ? 1 : 2) + sizeof(int) + sizeof i + (int) i;
 i = (double) (i + 1) + f((struct P) {1, 2}) + pt.x + (&pt)->y + ~i;
 n = !(i && n || i) + (a[1], 2) + _Alignof(int);
 _Static_assert(1, "x");
#pragma omp parallel
 _Pragma("scop") (void) _Generic(i, int: 1, default: (2,3)); f(1, (2, 3)); (*fp)(1); return; }
_Atomic(int) at; _Thread_local int tl; int unsigned long long ull; void (*sig(int, void (*)(int)))(int);
"""

PRINTED = r"""
typedef struct
{
  int a;
} B, *C;
struct
{
  int a : 3;
  int : 2;
} x, *y;
static union
{
  struct q b;
} u, *uu;
enum E
{
  A1,
  A2 = 3,
  A3
} e;
enum F;
int (*fp)(int, double *, ...);
int (*arr)[3];
int * const * volatile p2;
const char *s = "ab";
int f(a, b)
int a;
double b;
{
  return a;
}

_Alignas(16) int al;
inline static int g(int n, int a[static const 3], int b[*])
{
  int i;
  int *j = &i;
  int k[3] = {1, [2] = 3};
  struct P
  {
    int x;
    int y;
  } pt = {.x = 1, .y = (2, 3)};
  for (int i = 0, *q = j; i < n; i++, q--)
    if (i)
    a[i] += ((-i) * (n - 1)) / 2;
  else
    if (n)
  {
    ;
  }
  else
    continue;

  for (;;)
    break;

  do
  {
    i--;
    --i;
  }
  while (i);
  do
    i++;
  while (!i);
  while (i)
    i = (n = 3), n++;

  switch (i)
  {
    case 1:
      i = 2;
      break;

    case 2:
    {
    }

    default:
      n = 1;

  }

  goto end;
  end:
  ;

  i = (((((  {
    int z = 3;
    z + 1;
  }
)) + ((i) ? (n) : ((j) ? (1) : (2)))) + (sizeof(int))) + (sizeof(i))) + ((int) i);
  i = (((((double) (i + 1)) + f((struct P){1, 2})) + pt.x) + (&pt)->y) + (~i);
  n = ((!((i && n) || i)) + ((a[1], 2))) + (_Alignof(int));
  _Static_assert(1, "x");
  #pragma omp parallel
  _Pragma("scop")
  (void) _Generic(i, int: 1, default: (2, 3));
  f(1, (2, 3));
  (*fp)(1);
  return;
}

_Atomic int at;
_Thread_local int tl;
int unsigned long long ull;
void (*sig(int, void (*)(int)))(int);
"""


def printed(text: str, *, reduce_parentheses: bool = False) -> str:
    return CPrinter(reduce_parentheses).visit(parse_c(text))


def expression(text: str) -> str:
    """The text of an expression of arguments a, b and c, without parentheses that aren't needed."""
    return printed(f"int v = {text};", reduce_parentheses=True).removeprefix("int v = ").removesuffix(";\n")


def test_every_construct() -> None:
    lines = [line.rstrip() for line in printed(SOURCE).splitlines()]
    assert lines == PRINTED.splitlines()[1:]


def test_what_is_printed_is_read_as_the_same() -> None:
    assert printed(printed(SOURCE)) == printed(SOURCE)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(a * b) + c", "a * b + c"),
        ("a * (b + c)", "a * (b + c)"),
        ("(a - b) - c", "a - b - c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - (-b)", "a - -b"),
        ("(a < b) == c", "a < b == c"),
        ("a && (b || c)", "a && (b || c)"),
        ("(int) a * b", "((int) a) * b"),
    ],
)
def test_only_the_parentheses_that_are_needed(text: str, wanted: str) -> None:
    assert expression(text) == wanted


def test_a_type_that_is_defined_for_several_names_is_one_node() -> None:
    one, other = parse_c("struct { int a; } x, *y;").ext
    assert one.type.type is other.type.type.type
    assert printed("struct { int a; } x; struct { int a; } y;").count("{") == 2


def test_places_are_those_that_are_given() -> None:
    tree = parse_c("\n\nint a;", lambda coord: ir.Coord("x.c", coord.line + 10, coord.column))
    assert str(tree.ext[0].coord) == "x.c:13:5"


@pytest.mark.parametrize("text", ["int a", "int f(void) { return }", "int a; b;", "[[nodiscard]] int f(void);"])
def test_what_is_not_c_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(CSyntaxError) as caught:
        parse_c(f"\n\n{text}\n")
    assert caught.value.line >= 3


def test_long_sums_are_no_deeper_than_calls_can_be() -> None:
    assert parse_c(f"int a = {'1 + ' * 5000}1;").ext[0].init.op == "+"
