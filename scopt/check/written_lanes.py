"""Whether the text of statements in which sums of loops are in lanes, parsed again, says what these statements say.

Where a loop has become a block, that has arrays which begin with the values of sums, the loop, and assignments that
give the sums what the arrays hold. With the sums in the place of the arrays' cells, and lane after lane of the short
loops, the body is the one that was there, subscripts' constants added up. Lanes may run in any order: each adds to sums
of its own, which nothing else in the loop names and no pointer leads to, and has no other effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from scopt import ir
from scopt.diagnostics import InternalError
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.walks import changed, mapped, replaced, same_node, same_tree, walk

_VECTOR = "omp simd"
Scopes = Mapping[ir.Node, Mapping[str, Symbol]]


def check_written_lanes(items: Iterable[Any], text: str, scopes: Scopes, typedefs: Collection[str]) -> None:
    """Raise InternalError if it isn't that. scopes: what names mean where each loop stands that may have become one of
    lanes."""
    types = "".join(f"typedef int {name};\n" for name in sorted(typedefs))
    try:
        (block,) = parse_c(f"{types}void region(void)\n{{\n{text}}}\n").ext[-1].body.block_items or [None]
    except (CSyntaxError, ValueError) as error:
        raise InternalError(f"sums in lanes: {error}") from error
    items = list(items)
    if len(items) == 1 and items[0] in scopes:
        _check(items[0], block, scopes)
        return
    if not isinstance(block, ir.Compound) or len(block.block_items or ()) != len(items):
        raise InternalError("sums in lanes: other statements")
    for item, made in zip(items, block.block_items, strict=True):
        _check(item, made, scopes)


def _check(old: Any, new: Any, scopes: Scopes) -> None:
    """Whether a node says what the one in its place said."""
    if old in scopes and isinstance(new, ir.Compound):
        _check_loop(old, new, scopes[old])
        return
    parts, others = [*old.parts], [*new.parts]
    if not same_node(old, new) or len(parts) != len(others):
        raise InternalError("sums in lanes: something else has become other text")
    for one, other in zip(parts, others, strict=True):
        _check(one, other, scopes)


def _check_loop(old: Any, block: ir.Compound, scope: Mapping[str, Symbol]) -> None:
    arrays: dict[str, list[Any]] = {}
    items = list(block.block_items or ())
    while items and isinstance(items[0], ir.Decl):
        declared = items.pop(0)
        arrays[declared.name] = _begun(declared, scope)
    new = items.pop(0) if items else None
    behind = [(one, name, k) for name, sums in arrays.items() for k, one in enumerate(sums)]
    if len(items) != len(behind) or not all(map(_gives_back, items, behind)):
        raise InternalError("sums in lanes: sums don't get what was added to them")
    used = {node.name for node in walk(old) if isinstance(node, ir.ID | ir.Decl)}
    if new is None or type(new) is not type(old) or not isinstance(new.stmt, ir.Compound) or used & arrays.keys():
        raise InternalError("sums in lanes: another loop")
    body = [one for item in _lane_after_lane(new.stmt.block_items or (), arrays, used) for one in item]
    written = _summed(changed(new, stmt=changed(new.stmt, block_items=body)))
    if not same_tree(written, _summed(old)):
        raise InternalError("sums in lanes: a lane does something else than the loop")
    _check_alone(old, [one for sums in arrays.values() for one in sums])


def _begun(declared: ir.Decl, scope: Mapping[str, Symbol]) -> list[Any]:
    """The sums whose values an array begins with. Raises InternalError."""
    kind, values = declared.type, declared.init
    if not isinstance(kind, ir.ArrayDecl) or not isinstance(values, ir.InitList) or declared.storage:
        raise InternalError("sums in lanes: a variable that is no array of sums")
    sums, spelling = list(values.exprs), " ".join(kind.type.type.names)
    if constant_value(kind.dim, scope) != len(sums):
        raise InternalError("sums in lanes: an array of another size")
    for one in sums:
        symbol = scope.get(_name(one))
        own = symbol is not None and symbol.kind in ("local", "parameter") and not symbol.static
        if symbol is None or not own or symbol.pointer or symbol.address_taken or symbol.type.volatile:
            raise InternalError("sums in lanes: a sum that others may lead to")
        if symbol.type.spelling != spelling or not symbol.type.floating or symbol.type.atomic:
            raise InternalError("sums in lanes: sums of another type")
        if len(symbol.dims) != isinstance(one, ir.ArrayRef) or (symbol.dims and _terms(one.subscript)[0]):
            raise InternalError("sums in lanes: a sum that is no number")
    return sums


def _name(cell: Any) -> str:
    """The variable of a sum that is one, or an array's cell. Raises InternalError."""
    match cell:
        case ir.ID(name=name) | ir.ArrayRef(name=ir.ID(name=name)):
            return str(name)
    raise InternalError("sums in lanes: a sum of another form")


def _gives_back(item: Any, wanted: tuple[Any, str, int]) -> bool:
    cell, name, k = wanted
    match item:
        case ir.Assignment(
            op="=", lvalue=target, rvalue=ir.ArrayRef(name=ir.ID(name=own), subscript=ir.Constant(value=place))
        ):
            return same_tree(target, cell) and own == name and place == str(k)
    return False


