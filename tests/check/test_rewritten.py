"""SCoPs with cells in place of scalars and arrays in place of others compute what the original does;
others are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.astgen.allocation import allocations
from scopt.check.rewritten import check_rewritten
from scopt.diagnostics import InternalError
from scopt.ir.nest import Const
from scopt.ir.scop import Scop, Statement
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import IN, OUT, maps_of, union_of_maps
from scopt.scheduler.passes.expansion import Expansion, expand, with_cells
from scopt.scheduler.passes.forwarding import forward
from scopt.scheduler.passes.row_results import rows_apart
from tests.sources import scop_of

MATRICES = "int n, int m, double A[99][99], double B[99][99], double C[99][99], double x[99]"
FORWARDED = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
  s = 0; for (k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s; }"""
EXPANDED = """for (t = 0; t < n; t++) { for (i = 0; i < n; i++) x[i] = 0;
  for (k = 0; k < n; k++) for (i = 0; i < n; i++) x[i] += A[t][k] * B[k][i];
  for (i = 0; i < n; i++) C[t][i] = x[i]; }"""


@cache
def forwarded() -> tuple[Scop, Scop]:
    scop = scop_of(FORWARDED, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    return scop, made


@cache
def expanded() -> tuple[Scop, Expansion]:
    scop = scop_of(EXPANDED, MATRICES)
    made = expand(scop, dependences(scop))
    assert made is not None
    return scop, made


def refused(original: Scop, made: Scop, match: str) -> None:
    with pytest.raises(InternalError, match=match):
        check_rewritten(original, made, ())


def test_sound_ones_are_not_refused() -> None:
    original, made = forwarded()
    check_rewritten(original, made, ())
    original, expansion = expanded()
    check_rewritten(original, expansion.scop, allocations(expansion.scop, expansion.extents))


def test_what_only_copies_may_copy_to_where_parameters_say() -> None:
    body = FORWARDED.replace("C[i][j]", "C[i + m][j]")
    scop = scop_of(body, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    check_rewritten(scop, made, ())
    # the parameter as a variable that some statement writes
    copy = next(s for s in scop.statements if s.name == "S2")
    writes = tuple(replace(a, kind="write") if a.array == "m" else a for a in copy.accesses)
    changed = replace(scop, statements=tuple(replace(s, accesses=writes) if s is copy else s for s in scop.statements))
    refused(changed, made, "more than a copy")


def test_cells_are_read_under_the_conditions_of_the_scalar() -> None:
    body = """for (j = 0; j < n; j++) for (i = j; i < n; i++) {
      s = A[i][j]; for (k = 0; k < j; k++) s -= C[i][k] * C[j][k]; C[i][j] = i == j ? 1 / s : s * C[j][j]; }"""
    scop = scop_of(body, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    check_rewritten(scop, made, ())


NEAREST = """for (i = 0; i < n; i++) {
  double least = 1e9, next = 1e9;
  for (j = 0; j < n; j++) if (A[i][j] < least) { next = least; least = A[i][j]; }
  x[0] += least - 2 * next;
}"""


def test_of_several_values_that_a_statement_writes_each_is_told_by_its_array() -> None:
    original = scop_of(NEAREST, MATRICES)
    found = rows_apart(original, dependences(original))
    assert found is not None
    made = found.expansion
    check_rewritten(original, made.scop, allocations(made.scop, made.extents))
    # the last statement reads each of both from the other's cell
    reader = original.statements[-1]
    for name, cells in (("least", "next_all"), ("next", "least_all")):
        reader = with_cells(reader, original.arrays[name], cells, (0,))
    wrong = (*made.scop.statements[:-1], reader)
    refused(original, replace(made.scop, statements=wrong), "another value")


def test_dates_may_have_dimensions_that_order_nothing() -> None:
    original, made = forwarded()

    def inserted(values: Callable[[str], int]) -> Scop:
        dates = (
            one.insert_dims(OUT, 1, 1).fix_val(OUT, 1, isl.Val(values(one.get_tuple_name(IN))))
            for one in maps_of(made.order)
        )
        return replace(made, order=union_of_maps(dates))

    check_rewritten(original, inserted(lambda name: 3), ())
    refused(original, inserted(lambda name: 3 - int(name[1:])), "at other times")


def with_accesses(scop: Scop, name: str, change: Callable[[isl.Map], isl.Map], kind: str) -> Scop:
    """The SCoP with other cells of a statement's accesses of a kind."""

    def changed(statement: Statement) -> Statement:
        if statement.name != name:
            return statement
        return replace(
            statement,
            accesses=tuple(
                replace(one, relation=change(one.relation)) if one.kind == kind else one for one in statement.accesses
            ),
        )

    return replace(scop, statements=tuple(map(changed, scop.statements)))


def shifted(relation: isl.Map) -> isl.Map:
    """The cell behind, in the last dimension."""
    name = relation.get_tuple_name(isl.dim_type.out)
    last = relation.dim(isl.dim_type.out) - 1
    function = relation.as_pw_multi_aff()
    moved = function.set_pw_aff(last, function.get_pw_aff(last).add_constant_val(isl.Val(1)))
    return isl.Map.from_pw_multi_aff(moved).set_tuple_name(isl.dim_type.out, name)


def test_other_cells_are_refused() -> None:
    original, made = forwarded()
    for statement in made.statements:
        for kind in {access.kind for access in statement.accesses}:
            refused(
                original,
                with_accesses(made, statement.name, shifted, kind),
                "gets another value|left with another value|rewritten",
            )


def test_a_copy_that_is_missing_is_refused() -> None:
    original, expansion = expanded()
    known = {statement.name for statement in original.statements}
    for name in sorted(statement.name for statement in expansion.scop.statements if statement.name not in known):
        rest = tuple(one for one in expansion.scop.statements if one.name != name)
        order = union_of_maps(m for m in maps_of(expansion.scop.order) if m.get_tuple_name(IN) != name)
        refused(original, replace(expansion.scop, statements=rest, order=order), "another value|rewritten")


def test_a_statement_at_another_time_is_refused() -> None:
    original, made = forwarded()
    first = maps_of(made.order)[0]
    late = first.flat_range_product(isl.Map.from_domain_and_range(first.domain(), isl.Set("{ [0] }"))).fix_val(
        isl.dim_type.out, 0, isl.Val(7)
    )
    late = late.project_out(isl.dim_type.out, late.dim(isl.dim_type.out) - 1, 1)
    order = union_of_maps([late, *(m for m in maps_of(made.order) if m.get_tuple_name(IN) != first.get_tuple_name(IN))])
    refused(original, replace(made, order=order), "another time|another value")


def test_memory_that_is_too_small_is_refused() -> None:
    original, expansion = expanded()
    for name, sizes in expansion.extents.items():
        for position in range(len(sizes)):
            small = {
                **expansion.extents,
                name: tuple(Const(1) if k == position else size for k, size in enumerate(sizes)),
            }
            with pytest.raises(InternalError, match="is left by a reference"):
                check_rewritten(original, expansion.scop, allocations(expansion.scop, small))


def test_a_cell_in_place_of_a_structure() -> None:
    body = "for (i = 0; i < n; i++) { struct pair p = pairs[i]; p.x += x[i]; x[i] = p.x; }"
    scop = scop_of(body, MATRICES, before="struct pair { double x; int k; } pairs[99];")
    made = {one.name: with_cells(one, scop.arrays["p"], "p", (0,)) for one in scop.statements}
    refused(scop, replace(scop, statements=tuple(made.values())), "in place of a member")
