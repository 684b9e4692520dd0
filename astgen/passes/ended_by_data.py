"""Loops whose iterations have a loop of their own that ends on data: in strips, where a function runs that loop for
many iterations at a time (`scopt.astgen.lower.ending_loops`).

``for x: { c = f(x); z = 0; while (z * z < 4) z = z * z + c; out[x] = z; }`` becomes a loop over strips of some
iterations. In a strip, what stands in front of the inner loop runs first, for all iterations, whose variables lie in
buffers; then the function is called; then what stands behind. That is the same since the loop carries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.lower.body_syntax import array_of, assignment, call
from scopt.astgen.lower.ending_loops import ITEMS, EndingLoop, function_name
from scopt.astgen.passes.ending_statements import BEFORE, IN_LANES, LANE, Ending, ending_of
from scopt.ir.expr import plus, subtract, weighted
from scopt.ir.nest import Block, Call, Expr, For, LoopMark, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.ir.walks import walk, with_nodes

# Bytes of a line.
_LINE = 64


class Endings(Struct, frozen=True, eq=False):
    """functions: that the nest calls. buffers: by name, the variable that lies there; empty for what is only read.
    calls: by name of the statement that calls a function, the one whose loop that runs. parts: by name, the statements
    whose variables lie in buffers as they were. loads: statements that fill buffers with what the loop reads."""

    functions: tuple[EndingLoop, ...] = ()
    buffers: Mapping[str, str] = {}
    calls: Mapping[str, str] = {}
    parts: Mapping[str, str] = {}
    loads: frozenset[str] = frozenset()

    @property
    def texts(self) -> tuple[str, ...]:
        """The functions' definitions."""
        return tuple(one.text for one in self.functions)

    @property
    def made(self) -> frozenset[str]:
        """The statements that there are for strips alone."""
        return self.loads | self.calls.keys() | self.parts.keys()


