"""Statements that accumulate into a cell by an operator whose operands may be taken in any order.

Doerfert, Streit, Hack, Benaissa: "Polly's Polyhedral Scheduling in the Presence of Reductions" (IMPACT 2015): instances
of such statements that update one cell depend on each other only in that they mustn't be lost. Here a reduction is
recognized by the form of the statement, and by the type of the cell: whether another order gives the same value is the
operator's and the type's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import hexdigits

from msgspec import Struct

from scopt import ir
from scopt.ir.ctypes import canonical, type_spelling
from scopt.ir.marked_schedule import Extremum
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.truths import is_truth
from scopt.ir.walks import same_tree
from scopt.poly.isl_utils import OUT

# Of C's `&&` and `||` each operand is evaluated only if it is needed, and a reduction clause makes 0 or 1 of a value
# that isn't updated at all.
_SUMS = ("+", "-")
_BITWISE = ("&", "|", "^")
_GREATER = (">", ">=")
# Comparisons with their sides exchanged.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# Operators whose values are 0 and 1.
_EXTREMA = {"fmin": "min", "fminf": "min", "fmax": "max", "fmaxf": "max"}
# How a value compares that is better than another one.
BETTER = {"max": ">", "min": "<"}
_WIDER = 4
# Functions of C, and of gcc and clang, that return an int, whatever they are given.
_INT_FUNCTIONS = ("abs", "__builtin_popcount", "__builtin_popcountl", "__builtin_popcountll", "__builtin_parity")
INT_BITS = 32
_CHAR_BITS = 8  # _Bool has less, and no sums


class Update(Struct, frozen=True, eq=False):
    """How a statement accumulates. operator: as in a reduction clause: ``+ * & | ^ min max``. array: the cell's.

    own: the accesses that are the cell's update; all others of the statement are elsewhere in every instance. best: an
      extremum of floating-point numbers that is the same in any order: `scopt.ir.nest.Reduction.best`.
    """

    operator: str
    array: str
    own: tuple[Access, ...]
    best: bool = False

    @property
    def reduction(self) -> tuple[str, str]:
        """Operator and array."""
        return self.operator, self.array


def update_of(scop: Scop, statement: Statement) -> Update | None:
    """The statement as ``cell op= expression``, where the expression doesn't use the cell;
    None if it has another form."""
    form = _form(statement.body)
    writes = [access for access in statement.accesses if access.is_write]
    if form is None or len(writes) != 1:
        return None
    operator, cell, uses, expression = form
    write = writes[0]
    array = scop.arrays[write.array]
    if (
        write.node is not cell
        or array.type.volatile
        or array.type.atomic
        or not (array.type.integer or array.type.floating)
    ):
        return None
    if any(access.node is None for access in statement.accesses) or not _is_reference(
        cell, array.spelling, array.rank, write
    ):
        return None
    reads = [access for access in statement.accesses if not access.is_write and access.array == write.array]
    same = [read for read in reads if read.node is cell or any(read.node is use for use in uses)]
    if not same or not all(_same_cell(read, write) for read in same):
        return None
    if any(not read.relation.intersect(write.relation).is_empty() for read in reads if read not in same):
        return None
    if array.type.integer and not _integers(scop, statement, expression, array.type, exact=operator in ("min", "max")):
        return None
    return Update(operator, write.array, (write, *same))


def widens(scop: Scop, statement: Statement) -> bool:
    """Whether a statement writes a variable that is more than four times as wide as a cell that it reads."""
    read = [scop.arrays[a.array].type.bits for a in statement.accesses if scop.arrays[a.array].rank and not a.is_write]
    written = [scop.arrays[a.array].type.bits for a in statement.accesses if a.is_write]
    return max(written, default=0) > _WIDER * min(read, default=max(written, default=0))


def neutral(operator: str, ctype: CType) -> ir.Node:
    """The value of a type that an update with it leaves as it is, as C spells it.

    operator: a sum's of integers, or one of `|`, `^`, and, for types of 32 and 64 bits, of extrema."""
    if ctype.floating:
        infinity = ir.FuncCall(ir.ID("__builtin_inff" if ctype.bits == INT_BITS else "__builtin_inf"), None)
        return ir.UnaryOp("-", infinity) if operator == "max" else infinity
    if operator not in BETTER:
        return ir.Constant("int", "0")
    suffix, kind = ("", "int") if ctype.bits == INT_BITS else ("l", "long int")
    if not ctype.signed:
        most = f"{(1 << ctype.bits) - 1}u{suffix}"
        return ir.Constant("int", "0") if operator == "max" else ir.Constant(f"unsigned {kind}", most)
    largest = ir.Constant(kind, f"{(1 << (ctype.bits - 1)) - 1}{suffix}")
    return largest if operator == "min" else ir.BinaryOp("-", ir.UnaryOp("-", largest), ir.Constant("int", "1"))


