"""Faults in loop nests: all places where each kind of fault can be planted, in textual order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.expr import TRUE, conjunction, disjunction, maximum, minimum, names, negate, plus, substitute, weighted
from scopt.ir.nest import (
    And,
    Block,
    Call,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    FloorDiv,
    For,
    Hold,
    If,
    LoopMark,
    LoopNest,
    Max,
    Min,
    Mod,
    Name,
    Or,
    Select,
    Sum,
    Threads,
)
from scopt.ir.nest_walks import Item, calls, children, items as items_of
from scopt.ir.scop import Scop

# What is planted, where, and what it makes.
Edit = tuple[str, str, Block]
_TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def nest_edits(scop: Scop, nest: LoopNest) -> Iterator[tuple[str, str, LoopNest]]:
    """Every fault in a nest: its kind, its place, and the nest with it. scop: with all statements and arrays."""
    widths = {statement.name: len(statement.iterators) for statement in scop.statements}
    parameters = tuple(parameter.name for parameter in scop.parameters)
    for kind, place, block in _Editor(scop, widths).block(nest.body, parameters):
        yield kind, place, LoopNest(block)


def heads(block: Block) -> Iterator[tuple[object, ...]]:
    """What the items of a block say themselves, without what they contain."""
    for item in items_of(block):
        yield _head(item)


def _head(item: Item) -> tuple[object, ...]:
    match item:
        case For():
            return ("for", replace(item, body=Block(())))
        case If():
            return ("if", item.condition)
        case Hold():
            return ("hold", item.cells)
        case Call():
            return ("call", item)


class Sought(Struct, frozen=True, eq=False):
    """Heads that are sought in a nest with many faults, one after the other. known: what the items of the nest without
    faults contain of them, by identity: all but a few of the others' items are the same objects."""

    heads: frozenset[tuple[object, ...]]
    known: dict[int, frozenset[tuple[object, ...]]] = field(default_factory=dict)

    def remember(self, block: Block) -> None:
        """All items of the nest without faults, which has to stay."""
        for item in reversed([*items_of(block)]):  # what is inside of an item first
            self.known[id(item)] = self.within(item)

    def all_in(self, block: Block) -> bool:
        """Whether none is missing."""
        return not self.heads or self.heads <= self.among(block)

    def among(self, block: Block) -> frozenset[tuple[object, ...]]:
        """Those that are in a block."""
        return frozenset().union(*(self.within(item) for item in block.items))

    def within(self, item: Item) -> frozenset[tuple[object, ...]]:
        """Those that an item has, or what it contains."""
        known = self.known.get(id(item))
        if known is not None:
            return known
        own = frozenset((_head(item),)) & self.heads
        return own.union(*(self.among(block) for block in children(item)))


