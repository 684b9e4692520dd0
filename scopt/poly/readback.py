"""The simplified form read back as a polyhedral object, to check generated loops against the SCoP.

Dates are flat: position in the block, outermost iterator, position, next iterator, …, position, padded with zeros;
iterators of loops with a stride are counted from 0 on. The items of an `If` are counted with those of the block it
stands in; its branches share their positions, the shorter one in the middle, since only one is taken: what runs in
both, under one condition or the other, has one form of date.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir.collapsed import with_threads_inside
from scopt.ir.expr import negate
from scopt.ir.nest import Block, Call, For, Hold, If, LoopMark, LoopNest
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import SET, maps_of, remainder, sets_of, union_of_maps
from scopt.poly.nest_sets import Context, NestSpace


class LoopDim(Struct, frozen=True, eq=False):
    """A loop with a mark. dimension: of its iterator in the dates. statements: the instances that it runs."""

    iterator: str
    dimension: int
    mark: LoopMark
    statements: isl.UnionSet


class ReadBack(Struct, frozen=True, eq=False):
    """schedule: ``{ S[…] -> [date] }``, exact, parameters within the SCoP's context. dims: how long dates are.
    loops: those that carry nothing by their marks, in textual order."""

    schedule: isl.UnionMap
    dims: int
    loops: tuple[LoopDim, ...]


def nest_to_schedule(scop: Scop, nest: LoopNest) -> ReadBack:
    """When `nest` executes what; nothing is looked up in the SCoP but spaces and the context.

    Raises InternalError where the printed C would not compute what the nest means: a division that rounds to the wrong
      side.
    """
    reader = _Reader(NestSpace.of(scop, nest, strict=True))
    calls = list(reader.block(nest.body, _Place(reader.space.outside())))
    loops = tuple(
        LoopDim(
            loop.iterator, loop.dimension, loop.mark, union_of_maps(m for m, inside in calls if loop in inside).domain()
        )
        for loop in reader.marked
    )
    return ReadBack(union_of_maps(m for m, _ in calls), reader.space.space.dim(SET), loops)


def check_coverage(scop: Scop, read: ReadBack) -> None:
    """Raise InternalError, with an instance, unless each instance of the SCoP's domain is executed exactly once and no
    other one is."""
    executed = read.schedule.domain()
    for part in sets_of(scop.domain):
        left = remainder(part, executed.extract_set(part.get_space()))
        _refuse(scop, isl.UnionSet.from_set(left), "is not executed")
    if not executed.is_subset(scop.domain):
        _refuse(scop, executed.subtract(scop.domain), "is executed but not in its domain")
    for schedule in maps_of(read.schedule):
        if not schedule.is_single_valued():
            twice = schedule.apply_range(isl.Map.lex_lt(schedule.get_space().range())).intersect(schedule)
            _refuse(scop, isl.UnionSet.from_set(twice.domain()), "is executed more than once")


def _refuse(scop: Scop, instances: isl.UnionSet, what: str) -> None:
    if not instances.is_empty():
        raise InternalError(f"{scop.location}: generated loops: an instance {what}: {instances.sample_point()}")


def width(item: Item) -> int:
    """How many positions of its block an item takes."""
    match item:
        case For() | Call():
            return 1
        case Hold(body=body):
            return sum(map(width, body.items))
        case If(then=then, otherwise=otherwise):
            taken = sum(map(width, then.items))
            return taken if otherwise is None else max(taken, sum(map(width, otherwise.items)))


def branches(item: If, position: int) -> list[tuple[Block, int]]:
    """An if's blocks, each with the position of its first item. position: of the if."""
    blocks = [item.then] if item.otherwise is None else [item.then, item.otherwise]
    widths = [sum(map(width, block.items)) for block in blocks]
    return [(block, position + (max(widths) - own) // 2) for block, own in zip(blocks, widths, strict=True)]


class _MarkedLoop(Struct, frozen=True, eq=False):
    iterator: str
    dimension: int
    mark: LoopMark


class _Place(Struct, frozen=True, eq=False):
    """Where an item stands: its context, the positions of the loops around it, those of them with a mark."""

    context: Context
    positions: tuple[int, ...] = ()
    marked: tuple[_MarkedLoop, ...] = ()


Dated = tuple[isl.Map, tuple[_MarkedLoop, ...]]


class _Reader(Struct, frozen=True, eq=False):
    space: NestSpace
    marked: list[_MarkedLoop] = field(default_factory=list)

    def block(self, block: Block, place: _Place) -> Iterator[Dated]:
        for position, item, context in self.flat(block, 0, place.context):
            here = _Place(context, (*place.positions, position), place.marked)
            match item:
                case For():
                    yield from self.loop(item, here)
                case Call():
                    yield self.call(item, here), here.marked

    def flat(self, block: Block, position: int, context: Context) -> Iterator[tuple[int, For | Call, Context]]:
        """The block's items with their positions, those of its ifs under their conditions."""
        for item in block.items:
            if isinstance(item, Hold):
                yield from self.flat(item.body, position, context)
            elif isinstance(item, If):
                (then, first), *others = branches(item, position)
                yield from self.flat(then, first, context.within(self.space.condition(item.condition, context)))
                for otherwise, start in others:
                    # C evaluates no negation: the divisions have been looked at above
                    rest = replace(self.space, strict=False).condition(negate(item.condition), context)
                    yield from self.flat(otherwise, start, context.within(rest))
            else:
                yield position, item, context
            position += width(item)

    def loop(self, loop: For, place: _Place) -> Iterator[Dated]:
        marked = place.marked
        if loop.mark.parallel or loop.mark.simd or loop.mark.ended:
            this = _MarkedLoop(loop.iterator, 2 * len(place.positions) - 1, loop.mark)
            self.marked.append(this)
            marked = (*marked, this)
        body = with_threads_inside(loop)
        yield from self.block(body, replace(place, context=self.space.inside(loop, place.context), marked=marked))

    def call(self, call: Call, place: _Place) -> isl.Map:
        """``{ S[…] -> [date] }`` for one call."""
        domain, dates = place.context.domain, self.space.space
        for dimension in range(dates.dim(SET)):
            depth, iterator = divmod(dimension, 2)
            if not iterator:
                domain = domain.fix_val(
                    SET, dimension, isl.Val(place.positions[depth] if depth < len(place.positions) else 0)
                )
            elif depth >= len(place.context.iterators):
                domain = domain.fix_val(SET, dimension, isl.Val(0))
        target = dates.params().set_from_params().add_dims(SET, len(call.args)).set_tuple_name(SET, call.statement)
        instance = isl.MultiPwAff.zero(dates.map_from_domain_and_range(target))
        for k, arg in enumerate(call.args):
            instance = instance.set_pw_aff(k, self.space.piecewise(arg, place.context))
        return isl.Map.from_multi_pw_aff(instance).intersect_domain(domain).reverse()
