"""The steps of register tiles in a loop nest: one call for all in a row; a choice between whole tiles and those that
lack cells.

So do copies of operands that a function makes for all iterations of two loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.lower.tile_records import Choice, Turned
from scopt.diagnostics import InternalError
from scopt.ir.expr import compare, conjunction, disjunction, minimum, names, negate, plus, subtract, weighted
from scopt.ir.nest import Block, Call, Condition, Const, Expr, For, If, LoopNest, Max, Min, Name
from scopt.ir.nest_walks import Item, calls, children, map_block, merged


def with_choices(lowered: Lowered, nest: LoopNest) -> LoopNest:
    """The nest with a choice between the two forms of a tile.
    Raises InternalError if they don't follow each other in a block."""
    block = _Choices(lowered).block(nest.body)
    return LoopNest(block)


class _Choices(Struct, frozen=True, eq=False):
    lowered: Lowered

    def block(self, block: Block) -> Block:
        rest, made = [part for item in block.items for part in self.apart(item)], list[Item]()
        while rest:
            item = rest.pop(0)
            names = _names(item)
            choice = next((c for c in self.lowered.choices if names & {c.whole, *c.others}), None)
            if choice is None or len(names) > 1:
                made.append(self.inside(item))
                continue
            others = []
            while rest and _names(rest[0]) <= set(choice.others):
                others.append(rest.pop(0))
            if names != {choice.whole} or {call.statement for call in calls(Block(tuple(others)))} != set(
                choice.others
            ):
                raise InternalError(f"{self.lowered.scop.location}: the forms of a register tile are apart")
            call = next(iter(calls(Block((item,)))))
            made.append(If(self.condition(choice, call), Block((item,)), Block(tuple(others))))
        return Block(tuple(merged(made, _joined)))

    def apart(self, item: Item) -> Iterator[Item]:
        """The items of an if that holds parts of a choice, and other things, each in an if of its own."""
        if (
            not isinstance(item, If)
            or len(_names(item)) == 1
            or not any(self.is_part(one) for child in children(item) for one in child.items)
        ):
            yield item
            return
        for inner in item.then.items:
            yield from (If(item.condition, Block((part,))) for part in self.apart(inner))
        for inner in item.otherwise.items if item.otherwise is not None else ():
            yield from (If(negate(item.condition), Block((part,))) for part in self.apart(inner))

    def is_part(self, item: Item) -> bool:
        """Whether an item is a part of a choice, or an if that contains one."""
        involved = {name for choice in self.lowered.choices for name in (choice.whole, *choice.others)}
        return _names(item) <= involved or (not isinstance(item, For) and not _names(item).isdisjoint(involved))

    def inside(self, item: Item) -> Item:
        match item:
            case For():
                return replace(item, body=self.block(item.body))
            case If():
                return replace(
                    item,
                    then=self.block(item.then),
                    otherwise=None if item.otherwise is None else self.block(item.otherwise),
                )
        return item

    def condition(self, choice: Choice, call: Call) -> Condition:
        """The choice's condition on a call's arguments."""
        alternatives = []
        for piece in choice.condition.get_basic_sets():
            if piece.dim(isl.dim_type.div):
                raise InternalError(f"{self.lowered.scop.location}: whole register tiles depend on a remainder")
            alternatives.append(conjunction(self.constraint(one, call) for one in piece.get_constraints()))
        return disjunction(alternatives)

    def constraint(self, constraint: isl.Constraint, call: Call) -> Condition:
        terms: list[tuple[int, Expr]] = []
        for k in range(constraint.dim(isl.dim_type.param)):
            factor = constraint.get_coefficient_val(isl.dim_type.param, k).to_python()
            terms.append((factor, Name(str(constraint.get_dim_name(isl.dim_type.param, k)))))
        for k, argument in enumerate(call.args):
            terms.append((constraint.get_coefficient_val(isl.dim_type.set, k).to_python(), argument))
        value = weighted([(c, x) for c, x in terms if c], constraint.get_constant_val().to_python())
        return compare(value, "==" if constraint.is_equality() else ">=", Const(0))


def _names(item: Item) -> set[str]:
    """The statements that an item runs."""
    return {call.statement for call in calls(Block((item,)))}


def _joined(before: Item, after: Item) -> Item | None:
    """Two ifs of one condition as one."""
    match before, after:
        case If(condition=first, otherwise=None, then=then), If(condition=second, otherwise=None, then=then_) if (
            first == second
        ):
            return If(first, Block((*then.items, *then_.items)))
    return None


