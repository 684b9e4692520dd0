"""Loops that do nothing but to look for something better: ``if (a[i] < best) { best = a[i]; where = i; }``.

As long as no condition holds of what was known before a block of iterations, none of these changes anything that the
others look at: by induction, all conditions are evaluated for what was known in front, and the whole block does
nothing. So they may be asked beforehand, all together, and the block be left out. That holds for any values, be they
equal, or no numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.isl_utils import IN

SUFFIX = "_test"
# Functions that nothing but their value comes of, and that are vector instructions.
_FUNCTIONS = ("fabs", "fabsf", "abs")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

# A statement that a loop runs, and those of its iterators that move with the loop.
Run = tuple[Statement, frozenset[str]]


def tests_of(scop: Scop, found: str, runs: Sequence[Run]) -> tuple[Statement, ...] | None:
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
    known, made = set[str](), list[Statement]()
    for statement, moving in runs:
        target = _temporary(scop, statement)
        if target is not None:
            read = {access.array for access in statement.accesses if not access.is_write}
            if written.count(target) > 1 or read & (set(written) - known):
                return None
            known.add(target)
            made.append(statement)
            continue
        if {access.array for access in statement.accesses} & (temporary - known):
            return None  # it might look at the last iteration's
        test = _test(statement, found, moving, set(written) - known)
        if test is None:
            return None
        made.append(test)
    return tuple(made)


def condition_of(body: ir.Node) -> tuple[ir.BinaryOp, ir.Node] | None:
    """The comparison on which a statement does anything at all, and what it does then."""
    while isinstance(body, ir.Compound) and len(body.block_items or ()) == 1:
        body = body.block_items[0]
    match body:
        case ir.If(cond=ir.BinaryOp(op=op) as condition, iftrue=then, iffalse=None) if op in _COMPARISONS:
            return condition, then
    return None


def is_fixed(side: ir.Node, moving: frozenset[str]) -> bool:
    """Whether a side of a comparison is a variable, or one cell, that doesn't move with the loop: to look at it early
    needs no cell that isn't there."""
    while isinstance(side, ir.ArrayRef):
        if not isinstance(side.subscript, ir.ID | ir.Constant):
            return False
        if isinstance(side.subscript, ir.ID) and side.subscript.name in moving:
            return False
        side = side.name
    return isinstance(side, ir.ID) and side.name not in moving


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


def _test(statement: Statement, found: str, moving: frozenset[str], known: set[str]) -> Statement | None:
    """``found |= condition``, with all the accesses, so that they have the same places. known: arrays and variables
    that the loop writes, and that it knows from before."""
    split = condition_of(statement.body)
    if split is None:
        return None
    condition, inside = split[0], set(walk(split[0]))
    fixed = {node for side in (condition.left, condition.right) if is_fixed(side, moving) for node in walk(side)}
    own = [access for access in statement.accesses if access.node in inside]
    if not _is_plain(condition) or any(a.is_write or (a.array in known and a.node not in fixed) for a in own):
        return None
    name = f"{statement.name}{SUFFIX}"
    accesses = tuple(replace(a, relation=a.relation.set_tuple_name(IN, name)) for a in statement.accesses)
    body = ir.Assignment("|=", ir.ID(found), condition)
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), body=body, accesses=accesses)
