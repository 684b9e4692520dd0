"""Loops that do nothing but to look for something better: ``if (a[i] < best) { best = a[i]; where = i; }``.

As long as no condition holds of what was known before a block of iterations, none of these changes anything that the
others look at: by induction, all conditions are evaluated for what was known in front, and the whole block does
nothing. So they may be asked beforehand, all together, and the block be left out. That holds for any values, be they
equal, or no numbers. (What is asked is shown to be enough by `scopt.check.block_questions`, which doesn't look here.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import COMPARISONS, truth
from scopt.ir.walks import same_tree, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import IN

SUFFIX = "_test"
# Functions that nothing but their value comes of, and that are vector instructions.
_FUNCTIONS = ("fabs", "fabsf", "abs")
_FLOATING = ("fabs", "fabsf")
_ARITHMETIC = ("+", "-", "*", "/")
_TURNED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

# A statement that a loop runs, and those of its iterators that move with the loop.
Run = tuple[Statement, frozenset[str]]
# Whether a part of a statement may be evaluated, whatever its conditions say.
Sure = Callable[[Statement, ir.Node], bool]


def tests_of(scop: Scop, found: str, runs: Sequence[Run], sure: Sure) -> tuple[Statement, ...] | None:
    """What asks of all the conditions of an iteration whether they hold, and says so in a variable: temporary values
    that conditions compare are computed as in the loop. None if a loop does anything else.

    runs: what an iteration does, in this order. found: the variable's name.
    """
    accesses = [access for one, _ in runs for access in one.accesses]
    arrays = [scop.arrays[access.array] for access in accesses]
    if any(array.type.volatile or array.type.atomic for array in arrays) or any(a.node is None for a in accesses):
        return None
    written = [access.array for access in accesses if access.is_write]
    temporary = {target for one, _ in runs if (target := _temporary(scop, one)) is not None}
    known, moved, made = set[str](), set[str](), list[Statement]()
    for statement, moving in runs:
        target = _temporary(scop, statement)
        own = {access.array for access in statement.accesses}
        if own & (temporary - known - {target}):
            return None  # it might look at the last iteration's
        asker = _Asker(scop, statement, moving, frozenset(written) - temporary, frozenset(moved), sure)
        if target is not None:
            value = statement.body.rvalue if isinstance(statement.body, ir.Assignment) else statement.body
            if written.count(target) > 1 or any(a.array == target and not a.is_write for a in statement.accesses):
                return None
            if not asker.is_steady(value):
                if not asker.is_floating(value) or not scop.arrays[target].type.floating:
                    return None
                moved.add(target)
            known.add(target)
            made.append(statement)
            continue
        test = _test(statement, found, asker)
        if test is None:
            return None
        made.append(test)
    return tuple(made)


def changes_of(body: ir.Node) -> Iterator[tuple[ir.Node, ir.Node]] | None:
    """The conditions one of which has to hold for a statement to do anything at all, each with what it does then. None
    if it may do something anyway."""
    while isinstance(body, ir.Compound) and len(body.block_items or ()) == 1:
        body = body.block_items[0]
    match body:
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
            return iter([(condition, then)])
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=other):
            rest = changes_of(other)
            return None if rest is None else iter([(condition, then), *rest])
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.TernaryOp(cond=condition, iftrue=first, iffalse=second)):
            if same_tree(cell, second):
                return iter([(condition, ir.Assignment("=", cell, first))])
            if same_tree(cell, first) and isinstance(condition, ir.BinaryOp) and condition.op in _TURNED:
                return iter([(ir.UnaryOp("!", condition), ir.Assignment("=", cell, second))])
    return None


def is_fixed(side: ir.Node, moving: frozenset[str]) -> bool:
    """Whether a side of a comparison is a variable, or one cell, that doesn't move with the loop: to look at it early
    needs no cell that isn't there."""
    while isinstance(side, ir.ArrayRef):
        if not _is_fixed_place(side.subscript, moving):
            return False
        side = side.name
    return isinstance(side, ir.ID) and side.name not in moving


def _is_fixed_place(subscript: ir.Node, moving: frozenset[str]) -> bool:
    match subscript:
        case ir.Constant():
            return True
        case ir.BinaryOp(op="+" | "-", left=left, right=right):
            return _is_fixed_place(left, moving) and _is_fixed_place(right, moving)
    return is_fixed(subscript, moving)


