"""Which statements are reductions, and what is left of the dependences between them."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.scop import Dependences, Scop
from scopt.poly.dependences import dependences
from scopt.poly.reductions import update_of
from scopt.poly.reordering import Reorder, updates_of
from tests.sources import scop_of

PARAMS = (
    "int n, double *x, double *y, double A[100][100], float *f, int *a, int *b, unsigned "
    "*u, unsigned short *h, signed char *c, _Bool *q"
)


def scop(body: str, before: str = "") -> Scop:
    return scop_of(body, PARAMS, before)


def operator(statement: str) -> str:
    """The operator of a statement in a loop over i; "" if it is no reduction."""
    (only,) = scop(f"for (i = 0; i < n; i++) {{ {statement} }}").statements
    update = update_of(scop(f"for (i = 0; i < n; i++) {{ {statement} }}"), only)
    return update.operator if update is not None else ""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s += x[i];", "+"),
        ("s -= x[i];", "+"),
        ("s = s + x[i];", "+"),
        ("s = x[i] * y[i] + s;", "+"),
        ("s = s + x[i] - y[i];", "+"),
        ("s = x[i] + y[i] + s;", "+"),
        ("s *= x[i];", "*"),
        ("s = x[i] * s;", "*"),
        ("a[0]++;", "+"),
        ("a[0] |= b[i];", "|"),
        ("a[0] = b[i] ^ a[0];", "^"),
        ("a[0] &= ~b[i];", "&"),
        ("x[3] -= y[i];", "+"),
        ("if (x[i] < s) s = x[i];", "min"),
        ("if (s >= x[i]) { s = x[i]; }", "min"),
        ("if (x[i] > s) s = x[i];", "max"),
        ("s = x[i] < s ? x[i] : s;", "min"),
        ("s = s < x[i] ? x[i] : s;", "max"),
        ("s = s < x[i] ? s : x[i];", "min"),
        ("s = s >= x[i] + y[i] ? s : x[i] + y[i];", "max"),
        ("if (x[i] > 1) a[0]++;", "+"),
        ("a[0] += (u[i] * 0x01010101u) >> 24;", "+"),
        ("a[0] += b[i] & 0xffffffffu;", "+"),
        ("a[0] += b[i] & 0xfful;", ""),
        ("h[0] += u[i] & 1u;", ""),
        ("a[0] += x[i] > y[i];", "+"),
        ("a[0] -= !x[i] || b[i];", "+"),
        ("a[0] += x[i] != 0 ? b[i] : 1;", "+"),
        ("if (x[i] > y[i]) { s += x[i]; }", "+"),
        ("if (y[i] > 0) if (x[i] < s) s = x[i];", "min"),
        ("a[0] += (int)x[i] * b[i];", "+"),
        ("u[0] += (unsigned)b[i] * h[i];", "+"),
        ("a[0] += (long)b[i];", ""),
    ],
)
def test_forms(statement: str, expected: str) -> None:
    assert operator(statement) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "s = x[i];",
        "s = x[i] - s;",
        "s /= x[i];",
        "s = s * x[i] + y[i];",
        "s += s * x[i];",
        "s = s + x[i] + s;",
        "x[i] += x[n - 1 - i];",
        "s = x[i] < s ? y[i] : s;",
        "if (x[i] < s) s = y[i];",
        "if (x[i] < y[i]) s = x[i];",
        "if (x[i] < s) s = x[i]; else y[i] = 0;",
        "if (x[i] > s) s += x[i];",
        "if (a[0] > 3) a[0]++;",
        "if (x[i] > 0) s += 1; else s -= 1;",
        "if (x[i] > 0) { s += 1; x[i] = 0; }",
        "if (x[i] > 0) { s += 1; y[i] = s; }",
        "if (x[i] > 0) { a[0] += 1; y[0] = 0; }",
        "a[0] += x[i];",
        "a[0] = a[0] && b[i];",
        "a[0] <<= 1;",
        "q[0] += q[i + 1];",
    ],
)
def test_other_forms(statement: str) -> None:
    assert operator(statement) == ""


def test_a_sum_beside_a_store_is_one_apart_from_it() -> None:
    found = scop("for (i = 0; i < n; i++) { if (x[i] > 0) { s += 1; y[i] = 0; } }")
    updates = [update_of(found, one) for one in found.statements]
    assert [one.operator if one is not None else "" for one in updates] == ["+", ""]


def allowed(statement: str) -> list[str]:
    found = scop(f"for (i = 0; i < n; i++) {statement}")
    return [level.name for level in Reorder if updates_of(found, level)]


@pytest.mark.parametrize(
    ("statement", "levels"),
    [
        ("s += x[i];", ["ALL"]),
        ("if (x[i] < s) s = x[i];", ["ALL"]),
        ("f[0] = f[0] * x[i];", ["ALL"]),
        ("u[0] += u[i + 1];", ["SAFE", "WRAPPING", "ALL"]),
        ("u[0] *= u[i + 1];", ["SAFE", "WRAPPING", "ALL"]),
        ("h[0] += h[i + 1];", ["SAFE", "WRAPPING", "ALL"]),
        ("h[0] *= h[i + 1];", ["WRAPPING", "ALL"]),
        ("a[0] += b[i];", ["WRAPPING", "ALL"]),
        ("a[0] |= b[i];", ["SAFE", "WRAPPING", "ALL"]),
        ("if (b[i] < a[0]) a[0] = b[i];", ["SAFE", "WRAPPING", "ALL"]),
        ("if (c[i] < a[0]) a[0] = c[i];", ["SAFE", "WRAPPING", "ALL"]),
        ("a[0]++;", ["SAFE", "WRAPPING", "ALL"]),
        ("if (x[i] > 1) a[0] -= 1;", ["SAFE", "WRAPPING", "ALL"]),
        ("if (x[i] > 1) a[0] += 2;", ["WRAPPING", "ALL"]),
        ("a[0] += x[i] > 1;", ["SAFE", "WRAPPING", "ALL"]),
        ("a[0] -= x[i] > 1 ? 0 : 1;", ["SAFE", "WRAPPING", "ALL"]),
        ("a[0] += (x[i] > 1) + b[i];", ["WRAPPING", "ALL"]),
        ("if (u[i] < a[0]) a[0] = u[i];", []),
        ("if (b[i] < c[0]) c[0] = b[i];", []),
    ],
)
def test_which_may_be_reordered(statement: str, levels: list[str]) -> None:
    assert allowed(statement) == levels


# --- dependences ------------------------------------------------------------------------------------------------------


def analysed(body: str) -> Dependences:
    found = scop(body)
    return dependences(found, updates=updates_of(found, Reorder.ALL))


def pairs(deps: Dependences) -> set[str]:
    return {f"{d.kind} {d.array} {d.source} {d.sink}" for d in (*deps.all, *deps.reductions)}


def test_only_reduction_dependences_are_left() -> None:
    assert pairs(analysed("for (i = 0; i < n; i++) s += x[i];")) == {"reduction s S0 S0"}


def test_statements_that_accumulate_by_the_same_operator_are_one_reduction() -> None:
    found = analysed("for (i = 0; i < n; i++) { s += x[i]; s -= y[i]; }")
    assert {d.kind for d in found.all} == set()
    assert {(d.source, d.sink) for d in found.reductions} == {("S0", "S0"), ("S0", "S1"), ("S1", "S0"), ("S1", "S1")}


def test_what_comes_before_and_after_depends_on_each_update() -> None:
    found = analysed("s = 0; for (i = 0; i < n; i++) s += x[i]; y[0] = s;")
    flow = {(d.source, d.sink): d.relation for d in found.select("flow")}
    assert flow["S0", "S1"].is_equal(isl.Map("[n] -> { S0[] -> S1[i] : 0 <= i < n }"))
    assert flow["S1", "S2"].is_equal(isl.Map("[n] -> { S1[i] -> S2[] : 0 <= i < n }"))


def test_a_reader_in_between_keeps_the_order() -> None:
    assert pairs(analysed("for (i = 0; i < n; i++) { s += x[i]; y[i] = s; }")) == {
        "flow s S0 S1",
        "anti s S1 S0",
        "reduction s S0 S0",
    }


def test_other_operators_keep_the_order() -> None:
    found = analysed("for (i = 0; i < n; i++) { s += x[i]; s *= y[i]; }")
    assert {(d.source, d.sink) for d in found.select("flow")} == {("S0", "S1"), ("S1", "S0")}
    assert {(d.source, d.sink, d.operator) for d in found.reductions} == {("S0", "S0", "+"), ("S1", "S1", "*")}


def test_other_cells_of_the_same_array_are_read_in_order() -> None:
    found = analysed("for (i = 0; i < n; i++) for (j = 0; j < i; j++) x[i] -= A[i][j] * x[j];")
    (flow,), (moved,) = found.select("flow"), found.reductions
    assert flow.relation.is_equal(isl.Map("[n] -> { S0[i, j] -> S0[k, i] : 0 <= j < i < k < n }"))
    assert moved.relation.is_equal(isl.Map("[n] -> { S0[i, j] -> S0[i, k] : 0 <= j < k < i < n }"))


def test_live_ranges_of_a_private_sum_stay_apart() -> None:
    body = "for (i = 0; i < n; i++) { double w = 0; for (j = 0; j < n; j++) w += A[i][j]; y[i] = w; }"
    found = analysed(body)
    (moved,) = found.reductions
    assert moved.relation.is_subset(isl.Map("{ S1[i, j] -> S1[i, k] }"))
    between = next(d.relation for d in found.select("output") if (d.source, d.sink) == ("S1", "S1"))
    assert not between.is_empty()
    assert between.intersect(moved.relation).is_empty()


def test_the_strict_dependences_order_the_reductions_again() -> None:
    found = analysed("for (i = 0; i < n; i++) s += x[i];")
    assert {d.kind for d in found.strict().all} == {"flow", "anti", "output"}
    assert found.strict().reductions == ()
