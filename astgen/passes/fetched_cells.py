"""Vector loops that store records, and read cells that last for some iterations, fetch these in front.

``for x: { c = luma[x]; d = chroma[x & ~1]; rgb[3 * x] = …; rgb[3 * x + 1] = …; rgb[3 * x + 2] = …; }`` is no vector
loop to gcc, since no vectors are loaded so, and clang loads element by element. Written out by pairs it would store
records of six, of which gcc makes no vectors either. In strips, a loop over pairs puts each cell into a buffer twice,
and the loop over pixels is a plain one (measured for 4:2:0 to packed colours: a fourth of the time by gcc, half of it
by clang).

Cells that data name in tables of narrow integers, inside of longer expressions, as of a row that is stretched by
linear interpolation, are looked up one by one in front as well, and widened (measured: 0.4 to 0.9 of the time by gcc,
0.5 to 0.8 by clang).
"""

from __future__ import annotations

from itertools import chain, count
from math import gcd

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.strip_texts import STRIP, strip_length
from scopt.astgen.passes.lookups_apart import looks_up_apart, may_be_strips
from scopt.astgen.passes.vectors_beside import has_vectors_beside
from scopt.ir.expr import exceeds, linear, names, plus, subtract
from scopt.ir.nest import Call, Const, Expr, Fetched, For, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.walks import walk
from scopt.machine.costs import arithmetic
from scopt.poly.body_rewriting import with_references
from scopt.poly.lasting_cells import lasting_cells, looked_up_cells
from scopt.poly.lookups import narrow_lookups

# Operations of an iteration, for each cell, from which on buffers pay (chosen: a cell is stored and loaded).
_OPERATIONS = 4
FETCH, FETCHED = "_fetch", "_fetched"


