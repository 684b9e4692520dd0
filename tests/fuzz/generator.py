"""A hypothesis strategy for random programs that are free of undefined behaviour by construction.

Earlier choices of every draw are the simpler ones, so that hypothesis shrinks a failing program towards a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hypothesis import strategies as st

from scopt.options import Options
from tests.fuzz.expressions import (
    Choice,
    Compare,
    Comparison,
    Condition,
    Data,
    DataType,
    Extremum,
    Int,
    IntExpr,
    Linear,
    Literally,
    Logic,
    Operation,
    Quotient,
    Range,
    Ref,
    Remainder,
    Var,
    shifted,
)
from tests.fuzz.program import PARAMETERS, ArrayModel, Assign, Branch, Declare, Loop, Program, ScalarModel, Stmt, walk

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]

MAX_DEPTH = 4
MAX_INSTANCES = 20_000
WIDEST = {1: 120, 2: 48, 3: 28}  # cells along one dimension of an array, by its number of dimensions
ITERATORS = ("i", "j", "k", "l")
# Names that a code generator may be tempted to use itself come last: shrinking avoids them.
ARRAY_NAMES = ("A", "B", "C", "D", "c0", "t1", "floord", "lb", "ub", "S0", "max")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What stands around the statement that is drawn. iterators: outermost first."""

    ranges: dict[str, Range]
    iterators: tuple[str, ...] = ()
    instances: int = 1
    locals: tuple[Declare, ...] = ()


@dataclass(slots=True)
class _Shape:
    """An array while the program is drawn: what has been asked of each dimension so far."""

    name: str
    type: DataType
    lows: list[int]
    highs: list[int]


@st.composite
def programs(draw: Draw) -> Program:  # type: ignore[type-arg]
    """A random `Program`."""
    return _Generator(draw).program()


