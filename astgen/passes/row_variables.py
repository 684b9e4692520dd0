"""Rows that stay the same in an innermost loop, in variables.

Pointers to rows that a loop follows which writes characters: ``uint8_t *out_row = out[r]; for x: out_row[x] =
in_row[x];``. A store of a character may change a pointer as far as compilers know, who read it again in each iteration
then, and make no vectors of the loop. The region writes none (`scopt.frontend.model.row_pointers`).

Rows of tables of narrow cells that variables pick, and data look up in: ``const int8_t *cost_row = cost[row]; for x: s
+= cost_row[a[x]];``. Otherwise each lookup adds up a place in the table (measured: gcc takes 1.4 times the
time).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.common_reads import InVectorLoops, is_plain
from scopt.astgen.passes.held import MOST_SPREAD
from scopt.astgen.passes.loop_runs import runs, some_iteration
from scopt.ir.ctypes import CHARACTER
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Const, For, Hold, If, Loaded, LoopNest
from scopt.ir.nest_walks import Item
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import used_names as names_in, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.lookups import is_narrow_lookup
from scopt.poly.nest_sets import Context, NestSpace
from scopt.poly.sure_cells import surely_touched


def with_row_variables(source: Scop, scop: Scop, originals: Mapping[str, str], nest: LoopNest) -> LoopNest:
    """The same nest, with such variables. The rest is as for `scopt.astgen.passes.common_reads.with_common_reads`."""
    if not any(one.rank > 1 for one in source.arrays.values()):
        return nest
    taken = names_in_use(scop, nest)
    space = NestSpace.of(scop, nest)
    return LoopNest(_Rows(source, scop, originals, space, taken).block(nest.body, space.outside()))


def has_row_pointers(array: Array) -> bool:
    """Whether C reaches each row through a pointer of its own."""
    return array.rows and array.starts is None and not array.flat


def row_type(source: Scop, array: Array) -> str:
    """The type of a variable for a pointer to a row."""
    accesses = (access for one in source.statements for access in one.accesses if access.array == array.name)
    written = any(access.is_write for access in accesses)
    return f"{'' if written else 'const '}{array.type.spelling} *"


def rows_of(source: Scop, statement: Statement) -> Iterator[tuple[ir.Node, Access]]:
    """The rows that a statement's references are in, made of iterators, parameters and variables, with the references:
    those that pointers lead to, and those of tables that variables pick."""
    seen: set[ir.Node] = set()
    variables = variables_of(source, statement)
    for access in statement.accesses:
        node, array = access.node, source.arrays[access.array]
        if not isinstance(node, ir.ArrayRef) or not isinstance(node.name, ir.ArrayRef) or node in seen or array.flat:
            continue
        seen.add(node)
        picked = not variables.isdisjoint(names_in(node.name)) and is_narrow_lookup(source, statement, access)
        if (has_row_pointers(array) or picked) and is_plain(source, statement, node.name, variables):
            yield node.name, access


def variables_of(scop: Scop, statement: Statement) -> frozenset[str]:
    """The integer variables that a statement reads."""
    arrays = {scop.arrays[access.array] for access in statement.accesses if access.kind == "read"}
    return frozenset(one.spelling for one in arrays if not one.rank and one.type.integer)


def written_variables(scop: Scop, calls: Iterable[Call]) -> frozenset[str]:
    """The variables that some calls write."""
    accesses = (access for call in calls for access in scop.statement(call.statement).accesses if access.is_write)
    return frozenset(scop.arrays[access.array].spelling for access in accesses if not scop.arrays[access.array].rank)


def is_row_there(source: Scop, statement: Statement, body: ir.Node, access: Access) -> bool:
    """Whether the row of a reference is there wherever the statement runs, and a pointer to it. body: the statement's,
    as it is printed."""
    assert access.node is not None
    return always_evaluated(body, access.node) or surely_touched(source, statement, access)


class _Rows(InVectorLoops, frozen=True, eq=False):
    def may_hold(self, loop: For) -> bool:
        mark = loop.mark
        return not (mark.parallel or mark.searched or mark.jammed)

    def item(self, item: Item, context: Context) -> Item:
        if isinstance(item, For) and all(isinstance(one, Call) for one in item.body.items):
            return self.loop(item, context) if self.may_hold(item) else item
        return super().item(item, context)

    def loop(self, loop: For, context: Context) -> Item:
        calls = [one for one in loop.body.items if isinstance(one, Call)]
        characters = any(map(self.writes_characters, calls))
        changing = written_variables(self.scop, calls)
        found: dict[tuple[object, ...], Loaded] = {}
        sure: set[tuple[object, ...]] = set()
        uses: list[list[tuple[ir.Node, tuple[object, ...]]]] = []
        for call in calls:
            uses.append([])
            for row, access, original in self.rows(call, loop, changing):
                if not characters and has_row_pointers(self.source.arrays[access.array]):
                    continue
                load = self.load(call, row, self.source.arrays[access.array], found)
                key = access.array, str(CPrinter().visit(row)), load.args
                found.setdefault(key, load)
                uses[-1].append((row, key))
                if is_row_there(self.source, original, self.scop.statement(call.statement).body, access):
                    sure.add(key)
        if not sure or len(sure) > MOST_SPREAD:
            return loop
        made = tuple(
            replace(call, chosen=(*call.chosen, *((row, found[key].name) for row, key in own if key in sure)))
            for call, own in zip(calls, uses, strict=True)
        )
        loads = tuple(load for key, load in found.items() if key in sure)
        held = Hold((), Block((replace(loop, body=Block(made)),)), loads=loads)
        if runs(loop, context, self.space.inside(loop, context)):
            return held
        return If(some_iteration(self.space, loop, context), Block((held,)))

    def writes_characters(self, call: Call) -> bool:
        arrays = self.scop.arrays
        return any(
            one.is_write and arrays[one.array].rank and arrays[one.array].type.bits == CHARACTER
            for one in self.scop.statement(call.statement).accesses
        )

    def rows(self, call: Call, loop: For, changing: Collection[str]) -> Iterator[tuple[ir.Node, Access, Statement]]:
        """The rows of a call that a loop leaves as they are, with the references, and the statement that the call
        stands for. changing: variables that the loop writes."""
        name = self.originals.get(call.statement, call.statement)
        original = next((one for one in self.source.statements if one.name == name), None)
        if original is None:
            return
        statement = self.scop.statement(call.statement)
        body, values = set(walk(statement.body)), dict(zip(statement.iterators, call.args, strict=True))
        replaced = {statement.accesses[position].node for position, _ in call.held} | {part for part, _ in call.chosen}
        for row, access in rows_of(self.source, original):
            used = set(names_in(row))
            moved = {one for name in used for one in names(values.get(name, Const(0)))}
            same = loop.iterator not in moved and used.isdisjoint(changing)
            if row in body and same and access.node not in replaced and replaced.isdisjoint(walk(row)):
                yield row, access, original

    def load(self, call: Call, row: ir.Node, array: Array, found: Mapping[tuple[object, ...], Loaded]) -> Loaded:
        """A new variable for a pointer."""
        iterators, used = self.scop.statement(call.statement).iterators, set(names_in(row))
        args = tuple(value if name in used else Const(0) for name, value in zip(iterators, call.args, strict=True))
        taken = self.taken | {one.name for one in found.values()}
        wish = f"{array.spelling}_row"
        name = next(one for k in count(1) if (one := wish if k == 1 else f"{wish}_{k}") not in taken)
        return Loaded(name, row_type(self.source, array), call.statement, row, args)
