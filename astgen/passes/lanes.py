"""Values that a loop stores as records, one of them apart from the others where they are computed differently.

gcc looks for one vector operation for all elements of a record. Where it finds one for the first few only, it parts the
record there, and then stores element by element. Where already the second element has no match, it computes a vector
for each element, and shuffles these when they are stored, several times as fast; so it does where elements share a
result, that it would have to repeat for each. Hence the second element (or the first one) is given by a call that
returns what it is given, which only gcc has to know about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import LANES, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.record_cells import Cell, Record, records, subscripts_of
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Expr, For, Hold, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Access, CType, Scop, Statement

Places = Mapping[ir.Node | None, Cell | str | None]
SUFFIX = "_lane"
# Of two elements, the second one has no match in any case, or both have.
_LEAST = 3


def with_lanes_apart(scop: Scop, nest: LoopNest, plain: frozenset[str]) -> tuple[Scop, LoopNest]:
    """The nest where loops that write records call a function for one element of each, and the SCoP with these
    statements. plain: names of statements that may do so."""
    rewriter = _Rewriter(scop, plain)
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


def lane_helper(ctype: CType) -> str | None:
    """The function that returns a value of an element's type; None if there is none."""
    if ctype.volatile or ctype.atomic or not (ctype.integer or ctype.floating):
        return None
    return LANES.get(ctype.spelling if ctype.floating else (ctype.bits, ctype.signed))


class _Rewriter(Struct, frozen=True, eq=False):
    """made: new statements, by the old ones' names."""

    scop: Scop
    plain: frozenset[str]
    made: dict[str, Statement] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(step=1, body=Block((Hold(body=Block() as body) as hold,))):
                made = self.body(item, body)
                return (replace(item, body=Block((replace(hold, body=made),))),)
            case For(step=1):
                return (replace(item, body=self.body(item, item.body)),)
        return (item,)

    def body(self, loop: For, body: Block) -> Block:
        calls = [one for one in body.items if isinstance(one, Call)]
        if len(calls) < _LEAST or len(calls) < len(body.items) or loop.mark.jammed or loop.mark.reductions:
            return body
        values = _Values(self.scop, loop.iterator)
        for number, one in enumerate(calls):
            values.run(number, one)
        for record in records(self.scop, loop.iterator, values.written):
            if len(record.cells) >= _LEAST and values.differ(record):
                for cell in (record.cells[1], record.cells[0]):
                    number = values.written[cell]
                    # what goes on with the value might be one instruction with what it is computed by
                    used = values.read.get(cell, -1) > number
                    made = None if used else self.apart(calls[number])
                    if made is not None:
                        calls[number] = made
                        break
        return Block(tuple(calls))

    def apart(self, one: Call) -> Call | None:
        """The call of a statement that assigns an element, with a function in between."""
        statement = self.scop.statement(one.statement)
        made = lane_of(self.scop, statement) if one.statement in self.plain else None
        if made is None:
            return None
        self.made[one.statement] = made
        return replace(one, statement=made.name)


def lane_of(scop: Scop, statement: Statement) -> Statement | None:
    """The statement with a call of the function that returns what it is given; None if it isn't an assignment to an
    array's cell."""
    writes = [access for access in statement.accesses if access.is_write]
    match statement.body:
        case ir.Assignment(op=op, lvalue=target, rvalue=value) if [one.node for one in writes] == [target]:
            helper = lane_helper(scop.arrays[writes[0].array].type)
            if helper is None or writes[0].kind != "write":
                return None
            if op != "=":
                value = ir.BinaryOp(op[:-1], target, value)
            body = ir.Assignment("=", target, call(helper_name(helper, scop.reserved), [value]))
            return replace(statement, name=f"{statement.name}{SUFFIX}", body=body)
    return None


class _Value(Struct, frozen=True):
    """What is known of a value. number: the same for values that one vector operation could compute. fixed: it is the
    same in all iterations. made: by which statements of the iteration it was computed."""

    number: int
    fixed: bool = False
    made: frozenset[int] = frozenset()


class _Values(Struct, eq=False):
    """What an iteration computes.

    known: by cell, or name of a scalar. written, read: the last call that writes, or reads, each cell, of those that
    are understood.
    """

    scop: Scop
    iterator: str
    known: dict[Cell | str, _Value] = field(default_factory=dict)
    written: dict[Cell, int] = field(default_factory=dict)
    read: dict[Cell, int] = field(default_factory=dict)
    numbers: dict[object, int] = field(default_factory=dict)

    def differ(self, record: Record) -> bool:
        """Whether elements of a record are computed in different ways, or from a result that they share."""
        values = [self.known[cell] for cell in record.cells]
        several = [one for value in values for one in value.made]
        return len({value.number for value in values}) > 1 or len(set(several)) < len(several)

    def run(self, number: int, one: Call) -> None:
        statement = self.scop.statement(one.statement)
        places = {access.node: self.place(statement, access, one.args) for access in statement.accesses}
        moving = {name for name, arg in zip(statement.iterators, one.args, strict=True) if self.iterator in names(arg)}
        value, body = None, statement.body
        if isinstance(body, ir.Assignment):
            value = self.value(body.rvalue, places, moving)
            if body.op != "=":
                value = self.joined(body.op[:-1], (self.value(body.lvalue, places, moving), value))
        for access in statement.accesses:
            place = places[access.node]
            if not access.is_write and isinstance(place, tuple):
                self.read[place] = number
            if not access.is_write or place is None:
                continue
            if value is None or not isinstance(body, ir.Assignment) or access.node is not body.lvalue:
                self.known[place] = _Value(self.number(("unknown", number, len(self.known))), made=frozenset({number}))
            elif isinstance(place, tuple) or value.fixed or not _computes(body):
                self.known[place] = value
            else:
                self.known[place] = replace(value, made=value.made | {number})
            if isinstance(place, tuple):
                self.written[place] = number

    def place(self, statement: Statement, access: Access, args: Sequence[Expr]) -> Cell | str | None:
        array = self.scop.arrays[access.array]
        if not array.rank:
            return array.name
        subscripts = subscripts_of(self.scop, access, args)
        return None if subscripts is None else (array.name, subscripts)

    def value(self, node: ir.Node, places: Places, moving: Collection[str]) -> _Value:
        """moving: the statement's iterators that move with the loop."""
        if node in places:
            place = places[node]
            if place is not None and place in self.known:
                return self.known[place]
            if isinstance(place, tuple) and any(self.iterator in names(subscript) for subscript in place[1]):
                return _Value(self.number(("load", place[0])))
            return _Value(self.number("fixed" if place is not None else ("load", "")), place is not None)
        if isinstance(node, ir.Constant):
            return _Value(self.number(("constant", node.value)), True)
        if isinstance(node, ir.ID):
            return _Value(self.number("iterator" if node.name in moving else "fixed"), node.name not in moving)
        own = tuple(str(getattr(node, name)) for name in node.attr_names)
        parts = tuple(self.value(child, places, moving) for child in node.parts)
        return self.joined((type(node).__name__, own), parts)

    def joined(self, operation: object, parts: Sequence[_Value]) -> _Value:
        made = frozenset(one for part in parts for one in part.made)
        number = self.number((operation, *(part.number for part in parts)))
        return _Value(number, all(part.fixed for part in parts), made)

    def number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


def _computes(body: ir.Assignment) -> bool:
    """Whether an assignment does more than copying, or converting, a value."""
    value = body.rvalue
    while isinstance(value, ir.Cast):
        value = value.expr
    return body.op != "=" or not isinstance(value, ir.ArrayRef | ir.ID | ir.Constant)