def with_kernel_calls(lowered: Lowered, nest: LoopNest) -> LoopNest:
    """The nest with a loop over steps, or a single step, as one call."""

    def many(step: Call, first: object, count: object) -> Call:
        made, args = lowered.steps[step.statement], list(step.args)
        args[made.position] = first  # type: ignore[call-overload]
        return Call(made.many, (*args, count))  # type: ignore[arg-type]

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(iterator=iterator, lower=lower, upper=upper, step=1, body=body) if len(body.items) == 1:
                match body.items[0]:
                    case Call(statement, args) as call if statement in lowered.steps and args[
                        lowered.steps[statement].position
                    ] == Name(iterator):
                        return (_unless_empty(lower, _ends(upper), many(call, lower, _trips(item))),)
        return (item,)

    def single(item: Item) -> tuple[Item, ...]:
        if isinstance(item, Call) and item.statement in lowered.steps:
            return (many(item, item.args[lowered.steps[item.statement].position], Const(1)),)
        return (item,)

    return LoopNest(map_block(map_block(nest.body, visit), single))


def with_transposed_copies(turned: Mapping[str, Turned], nest: LoopNest) -> LoopNest:
    """The nest with calls in place of two loops that pack an operand, where a function does what they do and the inner
    one doesn't depend on the outer one."""

    def visit(item: Item) -> tuple[Item, ...]:
        record = _of_records(turned, item)
        match item:
            case For() if record is not None:
                return (record,)
            case For(step=1, body=Block((For(step=1, body=Block((Call() as call,))) as inner,))) if (
                call.statement in turned and not (turned[call.statement].skew or turned[call.statement].record)
            ):
                made = _in_one_call(turned[call.statement], item, inner, call)
                return (item,) if made is None else (made,)
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _of_records(turned: Mapping[str, Turned], item: Item) -> Call | None:
    """The call in place of loops that copy all cells of some records, if that is what an item does."""
    loops: list[For] = []
    while isinstance(item, For) and item.step == 1 and len(item.body.items) == 1:
        loops.append(item)
        item = item.body.items[0]
    own = turned.get(item.statement) if isinstance(item, Call) else None
    if own is None or not own.record or not isinstance(item, Call) or len(loops) != len(own.record) + 1:
        return None
    rows, *inside = loops
    args, places = list(item.args), [position for position, _ in own.record]
    whole = [(Const(0), Const(size - 1)) for _, size in own.record]
    others = [arg for k, arg in enumerate(args) if k not in (own.row, *places)]
    iterators = [loop.iterator for loop in loops]
    if (
        [args[k] for k in (own.row, *places)] != [Name(one) for one in iterators]
        or [(loop.lower, loop.upper) for loop in inside] != whole
        or any(loop.mark.parallel or loop.mark.simd for loop in loops)
        or any(names(arg) & {*iterators} for arg in others)
        or isinstance(rows.lower, Max)
    ):
        return None
    args[own.row] = rows.lower
    for place in places:
        args[place] = Const(0)
    return Call(own.name, (*args, _trips(rows), Const(own.cells)))


def _in_one_call(turned: Turned, outer: For, inner: For, call: Call) -> Item | None:
    loops = {outer.iterator: outer, inner.iterator: inner}
    moved = [call.args[turned.row], call.args[turned.step]]
    fixed = [arg for k, arg in enumerate(call.args) if k not in (turned.row, turned.step)]
    used = frozenset().union(*(names(one) for one in (inner.lower, inner.upper, *fixed)))
    if {one.name for one in moved if isinstance(one, Name)} != set(loops) or not used.isdisjoint(loops):
        return None
    if any(loop.mark.parallel or loop.mark.simd for loop in loops.values()):
        return None
    rows, steps = (loops[one.name] for one in moved if isinstance(one, Name))
    args = list(call.args)
    args[turned.row], args[turned.step] = rows.lower, steps.lower
    made: Item = Call(turned.name, (*args, _trips(rows), _trips(steps)))
    for loop in (inner, outer):
        made = _unless_empty(loop.lower, _ends(loop.upper), made)
    return made


def _trips(loop: For) -> Expr:
    """How many iterations a loop of step 1 has, or fewer than one."""
    return minimum(plus(subtract(end, loop.lower), 1) for end in _ends(loop.upper))


def _ends(upper: Expr) -> Sequence[Expr]:
    return upper.args if isinstance(upper, Min) else (upper,)


def _unless_empty(lower: Expr, ends: Sequence[Expr], item: Item) -> Item:
    """The item, guarded where steps that begin at one of several bounds may all lie behind the end."""
    if not isinstance(lower, Max):
        return item
    condition = conjunction(compare(begin, "<=", end) for begin in lower.args for end in ends)
    return If(condition, Block((item,)))
