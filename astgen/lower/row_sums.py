"""The function that sums up along several rows at a time, each in its order: rows that lie along the steps become
lanes, by a transposition in registers.

Of rows beside each other (`scopt.scheduler.decisions.strips`) each step adds a number to each row's sum, and these
numbers lie in different lines: element by element, or gathered, that takes several times as long as the additions do
(measured: 8 rows of doubles, 0.55 ns an element; by this function 0.15). Here as many rows as a vector has lanes are
read along their steps, as many steps at a time, and turned as `scopt.astgen.lower.transposing` turns panels, but nothing
is written. Only where the target has such vectors; elsewhere, and for what is left, row by row in variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.ir.scop import CType
from scopt.ir.walks import walk, with_nodes
from scopt.machine.targets import SHUFFLES

# One letter a round.
_LETTERS = "abcdef"


class RowSums(Struct, frozen=True, eq=False):
    """``sums[i] op operand of rows[i * length + k] and common[k]``, for 0 <= i < width, 0 <= k < count, each i's in the
    order of k.

    op: ``+=`` or ``-=``. operand: over `row0`, `row1`, …, which have their own lengths, `common0`, … and `scalar0`, …,
    variables that stay. rows, common, scalars: how many there are. lanes: of the vectors that rows are turned in, a
    power of two that divides the width.
    """

    name: str
    op: str
    operand: ir.Node
    rows: int
    common: int
    scalars: int
    type: CType
    width: int
    long_type: str
    lanes: int

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.vector_type(), *self.function(), ""))

    def same(self, other: RowSums) -> bool:
        """Whether another function does the same."""
        return replace(self, name=other.name).text == other.text

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def vector(self) -> str:
        return f"{self.name}_v"

    def vector_type(self) -> Iterator[str]:
        lanes, element = self.lanes, self.type.bits // 8
        yield f"#if defined({SHUFFLES[lanes * element]}) && (defined(__clang__) || __GNUC__ >= 12)"
        yield f"#define {self.name}_vectors"
        yield (
            f"typedef {self.type.spelling} {self.vector} __attribute__((vector_size({lanes * element}), "
            f"aligned({element}), may_alias));"
        )
        for half, first in (("low", 0), ("high", lanes // 2)):
            turned = ", ".join(f"{first + k}, {lanes + first + k}" for k in range(lanes // 2))
            yield f"#define {self.name}_{half}(a, b) __builtin_shufflevector(a, b, {turned})"
        yield "#endif"

    def function(self) -> Iterator[str]:
        yield "#if defined(__clang__)"
        yield f"__attribute__((min_vector_width({8 * self.lanes * (self.type.bits // 8)})))"
        yield "#elif defined(__GNUC__)"
        yield "__attribute__((noinline, noclone))"
        yield "#endif"
        long, kind = self.long_type, self.type.spelling
        rows = "".join(f", const {kind} *restrict row{k}, {long} length{k}" for k in range(self.rows))
        common = "".join(f", const {kind} *restrict common{k}" for k in range(self.common))
        scalars = "".join(f", {kind} scalar{k}" for k in range(self.scalars))
        yield f"static void {self.name}({long} count{rows}{common}{scalars}, {kind} *restrict sums) {{"
        yield f"  {long} k = 0;"
        yield f"#ifdef {self.name}_vectors"
        yield from (f"  {line}" for line in self.vectors())
        yield "#endif"
        yield from (f"  {line}" for line in self.singles())
        yield "}"

    def vectors(self) -> Iterator[str]:
        """As many steps at a time as lanes."""
        blocks = range(self.width // self.lanes)
        for block in blocks:
            yield f"{self.vector} sum{block} = *(const {self.vector} *)(sums + {block * self.lanes});"
        yield f"for (; k + {self.lanes} <= count; k += {self.lanes}) {{"
        for block in blocks:
            yield "  {"
            yield from (f"    {line}" for line in self.block(block))
            yield "  }"
        yield "}"
        for block in blocks:
            yield f"*({self.vector} *)(sums + {block * self.lanes}) = sum{block};"

    def block(self, block: int) -> Iterator[str]:
        """Rows as lanes. Each round puts the elements of two vectors, that are half of all apart, one by one beside
        each other."""
        half, rounds = self.lanes // 2, self.lanes.bit_length() - 1
        for row in range(self.rows):
            before = f"r{row}{_LETTERS[0]}"
            for k in range(self.lanes):
                place = f"row{row} + {block * self.lanes + k} * length{row} + k"
                yield f"{self.vector} {before}{k} = *(const {self.vector} *)({place});"
            for letter in _LETTERS[1 : 1 + rounds]:
                after = f"r{row}{letter}"
                for k in range(half):
                    first, second = (f"{self.name}_{way}({before}{k}, {before}{k + half})" for way in ("low", "high"))
                    yield f"{self.vector} {after}{2 * k} = {first}, {after}{2 * k + 1} = {second};"
                before = after
        last = _LETTERS[rounds]
        for k in range(self.lanes):
            value = self.value(lambda row, k=k: f"r{row}{last}{k}", lambda one, k=k: f"common{one}[k + {k}]")
            yield f"sum{block} {self.op} {value};"

    def singles(self) -> Iterator[str]:
        """One step at a time."""
        kind = self.type.spelling
        yield f"{kind} {', '.join(f'one{i} = sums[{i}]' for i in range(self.width))};"
        yield "for (; k < count; k++) {"
        for i in range(self.width):
            value = self.value(lambda row, i=i: f"row{row}[{i} * length{row} + k]", lambda one: f"common{one}[k]")
            yield f"  one{i} {self.op} {value};"
        yield "}"
        yield " ".join(f"sums[{i}] = one{i};" for i in range(self.width))

    def value(self, row: Callable[[int], str], common: Callable[[int], str]) -> str:
        """The operand, given texts for its parts."""
        texts = {f"row{k}": row(k) for k in range(self.rows)} | {f"common{k}": common(k) for k in range(self.common)}
        return str(PlainGenerator().visit(self.operand_of({name: ir.ID(text) for name, text in texts.items()})))

    def operand_of(self, values: Mapping[str, ir.Node]) -> ir.Node:
        """The operand with others in place of its names."""
        named = (node for node in walk(self.operand) if isinstance(node, ir.ID))
        return with_nodes(self.operand, {node: values[node.name] for node in named if node.name in values})


def function_name(number: str, others: int) -> str:
    """Of the next one of a region. number: the region's."""
    return f"scopt_sums_{number}_{others}"
