"""Loops that go by what remains of their iterator, ``out[x] = in[x / 2] + (x % 2) * …``: with one over quotients, and
one over remainders inside.

For each remainder, subscripts and conditions with quotients and remainders of the iterator are plain ones: upsampling,
colour mosaics, fields of interlaced pictures. The loop over remainders is a small one of constant length, which becomes
straight code (strip-mining; Wolfe, "More iteration space tiling", 1989). Iterations keep their order.

Where there are nothing but quotients, by so much that iterations of one are a vector loop (``x[i] = scale[i / 32] *
q[i]``: numbers that are stored in blocks), the inner loop is that one, in which they don't change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf, lcm
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import is_plain, names_of, number, plus, step_of, substituted, value_of
from scopt.ir.effects import STEPS, effects
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import replaced, used_names, walk

# Remainders that are told apart, at most; iterations of a quotient that are a vector loop, at least; loops of constant
# length that are straight code as they are; statements that a loop may have after that.
_REMAINDERS, _VECTORS, _SHORT, _STATEMENTS = 8, 16, 64, 64
# Bits that are shifted out, at most.
_LARGEST_SHIFT = 16


class _Loop(Struct, frozen=True):
    """``for (name = start; name < end; name++)``, with a start that isn't negative."""

    name: str
    type: CType
    start: int
    end: Any


