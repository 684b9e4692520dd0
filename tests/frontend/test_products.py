"""Bounds that are products or quotients of variables: their names, types, and when they are evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.conftest import RunC
from tests.frontend.test_members import scop_of_function

PARAMS = "int n, int m, unsigned char c, unsigned long k, double *restrict x, int *restrict p"


def hoisted(body: str, params: str = PARAMS) -> tuple[str, ...]:
    return scop_of_function(params, body).prologue


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < n * m; i++) x[i] = 0;", ("const int n_m = n * m;",)),
        ("for (int i = n * m - 1; i >= 0; i--) x[i] = 0;", ("const int n_m = n * m;",)),
        ("for (int i = 0; i < 2 * (n * c) + m; i++) x[i] = 0;", ("const int n_c = n * c;",)),
        ("for (unsigned long i = 0; i < n * k; i++) x[i] = 0;", ("const unsigned long n_k = n * k;",)),
        (
            "for (int i = n % m; i < (n + 1) / m; i++) x[i] = 0;",
            ("const int n_m = n % m;", "const int n_m_2 = (n + 1) / m;"),
        ),
        ("for (int i = 0; i < (n << m); i++) x[i] = 0;", ("const int n_m = n << m;",)),
        (
            "for (int i = 0; i < n * m; i++) for (int j = 0; j < n * m; j++) x[j] += p[i];",
            ("const int n_m = n * m;", "const int n_m_2 = 0 < n_m ? n * m : 0;"),
        ),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m / n; j++) x[j] += p[i];",
            ("const int m_n = 0 < n ? m / n : 0;",),
        ),
        ("for (int i = 0; i < 3 * n; i++) x[i] = 0;", ()),
    ],
)
def test_names_and_values(body: str, expected: tuple[str, ...]) -> None:
    assert hoisted(body) == expected


def test_members_are_named_first() -> None:
    scop = scop_of_function("grid *restrict s, int w", "for (int i = 0; i < s->n * w; i++) s->data[i] = 0;")
    assert "const int s_n_w = s_n * w;" in scop.prologue
    assert [parameter.name for parameter in scop.parameters] == ["s_n_w"]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n * i; i++) x[i] = 0;",
        "for (int i = 0; i < n * p[i]; i++) x[i] = 0;",
        "for (int i = 0; i < n * m; i++) { x[i] = 0; n = 3; }",
        "for (int i = 0; i < n && i < n / m; i++) x[i] = 0;",
    ],
)
def test_what_changes_or_may_not_be_evaluated_stays(body: str) -> None:
    with pytest.raises(Refusal):
        hoisted(body)


def test_a_bound_below_a_condition_stays() -> None:
    """No division before it is known that there is one."""
    body = "for (int i = 0; i < n; i++) { if (m > 0) { for (int j = 0; j < n / m; j++) x[j] = i; } x[i] = 1; }"
    assert scop_of_function(PARAMS, body, marked=True).prologue == ()  # there, the loop is part of a statement
    text = pipeline.optimize(
        f"void f({PARAMS}) {{ {body} }}\n".encode(), Options(autodetect=True, eager=True)
    ).text.decode()
    assert text.index("if (m > 0)") < text.index("const int n_m = n / m;")


def test_a_product_of_what_may_be_written_is_tested() -> None:
    source = b"extern int size;\nvoid f(int n, int *q)\n{\n  for (int i = 0; i < n * size; i++)\n    q[i] = i;\n}\n"
    text = pipeline.optimize(source, Options(autodetect=True)).text.decode()
    assert "const int n_size = n * size;" in text
    assert "<= (unsigned long)&size" in text


def test_rows_and_the_whole_of_an_array_are_one_region_by_rows() -> None:
    """As they stand they would need n_m <= m."""
    text = """void f(int n, int m, double *restrict x, double *restrict y) {
  for (int i = 0; i < n * m; i++) x[i] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[i * m + j] += y[j * m + i];
}
"""
    result = pipeline.optimize(text.encode(), Options(autodetect=True, eager=True))
    assert [remark.location.line for remark in result.remarks if remark.id == "region.transformed"] == [2]
    assert "n_m <=" not in result.text.decode()


PROGRAM = """#include <stdio.h>
static double x[400], y[400];
static int calls;
%s
int main(void)
{
  int sizes[] = {-3, -1, 0, 1, 2, 5, 9};
  for (int a = 0; a < 7; a++)
    for (int b = 0; b < 7; b++) {
      for (int i = 0; i < 400; i++) x[i] = i %% 17, y[i] = i %% 5;
      if (sizes[b]) f(sizes[a], sizes[b], 3u + a);
      for (int i = 0; i < 400; i++) printf("%%g %%g\\n", x[i], y[i]);
    }
}
"""
BODIES = {
    "product": "for (int i = 0; i < n * m; i++) x[i] += y[i];",
    "quotients": (
        "for (int i = n % m + 2; i <= 40 / m; i++)"
        " for (int j = i / 2; j < n / m + 5; j++) if (i > 0 && j > 0) x[j] += i * y[i];"
    ),
    "inner": "for (int i = 0; i < n; i++) for (int j = n * m - 1; j >= 0; j--) x[j] = 0.5 * x[j] + y[i];",
    "unsigned": (
        "for (unsigned i = 0; i < u * n && i < 90; i++) x[i] += 1;"
        " for (unsigned j = 0; j < u * u - 2; j++) y[j] += x[j];"
    ),
    "never": "for (int i = 9; i < n; i++) for (int j = 0; j < 7 / (n - 5); j++) x[j] += i;",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("marked", [True, False])
def test_the_same_results(body: str, marked: bool, run_c: RunC, tmp_path: Path) -> None:
    inside = f"#pragma scop\n{body}\n#pragma endscop" if marked else body
    source = PROGRAM % f"static void f(int n, int m, unsigned u)\n{{\n{inside}\n}}"
    result = pipeline.optimize(source.encode(), Options(autodetect=True, eager=True), file=str(tmp_path / "in.c"))
    assert any(remark.id == "region.transformed" and remark.location.line < 12 for remark in result.remarks)
    flags = ("-O2", "-fopenmp", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    assert run_c(result.text.decode(), *flags, name="emitted") == run_c(source, "-O1", "-w", name="original")
