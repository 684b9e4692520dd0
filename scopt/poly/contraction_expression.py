"""A statement's expression split by what its operands depend on: what a register tile needs of it.

An instance updates a cell by values of its row, of its column, and of nothing but the reduction loop and constants.
Each maximal subexpression of one kind is computed once for all instances that share it, when operands are packed, in
the C type and the order of operations that it has in the statement: results stay bit-identical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from scopt import ir
from scopt.ir.ctypes import limits_of, plain_type, type_spelling
from scopt.ir.marked_schedule import Operation
from scopt.ir.scop import CType, Scop, Statement
from scopt.poly.isl_utils import IN
from scopt.poly.linear import subscript_rows
from scopt.poly.reductions import Selected, is_int, selected
from scopt.poly.value_limits import limits

CELL = "cell"
_ARITHMETIC = ("+", "-", "*", "/")
# Of two operands' kinds, the one that their value has.
_MOST_SPECIFIC = ("row", "column", "reduction", "scalar")
_ELEMENTS = ("double", "float", "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")
# An integer constant with fewer digits has the type int everywhere.
_DIGITS = 10
# One with fewer is a float without rounding.
_EXACT_DIGITS = 8
# What operands may be packed in, whose products are added up in twice as many bits.
PAIRED = CType("short", integer=True, bits=16)
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=")


def split(
    scop: Scop, statement: Statement, cell: ir.ArrayRef, row: int, column: int, reduction: int
) -> Operation | None:
    """The statement ``cell op= expression``, or an extremum of the cell and an expression, as an operation; None if it
    has another form, operands of several types, or an operand that depends on row and column.

    row, column, reduction: positions of iterators.
    """
    own = scop.arrays[next(a.array for a in statement.accesses if a.node is cell)].type
    ctype = plain_type(own, scop.long_type)
    if ctype is None or not _is_element(ctype):
        return None
    splitter = _Splitter(scop, statement, cell, ctype, own.spelling, {row: "row", column: "column"}, reduction)
    chosen = selected(statement.body)
    try:
        if chosen is not None:
            op, expression = "=", splitter.selected(chosen)
        else:
            op, expression = splitter.assigned(statement.body)
    except _Other:
        return None
    if not splitter.found["row"] or not splitter.found["column"]:
        return None
    rows, columns, scalars = (tuple(splitter.found[kind]) for kind in ("row", "column", "scalar"))
    narrow = None
    if ctype.integer and ctype.bits == 2 * PAIRED.bits and _is_sum_of_products(op, expression):
        narrow = PAIRED if has_values_of(PAIRED, scop, statement, (*rows, *columns)) else None
    if narrow is not None:  # what is computed in int anyway needs no cast to it
        rows, columns = (
            tuple(one.expr if isinstance(one, ir.Cast) else one for one in some) for some in (rows, columns)
        )
    return Operation(
        op, expression, rows, columns, scalars, ctype, chosen.extremum if chosen is not None else None, narrow
    )


def has_values_of(ctype: CType, scop: Scop, statement: Statement, operands: Sequence[ir.Node]) -> bool:
    """Whether all values of some operands, which are computed in ``int``, fit into a narrower integer type."""
    least, most = limits_of(ctype)
    found = [limits(scop, statement, one) for one in operands]
    return all(one is not None and least <= one[0] and one[1] <= most for one in found)


def _is_sum_of_products(op: str, expression: ir.Node) -> bool:
    """Whether an operation adds the product of a row's operand and a column's to its cell."""
    match op, expression:
        case "=", ir.BinaryOp(op="+", left=ir.ID(name="cell"), right=product):
            return _is_sum_of_products("+=", product)
        case "=", ir.BinaryOp(op="+", left=product, right=ir.ID(name="cell")):
            return _is_sum_of_products("+=", product)
        case "+=", ir.BinaryOp(op="*", left=ir.ID(name=left), right=ir.ID(name=right)):
            return {left, right} == {"row0", "column0"}
    return False


def _is_element(ctype: CType) -> bool:
    """Whether vectors can hold elements of a type that has one name everywhere: floating-point numbers, and integers
    that aren't promoted."""
    return ctype.spelling in _ELEMENTS and ctype.bits in (32, 64) and not (ctype.volatile or ctype.atomic)


class _Other(Exception):
    """The expression isn't one that a register tile can compute."""


class _Value(Struct, frozen=True):
    """A subexpression. kind: what it depends on: "row", "column", only the "reduction", a "scalar" on none; "tile": put
    together from several."""

    node: ir.Node
    kind: str


