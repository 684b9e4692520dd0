"""Whether operands are packed at a time when they have the values that the instances were to read, and whether buffers are large enough."""

from __future__ import annotations

import islpy as isl
from pycparser import c_ast

from scopt.astgen.readback import ReadBack
from scopt.astgen.registers.lower import Lowered
from scopt.astgen.registers.steps import fewer_pieces
from scopt.astgen.registers.syntax import nodes
from scopt.astgen.registers.tile import Pack
from scopt.astgen.statement_match import same_tree
from scopt.diagnostics import InternalError
from scopt.isl_utils import maps_of, union_of_maps
from scopt.model import Access, Scop, Statement
from scopt.verify import goes_forward, with_dates


def check_packs(scop: Scop, lowered: Lowered, read: ReadBack, instances: ReadBack) -> None:
    """Raise InternalError unless each operand is packed after every write that came before its instance, and before the instance.

    read: the generated loops with the statements of the tiles; instances: in terms of the SCoP's own instances.
    """
    dates = instances.schedule
    for pack in lowered.packs:
        packed = fewer_pieces(pack.instances.to_union_map().apply_range(_dates_of(read, pack)))
        statement = scop.statement(pack.instances.get_tuple_name(isl.dim_type.in_))
        own = pack.instances.domain().identity()
        _check(scop, pack, own, packed, dates)
        for position in pack.accesses:
            for earlier in _writes_before(scop, statement, statement.accesses[position]):
                inside = earlier.intersect_range(pack.instances.domain())
                _check(scop, pack, inside, dates, packed)


def check_choices(scop: Scop, lowered: Lowered, read: ReadBack) -> None:
    """Raise InternalError if a tile that lacks cells is made as a whole one. read: of the generated loops with their choices."""
    for choice in lowered.choices:
        whole = read.schedule.domain().extract_set(choice.lacking.get_space())
        if not whole.is_disjoint(choice.lacking):
            raise InternalError(f"{scop.location}: generated loops: {choice.whole} updates cells that don't exist")


def check_buffers(scop: Scop, lowered: Lowered) -> None:
    """Raise InternalError if a statement that copies operands or cells leaves its buffer."""
    for statement in lowered.scop.statements:
        if statement.name not in lowered.made or "$count" in statement.iterators:
            continue
        for node in nodes(statement.body):
            match node:
                case c_ast.ArrayRef(name=c_ast.ID(name=name), subscript=subscript) if name not in scop.arrays:
                    (size,) = lowered.scop.arrays[name].sizes
                    assert size is not None
                    if not statement.domain.is_subset(_between(_affine(subscript, statement), size)):
                        raise InternalError(f"{scop.location}: generated loops: {statement.name} leaves '{name}'")


def check_transposed(lowered: Lowered) -> None:
    """Raise InternalError unless the calls that pack operands across their rows say what the statements in loops say: from where, to where."""
    for name, turned in lowered.turned.items():
        packed, call = lowered.scop.statement(name).body, lowered.scop.statement(turned.name).body
        function = next(one for one in lowered.transposed if one.name == call.name.name)
        source, _, target, *scalars = call.args.exprs[2:]
        operand = function.operand_of(source.expr, scalars)
        if not (same_tree(packed.lvalue, target.expr) and same_tree(packed.rvalue, operand)):
            raise InternalError(f"{lowered.scop.location}: generated loops: {turned.name} is another copy than {name}")


def _affine(node: c_ast.Node, statement: Statement) -> isl.Aff:
    """The value of a linear expression over a statement's iterators."""
    local = isl.LocalSpace.from_space(statement.domain.get_space())
    match node:
        case c_ast.ID(name=name):
            return isl.Aff.var_on_domain(local, isl.dim_type.set, statement.iterators.index(name))
        case c_ast.Constant(value=value):
            return isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(int(value)))
        case c_ast.UnaryOp(op="-", expr=inner):
            return _affine(inner, statement).neg()
        case c_ast.BinaryOp(op="+", left=left, right=right):
            return _affine(left, statement).add(_affine(right, statement))
        case c_ast.BinaryOp(op="-", left=left, right=right):
            return _affine(left, statement).sub(_affine(right, statement))
        case c_ast.BinaryOp(op="*", left=left, right=right):
            return _affine(left, statement).mul(_affine(right, statement))
    raise InternalError(f"{statement.location}: the subscript of a buffer isn't linear")


def _between(index: isl.Aff, size: int) -> isl.Set:
    """0 <= index < size."""
    zero = isl.Aff.zero_on_domain(index.get_domain_local_space())
    return isl.Set.from_basic_set(index.ge_basic_set(zero).intersect(zero.add_constant_val(isl.Val(size)).gt_basic_set(index)))


def _check(scop: Scop, pack: Pack, pairs: isl.Map, first: isl.UnionMap, second: isl.UnionMap) -> None:
    for joint in with_dates(pairs, first, second):
        if not goes_forward(joint):
            raise InternalError(f"{scop.location}: generated loops: {pack.name} copies an operand at the wrong time")


def _dates_of(read: ReadBack, pack: Pack) -> isl.UnionMap:
    return union_of_maps(m for m in maps_of(read.schedule) if m.get_tuple_name(isl.dim_type.in_) == pack.name)


def _writes_before(scop: Scop, statement: Statement, access: Access) -> list[isl.Map]:
    """``{ T[…] -> S[…] }``: instances that write what one of the statement's reads, and come before it in the original order."""
    order = scop.order.lex_lt_union_map(scop.order)
    found = []
    for writer in scop.statements:
        for write in writer.accesses:
            if write.is_write and write.array == access.array:
                pairs = write.relation.apply_range(access.relation.reverse()).to_union_map().intersect(order)
                found += maps_of(pairs)
    return found