class _Editor(Struct, frozen=True):
    """widths: numbers of iterators of the statements."""

    scop: Scop
    widths: Mapping[str, int]

    def block(self, block: Block, scope: tuple[str, ...]) -> Iterator[Edit]:
        """scope: names that may be used in the block."""
        for position, item in enumerate(block.items):
            before, behind = block.items[:position], block.items[position + 1 :]
            place = f"{_label(item)}"
            for kind, items in self.item(item, scope):
                yield kind, place, Block((*before, *items, *behind))
            for kind, where, inner in self.inside(item, scope):
                yield kind, f"{place} > {where}", Block((*before, inner, *behind))
            if behind:
                first, *others = behind
                yield "items exchanged", place, Block((*before, first, item, *others))

    def inside(self, item: Item, scope: tuple[str, ...]) -> Iterator[tuple[str, str, Item]]:
        match item:
            case For():
                for kind, where, body in self.block(item.body, (*scope, item.iterator)):
                    yield kind, where, replace(item, body=body)
            case Hold():
                for kind, where, body in self.block(item.body, scope):
                    yield kind, where, replace(item, body=body)
            case If():
                for kind, where, body in self.block(item.then, scope):
                    yield kind, where, replace(item, then=body)
                for kind, where, body in self.block(item.otherwise or Block(()), scope):
                    yield kind, where, replace(item, otherwise=body)

    def item(self, item: Item, scope: tuple[str, ...]) -> Iterator[tuple[str, tuple[Item, ...]]]:
        yield "item dropped", ()
        yield "item doubled", (item, item)
        match item:
            case For():
                yield from self.loop(item, scope)
                for mark_kind, mark in self.mark(item):
                    yield mark_kind, (replace(item, mark=mark),)
            case If():
                yield from self.branch(item, scope)
            case Call():
                yield from self.call(item, scope)
            case Hold():
                yield from self.hold(item, scope)

    # --- loops --------------------------------------------------------------------------------------------------------

    def loop(self, loop: For, scope: tuple[str, ...]) -> Iterator[tuple[str, tuple[Item, ...]]]:
        for kind, lower in expression_edits(loop.lower, scope):
            yield f"lower bound: {kind}", (replace(loop, lower=lower),)
        for kind, upper in expression_edits(loop.upper, scope):
            yield f"upper bound: {kind}", (replace(loop, upper=upper),)
        for step in sorted({loop.step + 1, max(loop.step - 1, 1), 2 * loop.step} - {loop.step}):
            yield "step", (replace(loop, step=step),)
        yield "first iteration dropped", (replace(loop, lower=plus(loop.lower, loop.step)),)
        yield "last iteration dropped", (replace(loop, upper=plus(loop.upper, -loop.step)),)
        yield "one iteration more", (replace(loop, upper=plus(loop.upper, loop.step)),)
        yield "one iteration before", (replace(loop, lower=plus(loop.lower, -loop.step)),)
        yield "first iteration only", (replace(loop, upper=loop.lower),)
        if scope:
            yield "iterator hides another one", (replace(loop, iterator=scope[-1]),)
        match loop.body.items:
            case (For() as inner,) if loop.iterator not in names(inner.lower) | names(inner.upper):
                yield "loops exchanged", (replace(inner, body=Block((replace(loop, body=inner.body),))),)
            case (If() as inner,) if inner.otherwise is None:
                yield "if moved out", (replace(inner, then=Block((replace(loop, body=inner.then),))),)
            case (Hold() as inner,):
                yield "hold moved out", (replace(inner, body=Block((replace(loop, body=inner.body),))),)
            case (_, *others):
                yield "first item moved out", (loop.body.items[0], replace(loop, body=Block(tuple(others))))
                yield "last item moved out", (replace(loop, body=Block(loop.body.items[:-1])), loop.body.items[-1])
                apart = tuple(replace(loop, body=Block((one,))) for one in loop.body.items)
                yield "loop split", apart

    def mark(self, loop: For) -> Iterator[tuple[str, LoopMark]]:
        mark = loop.mark
        if not mark.parallel:
            yield "parallel set", replace(mark, parallel=True)
        elif mark.collapse == 1:
            yield "collapse set", replace(mark, collapse=2)
        if not mark.simd:
            yield "simd set", replace(mark, simd=True)
        if not (mark.parallel or mark.simd):
            yield "parallel and simd set", replace(mark, parallel=True, simd=True)
        for k, name in enumerate(mark.private):
            yield f"private dropped: {name}", replace(mark, private=mark.private[:k] + mark.private[k + 1 :])
        if mark.private:
            yield "private emptied", replace(mark, private=())
        if mark.parallel or mark.simd:
            used = {a.array for call in calls(loop.body) for a in self.scop.statement(call.statement).accesses}
            for name in sorted(used - set(mark.private)):
                if not self.scop.arrays[name].pointer:
                    yield f"private added: {name}", replace(mark, private=(*mark.private, name))
        for k, one in enumerate(mark.reductions):
            others = mark.reductions[:k] + mark.reductions[k + 1 :]
            yield "reduction dropped", replace(mark, reductions=others)
            for operator in ("+", "*", "max", "|"):
                if operator != one.operator:
                    yield "reduction's operator", replace(mark, reductions=(*others, replace(one, operator=operator)))
            yield "reduction's array", replace(mark, reductions=(*others, replace(one, whole=not one.whole)))
            if one.held:
                yield "reduction's names dropped", replace(mark, reductions=(*others, replace(one, held=one.held[1:])))
            for name in sorted(self.scop.arrays):
                if name != one.array and self.scop.arrays[name].rank == self.scop.arrays[one.array].rank:
                    yield "reduction of another array", replace(mark, reductions=(*others, replace(one, array=name)))
                    break

    # --- ifs ----------------------------------------------------------------------------------------------------------

    def branch(self, item: If, scope: tuple[str, ...]) -> Iterator[tuple[str, tuple[Item, ...]]]:
        if not _tests_work(item.condition):
            yield "condition negated", (replace(item, condition=negate(item.condition)),)
        yield "if dropped, then kept", item.then.items
        if item.otherwise is not None:
            yield "if dropped, else kept", item.otherwise.items
            yield "else dropped", (replace(item, otherwise=None),)
            yield "both branches run", (*item.then.items, *item.otherwise.items)
            if item.otherwise.items:
                yield "branches exchanged", (replace(item, then=item.otherwise, otherwise=item.then),)
        for kind, condition in condition_edits(item.condition, scope):
            if condition != TRUE:
                yield f"condition: {kind}", (replace(item, condition=condition),)

    # --- statements ---------------------------------------------------------------------------------------------------

    def call(self, call: Call, scope: tuple[str, ...]) -> Iterator[tuple[str, tuple[Item, ...]]]:
        for k, argument in enumerate(call.args):
            for kind, other in expression_edits(argument, scope):
                yield f"argument: {kind}", (replace(call, args=(*call.args[:k], other, *call.args[k + 1 :])),)
            for m in range(k + 1, len(call.args)):
                exchanged = list(call.args)
                exchanged[k], exchanged[m] = exchanged[m], exchanged[k]
                yield "arguments exchanged", (replace(call, args=tuple(exchanged)),)
        for name, width in self.widths.items():
            if name != call.statement and width == len(call.args):
                yield "another statement", (replace(call, statement=name, held=()),)
                if call.held:
                    yield "another statement with what is held", (replace(call, statement=name),)
        for k, (position, variable) in enumerate(call.held):
            yield "held reference dropped", (replace(call, held=call.held[:k] + call.held[k + 1 :]),)
            yield (
                "held reference at another place",
                (replace(call, held=(*call.held[:k], (position + 1, variable), *call.held[k + 1 :])),),
            )
            for _, other in call.held:
                if other != variable:
                    yield (
                        "held reference to another variable",
                        (replace(call, held=(*call.held[:k], (position, other), *call.held[k + 1 :])),),
                    )

    def hold(self, hold: Hold, scope: tuple[str, ...]) -> Iterator[tuple[str, tuple[Item, ...]]]:
        for k, cell in enumerate(hold.cells):
            before, behind = hold.cells[:k], hold.cells[k + 1 :]
            yield "stored turned", (replace(hold, cells=(*before, replace(cell, stored=not cell.stored), *behind)),)
            if len(hold.cells) > 1:
                yield "held cell dropped", (replace(hold, cells=before + behind),)
            for m, subscript in enumerate(cell.subscripts):
                for kind, other in expression_edits(subscript, scope):
                    subscripts = (*cell.subscripts[:m], other, *cell.subscripts[m + 1 :])
                    yield (
                        f"held cell: {kind}",
                        (replace(hold, cells=(*before, replace(cell, subscripts=subscripts), *behind)),),
                    )
            if behind:
                other_cell = behind[0]
                cells = (*before, replace(cell, name=other_cell.name), replace(other_cell, name=cell.name), *behind[1:])
                yield "held names exchanged", (replace(hold, cells=cells),)
            for name, array in sorted(self.scop.arrays.items()):
                if (
                    name != cell.array
                    and array.rank == len(cell.subscripts)
                    and array.type.spelling == self.scop.arrays[cell.array].type.spelling
                ):
                    yield (
                        "held cell of another array",
                        (replace(hold, cells=(*before, replace(cell, array=name), *behind)),),
                    )
        yield "hold dropped", hold.body.items
        match hold.body.items:
            case (For() as loop,):
                yield "hold moved in", (replace(loop, body=Block((replace(hold, body=loop.body),))),)
            case (first, *others) if others:
                yield "hold starts later", (first, replace(hold, body=Block(tuple(others))))
                yield "hold ends earlier", (replace(hold, body=Block(hold.body.items[:-1])), hold.body.items[-1])