def _lane_after_lane(
    items: Iterable[Any], arrays: Mapping[str, list[Any]], used: Collection[str]
) -> Iterable[list[Any]]:
    """The statements of a body, those of vector loops once for each lane. Raises InternalError."""
    items, seen = list(items), set[str]()
    while items:
        item = items.pop(0)
        if not isinstance(item, ir.Pragma) or item.string != _VECTOR:
            yield [item]
            continue
        loop = items.pop(0) if items else None
        name, number = _counted(loop)
        if name in used or name in arrays:
            raise InternalError("sums in lanes: a lane's number has the name of something else")
        body = loop.stmt.block_items if isinstance(loop.stmt, ir.Compound) else [loop.stmt]
        for statement in body:
            seen.add(_own_sum(statement, name, number, arrays, seen))
        for lane in range(number):
            yield [_in_lane(statement, name, lane, arrays) for statement in body]
    if seen != set(arrays):
        raise InternalError("sums in lanes: an array that no lane adds to")


def _counted(loop: Any) -> tuple[str, int]:
    match loop:
        case ir.For(
            init=ir.DeclList(decls=[ir.Decl(name=name, type=ir.TypeDecl(type=kind), init=ir.Constant(value="0"))]),
            cond=ir.BinaryOp(op="<", left=ir.ID(name=asked), right=ir.Constant(type="int", value=number)),
            next=ir.UnaryOp(op="p++", expr=ir.ID(name=stepped)),
        ) if name == asked == stepped and list(kind.names) == ["int"]:
            return str(name), int(number)
    raise InternalError("sums in lanes: a vector loop of another form")


def _own_sum(statement: Any, lane: str, number: int, arrays: Mapping[str, list[Any]], seen: Collection[str]) -> str:
    """The array whose cells a statement adds to, lane by lane, which has no other effect. Raises InternalError."""
    match statement:
        case ir.Assignment(
            op="+=" | "-=",
            lvalue=ir.ArrayRef(name=ir.ID(name=array), subscript=ir.ID(name=own)),
            rvalue=value,
        ) if own == lane and array in arrays and array not in seen and len(arrays[array]) == number:
            done = effects(value)
            if not (done.changed or done.called or done.opaque or done.taken):
                return str(array)
    raise InternalError("sums in lanes: a lane that does something else than adding")


def _in_lane(statement: Any, name: str, lane: int, arrays: Mapping[str, list[Any]]) -> Any:
    """A statement with a number in the lane's place, and sums in that of arrays' cells."""

    def change(node: Any) -> Any:
        return ir.Constant("int", str(lane)) if isinstance(node, ir.ID) and node.name == name else node

    made = replaced(statement, change)
    return changed(made, lvalue=arrays[made.lvalue.name.name][lane])


def _summed(node: Any) -> Any:
    """A tree with constants added up in subscripts, and ``s += x`` for ``s = s + x``."""
    made = mapped(node, _summed)
    match made:
        case ir.ArrayRef():
            terms, constant = _terms(made.subscript)
            return changed(made, subscript=ir.ExprList([*terms, ir.Constant("int", str(constant))]))
        case ir.Assignment(op="=", rvalue=ir.BinaryOp(op="+" | "-" as op, left=left)) if same_tree(made.lvalue, left):
            return changed(made, op=f"{op}=", rvalue=made.rvalue.right)
    return made


def _terms(node: Any) -> tuple[list[Any], int]:
    """A sum as an expression, if there is one, and a constant that is added to it."""
    match node:
        case ir.Constant(type="int", value=value) if value.isdecimal() and (value == "0" or value[0] != "0"):
            return [], int(value)
        case ir.UnaryOp(op="-", expr=ir.Constant()) if not (inner := _terms(node.expr))[0]:
            return [], -inner[1]
        case ir.BinaryOp(op="+", left=left, right=right):
            (terms, first), (others, second) = _terms(left), _terms(right)
            if not (terms and others):
                return terms or others, first + second
        case ir.BinaryOp(op="-", left=left, right=right) if not (inner := _terms(right))[0]:
            terms, first = _terms(left)
            return terms, first - inner[1]
    return [node], 0


def _check_alone(loop: Any, sums: list[Any]) -> None:
    """Whether a loop names sums where it adds to them alone, and adds to each once. Raises InternalError."""
    plain, sums = _summed(loop), [_summed(one) for one in sums]
    names = {_name(one) for one in sums}
    added = [node.lvalue for node in walk(plain) if isinstance(node, ir.Assignment) and node.op in ("+=", "-=")]
    times = [sum(same_tree(one, cell) for one in added) for cell in sums]
    named = sum(isinstance(node, ir.ID) and node.name in names for node in walk(plain))
    hidden = any(isinstance(node, ir.Decl) and node.name in names for node in walk(plain))
    jumps = any(isinstance(node, ir.Break | ir.Continue | ir.Goto | ir.Return | ir.Label) for node in walk(plain))
    if times != [1] * len(sums) or named != len(sums) or hidden or jumps:
        raise InternalError("sums in lanes: sums that the loop uses for something else")
