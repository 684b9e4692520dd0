"""Searches, a block of iterations at a time: blocks in which nothing better is found are left out.

``if (a[i] < best) { best = a[i]; where = i; }`` waits for the iteration before, and has a branch; of random values, one
of i is the best one so far with a probability of 1 / i. So a loop without branches, which compilers make vectors of,
asks for each block whether anything in it is better than what was known in front of it; only then the block runs as it
was written. What a search begins with is nearly always better: its first iterations run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import KEYWORDS
from scopt.astgen.passes.eager import Sure
from scopt.astgen.passes.record_cells import subscripts_of
from scopt.ir.expr import linear, names, plus
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopMark, LoopNest, Min, Name, Sum
from scopt.ir.nest_walks import Item, items, map_block, used_names
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import conjuncts
from scopt.ir.walks import same_tree, walk
from scopt.poly.reductions import update_of
from scopt.poly.searches import Run, changes_of, is_fixed, tests_of

# Iterations that run at once, and of a block. (Of a thousand, twelve of fifteen blocks are expected to find nothing;
# where all are better, asking takes a tenth of the time. Blocks of 128 are 5 % faster for a million, and a third slower
# for a thousand.)
_FIRST, _BLOCK = 64, 64
# Numbers of so few values are as good as what is best so far again and again.
_FEW = 16
# Elements of a record of which compilers put vectors together from whole ones (measured: 2 and 3, four times as fast).
_RECORD = 4


def with_skipped_blocks(scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest where searches ask for blocks of iterations, and the SCoP with the statements that ask."""
    taken = scop.reserved | scop.typedefs | {array.spelling for array in scop.arrays.values()} | KEYWORDS
    taken |= {name for p in scop.parameters for name in (p.name, p.spelling)} | used_names(nest.body)
    taken |= {cell.name for item in items(nest.body) for cell in getattr(item, "cells", ())}
    rewriter = _Rewriter(scop, frozenset(taken))
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


def has_searches(scop: Scop, nest: LoopNest) -> bool:
    """Whether there is a search that may leave out blocks."""
    return len(with_skipped_blocks(scop, nest)[0].statements) > len(scop.statements)


def runs_of(scop: Scop, loop: For) -> tuple[Run, ...]:
    """What an iteration of a loop does; nothing if that isn't all statements."""
    if not all(isinstance(one, Call) for one in loop.body.items):
        return ()
    own = [one for one in loop.body.items if isinstance(one, Call)]
    return tuple((scop.statement(one.statement), _moving(scop.statement(one.statement), one, loop)) for one in own)


def _moving(statement: Statement, call: Call, loop: For) -> frozenset[str]:
    pairs = zip(statement.iterators, call.args, strict=True)
    return frozenset(name for name, arg in pairs if loop.iterator in names(arg))