@dataclass(slots=True)
class _Generator:
    """Draws one program; the only state is what the program is made of so far."""

    draw: Draw  # type: ignore[type-arg]
    arrays: list[_Shape] = field(default_factory=list)
    scalars: list[ScalarModel] = field(default_factory=list)
    statements_left: int = 0
    locals_made: int = 0
    iterator_type: str = "int"
    spices_left: int = 0

    # --- drawing ---

    def up_to(self, most: int) -> int:
        return self.draw(st.integers(0, most))

    def pick(self, *choices: T) -> T:
        """One of the choices; shrinks to the first."""
        return choices[self.up_to(len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about that share of cases; shrinks to False."""
        return self.up_to(99) >= 100 - percent

    def spice(self) -> bool:
        """Whether one more expensive construct may go into the program; counts it."""
        self.spices_left -= 1
        return self.spices_left >= 0

    # --- the program ---

    def program(self) -> Program:
        self.statements_left = self.pick(1, 2, 2, 3, 3, 4, 6)
        # Strides, `/`, `%` and bounds of two parts: each is wanted, many in one program take isl too long.
        self.spices_left = self.pick(0, 1, 1, 2, 2, 3, 4)
        self.iterator_type = self.pick("int", "int", "int", "long")
        names = list(ARRAY_NAMES)
        for number in range(1 + self.up_to(2)):
            name = names.pop(self.up_to(len(names) - 1) if self.chance(10) else 0)
            rank = self.pick(1, 2, 2, 1, 3) if number == 0 else self.pick(1, 2, 1, 2, 3)
            self.arrays.append(_Shape(name, self.pick("double", "double", "double", "unsigned", "int"), [0] * rank, [0] * rank))
        for number in range(self.pick(0, 0, 1, 2)):
            self.scalars.append(ScalarModel(f"s{number}", self.pick("double", "double", "unsigned"), self.pick("live", "dead", "global")))
        scope = _Scope(ranges=dict(PARAMETERS))
        body: tuple[Stmt, ...] = ()
        for _ in range(1 + self.pick(0, 0, 1, 1, 2)):
            if self.statements_left > 0:
                body += (self.loop(scope),) if not self.chance(8) else (self.assignment(scope),)
        outermost = [s.iterator for s in body if isinstance(s, Loop) and not s.inside]
        return Program(
            arrays=tuple(self.finished(shape) for shape in self.arrays),
            scalars=tuple(self.scalars),
            body=body,
            iterator_type=self.iterator_type,
            live_iterator=outermost[-1] if outermost and self.chance(5) else None,
            options=self.options(),
        )

    def finished(self, shape: _Shape) -> ArrayModel:
        forms = ("global", "global", "parameter", "vla", "pointer")
        return ArrayModel(shape.name, shape.type, tuple(high + 1 for high in shape.highs), self.pick(*forms))

    def options(self) -> Options:
        tile = self.chance(75)
        # small tiles, of which there are several even in small loops; or the model's, with register tiles, jammed rows and strips
        sizes = tuple(2 + self.up_to(6) for _ in range(1 + self.up_to(2))) if tile and not self.chance(40) else ()
        return Options(
            autodetect=self.chance(12),
            eager=True,
            scheduler=self.pick("isl", "isl", "pluto", "pluto", "pluto", "feautrier", "identity", "sample"),
            fusion=self.pick("auto", "auto", "max", "smart", "no", "typed"),
            seed=self.up_to(1000),
            influence=self.pick("", "", "", "vectorize"),
            tile=tile,
            tile_sizes=sizes,
            parallel=not self.chance(10),
            simd=not self.chance(20),
            verify="full",
            budget=5.0,
        )

    # --- statements ---

    def loop(self, scope: _Scope) -> Loop:
        depth = len(scope.iterators)
        iterator = ITERATORS[depth]
        header, reached = self.header(scope, iterator)
        low, high = reached
        trips = max(1, (high - low) // abs(header.step) + 1)
        inner = _Scope(scope.ranges | {iterator: reached}, (*scope.iterators, iterator), scope.instances * trips, scope.locals)
        return replace(header, body=self.body(inner, depth + 1))

    def body(self, scope: _Scope, depth: int) -> tuple[Stmt, ...]:
        """The inside of a loop or branch: at least one statement, locals first."""
        statements: tuple[Stmt, ...] = ()
        if self.chance(15):
            local = self.local(scope)
            scope = replace(scope, locals=(*scope.locals, local))
            statements = (local,)
        for _ in range(1 + self.pick(0, 0, 0, 1, 1, 2)):
            if self.statements_left <= 0 and statements:
                break
            may_nest = depth < MAX_DEPTH and scope.instances < MAX_INSTANCES and self.statements_left > 0
            if may_nest and self.chance(60 if depth < 2 else 35):
                statements += (self.loop(scope),)
            elif self.statements_left > 0 and self.chance(20):
                statements += (self.branch(scope, depth),)
            else:
                statements += (self.assignment(scope),)
        return statements

    def branch(self, scope: _Scope, depth: int) -> Branch:
        condition: Condition | Data
        if scope.iterators and not self.chance(25):
            condition, then_depth = self.condition(scope), depth
        else:
            # A data-dependent branch becomes one opaque statement: no loops inside, or everything around it is refused.
            kind: DataType = self.pick("double", "unsigned")
            condition, then_depth = Operation(f"{{}} {self.pick('<', '>', '<=', '!=')} {{}}", (self.leaf(scope, kind), self.literal(kind))), MAX_DEPTH
        then = self.body(scope, then_depth)
        otherwise = self.body(scope, then_depth) if self.statements_left > 0 and self.chance(35) else ()
        return Branch(condition, then, otherwise)

    def local(self, scope: _Scope) -> Declare:
        kind: DataType = self.pick("double", "double", "unsigned")
        value = self.leaf(scope, kind) if self.chance(30) else self.value(scope, kind)
        self.locals_made += 1
        return Declare(kind, f"x{self.locals_made}", value, self.pick(None, None, None, 2, 3))

    def assignment(self, scope: _Scope) -> Assign:
        self.statements_left -= 1
        writable = [declared for declared in scope.locals if declared.extent is None]
        if writable and self.chance(15):
            local = self.pick(*writable)
            return self.update(scope, Ref(local.name), local.type)
        if self.scalars and self.chance(25):
            scalar = self.pick(*self.scalars)
            return self.update(scope, Ref(scalar.name), scalar.type)
        shape = self.pick(*self.arrays)
        return self.update(scope, self.element(scope, shape), shape.type)

    def update(self, scope: _Scope, target: Ref, kind: DataType) -> Assign:
        """`target op value`, such that doubles stay of moderate size and ints never overflow."""
        value = self.value(scope, kind)
        match kind:
            case "int":
                return Assign(target, "=", Operation("({}) % 1009", (value,)))
            case "unsigned":
                return Assign(target, self.pick("=", "+=", "-=", "*="), value)
            case "double":
                return Assign(target, op := self.pick("=", "=", "+=", "-=", "*="), Literally("0.75") if op == "*=" and self.chance(70) else value)

    # --- data ---

    def value(self, scope: _Scope, kind: DataType) -> Data:
        if kind == "double":
            pattern, count = self.pick(
                ("{} + {}", 2),
                ("0.5 * {} + 0.25 * {}", 2),
                ("{} - 0.5 * {}", 2),
                ("0.25 * ({} + {} + {} - 1.0)", 3),
                ("0.5 * {} * {}", 2),
                ("0.125", 0),
                ("{} / ({} * 0.5 + 4.0)", 2),
                ("fabs({}) - 0.5", 1),
                ("sqrt(fabs({} + {}))", 2),
                ("blend({}, {})", 2),
                ("({} > {} ? {} : 0.25)", 3),
                ("-({})", 1),
            )
        elif kind == "unsigned":
            pattern, count = self.pick(
                ("{} + {}", 2),
                ("3u * {} + 1u", 1),
                ("{} * {} - 7u", 2),
                ("{}", 1),
                ("({} < {} ? {} : 5u)", 3),
                ("({} >> 3) ^ {}", 2),
            )
        else:
            pattern, count = self.pick(("{} + {}", 2), ("{} - 2 * {}", 2), ("{} * {} + 1", 2), ("({} > 4 ? {} : -{})", 3))
        return Operation(pattern, tuple(self.leaf(scope, kind) for _ in range(count)))

    def leaf(self, scope: _Scope, kind: DataType) -> Data:
        """A value of the kind without operators: an element, a scalar, a local, a literal, an iterator."""
        shapes = [shape for shape in self.arrays if shape.type == kind]
        if shapes and not self.chance(25):
            return self.element(scope, self.pick(*shapes))
        names = [Ref(s.name) for s in self.scalars if s.type == kind]
        names += [
            Ref(local.name, () if local.extent is None else (Int(self.up_to(local.extent - 1)),)) for local in scope.locals if local.type == kind
        ]
        if names and not self.chance(30):
            return self.pick(*names)
        if scope.iterators and self.chance(30):
            iterator = self.pick(*scope.iterators)
            return Literally({"double": f"0.125 * {iterator}", "unsigned": f"(unsigned){iterator}", "int": f"(int){iterator}"}[kind])
        return self.literal(kind)

    def literal(self, kind: DataType) -> Data:
        return Literally(self.pick(*{"double": ("0.5", "1.0", "-0.25"), "unsigned": ("1u", "9u"), "int": ("1", "17")}[kind]))

    def element(self, scope: _Scope, shape: _Shape) -> Ref:
        rank = len(shape.lows)
        subscripts = []
        for level in range(rank):
            subscript = self.subscript(scope, rank)
            low, high = subscript.range(scope.ranges)
            # The shift depends on this subscript alone: later ones can't change text that is drawn already.
            shift = max(0, -low)
            shape.highs[level] = max(shape.highs[level], high + shift)
            subscripts.append(shifted(subscript, shift))
        return Ref(shape.name, tuple(subscripts))

    def subscript(self, scope: _Scope, rank: int) -> IntExpr:
        if not scope.iterators:
            return Int(self.up_to(3))
        for _ in range(2):
            subscript = self.affine(scope) if self.chance(18) else self.near_iterator(scope)
            low, high = subscript.range(scope.ranges)
            if high - low + max(0, low) < WIDEST[rank]:
                return subscript
        return Remainder(Var(scope.iterators[-1]), 4)

    def near_iterator(self, scope: _Scope) -> IntExpr:
        """i, i + 1, i - 2: what most subscripts look like."""
        iterator = Var(scope.iterators[-1 - self.up_to(len(scope.iterators) - 1)])
        return shifted(iterator, self.pick(0, 0, 0, 1, -1, 2, -2))

    # --- integers ---

    def affine(self, scope: _Scope) -> IntExpr:
        names = (*scope.iterators[::-1], "n", "m")
        one, other = Var(self.pick(*names)), Var(self.pick(*names))
        constant = self.pick(0, 1, -1, 2, 3, -4)
        form = self.up_to(10)
        if form > 5 and not self.spice():
            form = 1
        match form:
            case 0 | 1:
                return shifted(one, constant)
            case 2:
                return Linear(((1, one), (1, other)), constant) if one != other else Linear(((2, one),), constant)
            case 3:
                return Linear(((1, one), (-1, other)), constant) if one != other else shifted(one, constant)
            case 4:
                return Linear(((self.pick(2, 3, -1, -2), one),), constant)
            case 5:
                return Int(self.up_to(6))
            case 6:
                return Quotient(shifted(one, constant), self.pick(2, 3, 4))
            case 7:
                return Remainder(shifted(one, constant), self.pick(2, 3, 5))
            case 8:
                return Extremum(self.pick("min", "max"), shifted(one, constant), shifted(other, self.pick(0, 2, -3)), self.chance(50))
            case 9:
                return Linear(((self.pick(1, 2), Quotient(Linear(((1, one), (1, other)), constant), self.pick(2, 3))),), self.pick(0, 1))
            case _:
                return Choice(Compare(one, self.pick("<", ">="), shifted(other, constant)), shifted(one, 1), Var("m"))

    def condition(self, scope: _Scope, nested: int = 2) -> Condition:
        match self.up_to(7 if nested else 4):
            case 0 | 1 | 2:
                left = Var(scope.iterators[-1]) if self.chance(50) else self.affine(scope)
                return Compare(left, self.pick("<", ">=", "<=", ">", "==", "!="), self.affine(scope))
            case 3 | 4 if self.spice():
                left = Remainder(self.near_iterator(scope), self.pick(2, 3))
                return Compare(left, self.pick("==", "!=", ">"), Int(self.up_to(1)))
            case 5:
                return Logic("&&", self.condition(scope, nested - 1), self.condition(scope, nested - 1))
            case 3 | 4:
                return Compare(Var(scope.iterators[-1]), self.pick("<", ">=", "!="), self.near_iterator(scope))
            case 6:
                return Logic("||", self.condition(scope, nested - 1), self.condition(scope, nested - 1))
            case _:
                return Logic("!", self.condition(scope, nested - 1))

    # --- loop headers ---

    def header(self, scope: _Scope, iterator: str) -> tuple[Loop, Range]:
        """A loop without a body, and the range of its iterator inside the body."""
        step = self.pick(1, 1, 1, -1, -1, 2, 3, -2)
        if abs(step) > 1 and not self.spice():
            step //= abs(step)
        start, bounds, comparison = self.ends(scope, step)
        reached = _reached(scope.ranges, start, bounds, comparison, step)
        low, high = reached
        if low < -20 or high > 40 or (high - low + 1) // abs(step) * scope.instances > MAX_INSTANCES:
            start, bounds, comparison = (Int(0), (Int(3),), "<") if step > 0 else (Int(3), (Int(0),), ">=")
            reached = _reached(scope.ranges, start, bounds, comparison, step)
        inside = not self.chance(25)
        loop = Loop(
            iterator=iterator,
            type=self.iterator_type if not self.chance(3) else self.pick("int", "long"),
            inside=inside,
            start=start,
            comparison=comparison,
            bounds=bounds,
            step=step,
            body=(),
            style=self.pick(0, 0, 1, 2, 3),
            flipped=self.chance(10),
            braces=not self.chance(30),
        )
        return loop, reached

    def ends(self, scope: _Scope, step: int) -> tuple[IntExpr, tuple[IntExpr, ...], Comparison]:
        near, far = self.near_end(scope), self.far_end(scope)
        if abs(step) == 1 and self.chance(8):
            return self.unequal_ends(scope, step)
        if step > 0:
            bounds: tuple[IntExpr, ...] = (far, self.far_end(scope)) if self.chance(12) and self.spice() else (far,)
            return near, bounds, self.pick("<", "<", "<=")
        bounds = (near, self.near_end(scope)) if self.chance(12) and self.spice() else (near,)
        return shifted(far, -1), bounds, self.pick(">=", ">=", ">")

    def near_end(self, scope: _Scope) -> IntExpr:
        """Where a loop starts when it counts up."""
        if scope.iterators and self.chance(40):
            outer = Var(self.pick(*scope.iterators[::-1]))
            if self.chance(60) or not self.spice():
                return shifted(outer, self.pick(0, 1, -2))
            return self.pick(Extremum("max", Int(0), shifted(outer, -3), self.chance(50)), Quotient(outer, 2))
        if self.chance(10):
            return self.affine(scope)
        return Int(self.pick(0, 0, 0, 1, 2, -2))

    def far_end(self, scope: _Scope) -> IntExpr:
        """Where a loop ends when it counts up."""
        if scope.iterators and self.chance(35):
            outer = Var(self.pick(*scope.iterators[::-1]))
            if self.chance(25) and self.spice():
                return Extremum("min", Var("n"), shifted(outer, 4), self.chance(50))
            return self.pick(shifted(outer, self.pick(0, 1, 3)), Linear(((1, Var("n")), (-1, outer))), Linear(((2, outer),), 1))
        if self.chance(12):
            return self.affine(scope)
        if self.chance(8) and self.spice():
            return Quotient(Var("m"), 2)
        return self.pick(Var("n"), Var("n"), Var("m"), shifted(Var("n"), self.pick(-1, 1)), Int(5))

    def unequal_ends(self, scope: _Scope, step: int) -> tuple[IntExpr, tuple[IntExpr, ...], Comparison]:
        """Ends for `!=`: the far one is never short of the near one, in any call."""
        outer = [name for name in scope.iterators if scope.ranges[name][0] >= 0]
        far: IntExpr = Var(self.pick(*outer)) if outer else Var("m")
        if step > 0:
            return Int(0), (far,), "!="
        return far, (Int(0),), "!="


def _reached(ranges: dict[str, Range], start: IntExpr, bounds: tuple[IntExpr, ...], comparison: Comparison, step: int) -> Range:
    """The values that an iterator can have inside the body; one value where the body can't be reached."""
    starts = start.range(ranges)
    strict = comparison in ("<", ">", "!=")
    ends = [bound.range(ranges) for bound in bounds]
    if step > 0:
        low, high = starts[0], min(end[1] for end in ends) - strict
        return low, max(low, high)
    low, high = max(end[0] for end in ends) + strict, starts[1]
    return min(low, high), high


def count_statements(program: Program) -> int:
    return sum(isinstance(statement, Assign) for statement in walk(program.body))
