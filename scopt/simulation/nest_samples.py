"""A loop nest in numbers: trip counts, how often a guard holds and how far addresses move, estimated from sampled
iterations.

Every sample is one path through the nest: in each loop one iteration, at a fraction of the loop's range that is fixed
for the sample, weighted by the trip counts of the loops around (Knuth's estimator of the size of a search tree). The
fractions are a low-discrepancy sequence, so that the same nest always gives the same numbers. All samples are evaluated
at once, as arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from scopt.ir.expr import names
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
from scopt.ir.nest_walks import children

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

SAMPLES = 48
# Their square roots are independent over the rationals: an additive low-discrepancy sequence, a dimension for each
# depth of loops.
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


class Reference(Struct, frozen=True):
    """One access of a statement as an address: coefficients over the statement's iterators, plus a constant, in bytes.

    array: its name. size: bytes of an element; total: of the array. known: whether the address is affine; if not, every
      access is a jump.
    """

    array: str
    coefficients: tuple[int, ...]
    constant: int
    size: int
    total: int
    write: bool
    known: bool = True


class Instance(Struct, frozen=True):
    """A statement in the nest. weight: how often it runs for each run of the item around. addresses: of its references,
    at the first sample that reaches it. divisions: in its arguments, for each time it runs; what doesn't depend on the
    innermost loop is computed once a run of that."""

    statement: str
    weight: float
    total: float
    divisions: float
    references: tuple[Reference, ...]
    addresses: tuple[float, ...]
    moves: tuple[Mapping[int, float], ...]


class Loop(Struct, frozen=True):
    """A loop. key: unique in the nest; what `Instance.moves` are keyed by. trips: iterations for each run. operations,
    divisions: of its bounds."""

    key: int
    trips: float
    operations: int
    divisions: int
    mark: LoopMark
    body: tuple[Item, ...]


class Guard(Struct, frozen=True):
    """A condition. holds: how often, from 0 to 1. operations, divisions: of the condition."""

    holds: float
    operations: int
    divisions: int
    then: tuple[Item, ...]
    otherwise: tuple[Item, ...]


Item = Loop | Guard | Instance
Environment = Mapping[str, Integers]


class _Trace(Struct):
    """What one evaluation of the nest leaves for each item, by its key in preorder. Weights are 0 where a sample
    doesn't reach the item."""

    weights: dict[int, Floats] = field(default_factory=dict)
    values: dict[int, Integers] = field(default_factory=dict)
    places: dict[int, Integers] = field(default_factory=dict)
    trips: dict[int, Floats] = field(default_factory=dict)
    holds: dict[int, Flags] = field(default_factory=dict)
    addresses: dict[int, Floats] = field(default_factory=dict)


class _Numbered(Struct, frozen=True):
    """An item of the nest with its preorder key and its numbered children (of a guard: then, otherwise)."""

    key: int
    item: For | If | Call | Hold
    children: tuple[tuple[_Numbered, ...], ...] = ()


