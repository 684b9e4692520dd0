"""Lists of values that locals are declared with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.sources import optimize, scop_of

PARAMS = "int n, double *a, double *b"
FIXED = "typedef const double fixed; typedef struct { const double x; double y; } pair;"
SOURCE = """#include <stdio.h>
typedef struct { float x, y[2]; } vec;
typedef double row[3];
static void f(int n, double *restrict r, const double *restrict a) {
#pragma scop
  for (int i = 0; i < n; i++) {
    vec v = {(float)a[i], {1, 2.5f}}, z = {0};
    row s = {a[i]};
    short m[2][2] = {{1, (short)70000}, {(short)i}};
    vec w[3] = {[1] = {.y = {[1] = 3.5f}, .x = (float)i}, {9, {1}}};
    float many[70] = {1, [5] = (float)i, [60] = 4, (float)i, [5] = 0, [0] = 2};
    for (int j = 0; j < n; j++) {
      s[0] += a[j], s[1] -= a[j];
      z.x += (float)a[j], z.y[1] += v.y[0];
    }
    r[i] = s[0] + s[1] * s[2] + m[0][1] + m[1][0] * m[1][1] + v.x * v.y[1] + z.x + z.y[0] + z.y[1];
    r[i] += w[1].y[1] * w[1].x + w[2].y[0] + many[0] + many[59] * 2 + many[60] * 3 + many[61] * 5 + many[5] + w[0].x;
  }
#pragma endscop
}
int main(void) {
  static double a[50], r[50];
  for (int i = 0; i < 50; i++) a[i] = i * 0.3 - 2;
  for (int n = 0; n < 50; n += 7) f(n, r, a);
  for (int i = 0; i < 50; i++) printf("%a ", r[i]);
  return 0;
}
"""


def test_elements_are_assigned() -> None:
    made = scop_of("for (int i = 0; i < n; i++) { double s[3] = {a[i], 2}; b[i] = s[0] + s[2]; }", params=PARAMS)
    written = [access.array for one in made.statements for access in one.accesses if access.is_write]
    assert written == ["s", "s", "s", "b"]


@pytest.mark.parametrize(
    "declared",
    [
        "double s[] = {1, 2}",
        "double s[2] = {1, s[0]}",
        "static double s[2] = {1, 2}",
        "double s[2][2] = {1, 2, 3}",  # without all braces
        'char s[4] = "abc"',
        "struct { double x[2], y; } s = {.x[0] = a[i], 7}",  # 7 is that of x[1]
        "fixed s[2] = {a[i], 2}",
        "fixed s[50] = {a[i], [7] = 2}",
        "pair s = {a[i], 2}",
        "pair s[50] = {{a[i], 2}}",
    ],
)
def test_other_lists(declared: str) -> None:
    with pytest.raises(Refusal):
        scop_of(f"for (int i = 0; i < n; i++) {{ {declared}; b[i] = a[i]; }}", params=PARAMS, before=FIXED)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "s_all" in text or "for (long i" in text
    flags = ("-O1", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")


def test_lists_of_called_functions() -> None:
    before = """typedef struct { double x, y; } vec;
static double apart(const vec *p, const vec *q)
{
  const vec d = {p->x - q->x, p->y - q->y};
  return d.x * d.x + d.y * d.y;
}"""
    made = scop_of(
        "for (int i = 1; i < n; i++) b[i] = apart(&v[i], &v[i - 1]);", params=f"{PARAMS}, vec *v", before=before
    )
    written = [access.array for one in made.statements for access in one.accesses if access.is_write]
    assert written == ["d_2_x", "d_2_y", "b"]
