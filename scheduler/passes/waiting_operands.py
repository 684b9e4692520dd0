"""Operands that wait in a scalar, ``w = B[k]; … s[r] += A[r][k] * w``: those that nothing writes may be read where they
are used."""

from __future__ import annotations

from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Dependences, Scop, Statement
from scopt.ir.walks import copied
from scopt.poly.body_rewriting import agree, with_references
from scopt.poly.isl_utils import OUT, union_of_sets


def with_operands(scop: Scop, deps: Dependences) -> Scop:
    """The SCoP without the scalars that hold nothing but cells which it only reads."""
    for array in scop.arrays.values():
        if array.private and not array.rank and not array.pointer:
            scop = _without(scop, deps, array) or scop
    return scop


def _without(scop: Scop, deps: Dependences, array: Array) -> Scop | None:
    """The SCoP without one scalar; None if it holds anything else, or values for other iterations."""
    users = [one for one in scop.statements if any(access.array == array.name for access in one.accesses)]
    setters = [one for one in users if any(a.array == array.name and a.is_write for a in one.accesses)]
    operand = _operand(scop, setters[0], array) if len(setters) == 1 else None
    if operand is None:
        return None
    setter, readers = setters[0], [one for one in users if one is not setters[0]]
    depth = len(setter.iterators)
    flows = [one.relation for one in deps.select("flow") if one.array == array.name]
    if any(one.iterators[:depth] != setter.iterators for one in readers) or not all(agree(f, depth) for f in flows):
        return None
    made = {one.name: _reading(one, array, setter, operand) for one in readers}
    kept = tuple(made.get(one.name, one) for one in scop.statements if one is not setter)
    domain = union_of_sets(one.domain for one in kept)
    order = scop.order.intersect_domain(domain.union(union_of_sets(one.domain for one in scop.kills)))
    arrays = {name: one for name, one in scop.arrays.items() if one is not array}
    kills = tuple(one for one in scop.kills if all(access.array != array.name for access in one.accesses))
    schedule = scop.schedule.intersect_domain(domain)
    return replace(scop, statements=kept, schedule=schedule, order=order, arrays=arrays, kills=kills)


def _operand(scop: Scop, setter: Statement, array: Array) -> Access | None:
    """The cell of an array that is only read, of the scalar's type, which a statement assigns to the scalar, and all
    that it does."""
    reads = [access for access in setter.accesses if access.kind == "read"]
    writes = [access for access in setter.accesses if access.is_write]
    body = setter.body
    if len(reads) != 1 or len(writes) != 1 or writes[0].kind != "write" or not isinstance(body, ir.Assignment):
        return None
    source = scop.arrays[reads[0].array]
    if body.op != "=" or body.rvalue is not reads[0].node or body.lvalue is not writes[0].node or not source.rank:
        return None
    if source.type.spelling != array.type.spelling or source.type.volatile or source.type.atomic:
        return None
    changed = any(a.array == source.name and a.is_write for one in scop.statements for a in one.accesses)
    return None if changed or not reads[0].relation.is_single_valued() else reads[0]


def _reading(statement: Statement, array: Array, setter: Statement, operand: Access) -> Statement:
    """The statement with the operand in the place of the scalar."""
    count, depth, node = len(statement.iterators), len(setter.iterators), operand.node
    outer = statement.domain.identity().project_out(OUT, depth, count - depth).set_tuple_name(OUT, setter.name)
    relation = outer.apply_range(operand.relation)
    body, become = with_references(
        statement,
        lambda access, _: copied(node) if access.array == array.name and node is not None else None,
    )
    accesses = []
    for access in statement.accesses:
        made = become.get(access.node, access.node) if access.node is not None else None
        if access.array == array.name:
            reached = relation.intersect_domain(access.relation.domain())
            accesses.append(replace(access, array=operand.array, node=made, relation=reached))
        else:
            accesses.append(replace(access, node=made))
    return replace(statement, body=body, accesses=tuple(accesses))
