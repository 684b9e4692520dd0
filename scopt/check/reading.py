"""The final nest read as dates: calls of scopt's own functions are the loops that they stand for.

What those functions do is shown from their texts (`scopt.check.functions`); here a call is taken for what its arguments
say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import reduce

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import PRODUCTS, helper_name
from scopt.astgen.lower.tile_records import Turned
from scopt.astgen.passes.blended_cells import BLENDED
from scopt.astgen.passes.block_distances import Distance
from scopt.astgen.passes.chains import accumulated
from scopt.astgen.passes.eager import SUFFIX
from scopt.astgen.passes.flat_lookups import FLAT
from scopt.astgen.passes.lanes import SUFFIX as LANE, lane_helper
from scopt.astgen.passes.picking import PICKED
from scopt.astgen.passes.turned_sums import Summed
from scopt.astgen.passes.two_forms import in_one_form
from scopt.astgen.passes.widened_factors import WIDER, is_widened
from scopt.astgen.transformed_program import Program
from scopt.check.cell_blends import is_blended
from scopt.check.eager_conditions import is_eager
from scopt.check.ended_strips import without_strips
from scopt.check.masks import masked_ones
from scopt.check.picked_choices import is_picked
from scopt.check.single_subscripts import is_flat
from scopt.diagnostics import InternalError
from scopt.ir.expr import plus, weighted
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopNest, Name
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Statement
from scopt.ir.walks import same_tree
from scopt.poly.readback import ReadBack, nest_to_schedule


def read_program(program: Program) -> ReadBack:
    """When each statement of the text runs: ``{ T[…] -> [date] }``. Raises InternalError for what can't be read."""
    return nest_to_schedule(program.source, expanded(program))


def expanded(program: Program) -> LoopNest:
    """The nest with a loop over single steps for a call of a kernel, two loops over single cells for one that packs a
    whole panel, statements whose product stands apart, or whose condition is a mask, as they were, and loops in
    one form that stand in two."""
    steps = {step.many: name for name, step in program.lowered.steps.items()}
    turns = {**program.lowered.turned, **program.buffered.turned}
    packs = {turned.name: name for name, turned in turns.items()}
    sums, distances = program.summing.calls, program.distances
    apart = _apart(program) | masked_ones(program)
    taken = {item.iterator for item in items(program.nest.body) if isinstance(item, For)}
    fresh = (name for k in range(10**9) if (name := f"${k}") not in taken)

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case Call(statement=many) if many in steps:
                step = program.lowered.steps[steps[many]]
                *args, count = item.args
                return (_loop(next(fresh), steps[many], args, {step.position: count}),)
            case Call(statement=many) if many in packs:
                turned = turns[packs[many]]
                *args, rows, count = item.args
                if turned.record:
                    return (_records(fresh, packs[many], turned, (args, rows, count), program.source.location),)
                counts = {turned.row: rows, turned.step: count}
                return (_loops(next(fresh), next(fresh), packs[many], args, counts, turned.skew),)
            case Call(statement=many) if many in sums:
                return (_steps(next(fresh), next(fresh), sums[many], item),)
            case Call(statement=block) if block in distances:
                return (_rows(next(fresh), next(fresh), distances[block], item),)
        return (item,)

    whole = in_one_form(program.source, _named_as_before(program.nest, apart))
    return without_strips(program, LoopNest(map_block(whole.body, visit)))


def together(program: Program) -> LoopNest:
    """The nest with statements whose product stands apart as they were, and loops in one form that stand in two; all
    else as it is."""
    return in_one_form(program.source, _named_as_before(program.nest, _apart(program)))


def _named_as_before(nest: LoopNest, apart: Mapping[str, str]) -> LoopNest:
    """The nest with statements that were rewritten by the names of what they were."""

    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, Call) and item.statement in apart:
            item = replace(item, statement=apart[item.statement])
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _loop(iterator: str, statement: str, args: list[Expr], counts: Mapping[int, Expr]) -> For:
    """A loop from one argument on, so many times."""
    ((position, count),) = counts.items()
    inner = list(args)
    inner[position] = Name(iterator)
    return For(iterator, args[position], _last(args[position], count), 1, Block((Call(statement, tuple(inner)),)))


def _loops(first: str, second: str, statement: str, args: list[Expr], counts: Mapping[int, Expr], skew: int) -> For:
    """skew: by how much later each row's first step is than that of the row before."""
    (row, rows), (step, count) = counts.items()
    inner = list(args)
    inner[row] = Name(first)
    inner[step] = weighted([(1, args[step]), (skew, Name(first)), (-skew, args[row])])
    return For(first, args[row], _last(args[row], rows), 1, Block((_loop(second, statement, inner, {step: count}),)))


