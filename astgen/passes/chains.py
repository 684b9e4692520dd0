"""Products that a loop adds one after the other, apart from the addition.

Each addition waits for the one before. As one instruction, multiply-add takes as long as a multiplication even for that
operand; an addition alone takes half of it or two thirds. clang makes one instruction of what one expression multiplies
and adds, unless a function stands in between. (gcc decides by itself, and sees through the function.)
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import PRODUCTS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Const, For, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import CType, Scop, Statement
from scopt.poly.linear import subscript_rows

# Iterations of a loop that gcc unrolls to the last one (its `max-completely-peel-times`).
_UNROLLED = 16


def with_products_apart(scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest where loops that aren't vector loops, and only accumulate products, call a function for them, and the
    SCoP with these statements."""
    rewriter = _Rewriter(scop)
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


class _Rewriter(Struct, frozen=True, eq=False):
    """made: new statements, by the old ones' names."""

    scop: Scop
    made: dict[str, Statement] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(body=Block((Call() as only,))) if not (item.mark.parallel or item.mark.simd or item.mark.jammed):
                statement = self.scop.statement(only.statement)
                if only.statement not in self.made:
                    ctype = accumulated(self.scop, statement)
                    if ctype is None:
                        return (item,)
                    self.made[only.statement] = self.apart(statement, ctype)
                if not stays(statement, only, item.iterator) or is_unrolled(self.scop, statement, item):
                    return (item,)
                return (replace(item, body=Block((replace(only, statement=self.made[only.statement].name),))),)
        return (item,)

    def apart(self, statement: Statement, ctype: CType) -> Statement:
        body = statement.body
        product = call(helper_name(PRODUCTS[ctype.spelling], self.scop.reserved), [body.rvalue])
        return replace(statement, name=f"{statement.name}_apart", body=ir.Assignment(body.op, body.lvalue, product))


def is_unrolled(scop: Scop, statement: Statement, loop: For) -> bool:
    """Whether compilers unroll a loop that writes an array of the region's own, whose cells are registers then."""
    match loop:
        case For(lower=Const(first), upper=Const(last)) if last - first < _UNROLLED:
            writes = [scop.arrays[access.array] for access in statement.accesses if access.is_write]
            return all(one.in_source and one.private for one in writes)
    return False


def stays(statement: Statement, call: Call, iterator: str) -> bool:
    """Whether a statement that writes one cell writes the same one in all iterations of a loop."""
    (write,) = (access for access in statement.accesses if access.is_write)
    rows = subscript_rows(write.relation)
    moved = [k for k, argument in enumerate(call.args) if iterator in names(argument)]
    return rows is not None and not any(row[k] for row in rows for k in moved)


def accumulated(scop: Scop, statement: Statement) -> CType | None:
    """The type of ``cell += product``, if all operands and the cell have one type that there is a function for."""
    match statement.body:
        case ir.Assignment(op="+=" | "-=", lvalue=target, rvalue=ir.BinaryOp(op="*") as product):
            writes = [access for access in statement.accesses if access.is_write]
            if len(writes) != 1 or writes[0].node is not target or writes[0].kind != "write":
                return None
            ctype = scop.arrays[writes[0].array].type
            read = {
                access.node: scop.arrays[access.array].type.spelling
                for access in statement.accesses
                if not access.is_write
            }
            plain = ctype.spelling in PRODUCTS and not (ctype.volatile or ctype.atomic)
            return ctype if plain and set(_types(product, read)) == {ctype.spelling} else None
    return None


def _types(node: ir.Node, read: dict[ir.Node | None, str]) -> Iterator[str]:
    """Of all operands of an arithmetic expression; "" where it has other parts."""
    if node in read:
        yield read[node]
        return
    match node:
        case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
            yield from _types(left, read)
            yield from _types(right, read)
        case ir.UnaryOp(op="+" | "-", expr=inner):
            yield from _types(inner, read)
        case ir.Constant(type="int"):
            return
        case ir.Constant(type=name):
            yield str(name)
        case _:
            yield ""
