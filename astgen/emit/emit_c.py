"""The simplified form as C, through cgen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from math import inf

import cgen
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.emit.asking_loops import asked, asking
from scopt.astgen.emit.balance import runs_backwards
from scopt.astgen.emit.braces import in_braces, inline
from scopt.astgen.emit.c_expr import ALL_HELPERS, APART, AROUND, SCALAR, ExprPrinter, Level, helper_name
from scopt.astgen.emit.c_layout import ForStatement, IfStatement
from scopt.astgen.emit.c_statement import declaration_text, load_text, statement_text
from scopt.astgen.emit.decided import INSIDE, Decided, condition_text, decided_by, held_by, undecided
from scopt.astgen.emit.flat import flat_subscript
from scopt.astgen.emit.inner_declarations import Inner, copied_names, inner_declarations, outer_declarations
from scopt.astgen.emit.int_iterators import has_int_value, is_added_in_subscript, is_divided, is_where_loops_begin
from scopt.astgen.emit.interiors import Interior, interior_of
from scopt.astgen.emit.kept_inside import kept_inside
from scopt.astgen.emit.known_divisors import knows_divisors
from scopt.astgen.emit.lane_texts import in_lanes
from scopt.astgen.emit.loop_directives import pragma_text
from scopt.astgen.emit.loop_hints import for_both, leaves_roots, narrowest, not_unrolled, plain_hints
from scopt.astgen.emit.loop_work import last_iteration
from scopt.astgen.emit.narrow_texts import narrow_declarations, stands_twice, two_widths
from scopt.astgen.emit.strip_texts import in_strips
from scopt.ir.expr import plus, subtract
from scopt.ir.nest import (
    Block,
    Call,
    Const,
    Expr,
    For,
    Held,
    Hold,
    If,
    LoopNest,
    Max,
    Min,
    Sum,
)
from scopt.ir.nest_walks import Item, calls, items
from scopt.ir.scop import Scop

# Variables with initializers that share a declaration.
_DECLARED_A_LINE = 4
# Iterations of a loop of constant length that clang may unroll to the last one.
_UNROLLED = 128
# The same of a loop that starts anywhere: the rows of a packed tile. Strips are longer, and are straight code.
_IN_VECTOR = 16
# Cells of a local array that registers hold.
_IN_REGISTERS = 32
# Statements of a jammed loop that clang may make one of.
PAIR = 2
_INT_BITS = 32
# What makes an iterator an int, whatever cells there are.
_AS_INT = (is_added_in_subscript, is_divided, is_where_loops_begin)


class Emitted(Struct, frozen=True):
    """Printed C.

    text: statements with a newline after each line, indented from column 0; a block if it declares variables.
    helpers: those of `scopt.astgen.emit.c_expr` that the text calls; `helper_definitions` has to stand somewhere before
      the function.
    definitions: functions of the text's own, for the same place.
    """

    text: str
    helpers: tuple[str, ...]
    definitions: tuple[str, ...] = ()


def emit(scop: Scop, nest: LoopNest, *, openmp: bool = True, definitions: tuple[str, ...] = ()) -> Emitted:
    """Print `nest`, whose iterators have final names, as C. openmp: print the marks as OpenMP pragmas."""
    inner = inner_declarations(scop, nest)
    printer = _Printer(scop, ExprPrinter.of(scop), openmp, inner=inner)
    declarations = [cgen.Line(declaration_text(one)) for one in outer_declarations(scop, inner)]
    body = printer.block(nest.body)
    if declarations or inline(scop, nest.body):
        body = [cgen.Block([*declarations, *body])]
    text = "".join(f"{line.rstrip()}\n" for item in body for line in item.generate())
    return Emitted(
        text, tuple(h for h in ALL_HELPERS if re.search(rf"\b{helper_name(h, scop.reserved)}\(", text)), definitions
    )


def parted(loop: For) -> bool:
    """Whether calls of `APART` stand between pairs of the body's statements.

    clang would gather the rows' elements into vectors, which takes several times as long as a chain of scalars for each
    row.
    """
    alone = all(isinstance(item, Call) for item in loop.body.items)
    return loop.mark.jammed and not loop.mark.simd and alone and len(loop.body.items) > PAIR


def together(loop: For) -> int:
    """How many statements of a jammed loop stand between two calls of `APART`: two, or those of a row of a loop of rows
    beside each other."""
    if not loop.mark.beside:
        return PAIR
    names = [item.statement for item in loop.body.items if isinstance(item, Call)]
    sizes = (k for k in range(PAIR, len(names)) if len(names) % k == 0)
    return next((k for k in sizes if names == names[:k] * (len(names) // k)), PAIR)


class _Printer(Struct, frozen=True):
    """known: what holds where it prints. inner: what is declared in loops."""

    scop: Scop
    exprs: ExprPrinter
    openmp: bool
    known: Decided = frozenset()
    inner: Inner = field(default_factory=dict)

    def block(self, block: Block) -> list[cgen.Generable]:
        if inline(self.scop, block):
            return [line for item in block.items for line in self.opened(item)]
        return [generable for item in block.items for generable in self.item(item)]

    def item(self, item: Item) -> Iterator[cgen.Generable]:
        match item:
            case For() if in_braces(self.scop, item):
                yield cgen.Block(list(self.opened(item)))
            case For():
                decided = decided_by(self.scop, item, self.known)
                lines = replace(self, known=self.known | decided).loop(item)
                yield from (IfStatement(condition_text(decided), list(lines), (), True),) if decided else lines
            case If():
                otherwise = item.otherwise or Block(())
                braces = not (self.plain(item.then) and (not otherwise.items or self.plain(otherwise)))
                then = replace(self, exprs=self.exprs.where(item.condition)).block(item.then)
                yield IfStatement(self.exprs.condition(item.condition).text, then, self.block(otherwise), braces)
            case Call():
                whole = self.scop.statement(item.statement)
                statement = undecided(whole, self.known, held_by(whole, item))
                kept = kept_inside(self.scop, statement) if self.openmp else frozenset()
                text = statement_text(statement, item, self.exprs, kept)
                yield from (cgen.Line(line) for line in text.split("\n"))
            case Hold():
                yield cgen.Block(list(self.hold(item)))

    def opened(self, item: Item) -> Iterator[cgen.Generable]:
        """What stands between braces, without these."""
        match item:
            case Hold():
                yield from self.hold(item)
            case For() if item.mark.looked or item.mark.fetched:
                strips = in_strips(self.scop, item)
                yield from (*map(cgen.Line, strips.declarations), *self.loop(strips.loop))
            case For() if item.mark.parted is not None:
                yield from self.lanes(item)
            case For() if (inside := interior_of(self.scop, item)) is not None:
                yield from self.interior(item, inside)
            case For():
                yield from self.twice(item) if stands_twice(item) else self.search(item)

    def search(self, loop: For) -> Iterator[cgen.Generable]:
        """A loop that asks whether another one has to run, and that one."""
        yield cgen.Line(f"int {loop.mark.searched} = 0;")
        yield from replace(self, openmp=False).loop(asking(self.scop, loop))
        yield IfStatement(loop.mark.searched, list(self.loop(asked(loop))), (), False)

    def twice(self, loop: For) -> Iterator[cgen.Generable]:
        """A loop with narrower variables where these are enough, and as it was."""
        both = two_widths(self.scop, loop)
        yield from map(cgen.Line, both.total)
        yield IfStatement(
            both.test, [*map(cgen.Line, both.copies), *self.loop(both.narrow)], list(self.loop(both.wide)), True
        )

    def lanes(self, loop: For) -> Iterator[cgen.Generable]:
        """Strips in which lanes have copies of what a loop reduces, where there are some, and what is left over."""
        made, own = in_lanes(self.scop, loop), self.inner.get(id(loop), ())
        strip, start = made.strips.iterator, self.exprs.expr(loop.lower).text
        yield cgen.Line(f"{self.scop.long_type} {strip} = {start};")
        inner = replace(
            self,
            scop=made.scop,
            exprs=self.exprs.within(made.strips),
            inner={**self.inner, id(made.vector): own, id(made.rest): own},
        )
        limit, step = self.limit(made.strips.upper), f"{strip} += {made.strips.step}"
        strips = ForStatement("", f"{strip} {limit}", step, list(inner.loop(made.vector)), False)
        test = " && ".join(one for one in (self.exprs.condition(made.test).text, made.signs) if one)
        yield IfStatement(test, [*map(cgen.Line, made.filled), strips, *map(cgen.Line, made.joined)], (), True)
        yield from replace(inner, scop=self.scop, exprs=self.exprs.within(made.left)).loop(made.rest)

    def interior(self, loop: For, inside: Interior) -> Iterator[cgen.Generable]:
        """The question at both ends of a strip, the strip without it where the answer is yes, and as it was."""
        yield from map(cgen.Line, inside.lines)
        yield from replace(self, known=self.known | {(INSIDE, False)}).block(Block(inside.ends))
        whole = replace(self, known=self.known | {(INSIDE, True)})
        yield IfStatement(INSIDE, list(whole.loop(loop)), list(self.loop(loop)), True)

    def hold(self, hold: Hold) -> Iterator[cgen.Generable]:
        """Declarations of what is held, the body, assignments of what was written."""
        for one in hold.choices:
            yield cgen.Line(f"{self.scop.long_type} {one.name} = {self.exprs.long(one.value).text};")
        yield from (cgen.Line(load_text(self.scop.statement(one.statement), one, self.exprs)) for one in hold.loads)
        for ctype, cells in groupby(hold.cells, lambda one: one.part or self.scop.arrays[one.array].type.spelling):
            loads = [f"{cell.name} = {0 if cell.part else self.cell(cell)}" for cell in cells]
            lines = (loads[k : k + _DECLARED_A_LINE] for k in range(0, len(loads), _DECLARED_A_LINE))
            yield from (cgen.Line(f"{ctype} {', '.join(some)};") for some in lines)
        yield from self.block(hold.body)
        stored = (one for one in hold.cells if one.stored)
        yield from (cgen.Line(f"{self.cell(one)} {'+=' if one.part else '='} {one.name};") for one in stored)

    def cell(self, cell: Held) -> str:
        array = self.scop.arrays[cell.array]
        if array.flat:
            return (
                f"{array.spelling}[{flat_subscript(array, [self.exprs.expr(e) for e in cell.subscripts], self.exprs)}]"
            )
        return array.spelling + "".join(f"[{self.exprs.expr(e).text}]" for e in cell.subscripts)

    def plain(self, block: Block) -> bool:
        """Whether the block is one line, so that no else can dangle."""
        return len(block.items) == 1 and isinstance(block.items[0], Call) and len(self.block(block)) == 1

    def loop(self, loop: For) -> Iterator[cgen.Generable]:
        backwards = self.openmp and runs_backwards(loop)
        body, spelling = self.iterations(loop, may_be_int=not backwards)
        start = (
            f"{spelling} {loop.iterator} = {self.exprs.expr(last_iteration(loop) if backwards else loop.lower).text}"
        )
        sign = "-" if backwards else "+"
        step = f"{loop.iterator}{sign}{sign}" if loop.step == 1 else f"{loop.iterator} {sign}= {loop.step}"
        limit = f">= {self.exprs.expr(loop.lower).at(Level.ADD)}" if backwards else self.limit(loop.upper)
        own = self.inner.get(id(loop), ())
        declarations = [one.declaration for one in own if one.declaration is not None]
        declarations += narrow_declarations(self.scop, loop)
        body = [*(cgen.Line(declaration_text(one)) for one in declarations), *body]
        for helper, wanted in ((AROUND, loop.mark.around), (SCALAR, loop.mark.scalar)):
            if wanted:
                body.insert(0, cgen.Line(f"{helper_name(helper, self.scop.reserved)}();"))
        statement = ForStatement(start, f"{loop.iterator} {limit}", step, body, len(body) > 1)
        if self.openmp and (loop.mark.parallel or loop.mark.simd):
            shared = replace(loop, mark=replace(loop.mark, private=copied_names(loop, own)))
            directive = pragma_text(self.scop, shared, self.exprs, "\n".join(statement.generate()))
            wide = loop.mark.wide
            size = wide * narrowest(self.scop, loop) // 8
            lines = for_both(directive, wide, size) if wide else (f"#pragma {directive}",)
            yield from map(cgen.Line, lines)
            vanishes = may_vanish(loop) and not (may_vanish(loop, _IN_REGISTERS) and self.fills_locals(loop))
            if vanishes or (length_of(loop) < _UNROLLED and leaves_roots(self.scop, loop)):
                yield from map(cgen.Line, not_unrolled(self.scop, loop, length_of(loop) + 1))
        elif self.openmp:
            divided = knows_divisors(self.scop, loop)
            yield from map(cgen.Line, plain_hints(self.scop, loop, length_of(loop), divided=divided))
        yield statement

    def fills_locals(self, loop: For) -> bool:
        """Whether a loop writes an array that is declared in the region, whose cells are registers once it is unrolled
        (measured: with loops, clang takes up to ten times as long for the nine streams of a lattice)."""
        writes = (
            self.scop.arrays[access.array]
            for call in calls(loop.body)
            for access in self.scop.statement(call.statement).accesses
            if access.is_write
        )
        return any(array.rank and array.declaration is not None for array in writes)

    def iterations(self, loop: For, *, may_be_int: bool) -> tuple[list[cgen.Generable], str]:
        """A loop's body, and the type of its iterator: int in the innermost loops that have a use for its value, beside
        cells of narrow types, in subscripts, for parts of it, or where loops of statements begin."""
        body = self.inside(loop)
        innermost = not any(isinstance(item, For) for item in items(loop.body))
        if may_be_int and innermost and self.exprs.may_be_int(loop):
            text = "\n".join(line for item in body for line in item.generate())
            value = self.is_narrow(loop) and has_int_value(text, loop.iterator)
            if value or any(uses(text, loop.iterator) for uses in _AS_INT):
                return self.inside(loop, as_int=True), "int"
        return body, self.scop.long_type

    def is_narrow(self, loop: For) -> bool:
        """Whether an innermost loop's vectors have twice as many lanes as those of ints, or more (with as many, gcc was
        measured to lose up to a tenth)."""
        names = {one.array for call in calls(loop.body) for one in self.scop.statement(call.statement).accesses}
        types = [self.scop.arrays[name].type for name in names if self.scop.arrays[name].rank]
        return any(one.integer and 0 < one.bits < _INT_BITS for one in types)

    def inside(self, loop: For, *, as_int: bool = False) -> list[cgen.Generable]:
        inner = replace(self, exprs=self.exprs.within(loop, as_int=as_int))
        return list(inner.pairs(loop)) if parted(loop) else inner.block(loop.body)

    def pairs(self, loop: For) -> Iterator[cgen.Generable]:
        size = together(loop)
        for position, item in enumerate(loop.body.items):
            if position and position % size == 0:
                yield cgen.Line(f"{helper_name(APART, self.scop.reserved)}();")
            yield from self.item(item)

    def limit(self, upper: Expr) -> str:
        """The inclusive bound as the right part of the condition, with `<` where that is shorter."""
        args = upper.args if isinstance(upper, Min | Max) else (upper,)
        below = any(isinstance(a, Const) or (isinstance(a, Sum) and a.constant) for a in args)
        op, bound = ("<", plus(upper, 1)) if below else ("<=", upper)
        return f"{op} {self.exprs.expr(bound).at(Level.ADD)}"


def may_vanish(loop: For, most: int = _UNROLLED) -> bool:
    """Whether clang would unroll a vector loop to the last iteration, before it looks for vectors: it then finds them,
    if anywhere, along the loop around it, whatever the strides are there."""
    if not loop.mark.simd or loop.mark.parallel:
        return False
    return length_of(loop) < (most if isinstance(loop.lower, Const) else min(most, _IN_VECTOR))


def length_of(loop: For) -> float:
    """How far a loop of constant length goes; no end for others."""
    distance = subtract(loop.upper, loop.lower)
    return distance.value if isinstance(distance, Const) else inf