def _records(
    fresh: Iterator[str],
    statement: str,
    turned: Turned,
    call: tuple[list[Expr], Expr, Expr],
    location: object,
) -> Item:
    """The loops over records and all of their cells that a call stands for. call: its arguments, the numbers of records
    and of cells."""
    args, rows, count = call
    if count != Const(turned.cells) or any(args[position] != Const(0) for position, _ in turned.record):
        raise InternalError(f"{location}: generated loops: {turned.name} copies a part of its records")
    ends = [(turned.row, _last(args[turned.row], rows)), *((k, Const(size - 1)) for k, size in turned.record)]
    iterators = [next(fresh) for _ in ends]
    inner = list(args)
    for (position, _), iterator in zip(ends, iterators, strict=True):
        inner[position] = Name(iterator)
    made: Item = Call(statement, tuple(inner))
    for (position, end), iterator in zip(reversed(ends), reversed(iterators), strict=True):
        made = For(iterator, args[position], end, 1, Block((made,)))
    return made


def _steps(first: str, second: str, summed: Summed, call: Call) -> For:
    """The loops over rows and steps that a call which sums rows up stands for."""
    *args, count = call.args
    inner = list(args)
    inner[summed.row], inner[summed.step] = Name(first), Name(second)
    body = Block(tuple(Call(name, tuple(inner)) for name in summed.statements))
    steps = For(second, args[summed.step], _last(args[summed.step], count), 1, body)
    return For(first, args[summed.row], plus(args[summed.row], summed.width - 1), 1, Block((steps,)))


def _rows(first: str, second: str, distance: Distance, call: Call) -> For:
    """The loops over rows and columns that a call which compares two blocks stands for."""
    inner = list(call.args)
    row, column = inner[distance.row], inner[distance.column]
    inner[distance.row], inner[distance.column] = Name(first), Name(second)
    body = Block(tuple(Call(name, tuple(inner)) for name in distance.statements))
    columns = For(second, column, plus(column, distance.columns - 1), 1, body)
    return For(first, row, plus(row, (distance.rows - 1) * distance.step), distance.step, Block((columns,)))


def _last(first: Expr, count: Expr) -> Expr:
    return plus(weighted([(1, first), (1, count)]), -1)


def _apart(program: Program) -> dict[str, str]:
    """The statements that call a function for the product that they add, or that evaluate both sides of their
    conditions, or compute the same in another form, and the same ones as they were. Raises InternalError if they differ
    otherwise."""
    known = {statement.name for statement in program.lowered.scop.statements} | set(masked_ones(program))
    known |= program.summing.calls.keys() | program.endings.made | program.distances.keys()
    found, run = {}, {call.statement for call in calls(program.nest.body)}
    for statement in program.scop.statements:
        if statement.name not in known and statement.name in run:
            found[statement.name] = _base(program, statement, known)
    return found


def _base(program: Program, statement: Statement, known: Collection[str]) -> str:
    """The name of the statement that another one is a form of."""
    if statement.name.endswith(FLAT):
        inner = program.scop.statement(statement.name.removesuffix(FLAT))
        if not is_flat(program.scop, statement, inner):
            raise _other(program, statement, inner)
        return inner.name if inner.name in known else _base(program, inner, known)
    name = reduce(str.removesuffix, (WIDER, "_apart", BLENDED, PICKED, SUFFIX, LANE), statement.name)
    base = program.lowered.scop.statement(name)
    same = _is_apart(program, statement, base) or _is_lane(program, statement, base)
    same = same or is_widened(program.scop, statement, base) or is_eager(program.source, statement, base)
    same = same or is_picked(program.source, statement, base) or is_blended(program.source, statement, base)
    if not same:
        raise _other(program, statement, base)
    return base.name


def _other(program: Program, statement: Statement, base: Statement) -> InternalError:
    return InternalError(f"{program.source.location}: {statement.name} is another statement than {base.name}")


def _is_apart(program: Program, statement: Statement, base: Statement) -> bool:
    ctype = accumulated(program.scop, base)
    helper = helper_name(PRODUCTS[ctype.spelling], program.scop.reserved) if ctype is not None else ""
    same = (statement.iterators, statement.accesses) == (base.iterators, base.accesses)
    match statement.body:
        case ir.Assignment(
            op=op, lvalue=target, rvalue=ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[product]))
        ):
            return (
                same
                and name == helper
                and op == base.body.op
                and target is base.body.lvalue
                and same_tree(product, base.body.rvalue)
            )
    return False


def _is_lane(program: Program, statement: Statement, base: Statement) -> bool:
    """Whether a statement assigns what the original one does, through a function that returns what it is given, in the
    type of the cell."""
    written = [access for access in base.accesses if access.is_write]
    match statement.body, base.body:
        case (
            ir.Assignment(
                op="=", lvalue=target, rvalue=ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[value]))
            ),
            ir.Assignment(op=op, lvalue=cell, rvalue=original),
        ) if target is cell and [one.node for one in written] == [cell]:
            helper = lane_helper(program.scop.arrays[written[0].array].type)
            alike = (statement.iterators, statement.accesses) == (base.iterators, base.accesses)
            called = helper is not None and name == helper_name(helper, program.scop.reserved)
            return alike and called and _is_assigned(value, cell, op, original)
    return False


def _is_assigned(value: ir.Node, cell: ir.Node, op: str, original: ir.Node) -> bool:
    """Whether a value is what ``cell op original`` assigns."""
    match value:
        case ir.BinaryOp(op=own, left=left, right=right) if op == f"{own}=":
            return left is cell and right is original
    return op == "=" and value is original
