"""Whether what the text asks of a block of iterations is all that the block might do.

A block may be left out if nothing in it changes what it began with. Shown by induction: up to some iteration nothing
has changed; so this one, too, finds what the block began with, and what the text asks has answered for just that. What
is asked is read as a formula over comparisons, and has to follow from each way that leads to a change. And it has to be
asked for without harm, since it is also asked of iterations behind a change, where the loop itself would look at other
values, or take other ways: so values that may change take part in comparisons, and in arithmetic of floating-point
numbers, and what isn't evaluated in any case either may be at any time, or stands behind conditions that don't change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.passes.eager import Sure
from scopt.ir.effects import effects
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import is_truth
from scopt.ir.walks import same_tree, walk

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_LOGICAL = {"&&": all, "&": all, "||": any, "|": any}
# What has no effect but its value.
_PURE = ("fabs", "fabsf", "abs")
_MOST_ATOMS = 8
Formula = Callable[[Sequence[bool]], bool]
# Conditions, and whether they hold.
Way = tuple[tuple[ir.Node, bool], ...]


class Block(Struct, frozen=True, eq=False):
    """Blocks of iterations. changing: arrays and variables that iterations may leave with other values.
    own: temporary variables, which each iteration gives a value before it looks at them; drifting: those whose values
    depend on what changes."""

    scop: Scop
    changing: frozenset[str]
    own: frozenset[str]
    drifting: frozenset[str]


class Reader(Struct, frozen=True, eq=False):
    """Reads one statement. moving: its iterators that move in a block."""

    block: Block
    statement: Statement
    moving: frozenset[str]

    def is_enough(self, asked: ir.Node) -> bool:
        """Whether a condition is 1 whenever the statement changes anything, and may be evaluated in any iteration."""
        ways = list(_changes(self.statement.body, ()))
        if not is_truth(asked) or any(not way for way in ways):
            return False
        atoms = _Atoms()
        formulas = [[(atoms.formula(one), holds) for one, holds in way] for way in ways]
        answer = atoms.formula(asked)
        if len(atoms.known) > _MOST_ATOMS:
            return False
        for values in product((False, True), repeat=len(atoms.known)):
            led = any(all(one(values) is holds for one, holds in way) for way in formulas)
            if led and not answer(values):
                return False
        return all(self.is_harmless(atom, way) for atom, way in _evaluated(asked, ()))

    def is_harmless(self, atom: ir.Node, way: Way) -> bool:
        """Whether part of what is asked, evaluated behind some conditions, may be asked of any iteration."""
        sides = (atom.left, atom.right) if isinstance(atom, ir.BinaryOp) and atom.op in _COMPARISONS else (atom,)
        if not all(_is_pure(side) and self.is_calm(side) for side in sides):
            return False
        behind = next((one for node, one in _evaluated_nodes(self.statement.body, ()) if node is atom), None)
        steady = [one for one in way if self.is_steady(one[0])]
        if behind is not None and all(any(_same(one, other) for other in steady) for one in behind):
            return True  # asked only where the loop does so, too
        sure = Sure(self.block.scop, self.statement)
        return all(sure.may_be_evaluated(one) for side in sides for one in self.operands(side))

    def operands(self, side: ir.Node) -> Iterator[ir.Node]:
        """What a side looks at: the operands of arithmetic of floating-point numbers, which can't fail; else itself."""
        match side:
            case ir.BinaryOp(left=left, right=right) if self.is_floating(side):
                yield from self.operands(left)
                yield from self.operands(right)
            case _:
                yield side

    def is_calm(self, side: ir.Node) -> bool:
        """Whether a side of a comparison can be evaluated with what the block began with, whatever is true by then."""
        return self.is_steady(side) or self.is_cell(side) or self.is_floating(side)

    def is_steady(self, node: ir.Node) -> bool:
        parts = set(walk(node))
        found = {access.array for access in self.statement.accesses if access.node in parts}
        written = any(access.is_write and access.node in parts for access in self.statement.accesses)
        return not written and not found & (self.block.changing | self.block.drifting)

    def is_early(self, value: ir.Node, *, floating: bool) -> bool:
        """Whether a temporary value, floating or not, may be computed with what the block began with."""
        return _is_pure(value) and (self.is_steady(value) or (floating and self.is_floating(value)))

    def is_cell(self, node: ir.Node) -> bool:
        """Whether it is a variable, or a cell that is the same one in all iterations, as the first one looks at it,
        too."""
        if isinstance(node, ir.ID):
            return node.name not in self.moving
        names = [one.name for one in walk(node) if isinstance(one, ir.ID)]
        plain = all(
            isinstance(one, ir.ID | ir.ArrayRef | ir.Constant)
            or (isinstance(one, ir.BinaryOp) and one.op in ("+", "-") and self.is_steady(one))
            for one in walk(node)
        )
        own = {self.block.scop.arrays[name].spelling for name in self.block.own}
        if not isinstance(node, ir.ArrayRef) or not plain or any(n in self.moving or n in own for n in names):
            return False
        return any(one is node and not way for one, way in _evaluated_nodes(self.statement.body, ()))

    def is_floating(self, node: ir.Node) -> bool:
        """Whether it is a floating-point number, computed by what can't fail from what changes."""
        accesses = [access for access in self.statement.accesses if access.node is node]
        if accesses:
            kinds = all(not a.is_write and self.block.scop.arrays[a.array].type.floating for a in accesses)
            return kinds and (self.is_steady(node) or self.is_cell(node))
        match node:
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                sides = [(self.is_floating(one), self.is_steady(one)) for one in (left, right)]
                return any(floating for floating, _ in sides) and all(any(one) for one in sides)
            case ir.UnaryOp(op="-" | "+", expr=inner):
                return self.is_floating(inner)
            case ir.FuncCall(name=ir.ID(name="fabs" | "fabsf"), args=ir.ExprList(exprs=[ir.Node() as only])):
                return self.is_floating(only)
        return False


