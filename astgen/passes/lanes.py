"""Values that a loop stores as records, one of them apart from the others where they are computed differently.

gcc looks for one vector operation for all elements of a record. Where it finds one for the first few only, it parts the
record there, and then stores element by element. Where already the second element has no match, it computes a vector
for each element, and shuffles these when they are stored, several times as fast. So the second element (or the first
one) is given by a call that returns what it is given, which no other compiler than gcc has to know about.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import LANES, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.records import Cell, records, subscripts_of
from scopt.ir.nest import Block, Call, Expr, For, Hold, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Access, CType, Scop, Statement

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
        values = _Values(self.scop)
        for number, one in enumerate(calls):
            values.run(number, one)
        for record in records(self.scop, loop.iterator, values.written):
            if len(record.cells) >= _LEAST and len({values.known.get(cell) for cell in record.cells}) > 1:
                for cell in (record.cells[1], record.cells[0]):
                    number = values.written[cell]
                    made = self.apart(calls[number], record.array)
                    if made is not None:
                        calls[number] = made
                        break
        return Block(tuple(calls))

    def apart(self, one: Call, array: str) -> Call | None:
        """The call of a statement that assigns an element, with a function in between."""
        statement = self.scop.statement(one.statement)
        made = lane_of(self.scop, statement) if one.statement in self.plain else None
        if made is None:
            return None
        self.made[one.statement] = made
        return replace(one, statement=made.name)


def lane_of(scop: Scop, statement: Statement) -> Statement | None:
    """The statement with a call of the function that returns what it is given; None if it isn't a plain assignment to
    an array's cell."""
    writes = [access for access in statement.accesses if access.is_write]
    match statement.body:
        case ir.Assignment(op="=", lvalue=target, rvalue=value) if [one.node for one in writes] == [target]:
            helper = lane_helper(scop.arrays[writes[0].array].type)
            if helper is None or writes[0].kind != "write":
                return None
            body = ir.Assignment("=", target, call(helper_name(helper, scop.reserved), [value]))
            return replace(statement, name=f"{statement.name}{SUFFIX}", body=body)
    return None


class _Values(Struct, eq=False):
    """What an iteration computes, as numbers that are the same for values that one vector operation could compute.

    known: by cell, or name of a scalar. written: the last call that writes each cell, of those that are understood.
    """

    scop: Scop
    known: dict[Cell | str, int] = field(default_factory=dict)
    written: dict[Cell, int] = field(default_factory=dict)
    numbers: dict[object, int] = field(default_factory=dict)

    def run(self, number: int, one: Call) -> None:
        statement = self.scop.statement(one.statement)
        places = {access.node: self.place(statement, access, one.args) for access in statement.accesses}
        value, body = None, statement.body
        if isinstance(body, ir.Assignment):
            value = self.value(body.rvalue, places)
            if body.op != "=":
                value = self.number((body.op[:-1], self.value(body.lvalue, places), value))
        for access in statement.accesses:
            place = places[access.node]
            if not access.is_write or place is None:
                continue
            if value is None or not isinstance(body, ir.Assignment) or access.node is not body.lvalue:
                self.known[place] = self.number(("unknown", number, len(self.known)))
            else:
                self.known[place] = value
            if isinstance(place, tuple):
                self.written[place] = number

    def place(self, statement: Statement, access: Access, args: Sequence[Expr]) -> Cell | str | None:
        array = self.scop.arrays[access.array]
        if not array.rank:
            return array.name
        subscripts = subscripts_of(self.scop, access, args)
        return None if subscripts is None else (array.name, subscripts)

    def value(self, node: ir.Node, places: dict[ir.Node | None, Cell | str | None]) -> int:
        if node in places:
            place = places[node]
            if place is not None and place in self.known:
                return self.known[place]
            return self.number(("load", place[0]) if isinstance(place, tuple) else "uniform")
        if isinstance(node, ir.Constant | ir.ID):
            return self.number("uniform")
        own = tuple(str(getattr(node, name)) for name in node.attr_names)
        return self.number((type(node).__name__, own, *(self.value(child, places) for child in node.parts)))

    def number(self, key: object) -> int:
        return self.numbers.setdefault(key, len(self.numbers))
