"""Arrays of several dimensions that a program keeps in one: ``a[i * n + j]`` as cell ``a[i][j]`` of rows of `n`.

After Grosser, Ramanujam, Pouchet, Sadayappan, Pop, "Optimistic delinearization of parametrically sized arrays" (ICS
2015): the products of iterators with parameters tell the distances of rows; a subscript is divided by them; and the
inner subscripts have to lie within their rows, for whatever parameters that is so. Where it isn't so for all, it is a
condition that the program tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import gcd
from typing import Any

import islpy as isl

from scopt import ir
from scopt.frontend.model.affine import INT, NotAffine, Scope, Value, affine
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.poly.isl_utils import constant_pw_aff, param_pw_aff, project_out_params

Monomial = tuple[str, ...]
Terms = dict[Monomial, int]
# A constant distance of rows under which a condition on parameters isn't worth it: `x[3 * i + k]` is no array of rows
# of 3 unless k is below.
SHORT_ROW = 32


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """A factor of a subscript's products. moves: it depends on an iterator.
    node: C expression. value: on the parameter domain."""

    node: Any
    value: isl.PwAff
    moves: bool


@dataclass(frozen=True, slots=True, eq=False)
class Subscript:
    """A subscript as a sum of products of atoms.

    unsigned: bits of the unsigned type that it is computed in, modulo a power of two; 0 for a signed type, whose
      overflow is undefined.
    domain: parameter set of the iterators' and parameters' values there. iterators: names of those that move.
    """

    terms: Terms
    atoms: Mapping[str, Atom]
    unsigned: int
    domain: isl.Set
    iterators: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stride:
    """Elements from one row to the next: factor · product of parametric atoms."""

    factor: int
    atoms: Monomial


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How an array's elements lie. strides: of each dimension, outermost first;
    the last is 1. sizes: of all but the first dimension."""

    strides: tuple[Stride, ...]
    sizes: tuple[Stride, ...]
    atoms: Mapping[str, Atom]

    @property
    def rank(self) -> int:
        return len(self.strides)

    def extents(self) -> tuple[Any, ...]:
        """C expressions; None for the first."""
        return (None, *(_product(size.factor, [self.atoms[key].node for key in size.atoms]) for size in self.sizes))


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A subscript in a shape's dimensions: C expressions, functions on the parameter domain, and the parameter set
    where it is right."""

    nodes: tuple[Any, ...]
    values: tuple[isl.PwAff, ...]
    holds: isl.Set


# --- reading ----------------------------------------------------------------------------------------------------------


def read_subscript(node: Any, scope: Scope, iterators: Iterable[str]) -> Subscript:
    """Raises NotAffine for what is no sum of products of affine expressions,
    or may wrap around in other ways than as a whole."""
    reader = _Reader(scope, frozenset(iterators))
    terms, ctype = reader.read(node)
    if reader.opaque and reader.unsigned:
        raise NotAffine("nonlinear", "an unsigned product with such operands is not affine", node)
    return Subscript(
        terms,
        reader.atoms,
        0 if ctype.signed else ctype.bits,
        scope.domain.intersect(scope.ranges()),
        tuple(sorted(iterators)),
    )


@dataclass(slots=True)
class _Reader:
    scope: Scope
    iterators: frozenset[str]
    atoms: dict[str, Atom] = field(default_factory=dict)
    opaque: bool = False
    unsigned: bool = False

    def read(self, node: Any) -> tuple[Terms, CType]:
        terms, ctype = self.any(node)
        self.unsigned = self.unsigned or not ctype.signed
        return terms, ctype

    def any(self, node: Any) -> tuple[Terms, CType]:
        match node:
            case ir.ID():
                return self.name(node)
            case ir.Constant():
                found = affine(node, self.scope)
                return _constant(_value_of(found.aff)), found.type
            case ir.UnaryOp(op="-" | "+" as op, expr=operand):
                terms, ctype = self.promoted(operand)
                return (_scaled(terms, -1) if op == "-" else terms), ctype
            case ir.BinaryOp(op="+" | "-" | "*"):
                return self.operation(node)
            case ir.Cast():
                return self.cast(node)
        return self.other(node)

    def name(self, node: ir.ID) -> tuple[Terms, CType]:
        found = self.scope.lookup(node.name, node)
        if isinstance(found, Value):
            return _constant(_value_of(found.aff)), found.type
        self.atoms[node.name] = Atom(node, param_pw_aff(node.name), node.name in self.iterators)
        return {(node.name,): 1}, found

    def promoted(self, node: Any) -> tuple[Terms, CType]:
        terms, ctype = self.read(node)
        return terms, INT if ctype.bits < INT.bits else ctype

    def operation(self, node: ir.BinaryOp) -> tuple[Terms, CType]:
        (left, left_type), (right, right_type) = self.promoted(node.left), self.promoted(node.right)
        common = _common(left_type, right_type)
        for operand, ctype in ((node.left, left_type), (node.right, right_type)):
            if not ctype.signed and ctype.bits < common.bits:
                affine(operand, self.scope)  # it is widened, and must not have wrapped around before
        if node.op == "*":
            if not self.is_constant(left) and not self.is_constant(right):
                left, right = self.factor(node.left, left, common), self.factor(node.right, right, common)
            return _times(left, right), common
        return _plus(left, right if node.op == "+" else _scaled(right, -1)), common

    def is_constant(self, terms: Terms) -> bool:
        return all(not monomial for monomial in terms)

    def factor(self, node: Any, terms: Terms, ctype: CType) -> Terms:
        """A sum of parameters that is a factor counts as one:
        the rows of ``a[i * (n + 2) + j]`` are as long as the sum says."""
        if (
            len(terms) < 2
            or any(self.atoms[key].moves for monomial in terms for key in monomial)
            or any(len(m) > 1 for m in terms)
        ):
            return terms
        key = " + ".join(f"{terms[m]} {'*'.join(m)}" for m in sorted(terms))
        self.atoms[key] = Atom(node, _sum(terms, self.atoms), False)
        return {(key,): 1}

    def cast(self, node: ir.Cast) -> tuple[Terms, CType]:
        target = self.scope.cast_type(node.to_type)
        terms, ctype = self.read(node.expr)
        if target is None or not target.integer or target.bits < INT.bits:
            return self.other(node)
        if target.bits > ctype.bits and ctype.signed and target.signed:
            return terms, target
        if target.bits == ctype.bits and target.signed == ctype.signed:
            return terms, target
        if ctype.signed and not target.signed and target.bits >= ctype.bits:
            return terms, target  # the same modulo a power of two
        affine(node, self.scope)
        return terms, target

    def other(self, node: Any) -> tuple[Terms, CType]:
        """An affine expression of another kind, such as a quotient."""
        found = affine(node, self.scope)
        self.opaque = True
        key = str(CPrinter().visit(node))
        names = [found.aff.get_dim_name(isl.dim_type.param, k) for k in range(found.aff.dim(isl.dim_type.param))]
        self.atoms[key] = Atom(node, found.aff, any(name in self.iterators for name in names))
        return {(key,): 1}, found.type


def _common(left: CType, right: CType) -> CType:
    """The usual arithmetic conversions of two promoted integer types."""
    if left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    return unsigned if unsigned.bits >= signed.bits else signed


def _value_of(aff: isl.PwAff) -> int:
    return int(aff.max_val().to_python())


# --- shapes -----------------------------------------------------------------------------------------------------------


def shape_of(subscripts: Sequence[Subscript]) -> tuple[Shape, isl.Set] | None:
    """A shape that all subscripts of an array fit into, and the parameter set for which they do; None if there is none,
    or only that of one dimension."""
    atoms = {key: atom for subscript in subscripts for key, atom in subscript.atoms.items()}
    found: tuple[Shape, isl.Set] | None = None
    for strides in _stride_lists(subscripts):
        sizes = _sizes(strides)
        if sizes is None:
            continue
        shape = Shape(tuple(strides), sizes, atoms)
        holds = _holds(shape, subscripts)
        if holds is None:
            continue
        short = any(not stride.atoms and stride.factor < SHORT_ROW for stride in strides[:-1])
        worth = found is None and (not short or _always(holds) or any(stride.atoms for stride in strides))
        if worth or (found is not None and found[1].is_subset(holds) and not holds.is_subset(found[1])):
            found = shape, holds
    return found


def longer_than_rows(shape: Shape, subscripts: Sequence[Subscript]) -> bool:
    """Whether some subscripts stay in one row, and ask more of its length than those that go from row to row: ``C[i]``
    with i < n_m beside ``C[i * m + j]`` is more likely to run over all rows than to end in the first.
    """
    parts = {one: parts_of(one, shape) for one in subscripts}
    moving = [
        one
        for one in subscripts
        if (part := parts[one]) is not None and any(_involves(row, one.iterators) for row in part.values[:-1])
    ]
    if not moving or len(moving) == len(subscripts):
        return False
    rows, both = _holds(shape, moving), _holds(shape, subscripts)
    return rows is not None and both is not None and not rows.intersect(executed_by(subscripts)).is_subset(both)


def _involves(value: isl.PwAff, iterators: Iterable[str]) -> bool:
    positions = (value.find_dim_by_name(isl.dim_type.param, name) for name in iterators)
    return any(position >= 0 and value.involves_dims(isl.dim_type.param, position, 1) for position in positions)


def _holds(shape: Shape, subscripts: Sequence[Subscript]) -> isl.Set | None:
    holds = isl.Set("{ : }")
    for subscript in subscripts:
        parts = parts_of(subscript, shape)
        if parts is None:
            return None
        holds = holds.intersect(parts.holds)
        if holds.intersect(_executed(subscript)).is_empty():
            return None
    return holds.coalesce()


def _stride_lists(subscripts: Sequence[Subscript]) -> Iterator[list[Stride]]:
    """Distances of rows that the products with iterators show, with and without those that are constants."""
    factors: dict[Monomial, list[int]] = {}
    for subscript in subscripts:
        for monomial, coefficient in subscript.terms.items():
            moving = [key for key in monomial if subscript.atoms[key].moves]
            if len(moving) > 1:
                return
            if moving:
                factors.setdefault(tuple(key for key in monomial if key != moving[0]), []).append(coefficient)
    parametric = sorted((monomial for monomial in factors if monomial), key=len, reverse=True)
    strides = [Stride(gcd(*factors[monomial]), monomial) for monomial in parametric]
    constants = sorted(_row_lengths(subscripts), reverse=True)
    chain: list[Stride] = []
    for constant in constants:
        last = chain[-1].factor if chain else strides[-1].factor if strides else constant
        if last % constant == 0 and (chain or not strides or last != 1):
            chain.append(Stride(constant, ()))
    if chain:
        yield [*strides, *chain, Stride(1, ())]
    if strides:
        yield [*strides, Stride(1, ())]
        if any(stride.factor != 1 for stride in strides):
            yield [*(Stride(1, stride.atoms) for stride in strides), Stride(1, ())]


def _row_lengths(subscripts: Sequence[Subscript]) -> set[int]:
    """Constants that an iterator is multiplied with where another one moves within what it skips."""
    found: set[int] = set()
    for subscript in subscripts:
        steps = [abs(c) for m, c in subscript.terms.items() if len(m) == 1 and subscript.atoms[m[0]].moves]
        found.update(step for step in steps if step > min(steps))
    return found


def _sizes(strides: Sequence[Stride]) -> tuple[Stride, ...] | None:
    """Each stride divided by the next; None where they don't divide, or a size isn't affine."""
    sizes = []
    for outer, inner in pairwise(strides):
        rest = _without(outer.atoms, inner.atoms)
        if rest is None or outer.factor % inner.factor or len(rest) > 1 or (not rest and outer.factor == inner.factor):
            return None
        sizes.append(Stride(outer.factor // inner.factor, rest))
    return tuple(sizes)


def _without(monomial: Monomial, other: Monomial) -> Monomial | None:
    rest = list(monomial)
    for key in other:
        if key not in rest:
            return None
        rest.remove(key)
    return tuple(rest)


# --- dividing a subscript ---------------------------------------------------------------------------------------------


def parts_of(subscript: Subscript, shape: Shape) -> Parts | None:
    """A subscript in a shape's dimensions, in the way that holds for the most parameters; None if it doesn't fit."""
    best: Parts | None = None
    for first, nearest in product(range(shape.rank), (True, False)):
        split = _split(subscript, shape, first, nearest=nearest)
        if split is None:
            continue
        atoms = {**shape.atoms, **subscript.atoms}
        for borrowed in _borrowed(split, shape):
            values = tuple(_sum(terms, atoms) for terms in borrowed)
            holds = _inside(subscript, shape, values)
            if best is None or (best.holds.is_subset(holds) and not holds.is_subset(best.holds)):
                best = Parts(tuple(_node(terms, atoms) for terms in borrowed), values, holds)
            if _always(best.holds):
                return best
    return best


def _borrowed(split: list[Terms], shape: Shape) -> Iterator[list[Terms]]:
    """The division, and those with the length of a row more or less in one dimension, and a row less or more in the one
    outside of it."""
    yield split
    for k, size in enumerate(shape.sizes, 1):
        for sign in (1, -1):
            other = list(split)
            other[k - 1] = _plus(split[k - 1], _constant(-sign))
            other[k] = _plus(split[k], {size.atoms: sign * size.factor})
            yield other


def _split(subscript: Subscript, shape: Shape, first: int, *, nearest: bool) -> list[Terms] | None:
    """The sum's terms by dimension. first: outermost dimension for parameters alone; nearest: constants are divided to
    the nearest row."""
    split: list[Terms] = [{} for _ in shape.strides]
    for monomial, coefficient in subscript.terms.items():
        if not monomial:
            _divide(coefficient, shape, split, nearest=nearest)
            continue
        moves = any(subscript.atoms[key].moves for key in monomial)
        for k in range(0 if moves else first, shape.rank):
            stride = shape.strides[k]
            rest = _without(monomial, stride.atoms)
            if rest is not None and len(rest) <= 1 and coefficient % stride.factor == 0:
                split[k] = _plus(split[k], {rest: coefficient // stride.factor})
                break
        else:
            return None
    return split


def _divide(constant: int, shape: Shape, split: list[Terms], *, nearest: bool) -> None:
    for k, stride in enumerate(shape.strides):
        if not stride.atoms:
            count = (constant + stride.factor // 2) // stride.factor if nearest else constant // stride.factor
            split[k] = _plus(split[k], _constant(count))
            constant -= count * stride.factor


def _inside(subscript: Subscript, shape: Shape, values: Sequence[isl.PwAff]) -> isl.Set:
    """Parameters for which each inner subscript lies within its row, and nothing wraps around, in all iterations."""
    zero = constant_pw_aff(0)
    inside = isl.Set("{ : }")
    sizes = [_sum({size.atoms: size.factor}, shape.atoms) for size in shape.sizes]
    for value, size in zip(values[1:], sizes, strict=True):
        inside = inside.intersect(value.ge_set(zero)).intersect(value.lt_set(size))
    if subscript.unsigned:
        most = constant_pw_aff(_largest(min(subscript.unsigned, 63), shape.rank))
        inside = inside.intersect(values[0].ge_set(zero)).intersect(values[0].lt_set(most))
        for size in sizes:
            inside = inside.intersect(size.le_set(most))
    bad: isl.Set = project_out_params(subscript.domain.subtract(inside), subscript.iterators)
    return bad.complement().gist(_executed(subscript)).coalesce()


def _always(condition: isl.Set) -> bool:
    return bool(condition.complement().is_empty())


def _largest(bits: int, rank: int) -> int:
    """So many rows, each so long, have less than 2^bits elements."""
    return 1 << (bits // rank)


def _executed(subscript: Subscript) -> isl.Set:
    """Parameters for which there is an iteration."""
    executed: isl.Set = project_out_params(subscript.domain, subscript.iterators)
    return executed


def executed_by(subscripts: Iterable[Subscript]) -> isl.Set:
    """Parameters for which one of the references is executed."""
    union = isl.Set("{ : }").complement()
    for subscript in subscripts:
        union = union.union(_executed(subscript))
    return union.coalesce()


# --- sums of products -------------------------------------------------------------------------------------------------


def _constant(value: int) -> Terms:
    return {(): value} if value else {}


def _plus(a: Terms, b: Terms) -> Terms:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _scaled(terms: Terms, factor: int) -> Terms:
    return {monomial: factor * coefficient for monomial, coefficient in terms.items()}


def _times(a: Terms, b: Terms) -> Terms:
    total: Terms = {}
    for left, some in a.items():
        for right, others in b.items():
            total = _plus(total, {tuple(sorted((*left, *right))): some * others})
    return total


def _sum(terms: Terms, atoms: Mapping[str, Atom]) -> isl.PwAff:
    """The value of a sum whose products have one atom at most."""
    total = constant_pw_aff(0)
    for monomial, coefficient in terms.items():
        value = atoms[monomial[0]].value if monomial else constant_pw_aff(1)
        total = total.add(value.scale_val(isl.Val(coefficient)))
    return total


def _node(terms: Terms, atoms: Mapping[str, Atom]) -> Any:
    """A C expression of such a sum: what moves comes first, a constant last."""

    def rank(item: tuple[Monomial, int]) -> tuple[bool, bool, bool]:
        monomial, coefficient = item
        return not monomial, coefficient < 0, bool(monomial) and not atoms[monomial[0]].moves

    node: Any = None
    for monomial, coefficient in sorted(terms.items(), key=rank):
        term = _product(abs(coefficient), [atoms[key].node for key in monomial])
        first = term if coefficient > 0 else ir.UnaryOp("-", term)
        node = first if node is None else ir.BinaryOp("+" if coefficient > 0 else "-", node, term)
    return ir.Constant("int", "0") if node is None else node


def _product(factor: int, nodes: Sequence[Any]) -> Any:
    node: Any = None if factor == 1 and nodes else ir.Constant("int", str(factor))
    for one in nodes:
        node = one if node is None else ir.BinaryOp("*", node, one)
    return node
