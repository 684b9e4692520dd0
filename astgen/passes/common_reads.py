"""What all iterations of a vector loop read of arrays that nothing in the region writes, in a local variable: members
of structures, cells of tables whose places aren't linear (`w[k * j % n]`), and what strips of rows read besides their
buffers.

Compilers don't know that stores leave it as it is; and where only a condition lets it be read, gcc makes no vectors of
a member at all (measured for lights with members: a twentieth of the speed).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.held import MOST_SPREAD
from scopt.astgen.passes.loop_runs import runs
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Const, For, Hold, If, Loaded, LoopNest
from scopt.ir.nest_walks import Item, items
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Array, CType, Scop, Statement
from scopt.ir.walks import used_names as names_in, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import OUT
from scopt.poly.nest_sets import Context, NestSpace
from scopt.poly.sure_cells import is_in_its_array, surely_touched

_BITS = (8, 16, 32, 64)


def with_common_reads(source: Scop, scop: Scop, originals: Mapping[str, str], nest: LoopNest) -> LoopNest:
    """The same nest, with variables for such cells. source: the SCoP as it was scheduled; originals: by statement that
    stands for one of its, that one's name."""
    taken = names_in_use(scop, nest)
    space = NestSpace.of(scop, nest)
    return LoopNest(_Reads(source, scop, originals, space, taken).block(nest.body, space.outside()))


def read_only(source: Scop) -> frozenset[str]:
    """The arrays of numbers that no statement of a SCoP writes."""
    written = {access.array for one in source.statements for access in one.accesses if access.is_write}
    return frozenset(name for name, array in source.arrays.items() if name not in written and _is_number(array.type))


def _is_number(ctype: CType) -> bool:
    plain = (ctype.integer or ctype.floating) and not (ctype.volatile or ctype.atomic)
    return plain and (ctype.floating or ctype.bits in _BITS)


def surely_there(source: Scop, statement: Statement, access: Access) -> bool:
    """Whether the cells of a reference may be read at any time: they are touched whatever conditions say, or other
    members of the same structures are, or their array is an object that has them."""
    if surely_touched(source, statement, access) or is_in_its_array(source, statement, access):
        return True
    record = _record(source.arrays[access.array])
    if not record or not isinstance(access.node, ir.StructRef):
        return False
    beside = (name for name, array in source.arrays.items() if name != access.array and _record(array) == record)
    return any(
        surely_touched(
            source, statement, replace(access, array=name, relation=access.relation.set_tuple_name(OUT, name))
        )
        for name in beside
    )


def _record(array: Array) -> str:
    """The structures that a member, ``light[].x``, lies in, by their spelling; empty for other arrays."""
    record, _, name = array.spelling.rpartition(".")
    return record if array.within and "[" not in name else ""


class InVectorLoops(Struct, frozen=True, eq=False):
    """A walk to the plain vector loops of a nest, in front of which variables may stand."""

    source: Scop
    scop: Scop
    originals: Mapping[str, str]
    space: NestSpace
    taken: frozenset[str]

    def loop(self, loop: For, context: Context) -> Item:
        """What becomes of such a loop."""
        raise NotImplementedError

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case For(mark=mark) if mark.simd and not any(isinstance(one, For) for one in items(item.body)):
                return self.loop(item, context) if self.may_hold(item) else item
            case For(body=Block((For() as one,))) if item.mark.collapse > 1:  # nothing may stand between these
                inside = self.space.inside(one, self.space.inside(item, context))
                return replace(item, body=Block((replace(one, body=self.block(one.body, inside)),)))
            case For():
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case Hold():
                return replace(item, body=self.block(item.body, context))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def may_hold(self, loop: For) -> bool:
        """Whether it is a plain loop over statements, which no search asks about beforehand."""
        mark = loop.mark
        plain = not (mark.parallel or mark.searched or mark.jammed or mark.reductions)
        return plain and all(isinstance(one, Call) for one in loop.body.items)


