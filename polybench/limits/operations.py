"""The operations that one instance of a statement does on data, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from scopt import ir
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Statement
from scopt.ir.walks import walk
from scopt.polybench.limits.points import NotCounted

Kind = Literal["flop", "division", "root", "call"]

_ROOTS = frozenset({"sqrt", "sqrtf", "sqrtl"})
# One instruction on vectors, as an addition is.
_SIMPLE = frozenset({f"{name}{suffix}" for name in ("fmin", "fmax") for suffix in ("", "f", "l")})
# Changes of a sign bit, which are part of other instructions or of none.
_FREE = frozenset({"fabs", "fabsf", "fabsl"})
_INTEGER_WORDS = frozenset({"char", "short", "int", "long", "signed", "unsigned", "_Bool"})
_DIVISIONS = ("/", "%")
_LOGICAL = ("&&", "||")


class Operation(Struct, frozen=True, eq=False):
    """An operation on data. Index arithmetic is none, nor are conversions, signs and logical connectives.

    text: the expression that it is the outermost operation of, in C: no two operations of a statement have the same.
    reads: the accesses that its value depends on. iterates: it depends on an iterator besides, outside subscripts.
    certain: each instance does it; otherwise it is in an arm of a conditional expression, and nowhere else.
    """

    kind: Kind
    text: str
    reads: tuple[Access, ...]
    iterates: bool
    certain: bool


class _Value(Struct, frozen=True, eq=False):
    """A subexpression. data: it depends on array elements, or on iterators as floating-point numbers."""

    reads: tuple[Access, ...] = ()
    iterates: bool = False
    data: bool = False

    def with_others(self, *others: _Value) -> _Value:
        values = (self, *others)
        reads = {id(access): access for value in values for access in value.reads}
        return _Value(tuple(reads.values()), any(v.iterates for v in values), any(v.data for v in values))


def operations_of(statement: Statement) -> tuple[Operation, ...]:
    """The operations of an assignment, or of some under conditions, each expression once however often it is written.

    So the maximum ``a > b + c ? a : b + c`` is one comparison and one addition. A comparison counts like an addition.
    Loops that are part of the statement, whose number of iterations depends on data, count for nothing.
    Raises NotCounted for calls that may read anything, and for statements of other kinds.
    """
    return tuple(_collected(statement).found.values())


def certain_accesses(statement: Statement) -> tuple[Access, ...]:
    """The accesses that each instance makes, to the one cell that their relation gives it. Raises NotCounted."""
    made = _collected(statement).made
    return tuple(
        access
        for access in statement.accesses
        if (access.kind == "write" or access.node in made) and access.relation.is_single_valued()
    )


def _collected(statement: Statement) -> _Collector:
    if any(access.node is None for access in statement.accesses):
        raise NotCounted(f"{statement.location}: the statement's accesses aren't known")
    collector = _Collector(statement)
    collector.statement(statement.body, certain=True)
    return collector


class _Collector:
    """Walks through one statement. found: its operations by text, in order of evaluation.
    made: the references that every instance reads. locals: what the statement's own variables depend on."""

    def __init__(self, statement: Statement) -> None:
        self._where = statement.location
        self._iterators = frozenset(statement.iterators)
        self._reads = {access.node: access for access in statement.accesses if not access.is_write}
        self._generator = CPrinter()
        self.found: dict[str, Operation] = {}
        self.made: set[Any] = set()
        self._locals: dict[str, _Value] = {}

    def statement(self, node: Any, *, certain: bool) -> None:
        if isinstance(node, ir.Compound):
            for item in node.block_items or ():
                self.statement(item, certain=certain)
        elif isinstance(node, ir.If):
            self.value(node.cond, certain=certain)
            for branch in (node.iftrue, node.iffalse):
                if branch is not None:
                    self.statement(branch, certain=False)
        elif isinstance(node, ir.Decl):
            if node.init is not None:
                self._locals[node.name] = self.value(node.init, certain=certain)
        elif isinstance(node, ir.Assignment):
            right = self.value(node.rvalue, certain=certain)
            if node.op != "=":
                right = self.value(node.lvalue, certain=certain).with_others(right)
                self.add("division" if node.op[:-1] in _DIVISIONS else "flop", node, right, certain=certain)
            if isinstance(node.lvalue, ir.ID) and node.lvalue.name in self._locals:
                self._locals[node.lvalue.name] = self._locals[node.lvalue.name].with_others(right)
        elif isinstance(node, ir.UnaryOp) and node.op.strip("p") in ("++", "--"):
            self.add("flop", node, self.value(node.expr, certain=certain), certain=certain)
        elif not isinstance(node, ir.For | ir.While | ir.DoWhile | ir.EmptyStatement):
            raise NotCounted(f"{self._where}: the operations of this kind of statement can't be counted")

    def value(self, node: Any, *, certain: bool) -> _Value:
        """What a subexpression depends on; its operations are added to those found."""
        if node in self._reads:
            if certain:
                self.made.add(node)
                self._subscripts(node)
            return _Value((self._reads[node],), data=True)
        if isinstance(node, ir.Constant):
            return _Value()
        if isinstance(node, ir.ID):
            return self._locals.get(node.name, _Value(iterates=node.name in self._iterators))
        if isinstance(node, ir.Cast):
            inner = self.value(node.expr, certain=certain)
            return _Value(inner.reads, inner.iterates, inner.data or (inner.iterates and not _is_integer(node.to_type)))
        if isinstance(node, ir.UnaryOp):
            return self.value(node.expr, certain=certain)
        if isinstance(node, ir.BinaryOp):
            left = self.value(node.left, certain=certain)
            both = left.with_others(self.value(node.right, certain=certain and node.op not in _LOGICAL))
            if node.op not in _LOGICAL:
                self.add("division" if node.op in _DIVISIONS else "flop", node, both, certain=certain)
            return both
        if isinstance(node, ir.TernaryOp):
            condition = self.value(node.cond, certain=certain)
            return condition.with_others(*(self.value(arm, certain=False) for arm in (node.iftrue, node.iffalse)))
        if isinstance(node, ir.Assignment) and node.op == "=":
            return self.value(node.rvalue, certain=certain)
        if isinstance(node, ir.FuncCall):
            return self.call(node, certain=certain)
        raise NotCounted(f"{self._where}: the operations of '{self._generator.visit(node)}' can't be counted")

    def _subscripts(self, reference: Any) -> None:
        """The references in the subscripts of one that is read are read, too."""
        self.made.update(inner for inner in walk(reference) if inner in self._reads)

    def call(self, node: ir.FuncCall, *, certain: bool) -> _Value:
        arguments = _Value().with_others(
            *(self.value(argument, certain=certain) for argument in (node.args.exprs if node.args is not None else ()))
        )
        name = node.name.name if isinstance(node.name, ir.ID) else ""
        if name not in _FREE:
            self.add(
                "root" if name in _ROOTS else "flop" if name in _SIMPLE else "call", node, arguments, certain=certain
            )
        return arguments

    def add(self, kind: Kind, node: Any, operands: _Value, *, certain: bool) -> None:
        """Take note of an operation, unless its value is a constant or an index."""
        if not operands.data:
            return
        text = self._generator.visit(node)
        known = self.found.get(text)
        certain = certain or (known is not None and known.certain)
        self.found[text] = Operation(kind, text, operands.reads, operands.iterates, certain)


def _is_integer(type_name: Any) -> bool:
    """Whether a cast's type is one of C's own integer types."""
    return all(word in _INTEGER_WORDS for word in _words(type_name))


def _words(node: Any) -> Iterator[str]:
    """The words of the type that a cast names."""
    return (word for inner in walk(node) if isinstance(inner, ir.IdentifierType) for word in inner.names)
