"""Numbers that are only handed on."""

from __future__ import annotations

import pytest

from scopt.ir.printing import CPrinter
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, scop_of

BEFORE = """typedef struct { double x, y; } vec;
typedef struct { float x, y; } small;
static inline vec plus(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y}; }
static inline vec times(vec a, double s) { return (vec){a.x * s, a.y * s}; }
static inline double dot(vec a, vec b) { return a.x * b.x + a.y * b.y; }
static inline small less(small a) { return (small){a.x / 3, a.y / 3}; }
static inline vec turned(vec a) { return (vec){a.y, a.x}; }
static double seen;
static inline void put(double a, double *o) { seen = 0; *o = a + seen; }
static inline vec least(vec a, vec b) { return (vec){a.x < b.x ? a.x : b.x, a.y}; }
typedef struct { unsigned low : 3; } bits;
static inline unsigned many(const double *a) {
  int t = 0;
  for (int k = 0; k < 9; k++) t += a[k] > 1;
  unsigned r = t * 3;
  return r;
}
"""
PARAMS = "int n, vec *v, vec *w, small *few, bits *b, unsigned *u, double *out"


def text(body: str) -> list[str]:
    made = scop_of(f"for (int i = 0; i < n; i++) {{ {body} }}", params=PARAMS, before=BEFORE)
    return [CPrinter().visit(one.body).rstrip(";") for one in made.statements]


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ("vec t = times(v[i], out[i]); w[i] = t;", 3),  # out[i] is read twice
        ("v[i] = plus(v[i], w[i]);", 2),
        ("vec t = w[i]; v[i] = times(t, dot(t, t));", 5),
        ("v[i] = turned(v[i]);", 3),  # one of both is needed when the other one has been written
        ("few[i] = less(few[i]);", 2),
    ],
)
def test_values_are_handed_on(body: str, statements: int) -> None:
    assert len(text(body)) == statements


def test_cells_are_read_in_front_of_what_may_write_them() -> None:
    assert "a_2 = out[n]" in text("put(out[n], &out[i]);")  # `seen` may be that cell
    assert "a_2 = w[i].x" in text("put(w[i].x, &out[i]);")


def test_cells_stay_where_expressions_may_leave_them_out() -> None:
    assert "a_2_x = v[i].x" in text("w[i] = least(v[i], w[i]);")


def test_values_are_converted_before_they_lose_bits() -> None:
    assert text("b[i].low = many(out);")[-2:] == ["many_2 = t_2 * 3", "b[i].low = many_2"]
    assert text("u[i] = many(out);")[-1] == "u[i] = t_2 * 3"


def test_variables_of_the_source_stay() -> None:
    assert text("double s = w[i].x; double t = s; out[i] = t;") == ["s = w[i].x", "t = s", "out[i] = t"]


def test_calls_in_arguments_of_calls_are_looked_into() -> None:
    assert not any("dot(" in one for one in text("v[i] = times(w[i], 1 + dot(w[i], w[i]));"))


SOURCE = (
    "#include <stdio.h>\n"
    + BEFORE
    + """
static void f(int n, vec *v, vec *w, small *few, double *out) {
#pragma scop
  for (int i = 1; i < n; i++) {
    vec t = times(v[i], 0.5 * out[i]);
    v[i] = turned(plus(v[i], turned(v[i - 1])));
    w[i] = plus(times(w[i], 1 / (1 + dot(t, t))), turned(w[i]));
    v[i] = plus(times(t, dot(w[i], v[i])), v[i]);
    few[i] = less(few[i]);
    out[i] = dot(v[i], turned(v[i - 1])) + few[i].y;
  }
#pragma endscop
}
int main(void) {
  vec v[40], w[40];
  small few[40];
  double out[40];
  for (int i = 0; i < 40; i++) {
    v[i] = (vec){i * 0.3, 7 - i}, w[i] = (vec){1.0 / (i + 1), i};
    few[i] = (small){i * 0.7f, i}, out[i] = i % 5;
  }
  f(40, v, w, few, out);
  for (int i = 0; i < 40; i++)
    printf("%a %a %a %a %a %a %a\\n", v[i].x, v[i].y, w[i].x, w[i].y, few[i].x, few[i].y, out[i]);
  return 0;
}
"""
)


def test_results_stay(run_c: RunC) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "t_x" in text
    flags = ("-O1", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")
