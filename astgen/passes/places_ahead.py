"""Loops that look cells up at places which they compute run in strips: the places in vectors, what is there one by one,
and what is made of it in vectors.

Interpolation in tables and grids, as of pixels that are moved or of tones that are mapped, are such loops: ``for x: { u
= …; k = (int)u; if (k < 0) k = 0; …; y[x] = a[k] + (u - k) * (a[k + 1] - a[k]); }``. No instruction gathers narrow
cells, gcc gathers no others on many processors, and then makes no vectors of the rest; clang takes vectors apart and
puts them together again. Variables that go from part to part have buffers (measured with strips of 64, on a table of
floats, pictures of bytes, a volume, and an advected field: 0.3 to 0.7 of the time by gcc, 0.4 to 1 by clang).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import chain, count

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.strip_texts import SHORT_STRIP
from scopt.astgen.passes.computed_places import Split, split_of
from scopt.astgen.passes.fetched_cells import fetching, lengths_of, using
from scopt.astgen.passes.lookups_apart import looks_up_apart
from scopt.ir.expr import linear, names, plus
from scopt.ir.nest import Block, Call, Const, Fetched, For, HandedOn, LoopMark, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Access, AccessKind, Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.machine.costs import arithmetic
from scopt.poly.linear import subscript_moves
from scopt.poly.lookups import narrow_lookups

# Operations of an iteration, for each cell that is looked up, from which on buffers pay (chosen: as for cells that are
# fetched without).
_OPERATIONS = 4
# Operations of an iteration from which on three short loops pay at all (measured, a table of floats: with 8, 0.65 of
# the time by gcc, but 1.2 by clang).
_LEAST = 12
# Iterations of a loop's shortest strip, and of a thread's share of a loop without others inside.
_SHORTEST, _SHARE = SHORT_STRIP // 4, 4 * SHORT_STRIP
PLACED_FETCH, PLACED = "_look", "_placed"


def with_places_ahead(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest with such loops in strips, and the SCoP with the statements that they need."""
    rewriter = _Rewriter(scop, names_in_use(scop, nest))
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


