"""The simplified form read back as a polyhedral object, to check generated loops against the SCoP.

Dates are flat: position in the block, outermost iterator, position, next iterator, …, position, padded with zeros. The items of an
`If` are counted with those of the block it stands in: of its branches only one is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import islpy as isl

from scopt.astgen.expr import from_linear, linear, negate, subtract, weighted
from scopt.astgen.loops import Item, children
from scopt.diagnostics import InternalError
from scopt.isl_utils import PARAM, SET, maps_of, union_of_maps
from scopt.model import (
    And,
    Block,
    Call,
    Compare,
    Condition,
    Const,
    Expr,
    FloorDiv,
    For,
    If,
    LoopMark,
    LoopNest,
    Max,
    Min,
    Mod,
    Name,
    Or,
    Scop,
    Select,
    Sum,
)

_AffLike = isl.Aff | isl.PwAff


@dataclass(frozen=True, slots=True, eq=False)
class LoopDim:
    """A loop with a mark. dimension: of its iterator in the dates. statements: the instances that it runs."""

    iterator: str
    dimension: int
    mark: LoopMark
    statements: isl.UnionSet


@dataclass(frozen=True, slots=True, eq=False)
class ReadBack:
    """schedule: ``{ S[…] -> [date] }``, exact, parameters within the SCoP's context. dims: how long dates are.
    loops: those with a parallel or simd mark, in textual order."""

    schedule: isl.UnionMap
    dims: int
    loops: tuple[LoopDim, ...]


def nest_to_schedule(scop: Scop, nest: LoopNest) -> ReadBack:
    """When `nest` executes what; nothing is looked up in the SCoP but spaces and the context."""
    reader = _Reader.of(scop, nest)
    start = isl.BasicSet.universe(reader.space).to_set().intersect_params(scop.context)
    calls = list(reader.block(nest.body, _Context(start, {}, (), 0, ())))
    loops = tuple(
        LoopDim(loop.iterator, 2 * loop.depth + 1, loop.mark, union_of_maps(m for m, inside in calls if loop in inside).domain())
        for loop in reader.marked
    )
    return ReadBack(union_of_maps(m for m, _ in calls), reader.space.dim(SET), loops)


def check_coverage(scop: Scop, read: ReadBack) -> None:
    """Raise InternalError, with an instance, unless each instance of the SCoP's domain is executed exactly once and no other one is."""
    executed = read.schedule.domain()
    _refuse(scop, scop.domain.subtract(executed), "is not executed")
    _refuse(scop, executed.subtract(scop.domain), "is executed but not in its domain")
    for schedule in maps_of(read.schedule):
        if not schedule.is_single_valued():
            twice = schedule.apply_range(isl.Map.lex_lt(schedule.get_space().range())).intersect(schedule)
            _refuse(scop, isl.UnionSet.from_set(twice.domain()), "is executed more than once")


def _refuse(scop: Scop, instances: isl.UnionSet, what: str) -> None:
    if not instances.is_empty():
        raise InternalError(f"{scop.location}: generated loops: an instance {what}: {instances.sample_point()}")


@dataclass(frozen=True, slots=True, eq=False)
class _MarkedLoop:
    iterator: str
    depth: int
    mark: LoopMark


