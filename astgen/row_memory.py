"""Rows that run beside each other, and memory: whether these are long, or come from a cache.

Each of the rows is a stream of its own. Prefetchers follow streams within a page: short rows that come from memory,
many at a time, arrive one line after the other, and take several times as long as the same rows one after the other do
(measured: sums over rows of half a kilobyte, four times; from a page on, half the time).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from msgspec import Struct

from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.loop_work import bounded
from scopt.ir.expr import exceeds, linear, names, plus, subtract
from scopt.ir.nest import Block, Call, Const, For, LoopNest
from scopt.ir.nest_walks import calls, children, items
from scopt.ir.scop import Scop, Statement
from scopt.machine import Machine
from scopt.machine.streams import least_streamed, streamed_cache
from scopt.poly.full_rows import fills_rows, sums_plainly
from scopt.poly.linear import subscript_rows


class _Stream(Struct, frozen=True):
    """Cells of an array that rows beside each other walk along. size: bytes of one. around: the loops that move it.
    full: all of the rows, which follow each other."""

    array: str
    size: int
    around: frozenset[str]
    full: bool


def memory_tests(source: Scop, stand_ins: Mapping[str, str], loops: LoopNest, machine: Machine) -> list[str]:
    """For each loop along rows that run beside each other and write nothing: the test that these are long, or that a
    cache has room for all of them, where sizes are known at run time only. stand_ins: by statement of the loops that
    isn't the SCoP's own, the SCoP's that it stands for. None where rows that are short have threads of their own
    (`scopt.scheduler.decisions.strip_streams`)."""
    alone = {stand_ins.get(one, one) for one in _run_alone(loops.body)}
    found = (
        _test(source, stand_ins, path, machine)
        for path in _beside(loops.body, ())
        if not alone.issuperset(stand_ins.get(one.statement, one.statement) for one in calls(path[-1].body))
    )
    return list(dict.fromkeys(one for one in found if one))


def _run_alone(block: Block) -> Iterator[str]:
    """The statements of loops of threads in which no rows run beside each other."""
    for item in block.items:
        if isinstance(item, For) and item.mark.parallel:
            if not any(isinstance(one, For) and one.mark.beside for one in items(item.body)):
                yield from (one.statement for one in calls(item.body))
        elif not isinstance(item, Call):
            for part in children(item):
                yield from _run_alone(part)


def _beside(block: Block, path: tuple[For, ...]) -> Iterator[tuple[For, ...]]:
    """The loops along rows, each behind the loops around it."""
    for item in block.items:
        inner = (*path, item) if isinstance(item, For) else path
        if isinstance(item, For) and item.mark.beside:
            yield inner
        elif not isinstance(item, Call):
            for part in children(item):
                yield from _beside(part, inner)


def _test(source: Scop, stand_ins: Mapping[str, str], path: tuple[For, ...], machine: Machine) -> str:
    inside = [(source.statement(stand_ins.get(one.statement, one.statement)), one) for one in calls(path[-1].body)]
    if any(one.is_write and source.arrays[one.array].rank for statement, _ in inside for one in statement.accesses):
        return ""
    streams = {
        stream
        for statement, call in inside
        for stream in _streams(source, statement, path, call)
        if not (stream.full and sums_plainly(source, statement))  # a function asks for the lines of the next rows
    }
    if not streams:
        return ""
    known, ranges = frozenset(p.name for p in source.parameters), {loop.iterator: loop for loop in path}
    largest = max(streams, key=lambda one: len(one.around))
    extents = [
        bounded(plus(subtract(one.upper, one.lower), one.step), ranges)
        for one in path
        if one.iterator in largest.around
    ]
    steps = bounded(plus(subtract(path[-1].upper, path[-1].lower), 1), ranges)
    cells = [one for one in extents if one is not None and names(one) <= known]
    if steps is None or len(cells) < len(extents):
        return ""
    fixed = prod(int(one.value) for one in cells if isinstance(one, Const))
    factors = tuple(one for one in cells if linear(one)[0])
    if not factors:
        return ""
    size = {one.array: one.size for one in streams}
    printer = ExprPrinter.of(source)
    large = printer.condition(exceeds(factors, streamed_cache(machine) // (sum(size.values()) * max(fixed, 1)))).text
    tests = [f"!({large})"]
    if linear(steps)[0]:
        tests.insert(0, printer.condition(exceeds((steps,), least_streamed(machine) // min(size.values()) - 1)).text)
    return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"


def _streams(source: Scop, statement: Statement, path: tuple[For, ...], call: Call) -> Iterator[_Stream]:
    """What one row reads along its cells, and other blocks of rows elsewhere."""
    own = call.args[len(call.args) - len(statement.iterators) :]
    along = [names(one) & {loop.iterator for loop in path} for one in own]
    blocks = {loop.iterator for loop in path[:-1] if loop.step > 1}
    for access in statement.accesses:
        rows = subscript_rows(access.relation)
        if not rows:
            continue
        moving = [frozenset(name for k, c in enumerate(row) if c for name in along[k]) for row in rows]
        around = frozenset(name for one in moving for name in one)
        if path[-1].iterator in moving[-1] and blocks & around:
            size = max(source.arrays[access.array].type.bits // 8, 1)
            yield _Stream(access.array, size, around, fills_rows(source, access))
