"""Values that choose, and that a vector loop leaves as they are, stand in front of it: ``double h = k > 0 ? 0.5 *
(z[k - 1] + z[k]) : 1; for i: a[i] = b[i] / h;``.

The front end takes what an iteration computes for all that the loop around does, too. What a condition lets through is
read only where it holds, so that nothing but the value as a whole may be computed beforehand; gcc makes no vectors of a
loop that would have to read one and the same cell with masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.common_reads import InVectorLoops, is_plain, read_only, reads_of, with_common_reads
from scopt.astgen.passes.held import MOST_SPREAD
from scopt.astgen.passes.loop_runs import runs, some_iteration
from scopt.ir.chosen_values import element_type
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Const, For, Hold, If, Loaded, LoopNest
from scopt.ir.nest_walks import Item
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.walks import used_names as names_in, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.nest_sets import Context, NestSpace

_NAME = "value"
_COMPUTED = ("+", "-", "*", "/")
_FLOATING = ("float", "double")
_PURE = (ir.BinaryOp, ir.TernaryOp, ir.Constant, ir.ID, ir.ArrayRef, ir.StructRef)


def with_common_values(source: Scop, scop: Scop, originals: Mapping[str, str], nest: LoopNest) -> LoopNest:
    """The same nest, with variables for such values, and for what all iterations only read.

    source: the SCoP as it was scheduled; originals: by statement that stands for one of its, that one's name."""
    nest = with_common_reads(source, scop, originals, nest)
    if not any(_chooses(one.body) for one in source.statements):
        return nest
    taken = names_in_use(scop, nest)
    space = NestSpace.of(scop, nest)
    return LoopNest(_Values(source, scop, originals, space, taken).block(nest.body, space.outside()))


class _Values(InVectorLoops, frozen=True, eq=False):
    def loop(self, loop: For, context: Context) -> Item:
        found: dict[tuple[object, ...], Loaded] = {}
        made: list[Call] = []
        for call in loop.body.items:
            assert isinstance(call, Call)
            statement = self.scop.statement(call.statement)
            values = dict(zip(statement.iterators, call.args, strict=True))
            chosen = list(call.chosen)
            for value, ctype in self.values(call, statement):
                used = set(names_in(value))
                args = tuple(values[name] if name in used else Const(0) for name in statement.iterators)
                if any(loop.iterator in names(one) for one in args):
                    continue
                key = (ctype, str(CPrinter().visit(value)), statement.iterators, args)
                if key not in found:
                    name = self.fresh({one.name for one in found.values()})
                    found[key] = Loaded(name, ctype, call.statement, value, args)
                chosen.append((value, found[key].name))
            made.append(replace(call, chosen=tuple(chosen)))
        if not found or len(found) > MOST_SPREAD:
            return loop
        held = Hold((), Block((replace(loop, body=Block(tuple(made))),)), loads=tuple(found.values()))
        if runs(loop, context, self.space.inside(loop, context)):
            return held
        return If(some_iteration(self.space, loop, context), Block((held,)))

    def values(self, call: Call, statement: Statement) -> Iterator[tuple[ir.Node, str]]:
        """The values that choose, each as large as it can be, and their types."""
        name = self.originals.get(call.statement, call.statement)
        original = next((one for one in self.source.statements if one.name == name), None)
        if original is None or not _chooses(statement.body):
            return
        done = {part for part, _ in call.chosen}

        def below(node: ir.Node) -> Iterator[tuple[ir.Node, str]]:
            if node in done or not _chooses(node):
                return
            ctype = value_type(self.source, original, statement.body, node)
            if ctype is not None:
                yield node, ctype
                return
            for part in node.parts:
                yield from below(part)

        yield from below(statement.body)

    def fresh(self, used: set[str]) -> str:
        return next(name for k in count() if (name := f"{_NAME}_{k}") not in self.taken | used)


def value_type(source: Scop, original: Statement, body: ir.Node, value: ir.Node) -> str | None:
    """The type of a variable that may have a part of a statement's body for a value: one that is computed whenever the
    statement runs, of iterators, parameters, and what the region only reads. None where that isn't so, or where the
    type isn't known."""
    if not always_evaluated(body, value) or not _is_pure(source, original, value):
        return None
    match body:
        case ir.Assignment(op="=", lvalue=target, rvalue=assigned) if assigned is value:
            ctype = _element(source, target)
            return None if ctype is None else ctype.spelling
    return _floating(source, value)


def _element(source: Scop, reference: ir.Node) -> CType | None:
    """The type of a variable, or of an array's element, if it is a plain number's."""
    arrays = source.arrays.values()
    spelling = element_type(arrays, reference)
    found = next((one.type for one in arrays if one.type.spelling == spelling), None)
    if found is None or found.volatile or found.atomic or not (found.floating or found.integer):
        return None
    return found


def _chooses(node: ir.Node) -> bool:
    return any(isinstance(one, ir.TernaryOp) for one in walk(node))


def _is_pure(source: Scop, original: Statement, value: ir.Node) -> bool:
    """Whether a value is made of constants, iterators, parameters, and cells that nothing in the region writes."""
    reads = reads_of(original, read_only(source))
    known = {*original.iterators, *(p.spelling for p in source.parameters)}

    def pure(node: ir.Node) -> bool:
        match node:
            case ir.ArrayRef() | ir.StructRef():
                return any(node is one for one in reads) and is_plain(source, original, node)
            case ir.ID(name=name):
                return name in known or any(node is one for one in reads)
            case ir.UnaryOp(op="-" | "+" | "!" | "~"):
                return pure(node.expr)
        return isinstance(node, _PURE) and all(map(pure, node.parts))

    return pure(value)


def _floating(source: Scop, value: ir.Node) -> str | None:
    """The type of a value that is a floating-point number of float or double; None of others."""

    def of(node: ir.Node) -> str | None:
        """Also "int", for all integers."""
        match node:
            case ir.Constant(type=ctype):
                return ctype if ctype in _FLOATING else "int" if "int" in ctype else None
            case ir.UnaryOp(op="-" | "+"):
                return of(node.expr)
            case ir.BinaryOp(op=op) if op in _COMPUTED:
                return wider(of(node.left), of(node.right))
            case ir.TernaryOp():
                return wider(of(node.iftrue), of(node.iffalse))
            case ir.ID(name=name) if any(p.spelling == name for p in source.parameters):
                return "int"
        ctype = _element(source, node)
        if ctype is None or (ctype.floating and ctype.spelling not in _FLOATING):
            return None
        return ctype.spelling if ctype.floating else "int"

    def wider(one: str | None, other: str | None) -> str | None:
        if one is None or other is None:
            return None
        return max(one, other, key=("int", *_FLOATING).index)

    found = of(value)
    return found if found in _FLOATING else None
