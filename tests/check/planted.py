"""Transformed regions with one fault put into them, for tests of the proof of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Any, TypeVar
from unittest import mock

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.generation import REWRITES, guard_of
from scopt.astgen.rewrite_setting import Watch
from scopt.astgen.transformed_program import Program, emitted
from scopt.check.program import check_program
from scopt.check.read_text import Text
from scopt.diagnostics import InternalError
from scopt.frontend.region.parse import parse
from scopt.ir.nest import Block, Call, Fetched, For, If, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Dependences, Scop, Statement
from scopt.ir.walks import changed, with_nodes
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import operation_limit
from scopt.poly.reordering import Reorder, updates_of
from scopt.rewritten_scop import MAX_OPERATIONS
from scopt.transform import transform
from tests.sources import source_of

T = TypeVar("T")
# Enough for most sound programs; it takes about a second.
FEW_OPERATIONS = 1_000_000
# Enough for the exact form of texts with most faults, if that says anything soon.
EXACT_OPERATIONS = 200_000

MATRICES = "int n, double A[99][99], double B[99][99], double C[99][99]"
PRODUCT = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
TRIANGULAR = (
    PRODUCT.replace("k = 0; k < n", "k = i + 1; k < n")
    .replace("A[i][k] * B[k][j]", "A[k][i] * B[k][j]")
    .replace("C[", "B[")
)
ACROSS = (
    "for (i = 0; i < n; i++) for (j = 0; j < n; j++)"
    " for (k = 0; k < n; k++) C[i][j] += 1.5 * A[i][k] * B[j][k] + B[i][k] * A[j][k];"
)
FACTORIZATION = """for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) { C[i][k] /= C[k][k];
 for (j = k + 1; j < n; j++) C[i][j] -= C[i][k] * C[k][j]; }"""
WITH_SCALAR = PRODUCT.replace("A[i][k]", "a * A[i][k]")
SCALED = f"{MATRICES}, double a"
SWEEP = """
for (t = 0; t < n; t++)
  for (i = 1; i < n - 1; i++) {
    A[i][0] = 1.0 / (t + 2);
    for (j = 1; j < n; j++) A[i][j] = B[i][j] / (A[i][j-1] * 0.5 * 1.5 * 0.75 + 2.0);
    for (j = n - 2; j >= 1; j--) C[j][i] = A[i][j] * C[j+1][i] + A[i][j-1];
  }"""
# No function turns rows at no fixed distance: loops copy them.
ROWS = "int n, double *A[99], double *B[99], double C[99][99]"
FILTER = (
    "for (i = 0; i < n; i++) { s = 0.0;"
    " for (j = 0; j < n; j++) { A[i][j] = s * 0.5 * 1.5 * 0.75 + B[i][j]; s = A[i][j] * 0.25 * 1.5 * 0.75 + s; } }"
)
# A column's scalar is set where data say so: what steps read may come from any step before.
SEEN = """for (j = 0; j < m; j++) { s = -1.0;
 for (i = 0; i < n; i++) { if (Q[i][j] > 0.5) s = i; A[i][j] = s; R[i][j] = i - s; } s = -2.0;
 for (i = n - 1; i >= 0; i--) { if (Q[i][j] > 0.5) s = i; if (s - i < A[i][j]) A[i][j] = s - i; } }"""
LARGE = "int n, int m, double A[3000][3000], double Q[3000][3000], double R[3000][3000]"
# The tiles that write Q are the last ones of their wavefronts.
LAST = """
for (k = 1; k < n; k++) {
  for (j = 1; j < k; j++) {
    R[k][j] = 0.125;
    for (i = 0; i < m; i++) A[i][j] = A[i][j] * 0.5 - Q[i][k] * R[k][j];
    for (i = 1; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
  }
  for (i = 1; i < m; i++) Q[i][k] = A[i][k] * 0.25 + 0.5;
}"""


# --- programs ---------------------------------------------------------------------------------------------------------


class Recorder(Struct, Watch):
    """Keeps the programs that the last rewrite leads to, in the order of the attempts."""

    found: list[Program]

    def __call__(self, step: str, made: T) -> T:
        if step == REWRITES[-1].name and isinstance(made, Program):
            self.found.append(made)
        return made


@cache
def program_of(body: str, params: str = MATRICES, options: Options | None = None) -> tuple[Program, Dependences]:
    """What a region becomes in the first attempt, which has been proved, and its dependences."""
    options, recorder = options or Options(), Recorder([])
    tu = parse(source_of(body, params), "in.c", options)
    outcome = transform(tu, tu.regions[0], 0, options, watch=recorder)
    assert not {"schedule.simplified", "internal.error"} & {remark.id for remark in outcome.remarks}
    (program,) = recorder.found
    return program, dependences(program.source, updates=updates_of(program.source, Reorder.SAFE))


def check(program: Program, deps: Dependences, operations: int = MAX_OPERATIONS) -> None:
    """Raise InternalError unless the program, printed, is proved; isl.Error if that takes more operations."""
    text, guard = emitted(program), guard_of(program, Options())
    with operation_limit(operations):
        check_program(program, deps, text, guard)


def refused(program: Program, deps: Dependences, match: str, operations: int = FEW_OPERATIONS) -> None:
    """Assert that the proof says that. Where its exact form takes too long, which refuses the text as well: that its
    quick form does."""
    exact = Text.exact

    def soon(text: Text) -> Text:
        isl.DEFAULT_CONTEXT.reset_operations()
        isl.DEFAULT_CONTEXT.set_max_operations(EXACT_OPERATIONS)
        return exact(text)

    try:
        with mock.patch.object(Text, "exact", soon):
            check(program, deps, operations)
    except InternalError as error:
        message = str(error)
    except isl.Error as error:
        message = str(error.__context__)
    else:
        message = "nothing"
    assert re.search(match, message), message


class Planter(Struct, Watch):
    """Puts a fault into what one step makes in the first attempt."""

    step: str
    fault: Callable[[Any], Any]
    planted: bool = False

    def __call__(self, step: str, made: T) -> T:
        if step != self.step or self.planted:
            return made
        self.planted = True
        return self.fault(made)  # type: ignore[no-any-return]


def given_up(body: str, params: str, step: str, fault: Callable[[Any], Any]) -> str:
    """Why a region with a fault in its first attempt is transformed otherwise; empty if it isn't."""
    planter = Planter(step, fault)
    tu = parse(source_of(body, params), "in.c", Options())
    outcome = transform(tu, tu.regions[0], 0, Options(), watch=planter)
    assert planter.planted
    return "".join(
        remark.message for remark in outcome.remarks if remark.id in ("schedule.simplified", "internal.error")
    )


# --- faults in statements ---------------------------------------------------------------------------------------------


def with_statement(scop: Scop, name: str, change: Callable[[ir.Node], ir.Node]) -> Scop:
    """The SCoP with another body of a statement. change: gets the body."""
    return replace(
        scop, statements=tuple(_changed(one, change) if one.name == name else one for one in scop.statements)
    )


def _changed(statement: Statement, change: Callable[[ir.Node], ir.Node]) -> Statement:
    return with_body_of(statement, change(statement.body))


def with_body_of(statement: Statement, body: ir.Node) -> Statement:
    """The statement with another body, whose references are told by where they stand."""
    places: dict[ir.Node, ir.Node] = {}

    def match(old: ir.Node, new: ir.Node) -> None:
        if old is not new and type(old) is type(new):
            places[old] = new
            for a, b in zip(old.parts, new.parts, strict=False):
                match(a, b)

    match(statement.body, body)
    accesses = tuple(
        replace(one, node=places.get(one.node, one.node) if one.node is not None else None)
        for one in statement.accesses
    )
    return replace(statement, body=body, accesses=accesses)


def with_body(program: Program, name: str, change: Callable[[ir.Node], ir.Node]) -> Program:
    """The program with another body of a statement, wherever that is."""
    scop = with_statement(program.scop, name, change)
    assert any(one is not other for one, other in zip(scop.statements, program.scop.statements, strict=True))
    lowered = replace(program.lowered, scop=with_statement(program.lowered.scop, name, change))
    buffered = replace(program.buffered, scop=with_statement(program.buffered.scop, name, change))
    return replace(program, scop=scop, lowered=lowered, buffered=buffered)


def moved(array: str, position: int = -1, by: str = "1") -> Callable[[ir.Node], ir.Node]:
    """The change that adds a constant to one of the subscripts of the first reference to an array."""

    def change(body: ir.Node) -> ir.Node:
        subscripted = next(chain for chain in _references(body) if _base(chain[0]) == array)
        reference = subscripted[::-1][position]
        added = ir.BinaryOp("+", reference.subscript, ir.Constant("int", by))
        return with_nodes(body, {reference: changed(reference, subscript=added)})

    return change


def _references(node: ir.Node) -> list[list[ir.ArrayRef]]:
    """The brackets of each reference, outermost node (innermost subscript) first."""
    if isinstance(node, ir.ArrayRef):
        chain = [node]
        while isinstance(chain[-1].name, ir.ArrayRef):
            chain.append(chain[-1].name)
        return [chain]
    return [found for child in node.parts for found in _references(child)]


def _base(reference: ir.ArrayRef) -> str:
    node: ir.Node = reference
    while isinstance(node, ir.ArrayRef):
        node = node.name
    return str(node.name)


# --- faults in loops --------------------------------------------------------------------------------------------------


def with_nest(program: Program, visit: Callable[[Item], tuple[Item, ...]]) -> Program:
    """The program with other items in its nest, from the innermost ones on."""
    nest = LoopNest(map_block(program.nest.body, visit))
    assert nest != program.nest
    return replace(program, nest=nest)


def without(names: Collection[str]) -> Callable[[Item], tuple[Item, ...]]:
    """Drops statements, and loops that have no others."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case Call(statement=name) if name in names:
                return ()
            case For(body=Block(())) | If(then=Block(()), otherwise=None | Block(())):
                return ()
            case If(then=Block(()) as then, otherwise=otherwise, condition=condition) if otherwise is not None:
                return (If(condition, then, otherwise),)
        return (item,)

    return visit


def runs(item: Item) -> set[str]:
    """The statements that an item runs."""
    match item:
        case Call(statement=name):
            return {name}
        case For(body=body):
            return {name for one in body.items for name in runs(one)}
        case If(then=then, otherwise=otherwise):
            return {name for one in (*then.items, *(otherwise.items if otherwise else ())) for name in runs(one)}
    return {name for one in item.body.items for name in runs(one)}


def reordered(program: Program, first: str, after: str) -> Program:
    """The program with the items that run a statement moved behind those that run another one, in the innermost blocks
    that have both."""

    def block(found: Block) -> Block:
        items = list(map(inside, found.items))
        names = [runs(item) for item in items]
        mine = [k for k, own in enumerate(names) if first in own and after not in own]
        theirs = [k for k, own in enumerate(names) if after in own and first not in own]
        if mine and theirs and min(mine) < max(theirs):
            rest = [item for k, item in enumerate(items) if k not in mine]
            place = 1 + max(k for k, item in enumerate(rest) if after in runs(item))
            items = [*rest[:place], *(items[k] for k in mine), *rest[place:]]
        return Block(tuple(items))

    def inside(item: Item) -> Item:
        match item:
            case For(body=body):
                return replace(item, body=block(body))
            case If(then=then, otherwise=otherwise):
                return replace(item, then=block(then), otherwise=None if otherwise is None else block(otherwise))
            case Call():
                return item
        return replace(item, body=block(item.body))

    nest = LoopNest(block(program.nest.body))
    assert nest != program.nest
    return replace(program, nest=nest)


def assignment_fault(part: str, change: Callable[[ir.Assignment], ir.Node]) -> Callable[[Program], Program]:
    """A fault in the first statement that stands for a part of another one: whose name begins, or ends, so."""

    def make(program: Program) -> Program:
        names = (one.name for one in program.scop.statements)
        name = next(one for one in names if one.endswith(part) or one.startswith(part))

        def faulty(one: Statement) -> Statement:
            if one.name != name or not isinstance(one.body, ir.Assignment):
                return one
            return replace(one, body=change(one.body))

        return replace(program, scop=replace(program.scop, statements=tuple(map(faulty, program.scop.statements))))

    return make


def fetched_fault(change: Callable[[Fetched], Fetched]) -> Callable[[Program], Program]:
    """A fault in what a loop in strips says."""

    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and item.mark.fetched is not None:
            return (replace(item, mark=replace(item.mark, fetched=change(item.mark.fetched))),)
        return (item,)

    return lambda program: replace(program, nest=LoopNest(map_block(program.nest.body, visit)))
