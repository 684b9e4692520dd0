"""Loops over strips: the source's tiles, without which the loops that it tiled are left."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.printing import CPrinter
from scopt.poly.dependences import dependences
from scopt.poly.legality import check_order
from scopt.poly.strip_loops import without_strips
from tests.sources import scop_of

END = "t + 8 < n ? t + 8 : n"
INNER = f"for (i = 0; i < m; i++) for (j = t; j < ({END}); j++)"


def test_the_loop_that_was_cut_is_left() -> None:
    scop = scop_of(f"for (t = 0; t < n; t += 8) {INNER} x[i] += A[i][j];")
    made = without_strips(scop)
    assert made is not None
    (statement,) = made.statements
    assert statement.iterators == ("i", "j")
    assert statement.domain.is_equal(isl.Set("[n, m] -> { S0[i, j] : 0 <= i < m and 0 <= j < n }"))
    assert {str(one.relation.domain().get_tuple_name()) for one in statement.accesses} == {"S0"}
    # strips come one after the other still
    later = isl.Map("{ [i, j] -> [k, l] : l >= j + 8 }").set_tuple_name(isl.dim_type.in_, "S0")
    later = later.set_tuple_name(isl.dim_type.out, "S0").intersect_domain(statement.domain)
    later = later.intersect_range(statement.domain)
    assert isl.UnionMap.from_map(later).is_subset(made.order.lex_lt_union_map(made.order))
    check_order(made, dependences(made), made.schedule.get_map())


def test_what_counts_from_the_beginning_of_a_strip() -> None:
    scop = scop_of("for (t = 0; t < n; t += 8) for (i = 0; i < m; i++) for (j = 0; j < 8; j++) x[i] += A[i][t + j];")
    assert without_strips(scop) is None
    made = without_strips(scop, sums=True)
    assert made is not None
    (statement,) = made.statements
    assert statement.iterators == ("i", "j")
    assert CPrinter().visit(statement.body) == "x[i] += A[i][j]"
    domain = "[n, m] -> { S0[i, j] : 0 <= i < m and 0 <= j and 8 * floor(j / 8) < n }"
    assert statement.domain.is_equal(isl.Set(domain))
    (cell,) = (one.relation for one in statement.accesses if one.array == "A")
    assert cell.is_equal(isl.Map("{ S0[i, j] -> A[i, j] }").intersect_domain(statement.domain))
    check_order(made, dependences(made), made.schedule.get_map())


@pytest.mark.parametrize(
    "body",
    [
        "for (t = 0; t < n; t += 8) for (j = 0; j < 8; j++) x[t + j] += y[j];",  # the place in the strip counts
        "for (t = 0; t < n; t += 8) for (j = 0; j < 8; j++) x[t + j] += t;",  # so does where it begins
        "for (t = 0; t < n; t += 8) { for (j = 0; j < 8; j++) x[t + j] += y[t + j]; y[0] += x[0]; }",  # by others alone
        "for (t = 0; t < n; t += 8) for (j = 0; j < 9; j++) x[t + j] += y[t + j];",  # strips that overlap
        "for (short u = 0; u < n; u += 8) for (short v = 0; v < 8; v++) x[u + v] = u + v;",  # the sum is an int
        "for (t = 0; t < n; t++) for (j = 0; j < n; j++) x[t + j] += y[t + j];",
    ],
)
def test_other_sums_stay(body: str) -> None:
    assert without_strips(scop_of(body), sums=True) is None


@pytest.mark.parametrize(
    "body",
    [
        f"for (t = 0; t < n; t += 8) {INNER} x[i] += A[i][j] * t;",  # it is used
        f"for (t = 0; t < n; t += 8) {{ {INNER} x[i] += A[i][j]; y[0] += x[0]; }}",  # by others alone
        "for (t = 0; t < n; t += 8) for (i = 0; i < m; i++) for (j = 0; j < 8; j++) x[i] += A[i][t + j];",
        "for (t = 0; t < 8; t += 8) for (i = t; i < t + 8; i++) x[i] += A[i][0];",  # there is only one
        "for (t = 0; t < n; t++) for (i = t; i < t + 1; i++) x[i] += A[i][0];",
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][j];",
    ],
)
def test_other_loops_stay(body: str) -> None:
    assert without_strips(scop_of(body)) is None
