"""Subscripts whose value is a known linear expression, whatever C type they are computed in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import islpy as isl

from scopt import ir
from scopt.astgen.emit.c_expr import Kind, kind_of
from scopt.ir.expr import add, linear, names, scale, subtract
from scopt.ir.nest import Const, Expr, Name
from scopt.ir.scop import Access, CType, Parameter, Scop, Statement
from scopt.ir.walks import used_names, walk
from scopt.poly.isl_utils import IN, OUT, PARAM, SET


def linear_subscript(
    e: ir.Node,
    values: Mapping[str, Expr],
    types: Mapping[str, CType],
    parameters: Mapping[str, Parameter],
    long_type: str = "",
    *,
    exact: Collection[ir.Node] = (),
    unsigned: bool = False,
) -> Expr | None:
    """A subscript as an expression over the new iterators; None if it is not linear or has no iterator.

    values and types: of the iterators, by their C names; parameters: by their C names too. A sum of signed operands has
    its mathematical value, as the original didn't overflow; unsigned ones, and casts, are taken only with `unsigned`,
    which needs a proof that none wraps, or in parts that are `exact`.
    long_type: an integer type of 64 bits, to which a cast changes no value.
    """

    def usable(ctype: CType, unsigned: bool) -> bool:
        return ctype.integer if unsigned else kind_of(ctype) in (Kind.INT, Kind.LONG)

    def visit(n: ir.Node, unsigned: bool) -> Expr | None:
        unsigned = unsigned or n in exact
        match n:
            case ir.ID() if n.name in values:
                return values[n.name] if usable(types[n.name], unsigned) else None
            case ir.ID() if n.name in parameters:
                return Name(parameters[n.name].name) if usable(parameters[n.name].type, unsigned) else None
            case ir.Constant():
                return _literal(n, unsigned)
            case ir.Cast() if unsigned or (long_type and _names_type(n.to_type, long_type)):
                return visit(n.expr, unsigned)
            case ir.UnaryOp() if n.op in ("+", "-"):
                inner = visit(n.expr, unsigned)
                return inner if inner is None or n.op == "+" else scale(inner, -1)
            case ir.BinaryOp() if n.op in ("+", "-", "*"):
                left, right = visit(n.left, unsigned), visit(n.right, unsigned)
                if left is None or right is None:
                    return None
                if n.op == "*":
                    return _product(left, right)
                return add(left, right) if n.op == "+" else subtract(left, right)
            case ir.BinaryOp(
                op="/" | "%" as op, left=ir.Constant() | ir.BinaryOp() as left, right=ir.Constant() as right
            ):
                return _quotient(op, visit(left, unsigned), visit(right, unsigned))
        return None

    if isinstance(e, ir.ID) and e.name in values:
        return values[e.name]  # alone, the iterator's value is right whatever its type
    return visit(e, unsigned) if _uses(e, values) else None


def folded(e: ir.Node, values: Mapping[str, Expr], types: Mapping[str, CType]) -> int | None:
    """What a sum of type int comes to, wherever the loops are: ``k - i`` in straight code for a window ``k = i - 2 …``.
    None if that isn't the same everywhere. As the original doesn't overflow, it is what the mathematical sum is.

    Sums of iterators that are constants already are left as they read.
    """
    if not isinstance(e, ir.BinaryOp) or e.op not in ("+", "-"):
        return None
    used = set(used_names(e))
    if not used <= values.keys() or any(types[name].spelling != "int" for name in used):
        return None
    if all(isinstance(values[name], Const) for name in used):
        return None
    if any(isinstance(n, ir.Constant) and not (n.value.isdecimal() and int(n.value) < 2**31) for n in walk(e)):
        return None
    value = linear_subscript(e, values, types, {})
    if value is None:
        return None
    coefficients, constant = linear(value)
    return constant if not any(coefficients.values()) and abs(constant) < 2**31 else None


def _uses(n: ir.Node, values: Mapping[str, Expr]) -> bool:
    return any(name in values for name in used_names(n))


def _names_type(n: ir.Node, spelling: str) -> bool:
    match n:
        case ir.Typename(type=ir.TypeDecl(type=ir.IdentifierType(names=words)), quals=[]):
            return " ".join(words) == spelling
    return False


def _literal(n: ir.Constant, unsigned: bool) -> Expr | None:
    digits = n.value.rstrip("uUlL") if unsigned else n.value
    decimal = "int" in n.type and digits.isdecimal() and (digits == "0" or digits[0] != "0")
    return Const(int(digits)) if decimal else None


def _quotient(op: str, left: Expr | None, right: Expr | None) -> Expr | None:
    """Of constants, such as ``(512 / 4)``, which macros leave."""
    match left, right:
        case Const(value), Const(divisor) if value >= 0 and divisor > 0:
            return Const(value // divisor if op == "/" else value % divisor)
    return None


def _product(left: Expr, right: Expr) -> Expr | None:
    if not names(left):
        return scale(right, linear(left)[1])
    return scale(left, linear(right)[1]) if not names(right) else None


def exact_unsigned(statement: Statement, parameters: Mapping[str, Parameter], long_type: str) -> frozenset[ir.Node]:
    """The `id`s of subscripts of the statement's body that don't wrap although operands are unsigned or converted.

    The proof is the access relation: it holds every cell that is touched, so that a subscript that is linear there is
    linear in C.
    """
    own: dict[str, Expr] = {name: Name(name) for name in statement.iterators}
    types = dict(zip(statement.iterators, statement.iterator_types, strict=True))
    found: set[ir.Node] = set(statement.exact)
    for access in statement.accesses:
        for position, subscript in enumerate(_subscripts(access)):
            if linear_subscript(subscript, own, types, parameters, long_type) is None:
                value = linear_subscript(subscript, own, types, parameters, unsigned=True)
                if value is not None and _always(access.relation, position, value, statement):
                    found.add(subscript)
    return frozenset(found)


def exact_in(scop: Scop, statement: Statement) -> frozenset[ir.Node]:
    """The same of a statement of a SCoP."""
    return exact_unsigned(statement, {one.spelling: one for one in scop.parameters}, scop.long_type)


def _subscripts(access: Access) -> Iterator[ir.Node]:
    """The subscripts of a reference, outermost dimension first; none if they aren't the relation's dimensions."""
    node, found = access.node, []
    while isinstance(node, ir.ArrayRef | ir.StructRef):
        if isinstance(node, ir.ArrayRef):
            found.append(node.subscript)
        node = node.name
    if len(found) == access.relation.dim(OUT):
        yield from reversed(found)


def _always(relation: isl.Map, position: int, value: Expr, statement: Statement) -> bool:
    """Whether the accessed cell's subscript at a position is `value` in every instance."""
    space = relation.get_space()
    local = isl.LocalSpace.from_space(space.domain())
    coefficients, constant = linear(value)
    aff = isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(constant))
    for term, coefficient in coefficients.items():
        assert isinstance(term, Name)
        if term.name in statement.iterators:
            one = isl.Aff.var_on_domain(local, SET, statement.iterators.index(term.name))
        else:
            dimension = space.find_dim_by_name(PARAM, term.name)
            if dimension < 0:
                return False
            one = isl.Aff.var_on_domain(local, PARAM, dimension)
        aff = aff.add(one.scale_val(isl.Val(coefficient)))
    cell = isl.Map.from_aff(aff)
    own = relation.project_out(OUT, position + 1, relation.dim(OUT) - position - 1).project_out(OUT, 0, position)
    return bool(own.reset_tuple_id(OUT).is_subset(cell.reset_tuple_id(OUT))) and relation.dim(IN) == len(
        statement.iterators
    )