class Remainders(Struct, frozen=True):
    """What is known of the region's variables.

    type_of(name): of an integer variable that only its name can reach; None for any other. declared_type(decl): the
    same of one that a loop declares. is_constant(name): it stands for a number. is_signed(name): it is a signed
    integer's name wherever it is one. used_after(loop, name): the variable's value after the loop may be read.
    fresh(name): a name like it that means nothing yet.
    """

    type_of: Callable[[str], CType | None]
    declared_type: Callable[[Any], CType | None]
    is_constant: Callable[[str], bool]
    is_signed: Callable[[str], bool]
    used_after: Callable[[Any, str], bool]
    fresh: Callable[[str], str]

    def split(self, loop: ir.For, original: Any) -> ir.For:
        """A loop, with one over remainders in it if it goes by these. original: the loop as the liveness of variables
        knows it."""
        head = self.header(loop, original)
        count = _divisor(loop.stmt, head) if head is not None else 1
        if head is None or count == 1 or not _is_simple(loop.stmt, count) or _stores_records(loop.stmt, head, count):
            return loop
        quotient = self.fresh(head.name)
        remainder = self.fresh(quotient)
        late = head.start % count > 0
        if {quotient, remainder} & {*used_names(loop)} or (late and not head.type.signed):
            return loop
        spelled, where, before = head.type.spelling, loop.coord, _times(count, quotient)
        body = _by_remainder(loop.stmt, head, quotient, remainder, count)
        body = substituted(body, head.name, ir.BinaryOp("+", before, ir.ID(remainder), where))
        if _shares_results(body, quotient, remainder):
            return loop
        whole = self.divided(head.end, count) if head.type.signed else None
        guards = []
        if whole is None:
            # a form that can't overflow
            guards.append(ir.BinaryOp("<", ir.ID(remainder), ir.BinaryOp("-", head.end, before, where), where))
        if late:
            first = ir.BinaryOp("-", number(head.start), before, where)
            guards.append(ir.BinaryOp(">=", ir.ID(remainder), first, where))
        for guard in guards:
            body = ir.If(guard, body, None, where)
        inner = _for(remainder, spelled, 0, "<", number(count), body, where)
        if whole is not None:
            return _for(quotient, spelled, head.start // count, "<", whole, inner, where)
        last = ir.BinaryOp("/", head.end, number(count), where)
        return _for(quotient, spelled, head.start // count, "<=", last, inner, where)

    def header(self, loop: ir.For, original: Any) -> _Loop | None:
        match loop.init:
            case ir.DeclList(decls=[ir.Decl() as decl]):
                name, first, ctype = decl.name, decl.init, self.declared_type(decl)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=first):
                ctype = None if self.used_after(original, name) else self.type_of(name)
            case _:
                return None
        start = value_of(first)
        if ctype is None or start is None or start < 0 or loop.next is None or step_of(loop.next) != (name, 1):
            return None
        match loop.cond:
            case ir.BinaryOp(op="<", left=ir.ID(name=own), right=end) if own == name:
                pass
            case ir.BinaryOp(op="<=", left=ir.ID(name=own), right=ir.BinaryOp(op="-", right=below) as end) if (
                own == name and (value_of(below) or 0) > 0
            ):
                # one more can't overflow
                end = plus(end, 1)
            case _:
                return None
        written = effects(loop.stmt).changed
        if name in written or not self.is_fixed(end, written | {name}):
            return None
        length = value_of(end)
        return None if length is not None and length <= _SHORT else _Loop(name, ctype, start, end)

    def is_fixed(self, end: Any, changing: frozenset[str] | set[str]) -> bool:
        """Whether an expression has the same value in all of a loop's iterations."""
        names = names_of(end)
        known = all(self.is_constant(name) or self.type_of(name) is not None for name in names)
        return is_plain(end) and known and not names & changing

    def divided(self, node: Any, count: int) -> Any | None:
        """A sum all of whose terms are multiples, divided; None if it isn't one. Only of signed terms: others may wrap
        around on their way."""
        if (value := value_of(node)) is not None:
            return number(value // count) if value >= 0 and value % count == 0 else None
        match node:
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                one, other = self.divided(left, count), self.divided(right, count)
                return None if one is None or other is None else ir.BinaryOp(op, one, other, node.coord)
            case ir.BinaryOp(op="*", left=left, right=right) if all(map(self.is_signed, names_of(node))):
                for one, other in ((left, right), (right, left)):
                    if (part := self.divided(one, count)) is not None:
                        return other if value_of(part) == 1 else ir.BinaryOp("*", part, other, node.coord)
        return None


def _divisor(body: Any, loop: _Loop) -> int:
    """The least number of remainders with which all quotients and remainders in a body are plain; 1 if it has none that
    matter: subscripts have most quotients, and some remainders. A condition of remainders is a vector's mask."""
    inside = {part for node in walk(body) if isinstance(node, ir.ArrayRef) for part in walk(node.subscript)}
    found = {node: division for node in walk(body) if (division := _division(node, loop)) is not None}
    if not any(node in inside or not division.remainder for node, division in found.items()):
        return 1
    count = lcm(*(division.divisor for division in found.values()))
    whole = all(one.divisor == count and one.added % count == 0 and not one.remainder for one in found.values())
    return count if count <= _REMAINDERS or (whole and count >= _VECTORS) else 1


class _Division(Struct, frozen=True):
    """``(iterator + added) / divisor``, or ``%``, of what isn't negative. multiple: that quotient's multiple of the
    divisor, as ``(iterator + added) & ~1``."""

    remainder: bool
    divisor: int
    added: int
    multiple: bool = False


def _division(node: Any, loop: _Loop) -> _Division | None:
    if not isinstance(node, ir.BinaryOp) or (divisor := _number(node.right)) is None:
        return None
    remainder, multiple = node.op in ("%", "&"), False
    if node.op == ">>" and 0 < divisor < _LARGEST_SHIFT:
        divisor = 1 << divisor
    elif node.op == "&" and divisor < 0 and divisor & -divisor == -divisor:
        remainder, multiple, divisor = False, True, -divisor
    elif node.op == "&" and divisor > 0 and divisor & (divisor + 1) == 0:
        divisor += 1
    elif node.op not in ("/", "%"):
        return None
    added = _added(node.left, loop.name)
    if divisor <= 1 or added is None or loop.start + added < 0:
        return None
    return _Division(remainder, divisor, added, multiple)


def _number(node: Any) -> int | None:
    """The value of a constant, or of one with all bits inverted."""
    if isinstance(node, ir.UnaryOp) and node.op == "~":
        value = value_of(node.expr)
        return None if value is None else ~value
    return value_of(node)


def _added(node: Any, name: str) -> int | None:
    """The constant that a variable has added to it."""
    match node:
        case ir.ID(name=own):
            return 0 if own == name else None
        case ir.BinaryOp(op="+" | "-" as op, left=ir.ID(name=own), right=right) if own == name:
            value = value_of(right)
            return None if value is None else value if op == "+" else -value
    return None


def _by_remainder(body: Any, loop: _Loop, quotient: str, remainder: str, count: int) -> Any:
    """A body with the quotients and remainders of an iterator told by its own quotient and remainder."""

    def plain(node: Any) -> Any:
        found = _division(node, loop)
        if found is None:
            return node
        whole, rest = divmod(found.added, found.divisor)
        small: Any = plus(ir.ID(remainder, node.coord), rest)
        if found.remainder:
            same = found.divisor == count and rest == 0
            return small if same else ir.BinaryOp("%", small, number(found.divisor), node.coord)
        result = plus(_times(count // found.divisor, quotient), whole)
        if found.divisor != count or rest > 0:
            result = ir.BinaryOp("+", result, ir.BinaryOp("/", small, number(found.divisor), node.coord), node.coord)
        return ir.BinaryOp("*", number(found.divisor), result, node.coord) if found.multiple else result

    return replaced(body, plain)


def _times(count: int, name: str) -> Any:
    return ir.ID(name) if count == 1 else ir.BinaryOp("*", number(count), ir.ID(name))


def _shares_results(body: Any, quotient: str, remainder: str) -> bool:
    """Whether iterations of all remainders write one cell: short sums, for which there is nothing to gain."""
    nodes = tuple(walk(body))
    written = [node.lvalue for node in nodes if isinstance(node, ir.Assignment)]
    written += [node.expr for node in nodes if isinstance(node, ir.UnaryOp) and node.op in STEPS]
    places = [{*used_names(lvalue)} for lvalue in written if isinstance(lvalue, ir.ArrayRef)]
    return any(quotient in names and remainder not in names for names in places)


def _stores_records(body: Any, loop: _Loop, count: int) -> bool:
    """Whether iterations store records of three elements, or another number for which so many times as many are no
    vectors, and only read cells that are theirs together: these can be fetched in front."""
    if count > _REMAINDERS or any((one := _division(node, loop)) and one.remainder for node in walk(body)):
        return False
    stored: dict[str, set[str]] = {}
    pointers = dict(_own_pointers(body))
    for node in walk(body):
        if isinstance(node, ir.Assignment) and (name := _record_of(node.lvalue, loop, pointers)) is not None:
            stored.setdefault(name, set()).add(CPrinter().visit(node.lvalue))
    return any(len(cells) & (len(cells) - 1) for cells in stored.values())


def _own_pointers(body: Any) -> Iterator[tuple[str, Any]]:
    """The pointers that a body declares, and what they are at first."""
    for node in walk(body):
        if isinstance(node, ir.Decl) and isinstance(node.type, ir.PtrDecl) and node.init is not None:
            yield node.name, node.init


def _record_of(cell: Any, loop: _Loop, pointers: Mapping[str, Any]) -> str | None:
    """The array, or pointer, whose cell is stored, if the next iteration's one isn't the next cell."""
    match cell:
        case ir.ArrayRef(name=ir.ID(name=name)) if name in pointers:
            return name if _moves_by_records(pointers[name], loop) else None
        case ir.ArrayRef(name=row, subscript=subscript) if loop.name in used_names(subscript):
            return _named(row) if _moves_by_records(subscript, loop) else None
        case ir.ArrayRef(name=row):
            return _named(row) if loop.name in used_names(row) else None
    return None


def _named(reference: Any) -> str:
    return next(iter(used_names(reference)))


def _moves_by_records(place: Any, loop: _Loop) -> bool:
    """Whether a place moves by more than an element with the loop."""
    products = (node for node in walk(place) if isinstance(node, ir.BinaryOp) and node.op == "*")
    return any(loop.name in used_names(node) for node in products)


def _instances(node: Any) -> float:
    """How many statements an iteration of a loop executes; infinitely many if it has loops that aren't short."""
    match node:
        case ir.For(cond=ir.BinaryOp(op="<" | "<=", right=end), stmt=body):
            trips = value_of(end)
            return inf if trips is None else max(trips, 1) * _instances(body)
        case ir.For() | ir.While() | ir.DoWhile() | ir.Switch():
            return inf
        case ir.Compound() | ir.If():
            return sum(map(_instances, node.parts))
        case ir.DeclList(decls=decls):
            return sum(decl.init is not None for decl in decls)
    return 1


def _is_simple(body: Any, count: int) -> bool:
    """Whether a body is short, and is left nowhere but at its end."""
    left = next(leaving(body), None) is not None or out_of_statements(body) is not None
    return not left and (1 if count >= _VECTORS else count) * _instances(body) <= _STATEMENTS


def _for(name: str, spelled: str, start: int, op: str, end: Any, body: Any, where: Any) -> ir.For:
    typed = ir.TypeDecl(name, [], None, ir.IdentifierType(spelled.split(), where), where)
    init = ir.DeclList([ir.Decl(name, [], [], [], [], typed, number(start), None, where)], where)
    step = ir.UnaryOp("p++", ir.ID(name, where), where)
    return ir.For(init, ir.BinaryOp(op, ir.ID(name, where), end, where), step, body, where)
