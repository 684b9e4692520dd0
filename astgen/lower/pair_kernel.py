"""The function that runs the steps of a register tile whose operands have 16 bits, and whose cells are sums of their
products in 32.

Processors multiply such numbers in pairs: each lane gets the products of two steps, added up, in one instruction, where
operands of 32 bits are multiplied one by one, which on most of them takes two. (Two products of -32768 by itself add up
to what wraps around, as the source's would.) So each row's operands lie side by side along the steps, two of which are
broadcast as a whole; those of columns lie as ever, and those of two steps are interleaved when they are loaded, which
takes little beside eight rows that use them (measured: two thirds of the time of columns that are packed in pairs,
since those are packed cell by cell). Where the target has no such instruction, and for the last one of an odd number of
steps, operands are widened when they are loaded.

The sums come in another order than the source's, the two products of a lane first: integers that wrap around don't see
that.
"""

from __future__ import annotations

from collections.abc import Iterator

from scopt.astgen.lower.kernel import Kernel
from scopt.machine.costs import VECTORS_A_ROW
from scopt.machine.targets import PAIR_VECTORS, PAIRS


class PairKernel(Kernel, frozen=True, eq=False):
    """The same as a kernel for ``cell += row * column``; a row's operands lie along the steps. distance: from row to
    row."""

    distance: int

    @property
    def row_strides(self) -> tuple[int, int]:
        return 1, self.distance

    # --- vectors ------------------------------------------------------------------------------------------------------

    @property
    def has_vectors(self) -> str:
        return "#if defined(__clang__) || __GNUC__ >= 12"

    @property
    def with_many_registers(self) -> tuple[str, ...]:
        return "__AVX512BW__", "__aarch64__"

    def vector_type(self) -> Iterator[str]:
        """Vectors of cells; of operands: of two steps, of one; of one row's pair."""
        yield self.has_vectors
        yield from self.vector_bytes()
        short = self.operand_type
        for name, element, size, aligned in (
            (self.vector, self.computed, f"{self.name}_bytes", self.bytes),
            (f"{self.name}_i", self.type, f"{self.name}_bytes", self.bytes),
            (f"{self.name}_y", short, f"{self.name}_bytes", 2),
            (f"{self.name}_h", short, f"{self.name}_half", 2),
            (f"{self.name}_p", short, "4", 2),
        ):
            yield f"typedef {element} {name} __attribute__((vector_size({size}), aligned({aligned}), may_alias));"
        yield from self.widened()
        yield from self.added()
        yield "#endif"

    @property
    def sizes(self) -> list[tuple[str, int]]:
        """Of vectors that make up rows of a tile, by the macro of targets that have them for pairs."""
        row = self.columns * self.bytes
        return [(macro, size) for macro, size in PAIR_VECTORS if row % (VECTORS_A_ROW * size) == 0]

    def vector_bytes(self) -> Iterator[str]:
        """How long they are, and how the operands of two steps become pairs."""
        for number, (macro, size) in enumerate(self.sizes):
            if macro:
                yield f"#{'elif' if number else 'if'} defined({macro})"
            elif number:
                yield "#else"
            yield f"#define {self.name}_bytes {size}"
            yield f"#define {self.name}_half {size // 2}"
            lanes = size // self.bytes
            pairs = ", ".join(f"{k}, {lanes + k}" for k in range(lanes))
            yield f"#define {self.name}_both(a, b) __builtin_shufflevector(a, b, {pairs})"
        if len(self.sizes) > 1:
            yield "#endif"

    def widened(self) -> Iterator[str]:
        """Operands of one step as numbers of 32 bits."""
        yield "static inline __attribute__((always_inline))"
        yield f"{self.vector} {self.name}_wide({self.name}_h y) {{"
        yield f"  return __builtin_convertvector(y, {self.vector});"
        yield "}"

    def added(self) -> Iterator[str]:
        """What cells become by the products of two steps, in each target's instructions."""
        known = {size for _, size in self.sizes}
        for number, (condition, _, value) in enumerate(one for one in PAIRS if one[1] in known):
            yield f"#{'elif' if number else 'if'} {condition}"
            yield f"#define {self.name}_pairs"
            yield "static inline __attribute__((always_inline))"
            yield f"{self.vector} {self.name}_add({self.vector} c, {self.name}_p x, {self.name}_y y) {{"
            yield f"  return {value.replace('$', self.name)};"
            yield "}"
        yield "#endif"

    # --- steps --------------------------------------------------------------------------------------------------------

    def row_operand(self, number: int, row: str) -> str:
        return f"row{number}[{row if row.isidentifier() else f'({row})'} * {self.distance} + k]"

    def steps(self, rows: int, first: str, lanes: str) -> Iterator[str]:
        half = f"const {self.name}_h"
        cells = range(VECTORS_A_ROW)
        columns = [f"column0 + k * {self.columns} + j + {v} * {lanes}" for v in cells]
        nexts = [f"column0 + k * {self.columns} + {self.columns} + j + {v} * {lanes}" for v in cells]
        yield f"{self.long_type} k = 0;"
        yield f"#ifdef {self.name}_pairs"
        yield "for (; k + 2 <= count; k += 2) {"
        both = (f"{self.name}_both(*({half} *)({a}), *({half} *)({b}))" for a, b in zip(columns, nexts, strict=True))
        yield f"  {self.name}_y {', '.join(f'y0_{v} = {pairs}' for v, pairs in enumerate(both))};"
        for r in range(rows):
            yield f"  {self.name}_p x{r}_0 = *(const {self.name}_p *)(row0 + ({first}{r}) * {self.distance} + k);"
            yield from (f"  c{r}_{v} = {self.name}_add(c{r}_{v}, x{r}_0, y0_{v});" for v in cells)
        yield "}"
        yield "#endif"
        yield "for (; k < count; k++) {"
        wide = ", ".join(f"y0_{v} = {self.name}_wide(*({half} *)({column}))" for v, column in enumerate(columns))
        yield f"  {self.vector} {wide};"
        for r in range(rows):
            yield f"  {self.computed} x{r}_0 = {self.row_operand(0, f'{first}{r}')};"
            yield from (f"  c{r}_{v} += x{r}_0 * y0_{v};" for v in cells)
        yield "}"
