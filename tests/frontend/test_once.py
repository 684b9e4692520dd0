"""Macros of several statements, `do { … } while (0)`: blocks where they are short and are left at their end alone."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, scop_of

MACROS = """
#define ADD(s, a, b) do { (s) += (a) * (b); } while (0)
#define SWAP(x, y) do { int held = (x); (x) = (y); (y) = held; } while (0)
#define TWO(x, y) do { (x)++; } while (0); do { (y)++; } while (0)
#define TWICE(x) do { ADD(x, x, 2); } while (0)
#define MANY(x, y) do { \\
    (x) += 1; (y) += (x); (x) += 2; (y) += (x); (x) += 3; (y) += (x); (x) += 4; \\
  } while (0)
#define LEFT(x, y) do { if ((x) > 4) break; (y) = (x); } while (0)
#define OTHER(x) do { (x)++; } while ((x) < 4)
"""
FUNCTION = "void f(int n, int A[n][n], int x[n], int y[n]) {\n%s\n}\n"


@pytest.mark.parametrize(
    ("call", "statements"),
    [
        ("ADD(x[i], y[i], 3)", 1),
        ("SWAP(x[i], y[i])", 3),
        ("TWICE(x[i])", 1),
        ("do y[i] = x[i]; while (0)", 1),
        ("if (i > 3) ADD(x[i], y[i], 3); else SWAP(x[i], y[i])", 4),
    ],
)
def test_a_short_one_is_a_block(call: str, statements: int) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {call}; }}", "int n, int x[n], int y[n]", before=MACROS)
    assert len(scop.statements) == statements


@pytest.mark.parametrize("call", ["LEFT(x[i], y[i])", "OTHER(x[i])", "MANY(x[i], y[i])"])
def test_others_stay_statements(call: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {call}; }}", "int n, int x[n], int y[n]", before=MACROS)
    assert [one.name for one in scop.statements] == ["S0"]
    assert "do" in str(scop.statements[0].body) or "DoWhile" in type(scop.statements[0].body).__name__


def test_what_a_long_one_writes_is_written() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { MANY(x[i], y[i]); }", "int n, int x[n], int y[n]", before=MACROS)
    assert {access.kind for access in scop.statements[0].accesses} == {"read", "write"}


def found(loop: str) -> list[str]:
    source = f"{MACROS}{FUNCTION % loop}".encode()
    result = optimize(source, Options(autodetect=True, assume=("noalias",)), file="in.c")
    return [remark.id for remark in result.remarks if remark.kind == "passed"]


NEST = "for (int k = 0; k < n; k++)\n for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n   "


def test_unmarked_loops_whose_body_is_such_a_macro_are_found() -> None:
    assert "region.transformed" in found(f"{NEST} ADD(A[i][j], x[i] + k,\n  y[j]);")
    assert "region.transformed" in found(f"{NEST} {{ ADD(A[i][j], x[i] + k, y[j]); }}")
    assert "region.transformed" in found(f"{NEST} MANY(A[i][j], A[j][i]);")


@pytest.mark.parametrize(
    "body",
    [
        "TWO(A[i][j], A[j][i]);",  # the second one is behind the loops
        "ADD(A[i][j], x[i], y[j]); x[0]++;",
        "ADD(A[i][j], x[i], ({ int s = 0; s; }));",
    ],
)
def test_what_may_end_elsewhere_is_not(body: str) -> None:
    assert "region.transformed" not in found(f"{NEST} {body}")


def test_results_are_the_same(run_c: RunC) -> None:
    main = """
#include <stdio.h>
static int A[99][99], x[99], y[99];
int main(void) {
  for (int i = 0; i < 99; i++) { x[i] = i * 7 % 5; y[i] = i % 3 * 4; }
  f(99, A, x, y);
  for (int i = 0; i < 99; i++) { for (int j = 0; j < 99; j++) printf("%d ", A[i][j]); printf("%d %d\\n", x[i], y[i]); }
  return 0;
}
"""
    loops = f"""#pragma scop
  {NEST} ADD(A[i][j], x[i] + k, y[j]);
  for (int i = 0; i < n; i++) if (x[i] > 2) SWAP(x[i], y[i]); else TWICE(x[i]);
  for (int i = 0; i < n; i++) {{ int held = 3; SWAP(x[i], y[i]); y[i] += held; LEFT(y[i], x[i]); }}
#pragma endscop"""
    source = f"{MACROS}{FUNCTION % loops}"
    result = optimize(source.encode(), Options(eager=True), file="in.c")
    assert "region.transformed" in [remark.id for remark in result.remarks]
    before = run_c(source + main, "-O1", "-w", name="before")
    after = without_thresholds(result.text.decode()) + main
    assert run_c(after, "-O2", "-fopenmp", "-w", name="after") == before