class _Reads(InVectorLoops, frozen=True, eq=False):
    def loop(self, loop: For, context: Context) -> Item:
        inner = self.space.inside(loop, context)
        if not runs(loop, context, inner):
            return loop  # nobody knows whether the cells are there
        found: dict[tuple[object, ...], Loaded] = {}
        made: list[Call] = []
        for call in loop.body.items:
            assert isinstance(call, Call)
            chosen = list(call.chosen)
            for reference, access in self.references(call, loop):
                statement = self.scop.statement(call.statement)
                used = set(names_in(reference))
                args = tuple(
                    value if name in used else Const(0)
                    for name, value in zip(statement.iterators, call.args, strict=True)
                )
                values = zip(statement.iterators, args, strict=True)
                key = (access.array, str(CPrinter().visit(reference)), *((k, v) for k, v in values if k in used))
                if key not in found:
                    name = self.fresh(access.array, {one.name for one in found.values()})
                    ctype = self.source.arrays[access.array].type.spelling
                    found[key] = Loaded(name, ctype, call.statement, reference, args)
                chosen.append((reference, found[key].name))
            made.append(replace(call, chosen=tuple(chosen)))
        if not found or len(found) > MOST_SPREAD:
            return loop
        return Hold((), Block((replace(loop, body=Block(tuple(made))),)), loads=tuple(found.values()))

    def references(self, call: Call, loop: For) -> Iterator[tuple[ir.Node, Access]]:
        """The references of a call that a loop leaves where they are, to cells that are surely there."""
        name = self.originals.get(call.statement, call.statement)
        original = next((one for one in self.source.statements if one.name == name), None)
        if original is None:
            return
        statement = self.scop.statement(call.statement)
        body, kept = set(walk(statement.body)), read_only(self.source)
        values = dict(zip(statement.iterators, call.args, strict=True))
        taken = {statement.accesses[position].node for position, _ in call.held}
        for node, access in reads_of(original, kept).items():
            moved = {one for name in names_in(node) for one in names(values.get(name, Const(0)))}
            # other cells of arrays are held (`scopt.astgen.passes.held`), where it is known which ones they are
            own = isinstance(node, ir.StructRef) or not statement.accesses or not access.relation.is_single_valued()
            if node not in body or node in taken or loop.iterator in moved or not own:
                continue
            if is_plain(self.source, original, node) and (
                always_evaluated(statement.body, node) or surely_there(self.source, original, access)
            ):
                yield node, access

    def fresh(self, array: str, used: set[str]) -> str:
        """A name that nothing else has: the array's, and a number."""
        base = re.sub(r"\W+", "_", self.source.arrays[array].spelling.replace("[]", "")).strip("_")
        return next(name for k in count() if (name := f"{base}_{k}") not in self.taken | used)


def reads_of(statement: Statement, arrays: frozenset[str]) -> dict[ir.Node, Access]:
    """The references of a statement that do nothing but read a cell of some arrays."""
    found: dict[ir.Node, list[Access]] = {}
    for access in statement.accesses:
        if access.node is not None:
            found.setdefault(access.node, []).append(access)
    return {
        node: own[0]
        for node, own in found.items()
        if len(own) == 1 and own[0].kind == "read" and own[0].array in arrays
    }


def is_plain(source: Scop, statement: Statement, reference: ir.Node, variables: Collection[str] = ()) -> bool:
    """Whether a reference is made of an array, members, and subscripts over iterators, parameters, and variables."""
    known = {*statement.iterators, *(p.spelling for p in source.parameters), *variables}
    node = reference
    while isinstance(node, ir.ArrayRef | ir.StructRef):
        inside = walk(node.subscript) if isinstance(node, ir.ArrayRef) else ()
        for one in inside:
            if not isinstance(one, ir.ID | ir.Constant | ir.BinaryOp) or (
                isinstance(one, ir.ID) and one.name not in known
            ):
                return False
        if isinstance(node, ir.StructRef) and node.type != ".":
            return False
        node = node.name
    return isinstance(node, ir.ID) and node is not reference and node.name not in known
