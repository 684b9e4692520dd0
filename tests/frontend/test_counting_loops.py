"""Loops that count in other forms than `for`."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.ir.printing import CPrinter
from scopt.options import Options
from tests.sources import scop_of


@pytest.mark.parametrize(
    ("body", "domain"),
    [
        ("i = 0; while (i < n) { x[i] = 0; i++; }", "[n] -> { S0[i] : 0 <= i < n }"),
        ("i = n; while (i--) x[i] = 0;", "[n] -> { S0[i] : 0 < i <= n }"),
        ("i = n; while (--i >= 0) x[i] = 0;", "[n] -> { S0[i] : 0 <= i < n }"),
        ("while (n > 0) { n--; x[n] = 0; }", "[n] -> { S0[n_2] : 0 < n_2 <= n }"),
        ("i = 2; do { x[i] = 0; } while (++i < n);", "[n] -> { S0[i] : i >= 2 and (i < n or i = 2) }"),
    ],
)
def test_domains(body: str, domain: str) -> None:
    (statement,) = scop_of(body).statements
    assert statement.domain.is_equal(isl.Set(domain))


@pytest.mark.parametrize(
    ("declared", "known"),
    [("int c;", True), ("int c = 0;", False), ("int c; if (n > 3) c = 1;", False)],
)
def test_last_values_of_loops_inside_are_known_behind_the_loop_around(declared: str, known: bool) -> None:
    """Where the loop around may have no iteration, the variable may still have the value that it had in front."""
    inside = "for (j = 0; j < 9; j++) for (c = 0; c < 7; c++) y[j] = x[c];"
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {declared} {inside} x[i] = y[c - 1]; }}")
    cells = {str(access.relation.range()) for one in scop.statements for access in one.accesses if access.array == "y"}
    assert any("[6]" in cell for cell in cells) is known


@pytest.mark.parametrize(
    "loop",
    [
        "while (i < n && x[i] > 0) i++;",
        "while (i < n) { x[i] = 0; if (x[i] > 0) i++; }",
        "while (i < n) { x[i] = 0; i += k; }",
        "while (i < n) { if (x[i] > 0) continue; i++; }",
        "while (i < n) { i++; n--; }",
        "while (i < n) { i--; }",
        "do { x[i] = 0; } while (i++ < n);",
    ],
)
def test_others_are_statements_as_they_are(loop: str) -> None:
    scop = scop_of(f"for (j = 0; j < 9; j++) {{ i = j; {loop} y[j] = i; }}")
    assert "statement.opaque" in [remark.id for remark in scop.assumptions]


def test_finding_regions_leaves_the_tree_alone() -> None:
    source = (
        b"void f(int n, double *x) { int i = n; while (i-- > 0) x[i] = 0; i = 0; do { i++; x[i] = 1; } while (i < n); }"
    )
    tu = parse(source, "in.c", Options(autodetect=True))
    before = CPrinter().visit(tu.ast)
    regions = detect(tu).regions
    for region in regions:
        extract(tu, region, "scop")
    assert regions
    assert CPrinter().visit(tu.ast) == before