def _temporary(scop: Scop, statement: Statement) -> str | None:
    """The variable that a statement assigns a value, and nothing else."""
    writes = [access for access in statement.accesses if access.is_write]
    match statement.body:
        case ir.Assignment(op="=", lvalue=ir.ID() as target, rvalue=value) if len(writes) == 1:
            plain = writes[0].node is target and writes[0].kind == "write" and not scop.arrays[writes[0].array].rank
            return writes[0].array if plain and _is_plain(value) else None
    return None


def _is_plain(value: ir.Node) -> bool:
    """Whether vector instructions evaluate it: no part decides if another one is evaluated."""
    for node in walk(value):
        match node:
            case ir.FuncCall(name=name):
                if not isinstance(name, ir.ID) or name.name not in _FUNCTIONS:
                    return False
            case ir.BinaryOp(op="&&" | "||") | ir.TernaryOp() | ir.Assignment():
                return False
    return True


def _test(statement: Statement, found: str, asker: _Asker) -> Statement | None:
    """``found |= condition``, with all the accesses, so that they have the same places."""
    changes = changes_of(statement.body)
    asked = None if changes is None else asker.any_of([condition for condition, _ in changes])
    if asked is None:
        return None
    name = f"{statement.name}{SUFFIX}"
    accesses = tuple(replace(a, relation=a.relation.set_tuple_name(IN, name)) for a in statement.accesses)
    body = ir.Assignment("|=", ir.ID(found), truth(asked))
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), body=body, accesses=accesses)


class _Asker(Struct, frozen=True, eq=False):
    """What a statement's conditions may ask of what was known in front of a block.

    changing: arrays and variables that the loop writes, but for temporary values. moved: temporary values that depend
    on these.
    """

    scop: Scop
    statement: Statement
    moving: frozenset[str]
    changing: frozenset[str]
    moved: frozenset[str]
    sure: Sure

    def any_of(self, conditions: Sequence[ir.Node]) -> ir.Node | None:
        """Whether one of them holds, each of which is evaluated where those before don't hold; None if they can't all
        be asked."""
        together: ir.Node | None = None
        for one in conditions:
            asked = self.question(one)
            if asked is None:
                return None
            if together is not None and not self.sure(self.statement, one):
                return None
            together = asked if together is None else ir.BinaryOp("|", truth(together), truth(asked))
        return together

    def question(self, node: ir.Node) -> ir.Node | None:
        """A condition with both sides of ``&&`` and ``||`` evaluated, where that may be; None if it can't be asked."""
        match node:
            case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                first, second = self.question(left), self.question(right)
                if first is None or second is None:
                    return None
                if self.sure(self.statement, right):
                    return ir.BinaryOp(op[0], truth(first), truth(second))
                return ir.BinaryOp(op, left, second) if self.is_steady(left) else None
            case ir.UnaryOp(op="!", expr=inner):
                return None if self.question(inner) is None else node
            case ir.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS:
                return node if all(self.is_askable(side) for side in (left, right)) else None
        return node if self.is_steady(node) and _is_plain(node) else None

    def is_askable(self, side: ir.Node) -> bool:
        if not _is_plain(side):
            return False
        return self.is_steady(side) or self.is_known(side) or self.is_floating(side)

    def is_steady(self, node: ir.Node) -> bool:
        """Whether its value has nothing to do with what the loop changes."""
        inside = set(walk(node))
        others = self.changing | self.moved
        return not any(a.node in inside and (a.is_write or a.array in others) for a in self.statement.accesses)

    def is_known(self, side: ir.Node) -> bool:
        """Whether it is a variable, or a cell that the first iteration of a block looks at, too."""
        sums = [node for node in walk(side) if isinstance(node, ir.BinaryOp)]
        if not is_fixed(side, self.moving) or not all(map(self.is_steady, sums)):
            return False
        return isinstance(side, ir.ID) or always_evaluated(self.statement.body, side)

    def is_floating(self, node: ir.Node) -> bool:
        """Whether it is arithmetic of floating-point numbers as far as it depends on what changes: that can't fail."""
        own = [access for access in self.statement.accesses if access.node is node]
        if own:
            read = all(access.kind == "read" and self.scop.arrays[access.array].type.floating for access in own)
            return read and (self.is_steady(node) or self.is_known(node))
        match node:
            case ir.BinaryOp(op=op, left=left, right=right) if op in _ARITHMETIC:
                both = self.is_floating(left), self.is_floating(right)
                return any(both) and all(
                    one or self.is_steady(side) for one, side in zip(both, (left, right), strict=True)
                )
            case ir.UnaryOp(op="-", expr=inner):
                return self.is_floating(inner)
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[ir.Node() as only])) if name in _FLOATING:
                return self.is_floating(only)
        return False