class _Rewriter(Struct, frozen=True, eq=False):
    """made: statements that ask, by their names."""

    scop: Scop
    taken: frozenset[str]
    made: dict[str, Statement] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or item.step != 1 or item.mark != LoopMark() or not _is_long(item):
            return (item,)
        runs = runs_of(self.scop, item)
        if not runs or not self.pays(item, runs):
            return (item,)
        found = self.fresh("found")
        tests = tests_of(self.scop, found, runs, self.sure)
        if tests is None:
            return (item,)
        self.made.update({test.name: test for test, (one, _) in zip(tests, runs, strict=True) if test is not one})
        first = replace(item, upper=_least(item.upper, plus(item.lower, _FIRST - 1)))
        blocks = self.fresh(f"{item.iterator}t")
        mark = LoopMark(searched=found)
        block = replace(item, lower=Name(blocks), upper=_least(item.upper, plus(Name(blocks), _BLOCK - 1)), mark=mark)
        return first, For(blocks, plus(item.lower, _FIRST), item.upper, _BLOCK, Block((block,)))

    def fresh(self, wish: str) -> str:
        others = (f"{wish}{k}" for k in count(2))
        return wish if wish not in self.taken else next(name for name in others if name not in self.taken)

    def sure(self, statement: Statement, node: ir.Node) -> bool:
        return Sure(self.scop, statement).may_be_evaluated(node)

    def pays(self, loop: For, runs: tuple[Run, ...]) -> bool:
        """Whether compilers don't make vectors of the loop by themselves, but would of its tests, and whether these are
        expected to fail: each is for a value, or its place, that takes the place of what it is compared with."""
        searches = [(one, moving) for one, moving in runs if changes_of(one.body) is not None]
        if not searches or not all(self.keeps_records(one, moving) for one, moving in searches):
            return False
        if len(searches) == len(runs) and all(self.is_extremum(one) for one, _ in searches):
            return False
        own = [one for one in loop.body.items if isinstance(one, Call)]
        return all(self.walks(loop, call, *run) for call, run in zip(own, runs, strict=True))

    def keeps_records(self, statement: Statement, moving: frozenset[str]) -> bool:
        """Whether all that a statement does is to keep what is better than all before."""
        return all(
            any(self.is_record(part, then, statement, moving) for part in conjuncts(condition))
            for condition, then in changes_of(statement.body) or ()
        )

    def is_record(self, condition: ir.Node, then: ir.Node, statement: Statement, moving: frozenset[str]) -> bool:
        if isinstance(condition, ir.UnaryOp) and condition.op == "!":
            condition = condition.expr
        if not isinstance(condition, ir.BinaryOp) or condition.op not in ("<", ">", "<=", ">="):
            return False
        for known, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if is_fixed(known, moving) and _takes_place(then, known, other):
                return len(condition.op) == 1 or not self.is_narrow(statement, known)
        return False

    def is_narrow(self, statement: Statement, known: ir.Node) -> bool:
        kinds = [self.scop.arrays[access.array].type for access in statement.accesses if access.node is known]
        return any(kind.integer and kind.bits <= _FEW for kind in kinds)

    def is_extremum(self, statement: Statement) -> bool:
        update = update_of(self.scop, statement)
        return update is not None and self.scop.arrays[update.array].type.integer

    def walks(self, loop: For, call: Call, statement: Statement, moving: frozenset[str]) -> bool:
        """Whether what is compared stays where it is, or lies along lines."""
        changes = changes_of(statement.body)
        conditions = [statement.body] if changes is None else [condition for condition, _ in changes]
        asked = set(walk(*conditions))
        sides = [one for one in asked if isinstance(one, ir.ID | ir.ArrayRef)] if changes is not None else []
        fixed = {side for side in sides if is_fixed(side, moving)}
        for access in statement.accesses:
            if access.node not in asked or not self.scop.arrays[access.array].rank:
                continue
            subscripts = subscripts_of(self.scop, access, call.args)
            if subscripts is None and access.node in fixed:
                continue  # what is best so far, by its place
            sizes = self.scop.arrays[access.array].sizes
            if subscripts is None or not _is_along(loop.iterator, subscripts, sizes[-1] if sizes else None):
                return False
        return True


def _is_along(iterator: str, subscripts: Sequence[Expr], size: int | None) -> bool:
    """Whether references go along lines, or from record to record of a few elements, which compilers load together.
    size: of the last dimension."""
    *outer, last = subscripts
    if outer and isinstance(last, Const) and size is not None and size <= _RECORD:
        *outer, last = outer
    return not any(iterator in names(one) for one in outer) and 0 <= _steps(iterator, last) <= _RECORD


def _steps(iterator: str, subscript: Expr) -> int | float:
    return linear(subscript)[0].get(Name(iterator), 0)


def _takes_place(then: ir.Node, known: ir.Node, other: ir.Node) -> bool:
    """Whether a statement lets one side of a comparison, or its place, take the place of the other one, or another one
    in its array: in a sorted list of the best ones it moves the last one out."""
    for node in walk(then):
        match node:
            case ir.Assignment(op="=", lvalue=target, rvalue=value):
                if same_tree(value, other) and (same_tree(target, known) or _are_cells(target, known)):
                    return True
                if isinstance(known, ir.ArrayRef) and same_tree(target, known.subscript):
                    return True
    return False


def _are_cells(one: ir.Node, other: ir.Node) -> bool:
    """Whether two references are to cells of one array."""
    match one, other:
        case ir.ArrayRef(name=ir.ID(name=first)), ir.ArrayRef(name=ir.ID(name=second)):
            return bool(first == second)
        case ir.ArrayRef(name=inside), ir.ArrayRef(name=within):
            return _are_cells(inside, within)
    return False


def _is_long(loop: For) -> bool:
    match loop:
        case For(lower=Const(first), upper=Const(last)):
            return last - first >= 2 * (_FIRST + _BLOCK)
    return isinstance(loop.lower, Const | Name | Sum)


def _least(upper: Expr, limit: Expr) -> Expr:
    return Min((*upper.args, limit)) if isinstance(upper, Min) else Min((upper, limit))