def _label(item: Item) -> str:
    match item:
        case For():
            return f"for {item.iterator}"
        case If():
            return "if"
        case Call():
            return item.statement
        case Hold():
            return f"hold {item.cells[0].name}" if item.cells else "hold"


# --- expressions ------------------------------------------------------------------------------------------------------


def expression_edits(e: Expr, scope: Sequence[str]) -> Iterator[tuple[str, Expr]]:
    """Expressions that differ from one a little. scope: names that there are."""
    yield "+ 1", plus(e, 1)
    yield "- 1", plus(e, -1)
    yield from _parts(e)
    used = sorted(names(e))
    for name in used:
        for other in [one for one in reversed(scope) if one != name][:2]:
            yield f"{other} for {name}", substitute(e, {name: Name(other)})


def _parts(e: Expr) -> Iterator[tuple[str, Expr]]:
    """Faults inside of an expression."""
    match e:
        case Sum(terms, constant):
            for k, (factor, inner) in enumerate(terms):
                others = [*terms[:k], *terms[k + 1 :]]
                yield "sign of a term", weighted([*others, (-factor, inner)], constant)
                yield "factor of a term", weighted([*others, (factor + 1, inner)], constant)
                for kind, other in _parts(inner):
                    yield kind, weighted([*others, (factor, other)], constant)
        case Min(args) | Max(args):
            join = minimum if isinstance(e, Min) else maximum
            yield "min for max", (maximum if join is minimum else minimum)(args)
            for k, arg in enumerate(args):
                others = (*args[:k], *args[k + 1 :])
                yield "bound dropped", join(others)
                for kind, other in (("+ 1 in a bound", plus(arg, 1)), ("- 1 in a bound", plus(arg, -1)), *_parts(arg)):
                    yield kind, join((*others, other))
        case FloorDiv(numerator, divisor, nonnegative) | Mod(numerator, divisor, nonnegative):
            yield "divisor", replace(e, divisor=divisor + 1)
            yield "numerator + 1", replace(e, numerator=plus(numerator, 1))
            yield "numerator - 1", replace(e, numerator=plus(numerator, -1))
            if not nonnegative:
                yield "rounded as in C", replace(e, nonnegative=True)
            if isinstance(e, Mod) and not e.zero_test:
                yield "remainder as in C", replace(e, zero_test=True)
            for kind, other in _parts(numerator):
                yield kind, replace(e, numerator=other)
        case Select(condition, then, otherwise):
            yield "cases exchanged", Select(condition, otherwise, then)
            yield "case dropped", then
            yield "other case dropped", otherwise
            for kind, changed in condition_edits(condition, ()):
                yield kind, Select(changed, then, otherwise)


