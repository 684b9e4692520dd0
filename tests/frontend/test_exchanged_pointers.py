"""Loops whose iterations exchange pointers: which are read as copies of their bodies, and what stands behind them."""

from __future__ import annotations

import pytest

from scopt.diagnostics import Refusal
from tests.sources import scop_of

PARAMS = "int n, int T, double *a, double *b, double *c, grid *g, grid *h, double **r"
BEFORE = """
typedef struct { int n; double *a, *b; } grid;
double *p, *q, *buf[2], u[2][100];
static void swap(double **x, double **y) { double *old = *x; *x = *y; *y = old; }
static double at(int i) { return p[i]; }
"""
STEP = "for (int i = 1; i < n; i++) b[i] = a[i] + a[i - 1];"
SWAP = "double *tmp = a; a = b; b = tmp;"
GLOBALS = "double *tmp = p; p = q; q = tmp;"
MEMBERS = "double *tmp = g->a; g->a = g->b; g->b = tmp;"


def found(body: str, after: str = "", head: str = "int k = 0; k < T; k++") -> tuple[int, str]:
    """How many statements a loop has, and what stands behind it."""
    scop = scop_of(f"j = 0;\nfor ({head}) {{ {body} }}", PARAMS, BEFORE, after)
    assert scop.exchanged
    return len(scop.statements) - 1, "".join(scop.epilogue)


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        (f"{STEP} {SWAP}", 2),
        (f"{STEP} swap(&a, &b);", 2),
        (f"{STEP} double *tmp = a; a = b; b = c; c = tmp;", 3),
        (f"{STEP} {SWAP} for (int i = 0; i < n; i++) a[i] += 1;", 4),
        (f"{STEP.replace('= a', '= b[i - 1] + a')} {SWAP}", 1),  # rows of one array
        (f"{STEP.replace('= a', '= b[i - 1] + k % 2 * a')} {SWAP}", 1),
        ("double *x = buf[k & 1], *y = buf[1 - k % 2]; for (int i = 1; i < n; i++) y[i] = x[i - 1];", 2),
        ("int next = 1 - j; for (int i = 1; i < n; i++) u[next][i] = u[j][i - 1]; j = next;", 2),
        ("for (int i = 1; i < n; i++) u[j][i] += u[j ^ 1][i - 1]; j ^= 1;", 2),
    ],
)
def test_iterations_take_turns(body: str, statements: int) -> None:
    assert found(body)[0] == statements


def test_last_values_are_set_behind_the_region() -> None:
    assert found(f"{STEP} {SWAP}") == (2, "")
    once = "{ double *tmp = a; a = b; b = tmp; }"
    assert found(f"{STEP} {SWAP}", "*r = a;")[1] == f"if ((long)T > 0 && (long)T % 2 == 1) {once}"
    behind = found(f"{STEP} double *tmp = a; a = b; b = c; c = tmp;", "*r = a;", "int k = T; k >= n; --k")[1]
    assert behind.startswith(
        "for (long turn = ((long)T - (long)n + 1) > 0 ? (((long)T - (long)n + 1) - 1) % 3 + 1 : 0;"
    )
    assert "j = next;" in found("int next = 1 - j; u[next][0] = u[j][1]; j = next;", "*r = a + j;")[1]


def test_what_others_may_look_at_is_set_behind_the_region() -> None:
    assert (
        "g->a = g->b;"
        in found(f"for (int i = 1; i < n; i++) g->b[i] = g->a[i - 1]; {MEMBERS}", "", "int k = 0; k < g->n; k++")[1]
    )
    assert "p = q;" in found(f"for (int i = 1; i < n; i++) q[i] = p[i - 1]; {GLOBALS}")[1]
    both = found(f"{STEP} {{ {SWAP} }} {{ {GLOBALS} }}", "*r = a;")
    assert both[0] == 2
    assert "tmp_2 = a;" in both[1]
    assert "tmp_3 = p;" in both[1]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (f"{STEP} a = b;", ""),  # no permutation
        (f"{STEP} if (k > 3) {{ {SWAP} }}", ""),
        (f"{STEP} if (k > 3) continue; {SWAP}", ""),
        (f"for (int l = 0; l < n; l++) {{ {STEP} {SWAP} }}", ""),  # where it starts isn't known
        (f"{STEP} float *tmp = (float *)a; tmp[0] = 1; a = b; b = (double *)tmp;", ""),
        (f"for (int i = 1; i < n; i++) q[i] = at(i); {GLOBALS}", ""),  # the function sees the exchange
        (f"for (int i = 1; i < n; i++) g->b[i] = h->a[i]; {MEMBERS}", ""),  # g may be h
        (f"for (int i = 1; i < n; i++) q[i] = r[0][i]; {GLOBALS}", ""),  # r may lead to p
    ],
)
def test_others_stay_what_they_are(body: str, after: str) -> None:
    with pytest.raises(Refusal):
        found(body, after)


def test_cells_behind_the_loop_are_nobodys() -> None:
    with pytest.raises(Refusal):  # whose cell that is depends on T
        scop_of(f"for (int k = 0; k < T; k++) {{ {STEP} {SWAP} }} a[0] = 1;", PARAMS, BEFORE)
