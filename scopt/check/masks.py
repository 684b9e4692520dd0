"""Statements that mask what a condition leaves out: read from their text, they do what the original ones do.

``cell = scopt_max_if(cell, c, c ? value : 0)`` is ``if (c) cell = max(cell, value)``; what the function computes, given
0 where nothing holds, is shown from its own text (`scopt.check.functions`). ``variable += c ? value : 0`` is
``if (c) variable += value``, and so is ``variable += -c & value`` of truths.
"""

from __future__ import annotations

from collections.abc import Sequence

from scopt import ir
from scopt.astgen.emit.c_expr import MASKED, helper_name
from scopt.astgen.passes.eager import Sure
from scopt.astgen.passes.exchanging import SUFFIX as EXCHANGED
from scopt.astgen.passes.masking import masked
from scopt.astgen.transformed_program import Program
from scopt.check.eager_conditions import is_truth_of, same_conditions
from scopt.check.exchanged_cells import is_exchanged
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN
from scopt.poly.reductions import update_of

# What holds where a comparison of integers doesn't.
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS = (*_OPPOSITE, "==", "!=")


def masked_ones(program: Program) -> dict[str, str]:
    """The statements that mask what a condition leaves out, or exchange cells without one, and the same ones with the
    condition. Raises InternalError if they do anything else."""
    lowered = program.lowered.scop
    known = {statement.name for statement in lowered.statements}
    found = {}
    for statement in program.scop.statements:
        name = statement.name.removesuffix("_masked").removesuffix(EXCHANGED)
        if statement.name in known or name == statement.name or name not in known:
            continue
        base = lowered.statement(name)
        helpers = {
            helper_name(helper, lowered.reserved): operator
            for (operator, bits, signed), helper in MASKED.items()
            for array in lowered.arrays.values()
            if _is_written(base, array.name) and (array.type.bits, array.type.signed) == (bits, signed)
        }
        if _same_references(statement, base) and is_exchanged(lowered, statement, base):
            found[statement.name] = name
            continue
        sure = Sure(lowered, base)
        same = _same_references(statement, base) and _is_number(lowered, base)
        if same and sums_the_same(sure, statement.body, base.body):
            found[statement.name] = name
            continue
        # that cells and values have one type, and that all cells are there, isn't seen from the text
        allowed = masked(lowered, base) is not None and _same_references(statement, base)
        if not allowed or not does_the_same(statement.body, base.body, helpers):
            raise InternalError(f"{program.source.location}: {statement.name} is another statement than {name}")
        found[statement.name] = name
    return found


def _is_written(statement: Statement, array: str) -> bool:
    return any(access.is_write and access.array == array for access in statement.accesses)


def _is_number(scop: Scop, base: Statement) -> bool:
    """Whether a statement accumulates integers in a variable, which is there to be written in any case."""
    update = update_of(scop, base)
    if update is None or scop.arrays[update.array].rank:
        return False
    return scop.arrays[update.array].type.integer


def sums_the_same(sure: Sure, body: ir.Node, original: ir.Node) -> bool:
    """Whether a sum of choices, the other one 0, is a sum under that condition. sure: what may be evaluated anyway."""
    match original:
        case ir.Compound(block_items=[only]):
            return sums_the_same(sure, body, only)
        case ir.If(cond=needed, iftrue=ir.Compound(block_items=[only]), iffalse=None):
            return sums_the_same(sure, body, ir.If(needed, only, None))
        case ir.If(cond=needed, iftrue=then, iffalse=None):
            pass
        case _:
            return False
    match body:
        case ir.Assignment(op="+=" | "-=" | "|=" | "^=" as op, lvalue=cell, rvalue=chosen):
            value = _let_through(sure, needed, chosen)
            if value is None:
                return False
            match then:
                case ir.Assignment(op=other, lvalue=target, rvalue=given):
                    return other == op and same_tree(target, cell) and same_tree(given, value)
                case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as step, expr=target):
                    one = isinstance(value, ir.Constant) and (value.type, value.value) == ("int", "1")
                    return one and same_tree(target, cell) and op == ("+=" if "+" in step else "-=")
    return False


