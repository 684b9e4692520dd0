"""Guards: what they say, and that both branches compute what the source computes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.branches import COMPILERS, HEAD, compare, counted, found, ids, outcome

AXPY = """void axpy(int n, double alpha, double *x, double *y) {
  for (int i = 0; i < n; i++)  // in place
    y[i] = alpha * x[i] + y[i];
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_overlap_is_tested(compiler: str, tmp_path: Path) -> None:
    calls = [
        "axpy(100, 2.0, at(0), at(100))",
        "axpy(100, 2.0, at(100), at(0))",  # side by side
        "axpy(100, 2.0, at(0), at(99))",
        "axpy(100, 2.0, at(1), at(0))",
        "axpy(100, 2.0, at(50), at(50))",
        "axpy(0, 2.0, at(3), at(3))",
        "axpy(1, 0.5, at(4), at(3))",
    ]
    result = compare(compiler, tmp_path, AXPY, calls, (4, 3))
    assert ids(result) == ["assume.apart", "region.transformed"]


def test_the_original_stands_in_the_text_once_byte_for_byte() -> None:
    text = found(AXPY).text.decode()
    assert "else {\n" + AXPY.split("\n", 1)[1].rsplit("}", 1)[0] + "  }\n" in text
    assert text.count("// in place") == 1


@pytest.mark.parametrize("compiler", COMPILERS)
def test_offsets_on_both_sides(compiler: str, tmp_path: Path) -> None:
    function = """void move(int n, int m, double *a, double *b) {
  for (int i = 2; i < n; i++)
    b[2 * i + 1] = a[i - 2] + a[m - i];
}
"""
    # reads from min(0, m - n + 1) to max(n - 2, m - 2), writes from 5 to 2n
    calls = [
        "move(100, 150, at(0), at(144))",
        "move(100, 150, at(0), at(143))",
        "move(100, 50, at(300), at(51))",
        "move(100, 50, at(300), at(52))",
    ]
    compare(compiler, tmp_path, function, calls, (2, 2))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_ends_of_loops_in_steps(compiler: str, tmp_path: Path) -> None:
    """Blocks of eight: the last one begins at the last multiple below n."""
    function = """void blocks(int n, double *a, double *b) {
  for (int i = 0; i < n; i += 8)
    for (int k = 0; k < 8; k++)
      b[i + k] = a[i + 7 - k] * 2;
}
"""
    calls = [
        "blocks(96, at(0), at(96))",
        "blocks(89, at(0), at(96))",
        "blocks(96, at(96), at(0))",
        "blocks(97, at(0), at(104))",
        "blocks(89, at(0), at(95))",
        "blocks(97, at(0), at(103))",
        "blocks(96, at(90), at(0))",
        "blocks(0, at(3), at(3))",
        "blocks(-9, at(3), at(3))",
    ]
    compare(compiler, tmp_path, function, calls, (6, 3))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_global_bound_may_be_written(compiler: str, tmp_path: Path) -> None:
    function = """int count;
int cells[100];
void fill(int *p) {
  for (int i = 0; i < count; i++)
    p[i] = p[i] * i;
}
"""
    calls = [f"count = 50; fill(cells + {k}); for (int k = 0; k < 100; k++) buffer[k] = cells[k]" for k in (0, 50)]
    calls += ["count = 1; fill(&count); buffer[0] = count", "count = 7; fill(&count); buffer[0] = count"]
    result = compare(compiler, tmp_path, function.replace("cells[100]", "cells[300]"), calls, (2, 2))
    assert "(unsigned long)&count" in result.text.decode()


def test_what_is_apart_for_sure_is_not_tested() -> None:
    for parameters, body in (
        ("int n, double *restrict x, double *restrict y", ""),
        ("int n, double *restrict x, double *y", ""),
        ("int n, double *x", "double y[n];"),
        ("int n, double *x", "double *y = malloc(n * sizeof(double));"),
        ("int n", "double *x = (double *)malloc(8 * n), *y; y = calloc(n, 8);"),
    ):
        result = found(
            f"void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);\nvoid f({parameters}) {{\n"
            f"  {body}\n  for (int i = 0; i < n; i++)\n    y[i] = 2 * x[i];\n  use(y);\n}}\n".replace(
                "use(y);", "x[0] = y[0];"
            )
        )
        assert ids(result) == ["region.transformed"], body


def test_what_may_be_derived_is_tested() -> None:
    for parameters, body in (
        ("int n, double *restrict x", "double *y = x + 1;"),
        ("int n, double *x", "double *y = malloc(n * sizeof(double)); x = y;"),
        ("int n, double *x", "double z[100], *y = z; x = z;"),
    ):
        result = found(
            f"void *malloc(unsigned long);\nvoid f({parameters}) {{\n  {body}\n"
            f"  for (int i = 0; i < n; i++)\n    y[i] = 2 * x[i];\n}}\n"
        )
        assert ids(result) == ["assume.apart", "region.transformed"], body


def test_what_has_no_bounds_is_refused() -> None:
    function = "void f(int n, double *x, double *y) {\n  for (int i = 0; i < n; i++)\n    y[i] = x[(int)x[i]];\n}\n"
    assert ids(found(function)) == ["alias.may-overlap"]
    assert "region.transformed" in ids(found(function, assume=("noalias",)))


def test_characters_may_change_a_pointer_to_records() -> None:
    records = "struct { float a, b; } (*rows)[4];"
    body = "  for (int i = 0; i < n; i++)\n    x[i] = rows[i][0].a > rows[i][1].b;\n}\n"
    assert "(unsigned long)&rows" in found(f"{records}\nvoid f(int n, char *x) {{\n{body}").text.decode()


def test_addresses_of_elements_are_none_of_the_parameter() -> None:
    """One that is declared as an array is a pointer, of whose value `&rows[i]` makes a copy."""
    text = """struct two { float a, b; };
static float of(const struct two *p) { return p->a * p->b; }
void f(int n, char *x, struct two rows[n][4]) {
  for (int i = 0; i < n; i++)
    x[i] = of(&rows[i][1]) > 0;
}
"""
    result = found(text)
    assert "region.transformed" in ids(result)
    assert "(unsigned long)&rows" not in result.text.decode()


def test_characters_may_change_a_pointer() -> None:
    function = "char *name;\nvoid f(int n, char *x) {\n  for (int i = 0; i < n; i++)\n    x[i] = name[i];\n}\n"
    assert "(unsigned long)&name" in found(function).text.decode()


def test_guard_and_values_of_macros_share_the_original() -> None:
    function = "#define STEP 2\n" + AXPY.replace("i++", "i += STEP")
    text = found(function).text.decode()
    assert text.count("// in place") == 1
    assert "#if (STEP) == 2\n  if (" in text
    assert "  } else\n#endif\n  {\n  for (int i" in text


def test_a_guard_inside_a_line_ends_inside_it() -> None:
    function = "void f(int n, double *x, double *y) { for (int i = 0; i < n; i++) y[i] = x[i]; /* end */ }\n"
    text = found(function).text.decode()
    assert text.startswith("void f(int n, double *x, double *y) { if (")
    assert text.endswith("} else {\nfor (int i = 0; i < n; i++) y[i] = x[i];\n} /* end */ }\n")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_pays_and_what_is_apart_both_have_to_hold(compiler: str, tmp_path: Path) -> None:
    function = "void f(int n, double *a, double *b)\n{\n  for (int i = 0; i < n; i++)\n    a[i] += 2 * b[i];\n}\n"
    text = optimize(function.encode(), Options(autodetect=True), file="in.c").text.decode()
    calls = "".join(
        f"  {call}; show();\n"
        for call in ("f(100, at(0), at(2000))", "f(100, at(2000), at(0))", "f(100, at(1), at(0))")
    )
    main = f"int main(void) {{\n  reset();\n{calls}%s  return 0;\n}}\n"
    assert outcome(
        compiler, tmp_path, "short", HEAD + counted(text) + main % '  printf("%d %d\\n", NEW, OLD);\n'
    ).endswith("\n0 3\n")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_guards_can_be_counted(compiler: str, tmp_path: Path) -> None:
    function = "void f(int n, double *a, double *b)\n{\n  for (int i = 0; i < n; i++)\n    a[i] += 2 * b[i];\n}\n"
    text = found(function + function.replace("f(", "g("), count_guards=True).text.decode()
    calls = "f(9, at(0), at(9)); f(9, at(9), at(0)); f(9, at(1), at(0)); g(9, at(0), at(1));"
    outcome(compiler, tmp_path, "counted", HEAD + text + f"int main(void) {{ {calls} return 0; }}\n")
    subprocess.run([tmp_path / "counted"], check=True, env={**os.environ, "SCOPT_GUARDS": str(tmp_path / "guards")})
    assert sorted((tmp_path / "guards").read_text().splitlines()) == [
        "in.c:3:3: guard: held 2, failed 1",
        "in.c:8:3: guard: held 0, failed 1",
    ]


def test_bounds_up_to_the_largest_value_are_tested_in_the_long_type() -> None:
    head = "void f(unsigned long n, unsigned long m, double *restrict x, double *restrict a)\n{\n  "
    result = found(head + "for (unsigned long j = 0; j <= m; j++) x[j] += a[j] * 2;\n}\n")
    assert "region.transformed" in ids(result)
    assert b"if ((long)m >= 0) {" in result.text
    result = found(head + "for (unsigned long j = 0; j < n + m; j++) x[j] += a[j] * 2;\n}\n")
    assert b"72057594037927935" in result.text
    assert b"(long)n >= 0" in result.text
    assert b"(long)m >= 0" in result.text


@pytest.mark.parametrize("compiler", COMPILERS)
def test_values_beyond_the_long_type_fail_tests_of_smaller_ones(compiler: str, tmp_path: Path) -> None:
    """7 * 15811494920322472814 is 2 in unsigned arithmetic of 64 bits, and the number is negative in the long type."""
    function = "void f(unsigned long n, double *a)\n{\n  for (unsigned long i = 0; i < n * 7; i++)\n    a[i] += 2;\n}\n"
    compare(compiler, tmp_path, function, ["f(15811494920322472814UL, at(0))", "f(3, at(0))"], (1, 1))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_subscripts_that_types_and_branches_bound(compiler: str, tmp_path: Path) -> None:
    function = """static unsigned char pixel[100];
void look(int n, const double *table, double *out) {
  for (int i = 0; i < n; i++) {
    int v = pixel[i] * 3 - 100;
    if (v < 10) v = 10;
    if (v > 255) v = 255;
    out[i] = table[v];
  }
}
"""
    # reads cells 10 to 255 of the table, whatever the pixels are
    calls = [
        "look(100, at(0), at(256))",
        "look(100, at(0), at(255))",
        "look(10, at(10), at(10))",
        "look(11, at(10), at(10))",
    ]
    compare(compiler, tmp_path, function, calls, (2, 2))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_subscripts_that_are_cut_off(compiler: str, tmp_path: Path) -> None:
    """What is touched ends at the last cell, however far the window reaches."""
    function = """void sum(const double *x, double *y, int n, int r) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = -r; k <= r; k++) {
      int j = i + k;
      if (j < 0) j = 0;
      if (j >= n) j = n - 1;
      s += x[j];
    }
    y[i] = s;
  }
}
"""
    calls = [f"sum(at({one}), at({other}), 100, 2)" for one, other in ((0, 100), (100, 0), (0, 99), (30, 30))]
    compare(compiler, tmp_path, function, calls, (2, 2))


def test_subscripts_that_are_cut_off_at_members() -> None:
    """What is computed from members is known as well as what is computed from variables."""
    source = """struct row { int n; double *x; };
void sum(const struct row *in, struct row *out, int r) {
  for (int i = 0; i < in->n; i++) {
    double s = 0;
    for (int k = -r; k <= r; k++) {
      int j = i + k;
      if (j < 0) j = 0;
      if (j >= in->n) j = in->n - 1;
      s += in->x[j];
    }
    out->x[i] = s;
  }
}
"""
    assert [region.transformed for region in found(source).regions] == [True]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_cells_in_the_middle_are_among_the_others(compiler: str, tmp_path: Path) -> None:
    function = """void pulse(int n, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    y[i] += x[i] * x[n / 2];
}
"""
    compare(compiler, tmp_path, function, ["pulse(10, at(0), at(10))", "pulse(10, at(0), at(9))"], (1, 1))


def test_only_what_is_written_has_to_be_apart_from_what_is_only_read() -> None:
    function = (
        "void f(int n, int *c, int *x) {\n  for (int i = 0; i < n; i++)\n    x[i] = x[i + n * n + c[i]] + c[i];\n}\n"
    )
    assert ids(found(function)) == ["assume.apart", "region.transformed"]
    assert "scopt_values" not in found(function).text.decode()