def only_updates(scop: Scop, statements: Iterable[Statement], operator: str, array: str) -> bool:
    """Whether nothing but updates by one operator touches an array, so that threads may update copies of all of it."""
    for statement in statements:
        touching = [access for access in statement.accesses if access.array == array]
        update = update_of(scop, statement) if touching else None
        own = update.own if update is not None and update.reduction == (operator, array) else ()
        if any(access not in own for access in touching):
            return False
    return True


# --- extrema ----------------------------------------------------------------------------------------------------------


class Selected(Struct, frozen=True, eq=False):
    """``cell = cell op value ? cell : value``, in any of its forms: a comparison decides whether the cell takes a
    value.

    uses: other references to the cell. extremum: the comparison. value: as it is assigned; compared: the same
      expression, in the comparison.
    """

    cell: ir.Node
    uses: tuple[ir.Node, ...]
    extremum: Extremum
    value: ir.Node
    compared: ir.Node

    @property
    def operator(self) -> str:
        """As in a reduction clause."""
        return "max" if self.extremum.keeps == (self.extremum.op in _GREATER) else "min"


def selected(body: ir.Node) -> Selected | None:
    """A statement as a selection by ``?:`` or by an if; None if it has another form."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return selected(only)
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise)):
            for use, other, keeps in ((otherwise, then, False), (then, otherwise, True)):
                if same_tree(use, cell) and (found := cell_compared(condition, cell, other)) is not None:
                    op, kept, compared = found
                    return Selected(cell, (use, kept), Extremum(op, keeps), other, compared)
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
            if isinstance(then, ir.Compound) and len(then.block_items or ()) == 1:
                then = then.block_items[0]
            match then:
                case ir.Assignment(op="=", lvalue=cell, rvalue=value) if (
                    found := cell_compared(condition, cell, value)
                ) is not None:
                    op, kept, compared = found
                    return Selected(cell, (kept,), Extremum(op, keeps=False), value, compared)
    return None


def cell_compared(condition: ir.Node, cell: ir.Node, value: ir.Node) -> tuple[str, ir.Node, ir.Node] | None:
    """The operator that compares the cell, on its left side, with the value;
    the cell's reference there; the value's."""
    match condition:
        case ir.BinaryOp(op=op, left=left, right=right) if op in _MIRRORED:
            if same_tree(left, cell) and same_tree(right, value):
                return op, left, right
            if same_tree(left, value) and same_tree(right, cell):
                return _MIRRORED[op], right, left
    return None


# --- forms ------------------------------------------------------------------------------------------------------------

# operator, the cell that is assigned, other references to it, what is accumulated
_Form = tuple[str, ir.Node, tuple[ir.Node, ...], ir.Node]


def _form(body: ir.Node) -> _Form | None:
    chosen = selected(body)
    if chosen is not None:
        return chosen.operator, chosen.cell, chosen.uses, ir.ExprList([chosen.value, chosen.compared])
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _form(only)
        case ir.Assignment(op="=", lvalue=cell, rvalue=value):
            return _assignment(cell, value)
        case ir.Assignment(op=op, lvalue=cell, rvalue=value) if op[:-1] in (*_SUMS, *_BITWISE, "*"):
            return ("+" if op == "-=" else op[:-1]), cell, (), value
        case ir.UnaryOp(op="++" | "p++" | "--" | "p--", expr=cell):
            return "+", cell, (), ir.Constant("int", "1")
        case ir.If(iftrue=ir.Node() as then, iffalse=None):
            return _form(then)
    return None


def counts(body: ir.Node) -> bool:
    """Whether a statement adds 1 or 0, or subtracts it, and nothing else:
    partial counts don't overflow before the program ends."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return counts(only)
        case ir.If(iftrue=ir.Node() as then, iffalse=None):
            return counts(then)
        case ir.UnaryOp(op="++" | "p++" | "--" | "p--"):
            return True
        case ir.Assignment(op="+=" | "-=", rvalue=value):
            return _is_at_most_one(value)
    return False


def _is_at_most_one(value: ir.Node) -> bool:
    """Whether a value is 1, 0, or whether something holds."""
    match value:
        case ir.TernaryOp(iftrue=then, iffalse=otherwise):
            return _is_at_most_one(then) and _is_at_most_one(otherwise)
    return is_truth(value) or (isinstance(value, ir.Constant) and value.type == "int" and value.value in ("0", "1"))


def _assignment(cell: ir.Node, value: ir.Node) -> _Form | None:
    """``cell = cell op …`` or ``cell = … op cell``, an extremum by a function."""
    match value:
        case ir.BinaryOp(op="+" | "-"):
            return _sum(cell, value)
        case ir.BinaryOp(op=op, left=left, right=right) if op in (*_BITWISE, "*"):
            for use, other in ((left, right), (right, left)):
                if same_tree(use, cell):
                    return op, cell, (use,), other
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[a, b])) if name in _EXTREMA:
            for use, other in ((a, b), (b, a)):
                if same_tree(use, cell):
                    return _EXTREMA[name], cell, (use,), other
    return None