def _is_pure(node: ir.Node) -> bool:
    done = effects(node)
    return not (done.written or done.opaque or done.unnamed or done.taken) and done.called <= set(_PURE)


# --- ways -------------------------------------------------------------------------------------------------------------


def _changes(body: ir.Node, way: Way) -> Iterator[Way]:
    """The conditions behind which something may change, for each place where it may; what has no form that is known may
    change anything in any case."""
    match body:
        case ir.Compound():
            for one in body.block_items or ():
                yield from _changes(one, way)
        case ir.If(cond=condition, iftrue=then, iffalse=other) if condition is not None and _is_pure(condition):
            for branch, holds in ((then, True), (other, False)):
                if branch is not None:
                    yield from _changes(branch, (*way, (condition, holds)))
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.TernaryOp(cond=condition, iftrue=first, iffalse=second)) if (
            _is_pure(condition)
        ):
            for value, holds in ((first, True), (second, False)):
                if not same_tree(value, cell) or not _is_pure(cell):
                    yield (*way, (condition, holds))
        case _:
            yield way


def _evaluated(node: ir.Node, way: Way) -> Iterator[tuple[ir.Node, Way]]:
    """The parts of a formula that are no formulas, and the conditions behind which they are evaluated."""
    match node:
        case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
            yield from _evaluated(left, way)
            yield from _evaluated(right, (*way, (left, op == "&&")))
        case ir.BinaryOp(left=left, right=right) if _is_logical(node):
            yield from _evaluated(left, way)
            yield from _evaluated(right, way)
        case ir.UnaryOp(op="!", expr=inner):
            yield from _evaluated(inner, way)
        case ir.BinaryOp(op="!=", left=value, right=ir.Constant(type="int", value="0")):
            yield value, way
        case _:
            yield node, way


def _evaluated_nodes(node: ir.Node, way: Way) -> Iterator[tuple[ir.Node, Way]]:
    """All expressions of a statement, and the conditions behind which they are evaluated."""
    yield node, way
    match node:
        case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
            yield from _evaluated_nodes(left, way)
            yield from _evaluated_nodes(right, (*way, (left, op == "&&")))
        case (
            ir.If(cond=condition, iftrue=first, iffalse=second)
            | ir.TernaryOp(cond=condition, iftrue=first, iffalse=second)
        ):
            assert condition is not None
            yield from _evaluated_nodes(condition, way)
            for branch, holds in ((first, True), (second, False)):
                if branch is not None:
                    yield from _evaluated_nodes(branch, (*way, (condition, holds)))
        case _:
            for child in node.parts:
                yield from _evaluated_nodes(child, way)


def _same(one: tuple[ir.Node, bool], other: tuple[ir.Node, bool]) -> bool:
    return one[1] is other[1] and same_tree(one[0], other[0])


class _Atoms(Struct, frozen=True, eq=False):
    """Formulas over parts that are true or not. known: these parts, by their places in the values of a formula."""

    known: list[ir.Node] = field(default_factory=list)

    def formula(self, node: ir.Node) -> Formula:
        match node:
            case ir.BinaryOp(op=op, left=left, right=right) if _is_logical(node):
                sides = (self.formula(left), self.formula(right))
                return lambda values: _LOGICAL[op](side(values) for side in sides)
            case ir.UnaryOp(op="!", expr=inner):
                inside = self.formula(inner)
                return lambda values: not inside(values)
            case ir.BinaryOp(op="!=", left=value, right=ir.Constant(type="int", value="0")):
                return self.formula(value)
        place = next((k for k, one in enumerate(self.known) if same_tree(one, node)), len(self.known))
        if place == len(self.known):
            self.known.append(node)
        return lambda values: values[place]


def _is_logical(node: ir.Node) -> bool:
    """Whether it is true where both sides are, or where one of them is."""
    if not isinstance(node, ir.BinaryOp) or node.op not in _LOGICAL:
        return False
    return len(node.op) > 1 or (is_truth(node.left) and is_truth(node.right))
