"""SCoPs whose loops over strips are one with those inside are what they were; with a fault they are refused."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt import ir, rewritten_scop
from scopt.check.merged_loops import check_merged
from scopt.diagnostics import InternalError
from scopt.frontend.region.parse import parse
from scopt.ir.scop import LoopDirective, Scop, Statement
from scopt.ir.walks import changed, replaced
from scopt.options import Options
from scopt.poly.isl_utils import OUT, SET, maps_of, union_of_maps
from scopt.poly.strip_loops import without_strips
from scopt.tell.results import Outcome
from scopt.transform import transform
from tests.check.planted import moved, with_statement
from tests.sources import scop_of, source_of

END = "t + 8 < n ? t + 8 : n"
STRIPS = f"for (t = 0; t < n; t += 8) for (i = 0; i < m; i++) for (j = t; j < ({END}); j++) x[i] += A[i][j];"
COUNTED = "for (t = 0; t < n; t += 8) for (i = 0; i < m; i++) for (j = 0; j < 8; j++) x[i] += A[i][t + j] * (t + j);"
BLOCKS = """for (int ii = 0; ii < n; ii += 8) for (int jj = 0; jj < n; jj += 8) for (int kk = 0; kk < n; kk += 8)
  for (i = 0; i < 8; i++) for (j = 0; j < 8; j++) for (k = 0; k < 8; k++)
    A[ii + i][jj + j] += B[ii + i][kk + k] * B[kk + k][jj + j];"""


def merged(body: str) -> tuple[Scop, Scop]:
    scop = scop_of(body)
    made = without_strips(scop, sums=True)
    assert made is not None
    return scop, made


def refused(original: Scop, made: Scop, match: str) -> None:
    with pytest.raises(InternalError, match=match):
        check_merged(original, made)


def with_change(scop: Scop, change: Callable[[Statement], Statement]) -> Scop:
    """The SCoP with another first statement."""
    first, *others = scop.statements
    return replace(scop, statements=(change(first), *others))


def named(name: str, other: str) -> Callable[[ir.Node], ir.Node]:
    """The change that puts a variable in the place of another one."""

    def change(body: ir.Node) -> ir.Node:
        return replaced(body, lambda node: ir.ID(other) if getattr(node, "name", "") == name else node)

    return change


@pytest.mark.parametrize(
    "body",
    [
        STRIPS,
        COUNTED,
        BLOCKS,
        "for (t = 0; t < n; t += 64) for (k = 0; k < 64; k += 8) for (j = 0; j < 8; j++) x[t + k + j] += y[t + k + j];",
        "for (t = 0; t < n; t += 8) for (j = 0; j < 8; j++) { double z[4]; "
        "for (i = 0; i < 4; i++) z[i] = A[i][t + j]; for (i = 0; i < 4; i++) y[t + j] += z[3 - i]; }",
        "for (t = 0; t < n; t += 8) for (j = 0; j < 8; j++) if (x[t + j] > m) { x[t + j] = 0; y[t + j] = t + j; }",
        "for (i = 0; i < n; i++) y[i] = 0; " + STRIPS,
        "for (unsigned u = 0; u < m; u += 8) for (unsigned v = 0; v < 8; v++) x[u + v] = u + v;",
    ],
)
def test_sound_ones_are_not_refused(body: str) -> None:
    check_merged(*merged(body))


@pytest.mark.parametrize("body", [STRIPS, COUNTED])
def test_other_instances_are_refused(body: str) -> None:
    original, made = merged(body)

    def shifted(one: Statement) -> Statement:
        last = isl.MultiAff("{ S0[i, j] -> S0[i, j + 1] }")
        return replace(one, domain=one.domain.apply(isl.Map.from_multi_aff(last)))

    def fewer(one: Statement) -> Statement:
        return replace(one, domain=one.domain.lower_bound_val(SET, 1, isl.Val(1)))

    for change in (shifted, fewer):
        refused(original, with_change(made, change), "S0 has other instances")


def test_instances_that_are_left_out_of_the_whole_are_refused() -> None:
    original, made = merged(STRIPS)
    first = isl.UnionSet("{ S0[i, j] : j > 0 }")
    order = made.order.intersect_domain(first)
    domain = made.statements[0].domain.lower_bound_val(SET, 1, isl.Val(1))
    fewer = with_change(replace(made, order=order), lambda one: replace(one, domain=domain))
    refused(original, fewer, "S0 has other instances")
    refused(original, replace(made, schedule=made.schedule.intersect_domain(first)), "another place in the schedule")


def test_two_instances_that_become_one_are_refused() -> None:
    _, made = merged(STRIPS)
    overlapping = scop_of(STRIPS.replace(END, END.replace("8", "9")))
    wrong = replace(overlapping, statements=made.statements, schedule=made.schedule, order=made.order)
    refused(overlapping, wrong, "S0 has other instances")


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_another_order_is_refused(dimension: int) -> None:
    original, made = merged(STRIPS)
    (dates,) = maps_of(made.order)
    values = isl.MultiAff.identity_on_domain_space(dates.get_space().range())
    back = isl.Map.from_multi_aff(values.set_aff(dimension, values.get_at(dimension).neg()))
    refused(original, replace(made, order=union_of_maps([dates.apply_range(back)])), "S0 ")


def test_another_tree_is_refused() -> None:
    original, made = merged(STRIPS)
    back = isl.UnionPwMultiAff("[m] -> { S0[i, j] -> S0[m - 1 - i, j] }")
    refused(original, replace(made, schedule=made.schedule.pullback_union_pw_multi_aff(back)), "place in the schedule")


def test_other_cells_are_refused() -> None:
    original, made = merged(BLOCKS)
    for number in range(len(made.statements[0].accesses)):

        def turned(one: Statement, number: int = number) -> Statement:
            accesses = list(one.accesses)
            relation = accesses[number].relation
            name = relation.get_tuple_name(OUT)
            across = isl.Map(f"{{ {name}[a, b] -> {name}[b, a] }}")
            accesses[number] = replace(accesses[number], relation=relation.apply_range(across))
            return replace(one, accesses=tuple(accesses))

        refused(original, with_change(made, turned), "S0 accesses other cells of")


def test_accesses_are_those_of_the_body() -> None:
    original, made = merged(BLOCKS)

    def swapped(one: Statement) -> Statement:
        nodes = [access.node for access in one.accesses]
        accesses = tuple(
            replace(access, node=node) for access, node in zip(one.accesses, (*nodes[1:], nodes[0]), strict=True)
        )
        return replace(one, accesses=accesses)

    refused(original, with_change(made, swapped), "in another place")
    refused(original, with_change(made, lambda one: replace(one, accesses=one.accesses[1:])), "other accesses")
    first, *others = made.statements[0].accesses
    as_write = (replace(first, kind="may-write"), *others)
    refused(original, with_change(made, lambda one: replace(one, accesses=as_write)), "otherwise")


@pytest.mark.parametrize(
    ("body", "change", "match"),
    [
        (STRIPS, named("i", "j"), "in the place of another value"),
        (STRIPS, named("j", "t"), "another body"),
        (STRIPS, named("x", "j"), "in the place of something else"),
        (STRIPS, moved("A"), "another body"),
        (COUNTED, named("j", "i"), "in the place of another value"),
        (COUNTED, named("j", "t"), "another body"),
        (COUNTED, moved("A"), "in the place of another value"),
        (STRIPS, lambda body: changed(body, op="-="), "another body"),
    ],
)
def test_another_body_is_refused(body: str, change: Callable[[ir.Node], ir.Node], match: str) -> None:
    original, made = merged(body)
    refused(original, with_statement(made, "S0", change), match)


def test_what_counts_from_the_beginning_of_a_strip_is_another_value() -> None:
    original, made = merged(COUNTED)
    # the body asks for the place in the strip
    other = with_statement(original, "S0", lambda body: changed(body, rvalue=changed(body.rvalue, right=ir.ID("j"))))
    refused(other, made, "'j' in the place of another value")


def test_other_types_are_refused() -> None:
    original, made = merged(COUNTED)

    def with_bits(scop: Scop, bits: int) -> Scop:
        types = tuple(replace(one, bits=bits) for one in scop.statements[0].iterator_types)
        return with_change(scop, lambda one: replace(one, iterator_types=types))

    check_merged(with_bits(original, 64), with_bits(made, 64))
    refused(original, with_bits(made, 64), "of another type")
    # sums of narrow numbers are integers, which may be greater
    refused(with_bits(original, 8), with_bits(made, 8), "of another type")


def test_all_else_is_kept() -> None:
    original, made = merged(STRIPS)
    refused(original, replace(made, arrays={}), "more than statements")
    refused(original, replace(made, context=isl.Set("[n] -> { : n > 0 }")), "more than statements")
    refused(original, replace(made, statements=()), "other statements")
    refused(original, replace(made, kills=made.statements), "other statements")
    refused(original, with_change(made, lambda one: replace(one, name="S1")), "another statement")
    wish = (LoopDirective("parallel", "t", (("S0", "t"),), original.location),)
    refused(replace(original, directives=wish), replace(made, directives=wish), "another body")


def planted(body: str, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What becomes of a region whose statements get another order with their loops."""

    def wrong(scop: Scop, *, sums: bool = False) -> Scop | None:
        made = without_strips(scop, sums=sums)
        return None if made is None else replace(made, order=union_of_maps(one.neg() for one in maps_of(made.order)))

    monkeypatch.setattr(rewritten_scop, "without_strips", wrong)
    tu = parse(source_of(body), "in.c", Options())
    return transform(tu, tu.regions[0], 0, Options())


def test_with_a_fault_the_region_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made = planted(STRIPS, monkeypatch)
    assert made.text is None
    (remark,) = made.remarks
    assert remark.id == "internal.error"
    assert "merged loops: S0 has other instances, or at other times" in remark.message


def test_with_a_fault_blocks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    made = planted(BLOCKS, monkeypatch)
    assert made.text is not None
    (message,) = (one.message for one in made.remarks if one.id == "schedule.simplified")
    assert "merged loops: S0 has other instances, or at other times" in message