def with_possible_endings(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest whose marks name loops that strips are there for, and no others."""

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not item.mark.ended or ending_of(source, scop, item) is not None:
            return (item,)
        return (_unmarked(item),)

    return scop, LoopNest(map_block(nest.body, visit))


def with_endings_in_lanes(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest, Endings]:
    """The nest with strips, the SCoP with their statements and buffers, and what these stand for."""
    maker = _Maker(source, scop, {*names_in_use(scop, nest)})
    body = map_block(nest.body, maker.item)
    if not maker.functions:
        return scop, LoopNest(body), Endings()
    used = {access.array for one in calls(body) for access in maker.statement(one.statement).accesses}
    gone = {name for name in maker.buffers.values() if name and name not in used}
    arrays = {name: replace(one, declaration=None) if name in gone else one for name, one in scop.arrays.items()}
    made = [*(one for some in maker.made.values() for one in some)]
    whole = replace(scop, statements=(*scop.statements, *made), arrays={**arrays, **maker.arrays})
    endings = Endings(tuple(maker.functions), maker.buffers, maker.calls, maker.parts, frozenset(maker.loads))
    return whole, LoopNest(map_block(body, lambda item: (_without(item, gone, maker.buffers),))), endings


def _without(item: Item, gone: set[str], buffers: Mapping[str, str]) -> Item:
    """A loop of threads, which have copies of the buffers that are used in it, and none of what lies there."""
    if not isinstance(item, For) or not item.mark.parallel:
        return item
    inside = {name for one in items(item.body) if isinstance(one, For) for name in one.mark.private if name in buffers}
    own = (*(name for name in item.mark.private if name not in gone), *sorted(inside - {*item.mark.private}))
    return replace(item, mark=replace(item.mark, private=own))


def _unmarked(loop: For) -> For:
    private = loop.mark.private if loop.mark.parallel else ()
    return replace(loop, mark=replace(loop.mark, ended=False, private=private))


class _Maker(Struct, eq=False):
    """made: by name of a statement with a loop, all that there is for its strips."""

    source: Scop
    scop: Scop
    taken: set[str]
    functions: list[EndingLoop] = field(default_factory=list)
    made: dict[str, tuple[Statement, ...]] = field(default_factory=dict)
    strips: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    buffers: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    loads: set[str] = field(default_factory=set)

    def statement(self, name: str) -> Statement:
        new = (one for some in self.made.values() for one in some if one.name == name)
        return next(new, None) or self.scop.statement(name)

    def item(self, item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not item.mark.ended:
            return (item,)
        ending = ending_of(self.source, self.scop, item)
        if ending is None:
            return (_unmarked(item),)
        if ending.whole.name not in self.made:
            self.make(ending)
        return (self.in_strips(ending, item),)

    # --- statements ---------------------------------------------------------------------------------------------------

    def make(self, ending: Ending) -> None:
        """The function, buffers and statements of a loop."""
        whole, name = ending.whole, ending.whole.name
        function = self.function(ending)
        at = self.fresh("at")
        self.strips[name] = self.fresh(f"{ending.iterator}t")
        slots = dict[str, str]()
        for variable, ctype in ending.variables:
            slots[variable] = self.buffer(variable, ctype, variable)
        given = [self.buffer(f"{ending.iterator}_given", ctype, "") for _, ctype in ending.given]
        made = [self.part(one, slots, at) for one in ending.others if slots.keys() & ending.names_in(one)]
        for (node, _), buffer in zip(ending.given, given, strict=True):
            made.append(self.load(whole, f"{name}{BEFORE}{len(self.loads)}", buffer, node, at))
        made.append(self.calling(ending, function, [*(slots[one] for one in ending.listed), *given]))
        self.made[name] = tuple(made)

    def function(self, ending: Ending) -> EndingLoop:
        """One that was made, if it does the same."""
        name = function_name(self.source.name.removeprefix("scop"), len(self.functions))
        made = replace(ending.function, name=name)
        same = next((one for one in self.functions if one.alike(made)), None)
        if same is None:
            self.functions.append(made)
        return same or made

    def buffer(self, wish: str, ctype: CType, variable: str) -> str:
        name = self.fresh(f"{wish}_lanes")
        made = array_of(name, ctype, (ITEMS,), _LINE)
        self.arrays[name] = replace(made, location=self.source.location)
        self.buffers[name] = variable
        return name

    def part(self, one: Statement, slots: Mapping[str, str], at: str) -> Statement:
        """A statement with cells of buffers in the place of variables."""
        spelled = {self.scop.arrays[name].spelling: slot for name, slot in slots.items()}
        others: dict[ir.Node, ir.Node] = {
            node: ir.ArrayRef(ir.ID(spelled[node.name]), ir.ID(at))
            for node in walk(one.body)
            if isinstance(node, ir.ID) and node.name in spelled
        }
        body = with_nodes(one.body, others)
        left = {id(node) for node in walk(body)}
        made = self.with_place(one, f"{one.name}{LANE}", body, at, left)
        self.parts[made.name] = one.name
        return made

    def load(self, whole: Statement, name: str, buffer: str, node: ir.Node, at: str) -> Statement:
        """The statement that puts what a loop reads into a buffer."""
        self.loads.add(name)
        body = assignment(ir.ArrayRef(ir.ID(buffer), ir.ID(at)), node)
        return self.with_place(whole, name, body, at, {id(one) for one in walk(node)})

    def with_place(self, one: Statement, name: str, body: ir.Node, at: str, nodes: set[int]) -> Statement:
        long_type = CType(self.scop.long_type, integer=True, bits=64)
        return replace(
            one,
            name=name,
            body=body,
            accesses=tuple(access for access in one.accesses if id(access.node) in nodes),
            iterators=(*one.iterators, at),
            iterator_types=(*one.iterator_types, long_type),
        )

    def calling(self, ending: Ending, function: EndingLoop, buffers: Sequence[str]) -> Statement:
        """The statement that calls the function for a strip."""
        number = self.fresh("count")
        arguments = [ir.ID(number), *map(ir.ID, buffers), *(node for node, _ in ending.same)]
        body, name = call(function.name, arguments), f"{ending.whole.name}{IN_LANES}"
        made = self.with_place(ending.whole, name, body, number, {id(one) for one in walk(body)})
        self.calls[made.name] = ending.whole.name
        return made

    def fresh(self, wish: str) -> str:
        name = next(one for one in chain((wish,), (f"{wish}_{k}" for k in count(2))) if one not in self.taken)
        self.taken.add(name)
        return name

    # --- loops --------------------------------------------------------------------------------------------------------

    def in_strips(self, ending: Ending, loop: For) -> For:
        strip, made = self.strips[ending.whole.name], self.made[ending.whole.name]
        first, at = Name(strip), subtract(Name(loop.iterator), Name(strip))
        last = _least(loop.upper, plus(first, ITEMS - 1))
        known = {base: name for name, base in self.parts.items()}
        names = {one.name for one in made}

        def slotted(one: Call) -> Call:
            new = known.get(one.statement, "")
            return Call(new, (*one.args, at)) if new in names else one

        position = next(k for k, one in enumerate(ending.calls) if one.statement == ending.whole.name)
        middle = ending.calls[position]
        loads = [Call(one.name, (*middle.args, at)) for one in made if one.name in self.loads]
        before = [*map(slotted, ending.calls[:position]), *loads]
        after = [*map(slotted, ending.calls[position + 1 :])]
        private = tuple(name for name in loop.mark.private if name not in {one for one, _ in ending.variables})
        length = plus(subtract(last, first), 1) if not isinstance(last, Min) else _length(last, first)
        args = (*(first if k == ending.position else one for k, one in enumerate(middle.args)), length)
        run: list[Item] = [self.inner(loop, first, last, before, private)] if before else []
        run.append(Call(f"{ending.whole.name}{IN_LANES}", args))
        run += [self.inner(loop, first, last, after, private)] if after else []
        own = tuple(name for name in self.arrays if name in {*_buffers(made, self.arrays)})
        shared = (*private, *own) if loop.mark.parallel else own
        mark = replace(loop.mark, ended=True, private=shared)
        return For(strip, loop.lower, loop.upper, ITEMS, Block(tuple(run)), mark, loop.work)

    def inner(self, loop: For, first: Expr, last: Expr, calls: Sequence[Call], private: Sequence[str]) -> For:
        used = {access.array for one in calls for access in self.statement(one.statement).accesses}
        own = tuple(name for name in private if name in used)
        return For(loop.iterator, first, last, 1, Block(tuple(calls)), LoopMark(simd=True, private=own))


def _buffers(made: Sequence[Statement], arrays: Mapping[str, Array]) -> Iterator[str]:
    for one in made:
        yield from (node.name for node in walk(one.body) if isinstance(node, ir.ID) and node.name in arrays)


def _least(upper: Expr, limit: Expr) -> Expr:
    return Min((*upper.args, limit)) if isinstance(upper, Min) else Min((upper, limit))


def _length(last: Min, first: Expr) -> Expr:
    """How many there are from the first to the last one."""
    return Min(tuple(plus(weighted([(1, one), (-1, first)]), 1) for one in last.args))
