"""How large the integers are that straight statements give to variables, in terms of what doesn't change meanwhile.

A magnitude is a constant and multiples of the magnitudes of some variables: that of ``8 + w * a[i]``, of bytes a[i], is
8 + 255·|w| at most. The bound holds for values as mathematics has them. C's are the same: what is bounded here is
computed in int, from narrower cells, constants and ints, where nothing wraps around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from scopt import ir
from scopt.ir.ctypes import limits_of, type_spelling
from scopt.ir.nest import Call
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.small_values import int_literal
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import walk

# Coefficients by name; the constant's is empty.
Magnitude = Mapping[str, int]
NARROW, INT = 16, 32
# Of variables: what changes them, leads to them, or asks for their types.
_NOT_PLAIN = ("++", "--", "p++", "p--", "&", "sizeof", "_Alignof")
_CASTS = {"unsigned char": 255, "signed char": 128, "unsigned short": 65535, "short": 32768}
_MOST_SHIFTED = 15


def is_int(ctype: CType) -> bool:
    """Whether a type's values are ints wherever C computes with them."""
    plain = ctype.integer and not (ctype.volatile or ctype.atomic)
    return plain and (0 < ctype.bits <= NARROW or (ctype.bits == INT and ctype.signed))


def sums_narrow_cells(scop: Scop, calls: Iterable[Call]) -> bool:
    """Whether statements give ints something of ints that they don't write, and all cells that they write are narrow:
    perhaps 16 bits are enough."""
    accesses = [one for call in calls for one in scop.statement(call.statement).accesses]
    written = {one.array for one in accesses if one.is_write}
    found = [scop.arrays[name] for name in written]
    sums = any(one.type.integer and one.type.bits == INT for one in found if not one.rank)
    wide = (scop.arrays[one.array].type for one in accesses if one.array not in written)
    narrow = all(is_int(one.type) and one.type.bits <= NARROW for one in found if one.rank)
    return sums and narrow and any(is_int(one) and one.bits == INT for one in wide)


def magnitudes(scop: Scop, calls: Iterable[Call], symbols: Mapping[str, str]) -> dict[str, Magnitude | None]:
    """By scalar that statements, run in this order, give something: the largest magnitude it has then; None where none
    is known; nothing is beside statements that aren't plain. symbols: by the arrays' names, scalars that keep their
    values, with the names that these have in magnitudes; likewise by the names of variables that stand for cells
    (`Call.held`)."""
    found: dict[str, Magnitude | None] = {}
    state: dict[str, Magnitude | None] = {}
    for call in calls:
        statement = scop.statement(call.statement)
        reader = _Reader(scop, statement, dict(call.held), symbols, state, found)
        if not reader.is_plain():
            return {}
        reader.statement(statement.body)
    return {name: one for name, one in found.items() if not scop.arrays[name].rank}