class _Evaluation(Struct, frozen=True, eq=False):
    """One walk over the nest for all samples. moved: the loop whose iterator is taken one step further than in the
    evaluation `plain`; those of the loops inside stay where they are if their bounds let them, else (point loops of
    tiles) they keep their distance from the lower bound."""

    references: Mapping[str, Floats]
    trace: _Trace
    plain: _Trace | None = None
    moved: int | None = None

    def block(self, items: Sequence[_Numbered], env: Environment, weight: Floats, depth: int) -> None:
        for item in items:
            self.item(item, env, weight, depth)

    def item(self, numbered: _Numbered, env: Environment, weight: Floats, depth: int) -> None:
        trace, key = self.trace, numbered.key
        trace.weights[key] = weight
        match numbered.item:
            case For() as loop:
                lower, upper = evaluated(loop.lower, env), evaluated(loop.upper, env)
                trips = np.maximum((upper - lower) // loop.step + 1, 0)
                place = self.place(numbered, lower, trips, depth, len(weight))
                trace.trips[key], trace.places[key], trace.values[key] = (
                    trips.astype(np.float64),
                    place,
                    lower + loop.step * place,
                )
                self.block(numbered.children[0], {**env, loop.iterator: trace.values[key]}, weight * trips, depth + 1)
            case If() as branch:
                holds = satisfied(branch.condition, env, len(weight))
                trace.holds[key] = holds
                for children, taken in zip(numbered.children, (holds, ~holds), strict=False):
                    self.block(children, env, weight * taken, depth)
            case Call() as call:
                args = [evaluated(arg, env).astype(np.float64) for arg in call.args]
                columns = np.stack([np.broadcast_to(arg, weight.shape) for arg in (*args, np.ones(1))])
                trace.addresses[key] = self.references[call.statement] @ columns

    def place(self, numbered: _Numbered, lower: Integers, trips: Integers, depth: int, samples: int) -> Integers:
        """Which of its iterations, counted from 0, a loop is in."""
        key = numbered.key
        if self.plain is None or key not in self.plain.places:
            return np.asarray(_fractions(depth, samples) * trips, dtype=np.int64)
        before = self.plain.places[key]
        if key == self.moved:
            # The last iteration has no next one: look back from it.
            return np.where(before + 1 < trips, before + 1, np.maximum(before - 1, 0))
        assert isinstance(numbered.item, For)
        distance, step = self.plain.values[key] - lower, numbered.item.step
        stays = (distance >= 0) & (distance % step == 0) & (distance // step < trips)
        return np.where(stays, distance // step, np.clip(before, 0, np.maximum(trips - 1, 0)))


def sampled(
    nest: LoopNest,
    parameters: Mapping[str, int],
    references: Mapping[str, tuple[Reference, ...]],
    samples: int = SAMPLES,
) -> tuple[Item, ...]:
    """The nest in numbers. parameters: values to assume. references: the accesses of each statement."""
    numbered, _ = _number(nest.body, 0)
    matrices = {name: _matrix(refs) for name, refs in references.items()}
    env = {name: np.full(samples, value, dtype=np.int64) for name, value in parameters.items()}
    traces: dict[int | None, _Trace] = {}

    def walk(moved: int | None) -> None:
        traces[moved] = _Trace()
        _Evaluation(matrices, traces[moved], traces.get(None) if moved is not None else None, moved).block(
            numbered, env, np.ones(samples), 0
        )

    walk(None)
    for key in traces[None].trips:
        walk(key)
    return tuple(_item(item, 1.0, (), "", traces, references) for item in numbered)


def _number(block: Block, first: int) -> tuple[tuple[_Numbered, ...], int]:
    """The items of a block, numbered in preorder from `first`; and the next number."""
    found = []
    for item in block.items:
        key, first = first, first + 1
        inner: list[tuple[_Numbered, ...]] = []
        for child in children(item):
            numbers, first = _number(child, first)
            inner.append(numbers)
        found.append(_Numbered(key, item, tuple(inner)))
    return tuple(found), first


def _matrix(references: Sequence[Reference]) -> Floats:
    rows = [(*reference.coefficients, reference.constant) for reference in references]
    return np.array(rows, dtype=np.float64) if rows else np.zeros((0, 1))


def _item(
    numbered: _Numbered,
    around: float,
    loops: tuple[int, ...],
    inner: str,
    traces: Mapping[int | None, _Trace],
    references: Mapping[str, tuple[Reference, ...]],
) -> Item:
    """One item in numbers. around: the mean weight of what is right around it. loops: keys of the loops around,
    outermost first; inner: the iterator of the innermost."""
    plain, key = traces[None], numbered.key
    weight = plain.weights[key]
    mean = float(weight.mean())

    def inside(children: Sequence[_Numbered], mean: float, loops: tuple[int, ...], inner: str) -> tuple[Item, ...]:
        return tuple(_item(child, mean, loops, inner, traces, references) for child in children)

    match numbered.item:
        case For() as loop:
            trips = float((weight * plain.trips[key]).sum() / weight.sum()) if mean else 0.0
            cost = [_operations(loop.lower), _operations(loop.upper)]
            body = inside(numbered.children[0], mean * trips, (*loops, key), loop.iterator)
            return Loop(key, trips, sum(c[0] for c in cost), sum(c[1] for c in cost), loop.mark, body)
        case If() as branch:
            holds = float((weight * plain.holds[key]).sum() / weight.sum()) if mean else 0.0
            operations, divisions = _condition_operations(branch.condition)
            then = inside(numbered.children[0], mean * holds, loops, inner)
            otherwise = (
                inside(numbered.children[1], mean * (1 - holds), loops, inner) if len(numbered.children) > 1 else ()
            )
            return Guard(holds, operations, divisions, then, otherwise)
        case Call() as call:
            refs = references[call.statement]
            inner_trips = max(float(np.median(plain.trips[loops[-1]])), 1.0) if loops else 1.0
            moves = _moves(key, loops, traces)
            addresses = plain.addresses[key][:, int(np.argmax(weight > 0))] if len(refs) else ()
            return Instance(
                call.statement,
                mean / around if around else 0.0,
                mean,
                _divisions(call, inner, inner_trips),
                refs,
                tuple(map(float, addresses)),
                tuple({loop: float(moves[loop][k]) for loop in loops} for k in range(len(refs))),
            )
        case Hold():
            raise AssertionError("cells are held in nests that are printed, not in samples")


def _divisions(call: Call, inner: str, trips: float) -> float:
    """Divisions in the arguments for each time the statement runs."""
    return sum(_operations(arg)[1] / (1 if inner in names(arg) else trips) for arg in call.args)


def _moves(key: int, loops: Sequence[int], traces: Mapping[int | None, _Trace]) -> dict[int, Floats]:
    """How far each reference's address moves with one iteration of each loop,
    the loops inside staying where they are: the median."""
    plain = traces[None]
    found = {}
    for loop in loops:
        reached = (plain.weights[key] > 0) & (traces[loop].weights[key] > 0) & (plain.trips[loop] > 1)
        steps = np.abs(traces[loop].addresses[key] - plain.addresses[key])[:, reached]
        found[loop] = np.median(steps, axis=1) if steps.shape[1] else np.zeros(len(steps))
    return found


def _fractions(depth: int, samples: int) -> Floats:
    """Fractions in [0, 1) for the loops at one depth: multiples of the square root of a prime."""
    step = sqrt(_PRIMES[depth % len(_PRIMES)])
    return np.asarray((0.5 + step * np.arange(1, samples + 1)) % 1.0, dtype=np.float64)


# --- expressions over arrays of samples -------------------------------------------------------------------------------


def evaluated(e: Expr, env: Environment) -> Integers:
    """The value of `e` in each sample. Raises KeyError for a name without values."""
    match e:
        case Const(value):
            return np.full(1, value, dtype=np.int64)
        case Name(name):
            return env[name]
        case Sum(terms, constant):
            total = np.full(1, constant, dtype=np.int64)
            for factor, term in terms:
                total = total + factor * evaluated(term, env)
            return total
        case FloorDiv(numerator, divisor):
            return evaluated(numerator, env) // divisor
        case Mod(numerator, divisor):
            return evaluated(numerator, env) % divisor
        case Min(args):
            return _folded(np.minimum, args, env)
        case Max(args):
            return _folded(np.maximum, args, env)
        case Select(condition, then, otherwise):
            first, second = evaluated(then, env), evaluated(otherwise, env)
            size = max((len(values) for values in env.values()), default=1)
            return np.where(satisfied(condition, env, size), first, second)


def _folded(function: np.ufunc, args: Sequence[Expr], env: Environment) -> Integers:
    result = evaluated(args[0], env)
    for arg in args[1:]:
        result = function(result, evaluated(arg, env))
    return result


def satisfied(condition: Condition, env: Environment, samples: int) -> Flags:
    """Whether `condition` holds, in each sample."""
    match condition:
        case Compare(left, op, right):
            a, b = evaluated(left, env), evaluated(right, env)
            result = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op]
            return np.broadcast_to(result, (samples,))
        case And(args):
            every: Flags = np.ones(samples, dtype=np.bool_)
            for arg in args:
                every = every & satisfied(arg, env, samples)
            return every
        case Or(args):
            some: Flags = np.zeros(samples, dtype=np.bool_)
            for arg in args:
                some = some | satisfied(arg, env, samples)
            return some
        case Exceeds(factors, limit):
            product = np.prod([evaluated(factor, env) for factor in factors], axis=0, dtype=np.float64)
            return np.broadcast_to(product > limit, (samples,))
        case Threads():
            return np.ones(samples, dtype=np.bool_)


def _operations(e: Expr) -> tuple[int, int]:
    """(additions, comparisons and the like; divisions) that an expression takes."""
    match e:
        case Const() | Name():
            return 0, 0
        case Sum(terms):
            parts = [_operations(term) for _, term in terms]
            return len(terms) + sum(p[0] for p in parts), sum(p[1] for p in parts)
        case FloorDiv(numerator) | Mod(numerator):
            inner = _operations(numerator)
            return inner[0], inner[1] + 1
        case Min(args) | Max(args):
            parts = [_operations(arg) for arg in args]
            return len(args) - 1 + sum(p[0] for p in parts), sum(p[1] for p in parts)
        case Select(condition, then, otherwise):
            parts = [_condition_operations(condition), _operations(then), _operations(otherwise)]
            return 1 + sum(p[0] for p in parts), sum(p[1] for p in parts)


def _condition_operations(condition: Condition) -> tuple[int, int]:
    match condition:
        case Compare(left, _, right):
            parts = [_operations(left), _operations(right)]
            return 1 + sum(p[0] for p in parts), sum(p[1] for p in parts)
        case And(args) | Or(args):
            inner = [_condition_operations(arg) for arg in args]
            return sum(p[0] for p in inner), sum(p[1] for p in inner)
        case Exceeds(factors):
            parts = [_operations(factor) for factor in factors]
            return len(factors) + sum(p[0] for p in parts), sum(p[1] for p in parts)
        case Threads():
            return 1, 0
