"""Small sums inside of statements that are executed as a whole, which gcc would write out: a difference of two rows of
a block, added up in a loop that ends once the sum is too large.

Of the loop around, whose end data decide about, no compiler makes vectors, so that nothing is left but scalars where
gcc has written the iterations of the small one out (measured for differences of 16 bytes: seven times as long).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scopt import ir
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import walk

# Iterations that fill whole vectors, at least one of eight ints, and that gcc writes out.
_WHOLE = (8, 16)
_BITS = 32
_LOOPS = (ir.For, ir.While, ir.DoWhile)
# Names of types of 32 bits, for variables of the statement's own.
_WORDS = (["int"], ["unsigned"], ["unsigned", "int"], ["int32_t"], ["uint32_t"])
_CALLED = frozenset({"abs", "__builtin_abs"})


def kept_inside(scop: Scop, statement: Statement) -> frozenset[ir.Node]:
    """The loops of a statement that gcc is to keep."""
    if isinstance(statement.body, ir.Assignment):
        return frozenset()
    small = [(loop, iterator) for loop in _in_endless(statement.body, inside=False) if (iterator := _small(loop))]
    if not small:
        return frozenset()
    arrays = {array.spelling: array for array in scop.arrays.values()}
    inner = frozenset(
        node.name
        for node in walk(statement.body)
        if isinstance(node, ir.Decl) and isinstance(node.type, ir.TypeDecl) and _is_word(node.type)
    )
    return frozenset(loop for loop, iterator in small if _sums_up(loop.stmt, iterator, arrays, inner))


def _in_endless(node: ir.Node, *, inside: bool) -> Iterator[ir.For]:
    """Innermost loops right inside of one whose end data decide about."""
    if isinstance(node, ir.For) and inside and not any(isinstance(one, _LOOPS) for one in walk(node.stmt)):
        yield node
        return
    if isinstance(node, _LOOPS):
        inside = not isinstance(node, ir.For) or _ends_early(node.stmt)
    for child in node.parts:
        yield from _in_endless(child, inside=inside)


def _ends_early(node: ir.Node | None) -> bool:
    """Whether a loop's body leaves it."""
    if node is None or isinstance(node, (*_LOOPS, ir.Switch)):
        return False
    return isinstance(node, ir.Break) or any(map(_ends_early, node.parts))


def _small(loop: ir.For) -> str:
    """The iterator of a loop of so many iterations as gcc writes out, one after the other; empty for others."""
    match loop:
        case ir.For(init=ir.DeclList(decls=[ir.Decl(name=name)])) if iterations(loop) in _WHOLE:
            return str(name)
    return ""


def _sums_up(body: ir.Node, iterator: str, arrays: Mapping[str, Array], inner: frozenset[str]) -> bool:
    """Whether a body does nothing but add integers up, of cells that lie side by side, in variables of 32 bits."""
    block = list(body.block_items or ()) if isinstance(body, ir.Compound) else [body]
    items = [one for one in block if not isinstance(one, ir.EmptyStatement)]
    values = [one.init for one in items if isinstance(one, ir.Decl) and one.name in inner and one.init is not None]
    sums = [one for one in items if isinstance(one, ir.Assignment) and one.op in ("+=", "-=", "^=", "|=", "&=")]
    if not sums or len(values) + len(sums) != len(items):
        return False
    names = {one.lvalue.name for one in sums if isinstance(one.lvalue, ir.ID)}
    if len(names) != len(sums) or not all(name in inner or _is_plain(arrays.get(name)) for name in names):
        return False
    values += [one.rvalue for one in sums]
    nodes = [node for one in values for node in walk(one)]
    if any(isinstance(node, ir.ID) and node.name in names for node in nodes) or not all(map(_is_straight, nodes)):
        return False
    steps = [_step(node, iterator, arrays) for one in values for node in _references(one)]
    return 1 in steps and all(step in (0, 1) for step in steps)


def _is_straight(node: ir.Node) -> bool:
    """Whether a node of an expression is no branch and has no effect."""
    match node:
        case ir.FuncCall(name=ir.ID(name=name)):
            return name in _CALLED
        case ir.BinaryOp(op=op):
            return op not in ("&&", "||", "/", "%")
        case ir.UnaryOp(op=op):
            return op in ("-", "~", "!", "+")
    return isinstance(node, ir.ID | ir.Constant | ir.ArrayRef | ir.TernaryOp | ir.Cast | ir.ExprList) or _is_type(node)


def _is_type(node: ir.Node) -> bool:
    return isinstance(node, ir.Typename | ir.TypeDecl | ir.IdentifierType)


def _references(node: ir.Node) -> Iterator[ir.ArrayRef]:
    """The references to cells, not those to rows that these are parts of, and those of their subscripts."""
    if isinstance(node, ir.ArrayRef):
        yield node
        while isinstance(node, ir.ArrayRef):
            yield from _references(node.subscript)
            node = node.name
        return
    for child in node.parts:
        yield from _references(child)


def _step(node: ir.ArrayRef, iterator: str, arrays: Mapping[str, Array]) -> int | None:
    """By how many elements a reference to narrow integers moves on with a loop; None where it leaves the row, or nobody
    knows."""
    outer: ir.Node = node.name
    while isinstance(outer, ir.ArrayRef):
        if _moves(outer.subscript, iterator) != 0:
            return None
        outer = outer.name
    known = isinstance(outer, ir.ID) and _is_plain(arrays.get(outer.name), rank=True)
    return _moves(node.subscript, iterator) if known else None


def _moves(node: ir.Node, iterator: str) -> int | None:
    """How often an expression has an iterator as a term of its sum; None where it is elsewhere."""
    match node:
        case ir.ID(name=name):
            return int(name == iterator)
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            a, b = _moves(left, iterator), _moves(right, iterator)
            return None if a is None or b is None else a + b if op == "+" else a - b
        case ir.Cast(expr=inner):
            return _moves(inner, iterator)
    return None if any(isinstance(one, ir.ID) and one.name == iterator for one in walk(node)) else 0


def _is_plain(array: Array | None, *, rank: bool = False) -> bool:
    return array is not None and bool(array.rank) is rank and _is_narrow(array.type)


def _is_narrow(kind: CType) -> bool:
    return kind.integer and 0 < kind.bits <= _BITS and not (kind.volatile or kind.atomic)


def _is_word(declared: ir.TypeDecl) -> bool:
    plain = not declared.quals or set(declared.quals) <= {"const"}
    return plain and isinstance(declared.type, ir.IdentifierType) and list(declared.type.names) in _WORDS