def _sum(cell: ir.Node, value: ir.Node) -> _Form | None:
    """``cell + a - b …`` or ``a + cell``: the cell as an operand that is added, once."""
    others: list[ir.Node] = []
    while isinstance(value, ir.BinaryOp) and value.op in _SUMS:
        if same_tree(value.left, cell):
            return "+", cell, (value.left,), ir.ExprList([*others, value.right])
        if value.op == "+" and same_tree(value.right, cell):
            return "+", cell, (value.right,), ir.ExprList([*others, value.left])
        others.append(value.right)
        value = value.left
    return None


# --- cells and types --------------------------------------------------------------------------------------------------


def _is_reference(node: ir.Node, spelling: str, rank: int, write: Access) -> bool:
    """Whether a node is the array's name with all its subscripts, and a single cell in each instance: one that is
    known, or that data name. Other writes that may or may not happen are those of statements with conditions.
    """
    while isinstance(node, ir.ArrayRef):
        node, rank = node.name, rank - 1
    single = write.kind == "may-write" or bool(write.relation.is_single_valued())
    return single and rank == 0 and isinstance(node, ir.ID) and node.name == spelling


def _same_cell(read: Access, write: Access) -> bool:
    """Whether a read is of the cell that is written, given that it is the same expression, without effects. (A
    conditional statement's accesses have the whole domain, those of cells that only data name all cells.)
    """
    return read.relation.dim(OUT) == write.relation.dim(OUT) and bool(read.relation.is_equal(write.relation))


def fits_cell(scop: Scop, statement: Statement, expression: ir.Node, ctype: CType) -> bool:
    """Whether an expression is of an integer type, all values of which a cell's type has, so that comparisons see the
    value that the cell would take."""
    return _integers(scop, statement, expression, ctype, exact=True)


def _integers(scop: Scop, statement: Statement, expression: ir.Node, ctype: CType, *, exact: bool) -> bool:
    """Whether an expression is of an integer type that the cell's can take.

    exact: a comparison with the cell has to see the value that the cell would take: no unsigned expression beside a
      signed cell. Decided from the
    leaves: for anything but references, iterators, parameters, conversions and plain constants, the answer is no.
    """
    types = {array.spelling: array.type for array in scop.arrays.values()}
    types |= {p.spelling: p.type for p in scop.parameters} | dict(
        zip(statement.iterators, statement.iterator_types, strict=True)
    )
    if ctype.bits < (INT_BITS if exact else _CHAR_BITS):
        return False

    def fits(other: CType | None) -> bool:
        if other is None or not other.integer or other.bits > ctype.bits:
            return False
        return not exact or not ctype.signed or other.signed or other.bits < INT_BITS

    # types that are converted to, as far as something is declared with them
    words = {found.spelling: found for found in (*types.values(), ctype)}

    def is_whole(leaf: ir.Node) -> bool:
        match leaf:
            case ir.ID(name=name):
                return fits(types.get(name))
            case ir.Cast(to_type=to_type):
                return fits(words.get(canonical(type_spelling(to_type).split())))
            case ir.FuncCall(name=ir.ID(name=name)):
                return name in scop.returns and ctype.bits >= INT_BITS
        return is_int(leaf) or (not exact and ctype.bits >= INT_BITS and _is_word(leaf))

    return all(is_whole(leaf) for leaf in _leaves(expression))


def is_int(leaf: ir.Node) -> bool:
    """Whether a leaf is a constant of type int."""
    return isinstance(leaf, ir.Constant) and leaf.type == "int" and leaf.value.isdigit()


def _is_word(leaf: ir.Node) -> bool:
    """Whether a leaf is a constant of a type of 32 bits, signed or not."""
    if not isinstance(leaf, ir.Constant) or leaf.type not in ("int", "unsigned int"):
        return False
    digits = leaf.value.lower().removesuffix("u")
    if digits.isdecimal() and digits[0] != "0":
        return bool(int(digits) < 1 << (INT_BITS - (leaf.type == "int")))
    hexadecimal = digits.startswith("0x") and all(one in hexdigits for one in digits[2:])
    return bool(hexadecimal) and int(digits, 16) < 1 << INT_BITS


def _leaves(node: ir.Node) -> Iterator[ir.Node]:
    """What an expression is made of; subscripts, and what is compared, have no part in its type."""
    match node:
        case _ if is_truth(node):
            yield ir.Constant("int", "1")
        case ir.ArrayRef():
            while isinstance(node, ir.ArrayRef):
                node = node.name
            yield node
        case ir.TernaryOp(iftrue=then, iffalse=otherwise):
            yield from _leaves(then)
            yield from _leaves(otherwise)
        case ir.BinaryOp() | ir.ExprList():
            for child in node.parts:
                yield from _leaves(child)
        case ir.UnaryOp(op="+" | "-" | "~", expr=operand):
            yield from _leaves(operand)
        case ir.FuncCall(name=ir.ID(name=name)) if name in _INT_FUNCTIONS:
            yield ir.Constant("int", "1")
        case _:
            yield node
