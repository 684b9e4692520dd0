"""What statements and expressions read and write, by the names that they use: the one answer that everybody asks for.

It is about names alone, so it is on the safe side: all that is below a node counts, also what isn't evaluated. What a
pointer leads to is written *through* its name; that other names may lead there too is for others to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.ir.walks import walk

STEPS = ("++", "--", "p++", "p--")
# What the parser gets in the place of code that C has no words for, such as assembler: called with its words.
OPAQUE = "__scopt_opaque"
# What does nothing itself.
STATEMENTS = (ir.Compound, ir.For, ir.While, ir.DoWhile, ir.If)
# What a variable can get another value by.
_CHANGING = (ir.Decl, ir.Assignment, ir.UnaryOp, ir.FuncCall)


class Effects(Struct, frozen=True):
    """Of some nodes, with all below them.

    assigned: variables that may get another value as a whole: by an assignment or a step, by code that isn't
      understood, or by a call that gets their address. declared: variables that begin to live there.
    through: names by which parts, or what they point to, may be written: ``a[i] = …``, ``s.x = …``, ``*p = …``; of a
      sum both sides, since only types tell which one points. passed: names that calls get, as values or by their
      addresses: what they lead to may be written there too, unless it is known what the functions do.
    read: names whose value, or whose cells, may be looked at. taken: names with an address that is taken.
    called: functions; the empty string for one that isn't told by its name. opaque: there is code that isn't
      understood. unnamed: cells may be written that none of these names lead to.
    """

    assigned: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    through: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    opaque: bool = False
    unnamed: bool = False

    @property
    def written(self) -> frozenset[str]:
        """Names of all that the nodes themselves may write, wholly or in part."""
        return self.assigned | self.declared | self.through

    @property
    def changed(self) -> frozenset[str]:
        """Variables that may have another value or meaning behind the nodes than before them."""
        return self.assigned | self.declared


@lru_cache(maxsize=1 << 14)
def effects(*nodes: Any) -> Effects:
    """What the nodes do, None among them nothing. (Nodes don't change, and each rewrite asks again of those that it
    leaves alone.)"""
    if len(nodes) != 1:
        return _together([effects(node) for node in nodes if node is not None])
    if isinstance(nodes[0], STATEMENTS):
        return _together([effects(part) for part in nodes[0].parts])
    found = _Found()
    for node in walk(*nodes):
        found.add(node)
    return Effects(
        frozenset(found.assigned),
        frozenset(found.declared),
        frozenset(found.through),
        frozenset(found.passed),
        frozenset(found.read),
        frozenset(found.taken),
        frozenset(found.called),
        found.opaque,
        found.unnamed,
    )


def _together(parts: list[Effects]) -> Effects:
    """What several nodes do that stand beside each other."""
    return Effects(
        frozenset[str]().union(*(one.assigned for one in parts)),
        frozenset[str]().union(*(one.declared for one in parts)),
        frozenset[str]().union(*(one.through for one in parts)),
        frozenset[str]().union(*(one.passed for one in parts)),
        frozenset[str]().union(*(one.read for one in parts)),
        frozenset[str]().union(*(one.taken for one in parts)),
        frozenset[str]().union(*(one.called for one in parts)),
        any(one.opaque for one in parts),
        any(one.unnamed for one in parts),
    )


def target(node: Any) -> Any | None:
    """What a node itself assigns to, or steps."""
    if isinstance(node, ir.Assignment):
        return node.lvalue
    return node.expr if isinstance(node, ir.UnaryOp) and node.op in STEPS else None


def targets(*nodes: Any) -> Iterator[Any]:
    """What is assigned to or stepped in the nodes, in the order of the source."""
    return (found for node in walk(*nodes) if (found := target(node)) is not None)


def changes_of(name: str, *nodes: Any) -> int:
    """In how many places a variable gets another value: itself, not what it points to or consists of."""
    return sum(_changes(node)[name] for node in nodes if node is not None)


@lru_cache(maxsize=1 << 14)
def _changes(root: Any) -> Counter[str]:
    """The same for all variables."""
    found = Counter[str]()
    if isinstance(root, STATEMENTS):
        for part in root.parts:
            found.update(_changes(part))
        return found
    for node in walk(root):
        if isinstance(node, _CHANGING):
            found.update(_changed_by(node))
    return found


def _changed_by(node: Any) -> Iterator[str]:
    """What a node itself may give another value."""
    if isinstance(node, ir.Decl) and node.name:
        yield node.name
    elif isinstance(lvalue := target(node), ir.ID):
        yield lvalue.name
    elif isinstance(node, ir.FuncCall):
        yield from _words(node)


def assigned_by(node: Any) -> Collection[str]:
    """The variables that a node itself may give another value, other than by declaring them."""
    lvalue = target(node)
    if isinstance(lvalue, ir.ID):
        return (lvalue.name,)
    return _words(node) if isinstance(node, ir.FuncCall) else ()


def assigns(node: Any, name: str) -> bool:
    """Whether a node itself may give a variable another value."""
    return name in assigned_by(node)


def opaque_words(node: Any) -> list[str] | None:
    """For a call that stands for code that isn't understood: its words, with ``&`` before those whose address is taken.
    Else None."""
    if not (isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID) and node.name.name == OPAQUE):
        return None
    return str(node.args.exprs[0].value)[1:-1].split()


def _words(node: Any) -> frozenset[str]:
    return frozenset(word.lstrip("&") for word in opaque_words(node) or ())


class _Found(Struct):
    """What `Effects` has, so far. unread: names that are only assigned or called where they stand."""

    assigned: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    through: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    unread: set[Any] = field(default_factory=set)
    opaque: bool = False
    unnamed: bool = False

    def add(self, node: Any) -> None:
        """What a node does; those above it come first."""
        if (lvalue := target(node)) is not None:
            self.assign(lvalue)
            if isinstance(node, ir.Assignment) and node.op == "=" and isinstance(lvalue, ir.ID):
                self.unread.add(lvalue)
        match node:
            case ir.ID(name=name):
                if node not in self.unread:
                    self.read.add(name)
            case ir.Decl(name=str(name)) | ir.Typedef(name=str(name)):
                self.declared.add(name)
            case ir.UnaryOp(op="&", expr=operand):
                self.taken |= bases(operand)
            case ir.FuncCall():
                self.call(node)

    def assign(self, lvalue: Any) -> None:
        """A write of what an lvalue means."""
        if isinstance(lvalue, ir.ID):
            self.assigned.add(lvalue.name)
            return
        names = bases(lvalue)
        self.through |= names
        self.unnamed = self.unnamed or not names

    def call(self, node: ir.FuncCall) -> None:
        words = opaque_words(node)
        if words is not None:
            names = _words(node)
            self.opaque = True
            self.assigned |= names
            self.through |= names
            self.read |= names
            self.taken.update(word[1:] for word in words if word.startswith("&"))
            self.unread.add(node.name)
            return
        self.called.add(node.name.name if isinstance(node.name, ir.ID) else "")
        if isinstance(node.name, ir.ID):
            self.unread.add(node.name)
        for argument in node.args.exprs if node.args is not None else ():
            while isinstance(argument, ir.Cast):
                argument = argument.expr
            match argument:
                case ir.UnaryOp(op="&", expr=ir.ID(name=name)):
                    self.assigned.add(name)
            self.passed |= bases(argument)


def bases(node: Any) -> frozenset[str]:
    """The names that an lvalue, or a pointer's value, is reached from: ``a`` for ``a[i].x``, ``*a``, ``&a[1]``; both of
    ``*(a + b)`` and of ``*(c ? a : b)``."""
    match node:
        case ir.ID(name=name):
            return frozenset({name})
        case ir.ArrayRef(name=ir.Constant(), subscript=array):
            return bases(array)
        case ir.ArrayRef() | ir.StructRef():
            return bases(node.name)
        case ir.UnaryOp(op="*" | "&" | "++" | "--" | "p++" | "p--") | ir.Cast():
            return bases(node.expr)
        case ir.BinaryOp(op="+" | "-"):
            return bases(node.left) | bases(node.right)
        case ir.TernaryOp():
            return bases(node.iftrue) | bases(node.iffalse)
        case ir.Assignment():
            return bases(node.lvalue) | bases(node.rvalue)
        case ir.ExprList(exprs=[*_, last]) | ir.Compound(block_items=[*_, last]):
            return bases(last)
    return frozenset()