class _Splitter(Struct):
    scop: Scop
    statement: Statement
    cell: ir.ArrayRef
    type: CType
    spelling: str
    roles: Mapping[int, str]
    reduction: int
    found: dict[str, list[ir.Node]] = field(default_factory=lambda: {"row": [], "column": [], "scalar": []})
    reads_cell: bool = False

    def assigned(self, body: ir.Node) -> tuple[str, ir.Node]:
        """The assignment operator and the expression on its right side. Raises _Other if nothing accumulates."""
        if not isinstance(body, ir.Assignment) or body.op not in _ASSIGNMENTS or body.lvalue is not self.cell:
            raise _Other
        if body.op == "/=" and self.type.integer:
            raise _Other  # of cells that don't exist too, by a zero that stands for what isn't there
        expression = self.operand(self.visit(body.rvalue))
        if body.op == "=" and not self.reads_cell:
            raise _Other
        return body.op, expression

    def selected(self, chosen: Selected) -> ir.Node:
        """The value that the cell may take, which doesn't depend on the cell."""
        if chosen.cell is not self.cell:
            raise _Other
        for use in chosen.uses:
            self.own_cell(use)
        self.reads_cell = False
        expression = self.operand(self.visit(chosen.value))
        if self.reads_cell:
            raise _Other
        return expression

    def visit(self, n: ir.Node) -> _Value:
        match n:
            case ir.Constant():
                self.check_constant(n)
                return _Value(n, "scalar")
            case ir.ID() | ir.ArrayRef():
                return self.reference(n)
            case ir.Cast():
                return self.converted(n)
            case ir.UnaryOp(op="-" | "+" as op, expr=inner):
                value = self.visit(inner)
                if value.kind != "tile":
                    return _Value(n, value.kind)
                return _Value(ir.UnaryOp(op, value.node), "tile")
            case ir.BinaryOp(op=op, left=left, right=right) if op in self.operators:
                a, b = self.visit(left), self.visit(right)
                kinds = {a.kind, b.kind}
                if kinds <= {"row", "reduction", "scalar"} or kinds <= {"column", "reduction", "scalar"}:
                    return _Value(n, next(kind for kind in _MOST_SPECIFIC if kind in kinds))
                return _Value(ir.BinaryOp(op, self.operand(a), self.operand(b)), "tile")
        raise _Other

    def operand(self, value: _Value) -> ir.Node:
        """The name of a subexpression that is complete."""
        if value.kind == "tile":
            return value.node
        if isinstance(value.node, ir.Constant):
            return value.node
        # what only the reduction loop moves is a row's value that all rows share
        kind = "row" if value.kind == "reduction" else value.kind
        self.found[kind].append(value.node)
        return ir.ID(f"{kind}{len(self.found[kind]) - 1}")

    @property
    def operators(self) -> tuple[str, ...]:
        """Those that can't trap where a cell doesn't exist, and zeros stand for its operands."""
        return _ARITHMETIC if self.type.floating else _ARITHMETIC[:-1]

    def check_constant(self, n: ir.Constant) -> None:
        if self.type.integer and not (is_int(n) and len(n.value) < _DIGITS):
            raise _Other
        if n.type not in ("int", self.type.spelling):
            raise _Other
        if self.type.floating and n.type == "int" and not (n.value.isdecimal() and len(n.value) < _EXACT_DIGITS):
            raise _Other  # vectors don't take what they can't hold

    def converted(self, n: ir.Cast) -> _Value:
        """A reference that is converted to the cell's type, which happens when it is packed."""
        names = self.type.spelling, self.spelling
        if not isinstance(n.expr, ir.ID | ir.ArrayRef) or type_spelling(n.to_type) not in names:
            raise _Other
        value = self.reference(n.expr, of_any_type=True)
        if value.kind == "tile":
            raise _Other
        return _Value(n, value.kind)

    def is_widened(self, ctype: CType) -> bool:
        """Whether C computes with such values as with those of the cell's type: int, that narrow integers are promoted
        to."""
        narrow = ctype.integer and ctype.bits < self.type.bits and not (ctype.volatile or ctype.atomic)
        return self.type.spelling == "int" and narrow

    def reference(self, n: ir.Node, *, of_any_type: bool = False) -> _Value:
        access = next((a for a in self.statement.accesses if a.node is n and a.kind == "read"), None)
        if access is None:
            raise _Other  # an iterator's or a parameter's value
        own = self.scop.arrays[access.array].type
        ctype = plain_type(own, self.scop.long_type) or own
        simple = of_any_type and (ctype.integer or ctype.floating) and not (ctype.volatile or ctype.atomic)
        if ctype.spelling != self.type.spelling and not (simple or self.is_widened(ctype)):
            raise _Other
        rows = subscript_rows(access.relation)
        if rows is None:
            raise _Other
        moved = {k for row in rows for k in range(access.relation.dim(IN)) if row[k]}
        roles = {self.roles[k] for k in moved if k in self.roles}
        if len(roles) == 2:
            return self.own_cell(n)
        if roles:
            return _Value(n, roles.pop())
        return _Value(n, "reduction" if self.reduction in moved else "scalar")

    def own_cell(self, n: ir.Node) -> _Value:
        write = next(a for a in self.statement.accesses if a.node is self.cell and a.is_write)
        read = next((a for a in self.statement.accesses if a.node is n and a.kind == "read"), None)
        if read is None or read.array != write.array or not read.relation.is_equal(write.relation):
            raise _Other
        self.reads_cell = True
        return _Value(ir.ID(CELL), "tile")