def with_fetched_cells(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest with such loops marked, and the SCoP with the statements that fetch, and that use what was fetched."""
    rewriter = _Rewriter(scop, names_in_use(scop, nest))
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


class _Rewriter(Struct, frozen=True, eq=False):
    """made: new statements. own: the references that were taken from a statement, each with the statement that fetches
    it, and the buffer."""

    scop: Scop
    taken: frozenset[str]
    made: dict[str, Statement] = field(default_factory=dict)
    own: dict[str, list[tuple[ir.Node | None, str, str]]] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        found = _wanted(self.scop, item) if isinstance(item, For) and may_fetch(item) else []
        if not found or not isinstance(item, For) or item.mark.fetched is not None:
            return (item,)
        those = tuple(dict.fromkeys(call.statement for call, _, _ in found))
        for name in those:
            accesses = [access for call, access, _ in found if call.statement == name]
            if name not in self.own:
                self.fetch(self.scop.statement(name), accesses)
            if [access.node for access in accesses] != [node for node, _, _ in self.own[name]]:
                return (item,)  # in another loop, others last
        cells = tuple((name, fetch, buffer) for name in those for _, fetch, buffer in self.own[name])
        group = gcd(*(count for _, _, count in found))
        forms = tuple((name, f"{name}{FETCHED}") for name in those)
        fetched = Fetched(self.fresh(f"{item.iterator}t"), group, cells, forms)
        return (replace(item, mark=replace(item.mark, fetched=fetched, wide=0)),)

    def fetch(self, statement: Statement, accesses: list[Access]) -> None:
        """Statements that fetch what a statement reads, and the one that uses it."""
        at = self.fresh("at")
        own = self.own.setdefault(statement.name, [])
        for k, access in enumerate(accesses):
            buffer = self.fresh(f"{access.array}_x")
            made = fetching(self.scop, statement, access, buffer, at, k)
            self.made[made.name] = made
            own.append((access.node, made.name, buffer))
        made = using(self.scop, statement, {node: buffer for node, _, buffer in own}, at)
        self.made[made.name] = made

    def fresh(self, wish: str) -> str:
        buffers = {buffer for own in self.own.values() for _, _, buffer in own}
        wishes = chain((wish,), (f"{wish}_{k}" for k in count(2)))
        return next(one for one in wishes if one not in self.taken and one not in buffers)


def may_fetch(loop: For) -> bool:
    """Whether a loop is an innermost one, and nothing else."""
    return may_be_strips(replace(loop, mark=replace(loop.mark, simd=True)))


def _wanted(scop: Scop, loop: For) -> list[tuple[Call, Access, int]]:
    """What a loop fetches, if it gains by that: then all that jumps can be fetched, and the rest are vectors."""
    calls = [one for one in loop.body.items if isinstance(one, Call)]
    called = [one.statement for one in calls]
    length = subtract(loop.upper, loop.lower)
    short = isinstance(length, Const) and length.value < STRIP // 4
    if len(calls) < len(loop.body.items) or len({*called}) < len(called) or short:
        return []
    statements = [scop.statement(name) for name in called]
    lookups = sum(narrow_lookups(scop, one) for one in statements)
    if lookups:
        found = [(call, access, 1) for call, access in looked_up_cells(scop, loop, calls)]
        if not _is_parametric(scop, length) or looks_up_apart(scop, loop):
            return []
        if not has_vectors_beside(scop, loop, calls, [one[1] for one in found]):
            return []
    elif loop.mark.simd:
        found = [one for one in lasting_cells(scop, loop, calls) if is_simple(scop.arrays[one[1].array].type)]
    else:
        return []
    ready = {id(access.node) for _, access, _ in found}
    others = [
        access
        for call, one in zip(calls, statements, strict=True)
        for access in one.accesses
        if isinstance(access.node, ir.ArrayRef) and id(access.node) not in ready and _divides(access.node)
    ]
    if others and not lookups:
        return []
    work = sum(arithmetic(one.body) for one in statements)
    return found if work >= _OPERATIONS * len(found) else []


def _is_parametric(scop: Scop, length: Expr) -> bool:
    """Whether a length is known before a region runs: of short rows, strips take up to three times as long."""
    plain = all(isinstance(one, Name) for one in linear(length)[0])
    return plain and names(length) <= {p.name for p in scop.parameters}


def looked_up_lengths(scop: Scop, nest: LoopNest) -> list[str]:
    """C text that rows are long enough for strips in which single iterations' cells are fetched, of sizes that aren't
    known (measured: with 32 iterations, half of the time to 1.2 times as long)."""
    parameters = {one.name for one in scop.parameters}
    tests = [
        exceeds((plus(length, 1),), strip_length(one.mark.fetched) // 4 - 1)
        for one in items(nest.body)
        if isinstance(one, For) and one.mark.fetched is not None and one.mark.fetched.group == 1
        for length in lengths_of(one)
        if not isinstance(length, Const) and names(length) <= parameters
    ]
    return list(dict.fromkeys(ExprPrinter.of(scop).condition(one).text for one in tests))


def lengths_of(loop: For) -> list[Expr]:
    """What the number of iterations, less one, is the least of."""
    ends = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    return [subtract(one, loop.lower) for one in ends]


def _divides(node: ir.Node) -> bool:
    """Whether a reference's place needs more than multiples and sums."""
    return any(isinstance(one, ir.BinaryOp) and one.op not in ("+", "-", "*") for one in walk(node))


def is_simple(ctype: CType) -> bool:
    """Whether a variable of a type can hold any of its values, and be read twice."""
    return (ctype.integer or ctype.floating) and not (ctype.volatile or ctype.atomic)


def fetching(scop: Scop, one: Statement, access: Access, buffer: str, at: str, number: int) -> Statement:
    """The statement that puts a cell into a buffer."""
    inside = {id(node) for node in walk(access.node)} if access.node is not None else set[int]()
    accesses = tuple(other for other in one.accesses if id(other.node) in inside)
    body = ir.Assignment("=", ir.ArrayRef(ir.ID(buffer), ir.ID(at)), access.node)
    return replace(_with_place(scop, one, at), name=f"{one.name}{FETCH}{number}", body=body, accesses=accesses)


def using(scop: Scop, one: Statement, buffers: dict[ir.Node | None, str], at: str) -> Statement:
    """A statement that reads cells from buffers."""

    def cell(access: Access, reference: ir.Node) -> ir.Node | None:
        return ir.ArrayRef(ir.ID(buffers[access.node]), ir.ID(at)) if access.node in buffers else None

    body, become = with_references(one, cell)
    gone = {id(node) for node in buffers if node is not None for node in walk(node)}
    accesses = tuple(
        replace(access, node=become.get(access.node, access.node)) if access.node is not None else access
        for access in one.accesses
        if id(access.node) not in gone
    )
    return replace(_with_place(scop, one, at), name=f"{one.name}{FETCHED}", body=body, accesses=accesses)


def _with_place(scop: Scop, one: Statement, at: str) -> Statement:
    long_type = replace(one.iterator_types[0], spelling=scop.long_type, signed=True, bits=64)
    return replace(one, iterators=(*one.iterators, at), iterator_types=(*one.iterator_types, long_type))