def condition_edits(condition: Condition, scope: Sequence[str]) -> Iterator[tuple[str, Condition]]:
    match condition:
        case Compare(left, op, right):
            yield "comparison turned", Compare(left, _TURNED[op], right)  # type: ignore[arg-type]
            for kind, other in expression_edits(left, scope):
                yield f"left side {kind}", Compare(other, op, right)
            for kind, other in _parts(right):
                yield f"right side {kind}", Compare(left, op, other)
            if not isinstance(right, Const):
                yield "sides exchanged", Compare(right, op, left)
        case And(args) | Or(args):
            join = conjunction if isinstance(condition, And) else disjunction
            yield "and for or", (disjunction if join is conjunction else conjunction)(args)
            for k, arg in enumerate(args):
                others = (*args[:k], *args[k + 1 :])
                yield "part dropped", join(others)
                for kind, changed in condition_edits(arg, scope):
                    yield kind, join((*others[:k], changed, *others[k:]))


def _tests_work(condition: Condition) -> bool:
    """Whether a test of work, which has no opposite, is part of a condition: both branches do the same."""
    parts = condition.args if isinstance(condition, (And, Or)) else (condition,)
    return any(isinstance(one, Exceeds | Threads) or (one is not condition and _tests_work(one)) for one in parts)