@dataclass(frozen=True, slots=True, eq=False)
class _Context:
    """Where an item stands. domain: values of the enclosing iterators, in the space of dates. iterators: their dimensions."""

    domain: isl.Set
    iterators: dict[str, int]
    positions: tuple[int, ...]
    depth: int
    marked: tuple[_MarkedLoop, ...]

    def within(self, constraint: isl.Set) -> _Context:
        return _Context(self.domain.intersect(constraint), self.iterators, self.positions, self.depth, self.marked)


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    scop: Scop
    space: isl.Space
    marked: list[_MarkedLoop] = field(default_factory=list)

    @staticmethod
    def of(scop: Scop, nest: LoopNest) -> _Reader:
        space = scop.domain.get_space().align_params(scop.context.get_space())
        for parameter in scop.parameters:
            if space.find_dim_by_name(PARAM, parameter.name) < 0:
                space = space.add_dims(PARAM, 1).set_dim_name(PARAM, space.dim(PARAM), parameter.name)
        return _Reader(scop, space.set_from_params().add_dims(SET, 2 * _depth(nest.body) + 1))

    def block(self, block: Block, context: _Context) -> Iterator[tuple[isl.Map, tuple[_MarkedLoop, ...]]]:
        for position, (item, where) in enumerate(self.flat(block, context)):
            match item:
                case For():
                    yield from self.loop(item, where, position)
                case Call():
                    yield self.call(item, where, position), where.marked

    def flat(self, block: Block, context: _Context) -> Iterator[tuple[For | Call, _Context]]:
        """The block's items, those of its ifs under their conditions."""
        for item in block.items:
            if not isinstance(item, If):
                yield item, context
                continue
            yield from self.flat(item.then, context.within(self.condition(item.condition, context)))
            if item.otherwise is not None:
                yield from self.flat(item.otherwise, context.within(self.condition(negate(item.condition), context)))

    def loop(self, loop: For, context: _Context, position: int) -> Iterator[tuple[isl.Map, tuple[_MarkedLoop, ...]]]:
        dimension = 2 * context.depth + 1
        marked = context.marked
        if loop.mark.parallel or loop.mark.simd:
            this = _MarkedLoop(loop.iterator, context.depth, loop.mark)
            self.marked.append(this)
            marked = (*marked, this)
        iterators = context.iterators | {loop.iterator: dimension}
        inner = _Context(context.domain, iterators, (*context.positions, position), context.depth + 1, marked)
        iterator = Name(loop.iterator)
        # a bound sees the outer variable where the iterator has its name
        lower = self.compare(Compare(iterator, ">=", loop.lower), inner, context)
        upper = self.compare(Compare(iterator, "<=", loop.upper), inner, context)
        inner = inner.within(lower.intersect(upper))
        if loop.step > 1:
            inner = inner.within(self.on_step(loop, inner, context))
        yield from self.block(loop.body, inner)

    def on_step(self, loop: For, inner: _Context, outer: _Context) -> isl.Set:
        """Points a multiple of the step away from the lower bound."""
        lower = loop.lower
        if isinstance(lower, Max | Min) and all(_congruent(a, b, loop.step) for a, b in pairwise(lower.args)):
            lower = lower.args[0]  # all arguments agree modulo the step, so that any of them will do
        distance = _sub(self.value(Name(loop.iterator), inner), self.value(lower, outer))
        return _eq(distance.mod_val(isl.Val(loop.step)), self.constant(0))

    def call(self, call: Call, context: _Context, position: int) -> isl.Map:
        """``{ S[…] -> [date] }`` for one call."""
        domain = context.domain
        positions = (*context.positions, position)
        for dimension in range(self.space.dim(SET)):
            if dimension % 2 == 0:
                domain = domain.fix_val(SET, dimension, isl.Val(positions[dimension // 2] if dimension // 2 < len(positions) else 0))
            elif dimension // 2 >= context.depth:
                domain = domain.fix_val(SET, dimension, isl.Val(0))
        statement = self.scop.statement(call.statement)
        values = [_pw(self.value(arg, context)) for arg in call.args]
        target = self.space.params().set_from_params().add_dims(SET, len(values)).set_tuple_name(SET, statement.name)
        space = self.space.map_from_domain_and_range(target)
        result = isl.MultiPwAff.zero(space)
        for k, value in enumerate(values):
            result = result.set_pw_aff(k, value)
        return isl.Map.from_multi_pw_aff(result).intersect_domain(domain).reverse()

    # --- conditions ---

    def condition(self, condition: Condition, context: _Context) -> isl.Set:
        match condition:
            case Compare():
                return self.compare(condition, context, context)
            case And(args):
                result = isl.Set.universe(self.space)
                for arg in args:
                    result = result.intersect(self.condition(arg, context))
                return result
            case Or(args):
                result = isl.Set.empty(self.space)
                for arg in args:
                    result = result.union(self.condition(arg, context))
                return result

    def compare(self, c: Compare, left: _Context, right: _Context) -> isl.Set:
        """The points where the comparison holds, its sides read in contexts of their own. Conjunctions stay without pieces: x <= min(a, b)."""
        if c.op in ("<", "<="):
            return self.below(c.left, left, c.right, right, c.op == "<")
        if c.op in (">", ">="):
            return self.below(c.right, right, c.left, left, c.op == ">")
        equal = _eq(self.value(c.left, left), self.value(c.right, right))
        return equal if c.op == "==" else equal.complement()

    def below(self, small: Expr, small_in: _Context, large: Expr, large_in: _Context, strict: bool) -> isl.Set:
        result = isl.Set.universe(self.space)
        for a in small.args if isinstance(small, Max) else (small,):
            for b in large.args if isinstance(large, Min) else (large,):
                lower, upper = self.value(a, small_in), self.value(b, large_in)
                result = result.intersect(_le(lower.add_constant_val(isl.Val(int(strict))), upper))
        return result

    # --- expressions ---

    def constant(self, value: int) -> isl.Aff:
        return isl.Aff.zero_on_domain(isl.LocalSpace.from_space(self.space)).add_constant_val(isl.Val(value))

    def variable(self, name: str, context: _Context) -> isl.Aff:
        local = isl.LocalSpace.from_space(self.space)
        if name in context.iterators:
            return isl.Aff.var_on_domain(local, SET, context.iterators[name])
        position = self.space.find_dim_by_name(PARAM, name)
        if position < 0:
            raise InternalError(f"{self.scop.location}: generated loops use the unknown name '{name}'")
        return isl.Aff.var_on_domain(local, PARAM, position)

    def value(self, e: Expr, context: _Context) -> _AffLike:
        """`e` as a function on the space of dates; piecewise only where it has a min, max or select."""
        match e:
            case Const(value):
                return self.constant(value)
            case Name(name):
                return self.variable(name, context)
            case Sum(terms, constant):
                total: _AffLike = self.constant(constant)
                for c, x in terms:
                    total = _add(total, self.value(x, context).scale_val(isl.Val(c)))
                return total
            case FloorDiv(numerator, divisor):
                return self.value(numerator, context).scale_down_val(isl.Val(divisor)).floor()
            case Mod(numerator, divisor):
                return self.value(numerator, context).mod_val(isl.Val(divisor))
            case Min(args) | Max(args):
                first, *rest = (_pw(self.value(a, context)) for a in args)
                for other in rest:
                    first = first.min(other) if isinstance(e, Min) else first.max(other)
                return first
            case Select(condition, then, otherwise):
                test = self.condition(condition, context)
                left = _pw(self.value(then, context)).intersect_domain(test)
                return left.union_add(_pw(self.value(otherwise, context)).intersect_domain(test.complement()))


def _depth(block: Block) -> int:
    """How deep loops are nested."""

    def of(item: Item) -> int:
        return isinstance(item, For) + max(map(_depth, children(item)), default=0)

    return max(map(of, block.items), default=0)


def _congruent(a: Expr, b: Expr, modulus: int) -> bool:
    """Whether two expressions agree modulo `modulus`, as far as their form tells."""
    return _residue(subtract(a, b), modulus) == Const(0)


def _residue(e: Expr, modulus: int) -> Expr:
    """Something simpler that agrees with `e` modulo `modulus`."""
    coefficients, constant = linear(e)
    parts = [(c % modulus, x) for x, c in coefficients.items() if c % modulus]
    flat = ((c, x.numerator if isinstance(x, Mod) and c * x.divisor % modulus == 0 else x) for c, x in parts)
    simpler = weighted(flat, constant)
    coefficients, constant = linear(simpler)
    reduced = from_linear({x: c % modulus for x, c in coefficients.items()}, constant % modulus)
    return reduced if reduced == e else _residue(reduced, modulus)


def _pw(value: _AffLike) -> isl.PwAff:
    return value if isinstance(value, isl.PwAff) else isl.PwAff.from_aff(value)


def _add(a: _AffLike, b: _AffLike) -> _AffLike:
    return a.add(b) if isinstance(a, isl.Aff) and isinstance(b, isl.Aff) else _pw(a).add(_pw(b))


def _sub(a: _AffLike, b: _AffLike) -> _AffLike:
    return _add(a, b.neg())


def _le(a: _AffLike, b: _AffLike) -> isl.Set:
    if isinstance(a, isl.Aff) and isinstance(b, isl.Aff):
        return a.le_basic_set(b).to_set()
    return _pw(a).le_set(_pw(b))


def _eq(a: _AffLike, b: _AffLike) -> isl.Set:
    if isinstance(a, isl.Aff) and isinstance(b, isl.Aff):
        return a.eq_basic_set(b).to_set()
    return _pw(a).eq_set(_pw(b))