class _Reader(Struct, frozen=True, eq=False):
    """held: by the positions of accesses. state: what variables hold. found: as in `magnitudes`, so far."""

    scop: Scop
    body: Statement
    held: Mapping[int, str]
    symbols: Mapping[str, str]
    state: dict[str, Magnitude | None]
    found: dict[str, Magnitude | None]
    arrays: dict[ir.Node, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for position, access in enumerate(self.body.accesses):
            if access.node is not None:
                self.arrays[access.node] = (access.array, self.held.get(position, access.array))

    def is_plain(self) -> bool:
        """Whether nothing changes but by assignments that are statements, and no loop runs them again."""
        nodes = list(walk(self.body.body))
        taken = any(isinstance(one, ir.UnaryOp) and one.op in _NOT_PLAIN for one in nodes)
        known = all(access.node is not None for access in self.body.accesses)
        assigned = sum(isinstance(one, ir.Assignment) for one in nodes)
        return known and not taken and assigned == self.assignments(self.body.body)

    def assignments(self, node: ir.Node | None) -> int:
        match node:
            case ir.Assignment():
                return 1
            case ir.Compound():
                return sum(map(self.assignments, node.block_items or ()))
            case ir.If():
                return self.assignments(node.iftrue) + self.assignments(node.iffalse)
        return 0

    # --- statements -----------------------------------------------------------------------------------------------

    def statement(self, node: ir.Node | None) -> None:
        match node:
            case ir.Compound():
                for one in node.block_items or ():
                    self.statement(one)
            case ir.If():
                before = dict(self.state)
                self.statement(node.iftrue)
                then = dict(self.state)
                self.state.clear()
                self.state.update(before)
                self.statement(node.iffalse)
                for name in {**then, **self.state}:
                    self.state[name] = _larger(then.get(name), self.state.get(name))
            case ir.Assignment(op=op, lvalue=target, rvalue=value) if target in self.arrays:
                name, _ = self.arrays[target]
                made = self.value(value)
                if op != "=":
                    made = self.combined(op.removesuffix("="), self.value(target), made, value)
                self.give(name, made)

    def give(self, name: str, made: Magnitude | None) -> None:
        ctype = self.scop.arrays[name].type
        if is_int(ctype) and ctype.bits <= NARROW:
            made = {"": max(map(abs, limits_of(ctype)))}  # whatever it is given
        self.state[name] = made
        self.found[name] = _larger(self.found.get(name, made), made)

    # --- expressions ----------------------------------------------------------------------------------------------

    def value(self, node: ir.Node) -> Magnitude | None:
        match node:
            case ir.Constant():
                number = int_literal(node)
                return None if number is None else {"": number}
            case ir.ID() | ir.ArrayRef() if node in self.arrays:
                return self.cell(*self.arrays[node])
            case ir.UnaryOp(op="-" | "+", expr=inner):
                return self.value(inner)
            case ir.UnaryOp(op="!"):
                return {"": 1}
            case ir.Cast(to_type=to_type, expr=inner):
                spelling = type_spelling(to_type)
                if spelling == "int":
                    return self.value(inner)
                return {"": _CASTS[spelling]} if spelling in _CASTS else None
            case ir.TernaryOp(iftrue=first, iffalse=second):
                return _larger(self.value(first), self.value(second))
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                return {"": 1}
            case ir.BinaryOp(op=op, left=left, right=right):
                return self.combined(op, self.value(left), self.value(right), right)
        return None

    def cell(self, array: str, name: str) -> Magnitude | None:
        """What a reference reads."""
        if name in self.symbols:
            return {self.symbols[name]: 1}
        if array in self.state and not self.scop.arrays[array].rank:
            return self.state[array]
        ctype = self.scop.arrays[array].type
        return {"": max(map(abs, limits_of(ctype)))} if is_int(ctype) and ctype.bits <= NARROW else None

    def combined(self, op: str, left: Magnitude | None, right: Magnitude | None, operand: ir.Node) -> Magnitude | None:
        """operand: the right one."""
        if left is None or right is None:
            return None
        match op:
            case "+" | "-":
                return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}
            case "*":
                scaled = (left, right) if right.keys() <= {""} else (right, left)
                return _scaled(scaled[0], scaled[1].get("", 0)) if scaled[1].keys() <= {""} else None
        number = int_literal(operand)
        if number is None or number < (op in ("/", "%")) or (op in ("<<", ">>") and number > _MOST_SHIFTED):
            return None
        alone = left.keys() <= {""}
        match op:
            case "/":
                return {"": left.get("", 0) // number} if alone else left
            case ">>":
                return {"": -(-left.get("", 0) >> number)} if alone else left
            case "<<":
                return _scaled(left, 1 << number)
            case "%" | "&":
                return {"": number}
        return None


def _scaled(one: Magnitude, factor: int) -> Magnitude:
    return {name: factor * count for name, count in one.items()}


def _larger(one: Magnitude | None, other: Magnitude | None) -> Magnitude | None:
    """What is no less than both."""
    if one is None or other is None:
        return None
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}