def with_placed_loops(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest, where such loops are known as what they are; threads have shares of some strips each."""
    taken = names_in_use(scop, nest)

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not _may_be_placed(item):
            return (item,)
        split = split_of(scop, item)
        if split is None or not _pays(scop, item, split):
            return (item,)
        loop = replace(item, mark=LoopMark(placed=True), work=None)
        if not item.mark.parallel:
            return (loop,)
        shares = _fresh(f"{item.iterator}s", taken)
        ends = item.upper.args if isinstance(item.upper, Min) else (item.upper,)
        share = replace(loop, lower=Name(shares), upper=Min((*ends, plus(Name(shares), _SHARE - 1))))
        mark = replace(item.mark, simd=False)
        return (replace(item, iterator=shares, step=_SHARE, body=Block((share,)), mark=mark),)

    return LoopNest(map_block(nest.body, visit))


class _Rewriter(Struct, frozen=True, eq=False):
    """made: new statements. own: of a statement, the references that are looked up, each with the statement that does
    so, and the buffer. handed: by the names of variables."""

    scop: Scop
    taken: frozenset[str]
    made: dict[str, Statement] = field(default_factory=dict)
    own: dict[str, list[tuple[ir.Node | None, str, str]]] = field(default_factory=dict)
    handed: dict[str, HandedOn] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not item.mark.placed:
            return (item,)
        loop = replace(item, mark=LoopMark())
        split = split_of(self.scop, loop)
        if split is None:
            return (loop,)
        for call in dict.fromkeys(call.statement for call, _ in split.cells):
            accesses = [access for other, access in split.cells if other.statement == call]
            if call not in self.own:
                self.look_up(self.scop.statement(call), accesses)
            if [access.node for access in accesses] != [node for node, _, _ in self.own[call]]:
                return (loop,)
        for name in split.handed:
            if name not in self.handed:
                self.hand_on(name, split.behind[0])
        those = dict.fromkeys(call.statement for call, _ in split.cells)
        fetched = Fetched(
            self.fresh(f"{item.iterator}t"),
            1,
            tuple({(name, fetch, buffer): None for name in those for _, fetch, buffer in self.own[name]}),
            tuple((name, f"{name}{PLACED}") for name in those),
            tuple(call.statement for call in split.ahead),
            tuple(self.handed[name] for name in split.handed),
        )
        return (replace(loop, mark=LoopMark(fetched=fetched)),)

    def look_up(self, statement: Statement, accesses: list[Access]) -> None:
        """Statements that look up what a statement reads, each cell once, and the one that uses it."""
        at = self.fresh("at")
        own = self.own.setdefault(statement.name, [])
        for access in accesses:
            same = (one[1:] for one in own if one[0] is not None and same_tree(one[0], access.node))
            name, buffer = next(same, ("", ""))
            if not name:
                buffer = self.fresh(f"{access.array}_x")
                made = fetching(self.scop, statement, access, buffer, at, 0)
                name = f"{statement.name}{PLACED_FETCH}{len(own)}"
                self.made[name] = replace(made, name=name)
            own.append((access.node, name, buffer))
        made = using(self.scop, statement, {node: buffer for node, _, buffer in own}, at)
        self.made[f"{statement.name}{PLACED}"] = replace(made, name=f"{statement.name}{PLACED}")

    def hand_on(self, name: str, call: Call) -> None:
        """Statements that put a variable into a buffer, and take it out."""
        variable, one, at = self.scop.arrays[name], self.scop.statement(call.statement), self.fresh("at")
        handed = HandedOn(name, self.fresh(f"{name}s"), *(self.unnamed(f"{kind}_{name}") for kind in ("save", "load")))
        self.handed[name] = handed
        cell, own = ir.ArrayRef(ir.ID(handed.buffer), ir.ID(at)), ir.ID(variable.spelling)
        long_type = replace(one.iterator_types[0], spelling=self.scop.long_type, signed=True, bits=64)
        both: tuple[tuple[str, AccessKind, tuple[ir.Node, ir.Node]], ...] = (
            (handed.save, "read", (cell, own)),
            (handed.load, "write", (own, cell)),
        )
        for statement, kind, (left, right) in both:
            relation = isl.Map.read_from_str(one.domain.get_ctx(), f"{{ {statement}[at] -> {name}[] }}")
            self.made[statement] = Statement(
                name=statement,
                domain=relation.domain(),
                iterators=(at,),
                iterator_types=(long_type,),
                body=ir.Assignment("=", left, right),
                accesses=(Access(name, kind, relation, own, one.location),),
                location=one.location,
            )

    def unnamed(self, wish: str) -> str:
        """A name that no statement has."""
        return _fresh(wish, {*self.made, *(one.name for one in self.scop.statements)})

    def fresh(self, wish: str) -> str:
        buffers = {buffer for own in self.own.values() for _, _, buffer in own}
        buffers |= {one.buffer for one in self.handed.values()}
        return _fresh(wish, self.taken | buffers)


def _fresh(wish: str, taken: Collection[str]) -> str:
    return next(one for one in chain((wish,), (f"{wish}_{k}" for k in count(2))) if one not in taken)


def _looked_up(split: Split) -> Iterator[tuple[str, list[ir.Node]]]:
    """By their names, what statements look up, each cell once."""
    for call in split.behind:
        found = list[ir.Node]()
        for other, access in split.cells:
            node = access.node
            if other is call and node is not None and not any(same_tree(one, node) for one in found):
                found.append(node)
        if found:
            yield call.statement, found


def _may_be_placed(loop: For) -> bool:
    """Whether nothing is known about a loop but that threads may have shares of it, or lanes."""
    mark = loop.mark
    return replace(mark, parallel=False, simd=False, private=(), again=False, wide=0, scalar=False) == LoopMark()


def _pays(scop: Scop, loop: For, split: Split) -> bool:
    """Whether compilers make no vectors of a loop, but of its parts, whose operations are worth buffers."""
    statements = [scop.statement(call.statement) for call in (*split.ahead, *split.behind)]
    narrow = sum(narrow_lookups(scop, one) for one in statements)
    known = loop.mark.simd and (not narrow or looks_up_apart(scop, loop))
    if known or not _are_long(scop, loop):
        return False
    gone = {id(node) for _, access in split.cells if access.node is not None for node in walk(access.node)}
    for call in (*split.ahead, *split.behind):
        one = scop.statement(call.statement)
        rest = [access for access in one.accesses if id(access.node) not in gone]
        if _calls_library(scop, one) or not all(_moves_along(scop, loop, call, access) for access in rest):
            return False
    work = sum(arithmetic(one.body) for one in statements)
    return work >= _LEAST and work >= _OPERATIONS * sum(len(cells) for _, cells in _looked_up(split))


def _moves_along(scop: Scop, loop: For, call: Call, access: Access) -> bool:
    """Whether a reference stays where it is, or goes along a row."""
    if not scop.arrays[access.array].rank:
        return True
    direction = tuple(Fraction(linear(one)[0].get(Name(loop.iterator), 0)) for one in call.args)
    moves = subscript_moves(access.relation, direction)
    return moves is not None and not any(moves[:-1]) and moves[-1] in (0, 1)


def _calls_library(scop: Scop, one: Statement) -> bool:
    """Whether a statement calls functions that compilers have no vectors of."""
    called = [node.name.name for node in walk(one.body) if isinstance(node, ir.FuncCall)]
    return any(scop.library.get(name) for name in called)


def _are_long(scop: Scop, loop: For) -> bool:
    """Whether a loop has enough iterations for strips, or they can be counted before the region runs."""
    lengths = lengths_of(loop)
    known = [one.value for one in lengths if isinstance(one, Const)]
    parameters = {one.name for one in scop.parameters}
    counted = (names(one) <= parameters and all(isinstance(x, Name) for x in linear(one)[0]) for one in lengths)
    if known and min(known) < _SHORTEST:
        return False
    return bool(known) or all(counted)
