"""Strips whose iterations ask whether what they look at lies inside, in two forms: where that is so for the first and
for the last one, without the question, and as they were.

``int inside = 1; {the first iteration, the last one} if (!(x + d >= 0 && x + d < w)) inside = 0;``. What is asked are
comparisons of ints that grow, or shrink, by the same amount with each iteration: what holds at both ends holds between
(none overflows, since all iterations compute them). Without the condition, compilers load vectors as they are, what is
the same for all of them once, and don't need masks (a horizon map over a window in many directions: a sixth of the time
by gcc, a third by clang).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.decided import INSIDE
from scopt.ir.expr import linear, names, substitute, subtract
from scopt.ir.nest import Call, Const, Expr, For, Name
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.truths import ORDERS, conjuncts
from scopt.ir.walks import used_names, walk

# Iterations of a strip that is worth two forms, and the most; statements that stand there twice.
_LEAST, _MOST, _FEW = 8, 64, 6
_INT = 32


class Interior(Struct, frozen=True):
    """lines: the declarations in front. ends: the statements of the first and of the last iteration that the question
    is about."""

    lines: tuple[str, ...]
    ends: tuple[Call, ...]


def interior_of(scop: Scop, loop: For) -> Interior | None:
    """Of a vector loop of one thread whose statements, some of which have such a condition, may be asked at its ends;
    None of others."""
    mark, last = loop.mark, subtract(loop.upper, loop.lower)
    strips = mark.looked or mark.fetched
    plain = mark.simd and not (mark.parallel or mark.reductions or mark.jammed or mark.searched or strips)
    if not plain or mark.narrow is not None or loop.step != 1 or INSIDE in scop.reserved:
        return None
    calls = [item for item in loop.body.items if isinstance(item, Call)]
    if not isinstance(last, Const) or not _LEAST <= last.value + 1 <= _MOST or len(calls) != len(loop.body.items):
        return None
    if len(calls) > _FEW or any(call.kept for call in calls):
        return None
    asked = _asked(scop, loop, calls)
    if not asked:
        return None
    ends = [
        replace(call, args=tuple(substitute(one, {loop.iterator: end}) for one in call.args))
        for end in (loop.lower, loop.upper)
        for call in asked
    ]
    scalars = (_scalar(scop, scop.statement(call.statement)) for call in asked)
    lines = [f"int {INSIDE} = 1;", *(f"int {name};" for name in dict.fromkeys(scalars) if name)]
    return Interior(tuple(lines), tuple(ends))


def _asked(scop: Scop, loop: For, calls: list[Call]) -> list[Call] | None:
    """The statements that have a condition, and those that give its variables values; None where some may not be
    asked at the ends."""
    lines = _Lines.of(scop, loop, calls)
    needed, found, moves = set[str](), list[Call](), False
    for call in reversed(calls):
        statement = scop.statement(call.statement)
        name = _scalar(scop, statement)
        match statement.body:
            case ir.If(cond=ir.Node() as condition, iffalse=None):
                for one in conjuncts(condition):
                    match one:
                        case ir.BinaryOp(op=op, left=left, right=right) if op in ORDERS:
                            degrees = lines.degree(left, statement, call), lines.degree(right, statement, call)
                        case _:
                            return None
                    if None in degrees:
                        return None
                    moves = moves or 1 in degrees
                needed |= set(used_names(condition))
            case _ if name is not None and name in needed:
                needed |= set(used_names(statement.body))
            case _:
                continue
        found.insert(0, call)
    known = {_scalar(scop, scop.statement(call.statement)) for call in found}
    return found if moves and needed & set(lines.given) <= known else None


class _Lines(Struct, frozen=True):
    """Which expressions of a loop's statements are ints that grow by the same amount with each iteration.

    types: by name in C. written: names of all that the loop writes. given: by a private scalar that one statement gives
    a value, that one."""

    scop: Scop
    loop: For
    types: Mapping[str, CType]
    written: frozenset[str]
    given: Mapping[str, Call] = field(default_factory=dict)

    @staticmethod
    def of(scop: Scop, loop: For, calls: list[Call]) -> _Lines:
        types = {array.spelling: array.type for array in scop.arrays.values()}
        types |= {one.spelling: one.type for one in scop.parameters}
        private = {scop.arrays[name].spelling for name in loop.mark.private}
        written = [name for call in calls for name in _written(scop.statement(call.statement).body)]
        given = {
            name: call
            for call in calls
            if (name := _scalar(scop, scop.statement(call.statement))) in private and written.count(str(name)) == 1
        }
        return _Lines(scop, loop, types, frozenset(written), {str(name): call for name, call in given.items()})

    def degree(self, node: ir.Node, statement: Statement, call: Call) -> int | None:
        """1 of what grows by the same amount, 0 of what stays; None of what may do something else."""
        match node:
            case ir.Constant(type="int", value=value) if value.isdecimal():
                return 0
            case ir.UnaryOp(op="-" | "+", expr=inner):
                return self.degree(inner, statement, call)
            case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                one, other = self.degree(left, statement, call), self.degree(right, statement, call)
                if one is None or other is None:
                    return None
                made = one + other if op == "*" else max(one, other)
                return made if made <= 1 else None
            case ir.ID(name=name) if name in statement.iterators:
                position = statement.iterators.index(name)
                return self.moved(call.args[position]) if _is_int(statement.iterator_types[position]) else None
            case ir.ID(name=name) if name in self.given:
                return self.value(name)
            case ir.ID(name=name):
                return 0 if self.stays(name) else None
            case ir.ArrayRef(name=ir.Node() as array, subscript=ir.Node() as subscript):
                inside = self.degree(subscript, statement, call)
                if isinstance(array, ir.ArrayRef):
                    outside = self.degree(array, statement, call)
                else:
                    outside = 0 if isinstance(array, ir.ID) and self.stays(array.name) else None
                return 0 if inside == 0 and outside == 0 else None
        return None

    def value(self, name: str) -> int | None:
        """Of what a statement gives a scalar."""
        call = self.given[name]
        statement = self.scop.statement(call.statement)
        body = statement.body
        assert isinstance(body, ir.Assignment)
        if name in used_names(body.rvalue):
            return None
        return self.degree(body.rvalue, statement, call)

    def stays(self, name: str) -> bool:
        """Whether something is an int, or narrower, or consists of such, and nothing in the loop writes it."""
        return name not in self.written and name in self.types and _is_int(self.types[name])

    def moved(self, value: Expr) -> int | None:
        factors, _ = linear(value)
        moving = [one for one in factors if self.loop.iterator in names(one)]
        return len(moving) if all(isinstance(one, Name) for one in moving) else None


def _is_int(ctype: CType) -> bool:
    """Whether a value is an int's in arithmetic, which doesn't wrap around."""
    plain = ctype.integer and not (ctype.volatile or ctype.atomic)
    return plain and (0 < ctype.bits < _INT or (ctype.bits == _INT and ctype.signed))


def _scalar(scop: Scop, statement: Statement) -> str | None:
    """The int that a statement gives a value, whatever it was."""
    match statement.body:
        case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=ir.Node()):
            kinds = [one.type for one in scop.arrays.values() if one.spelling == name and not one.rank]
            return name if kinds and all(one.spelling == "int" and _is_int(one) for one in kinds) else None
    return None


def _written(body: ir.Node) -> Iterator[str]:
    """The names of what a statement writes."""
    for node in walk(body):
        match node:
            case ir.Assignment(lvalue=target) | ir.UnaryOp(op="++" | "--" | "p++" | "p--" | "&", expr=target):
                while isinstance(target, ir.ArrayRef | ir.StructRef):
                    target = target.name
                yield target.name if isinstance(target, ir.ID) else ""