def _let_through(sure: Sure, needed: ir.Node, chosen: ir.Node) -> ir.Node | None:
    """What a condition lets through, where that is 0 otherwise; None if it isn't this condition that decides."""
    match chosen:
        case ir.TernaryOp(cond=condition, iftrue=value, iffalse=ir.Constant(type="int", value="0")):
            return value if same_conditions(sure, needed, condition) else None
        case ir.BinaryOp(op="&", left=ir.UnaryOp(op="-", expr=condition), right=value) if sure.may_be_evaluated(value):
            return value if is_truth_of(sure, needed, condition) else None
    return None


def _same_references(statement: Statement, base: Statement) -> bool:
    """Whether all references of the text are to what they were to."""
    nodes = set(walk(statement.body))
    kept = [access for access in base.accesses if access.node in nodes]
    return (statement.iterators, statement.iterator_types) == (base.iterators, base.iterator_types) and (
        [(a.array, a.is_write, a.node) for a in statement.accesses] == [(a.array, a.is_write, a.node) for a in kept]
        and statement.domain.set_tuple_name(base.name).is_equal(base.domain)
        and all(
            a.relation.set_tuple_name(IN, base.name).is_equal(b.relation)
            for a, b in zip(statement.accesses, kept, strict=True)
        )
    )


def does_the_same(body: ir.Node, original: ir.Node, helpers: dict[str, str]) -> bool:
    """Whether a call that masks a value is what a condition with an assignment behind it is. helpers: the operators of
    functions, by their names."""
    match body:
        case ir.Assignment(
            op="=",
            lvalue=cell,
            rvalue=ir.FuncCall(
                name=ir.ID(name=name),
                args=ir.ExprList(
                    exprs=[
                        use,
                        condition,
                        ir.TernaryOp(cond=again, iftrue=value, iffalse=ir.Constant(type="int", value="0")),
                    ]
                ),
            ),
        ) if same_tree(use, cell) and same_tree(condition, again) and name in helpers:
            way = _way(original)
            return way is not None and _is_extremum(way, cell, value, _parts(condition, "&"), helpers[name])
    return False


# conditions that all have to hold, the cell that is assigned then, its value
_Way = tuple[list[ir.Node], ir.Node, ir.Node]


def _way(body: ir.Node, conditions: Sequence[ir.Node] = ()) -> _Way | None:
    """The one way on which a statement changes anything; None if there are others."""
    match body:
        case ir.Compound(block_items=[only]):
            return _way(only, conditions)
        case ir.If(cond=condition, iftrue=then, iffalse=None):
            return _way(then, (*conditions, *_parts(condition, "&&")))
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise)):
            if same_tree(otherwise, cell):
                return [*conditions, *_parts(condition, "&&")], cell, then
            if same_tree(then, cell) and isinstance(condition, ir.BinaryOp) and condition.op in _OPPOSITE:
                opposite = ir.BinaryOp(_OPPOSITE[condition.op], condition.left, condition.right)
                return [*conditions, opposite], cell, otherwise
        case ir.Assignment(op="=", lvalue=cell, rvalue=value):
            return list(conditions), cell, value
    return None


def _is_extremum(way: _Way, cell: ir.Node, value: ir.Node, conditions: list[ir.Node], operator: str) -> bool:
    """Whether a cell gets a value that is larger, or smaller, and if these conditions hold, each of them 0 or 1."""
    needed, target, given = way
    if not (same_tree(target, cell) and same_tree(given, value)):
        return False
    for place, one in enumerate(needed):
        rest = [*needed[:place], *needed[place + 1 :]]
        if _takes(one, cell, value) == operator and len(rest) == len(conditions):
            plain = all(isinstance(other, ir.BinaryOp) and other.op in _COMPARISONS for other in conditions)
            return plain and all(map(same_tree, rest, conditions))
    return False


def _takes(condition: ir.Node, cell: ir.Node, value: ir.Node) -> str:
    """Which extremum of a cell and a value an assignment of the value makes under this condition; empty: none."""
    match condition:
        case ir.BinaryOp(op=op, left=left, right=right) if op in _MIRRORED:
            if same_tree(left, cell) and same_tree(right, value):
                op = _MIRRORED[op]
            elif not (same_tree(left, value) and same_tree(right, cell)):
                return ""
            return "max" if op in (">", ">=") else "min"
    return ""


def _parts(condition: ir.Node, op: str) -> list[ir.Node]:
    if isinstance(condition, ir.BinaryOp) and condition.op == op:
        return [*_parts(condition.left, op), *_parts(condition.right, op)]
    return [condition]
