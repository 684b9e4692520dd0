"""The function that runs the steps of a register tile: accumulators in vectors, operands from packed buffers.

Written with GNU vectors, which gcc and clang have for every target; each accumulator is a variable of its own, since
compilers don't keep arrays of them in registers. A target with many vector registers makes the tile in one pass or few,
up to 8 rows by 3 vectors at a time; one with few makes 4 rows by 3 (see `scopt.machine.costs`).
Other compilers get plain loops. Each cell sees the same operations in the same order in all forms.

Integers are computed as unsigned ones: in cells of a tile that don't exist, which the source never computes, sums may
wrap around. Extrema compare lane by lane: compilers make one or two vector instructions of that, and it is the source's
comparison, with its zeros and what can't be compared. (gcc 12 makes three of a mask and its bitwise operations, and has
no ``?:`` for vectors in C.)
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.ir.marked_schedule import Operation
from scopt.machine.costs import VECTORS_A_ROW, accumulator_rows
from scopt.machine.targets import FEW_REGISTERS, MANY_REGISTERS, VECTORS, WITH_MANY_REGISTERS
from scopt.poly.contraction_expression import CELL


class Kernel(Struct, frozen=True, eq=False):
    """cell[i][j] op= expression for `count` steps, for 0 <= i < rows, 0 <= j < columns; packed rows' operands lie
    `rows` a step apart, those of columns `columns`."""

    name: str
    operation: Operation
    rows: int
    columns: int
    long_type: str

    @property
    def row_strides(self) -> tuple[int, int]:
        """How far apart packed rows' operands are: from step to step, from row to row."""
        return self.rows, 1

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.vector_type(), *self.function(), ""))

    def same(self, other: Kernel) -> bool:
        """Whether another kernel does the same."""
        return replace(self, name=other.name).text == other.text

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def type(self) -> str:
        return self.operation.type.spelling

    @property
    def operand_type(self) -> str:
        """Of packed operands."""
        return self.operation.operand_type.spelling

    @property
    def bytes(self) -> int:
        return self.operation.type.bits // 8

    @property
    def computed(self) -> str:
        """The type that is computed with: one that holds the same bits, and doesn't overflow."""
        return f"unsigned {self.type}" if self.is_signed_integer else self.type

    @property
    def is_signed_integer(self) -> bool:
        return self.operation.type.integer and self.operation.type.signed

    @property
    def vector(self) -> str:
        return f"{self.name}_v"

    @property
    def chosen(self) -> str:
        """The function that makes an extremum of two vectors."""
        return f"{self.name}_of"

    @property
    def long_vectors(self) -> str:
        """A macro: an attribute of functions that use the choice."""
        return f"{self.name}_long"

    @property
    def has_vectors(self) -> str:
        """The directive that asks for them."""
        return "#ifdef __GNUC__"

    @property
    def with_many_registers(self) -> tuple[str, ...]:
        """Macros of targets that have many."""
        return WITH_MANY_REGISTERS

    def vector_type(self) -> Iterator[str]:
        """Vectors as long as the target's registers."""
        yield self.has_vectors
        yield from self.vector_bytes()
        yield (
            f"typedef {self.computed} {self.vector} __attribute__((vector_size({self.name}_bytes), "
            f"aligned({self.bytes}), may_alias));"
        )
        yield from self.choice()
        if self.has_products:
            yield from self.in_time()
        yield "#endif"

    def vector_bytes(self) -> Iterator[str]:
        """How long they are: of lengths of which some whole rows of accumulators make up a row of the tile."""
        row = self.columns * self.bytes
        fitting = [(macro, size) for macro, size in VECTORS if row % (VECTORS_A_ROW * size) == 0]
        for number, (macro, size) in enumerate(fitting):
            if macro:
                yield f"#{'elif' if number else 'if'} defined({macro})"
            elif number:
                yield "#else"
            yield f"#define {self.name}_bytes {size}"
        if len(fitting) > 1:
            yield "#endif"

    def choice(self) -> Iterator[str]:
        """Of two vectors, the lanes that an extremum takes."""
        if self.operation.extremum is None:
            return
        # Lane by lane gcc only takes vectors as long as it prefers,
        # which for some processors is half of what they have.
        yield "#if defined(__AVX512F__) && !defined(__clang__)"
        yield f'#define {self.long_vectors} __attribute__((target("prefer-vector-width=512")))'
        yield "#else"
        yield f"#define {self.long_vectors}"
        yield "#endif"
        yield f"static inline __attribute__((always_inline)) {self.long_vectors}"
        yield f"{self.vector} {self.chosen}({self.vector} cell, {self.vector} value) {{"
        yield "#pragma GCC unroll 16"
        yield f"  for (int k = 0; k < {self.name}_bytes / {self.bytes}; k++)"
        yield f"    cell[k] = {self.extremum('cell[k]', 'value[k]')};"
        yield "  return cell;"
        yield "}"

    def extremum(self, cell: str, value: str) -> str:
        """What the cell becomes, as the source has it. cell, value: operands of a cast."""
        extremum = self.operation.extremum
        assert extremum is not None
        as_signed = f"({self.type})" if self.is_signed_integer else ""
        results = (cell, value) if extremum.keeps else (value, cell)
        return f"{as_signed}{cell} {extremum.op} {as_signed}{value} ? {' : '.join(results)}"

    @property
    def has_products(self) -> bool:
        """Whether an update adds several products."""
        return len(self.operation.columns) > 1 and self.operation.extremum is None

    def in_time(self) -> Iterator[str]:
        """That a row of accumulators is up to date. clang computes the products of all rows before it adds the first,
        and hasn't registers enough."""
        cells = [f"c{v}" for v in range(VECTORS_A_ROW)]
        define = f"#define {self.name}_now({', '.join(cells)})"
        conditions = (
            "#if defined(__clang__) && defined(__x86_64__)",
            "#elif defined(__clang__) && defined(__aarch64__)",
        )
        for condition, letter in zip(conditions, "vw", strict=True):
            operands = ", ".join(f'"+{letter}"({cell})' for cell in cells)
            yield condition
            yield f'{define} __asm__ volatile("" : {operands})'
        yield "#else"
        yield f"{define} ((void)0)"
        yield "#endif"

    def parameters(self) -> str:
        operation = self.operation
        words = [f"{self.long_type} count"]
        words += [f"const {self.operand_type} *restrict row{k}" for k in range(len(operation.rows))]
        words += [f"const {self.operand_type} *restrict column{k}" for k in range(len(operation.columns))]
        words += [f"{self.computed} scalar{k}" for k in range(len(operation.scalars))]
        return ", ".join((*words, f"{self.type} *restrict cell", f"{self.long_type} length"))

    def function(self) -> Iterator[str]:
        # One copy for all calls: it takes long to compile. clang is left to inline it: in a function of its own it
        # computes all products first, if there are several in an update, and hasn't registers enough for them. It has
        # to be told that vectors may be as long as they are: for some processors it splits those of 64 bytes.
        yield "#if defined(__clang__)"
        yield f"__attribute__((min_vector_width(8 * {self.name}_bytes)))"
        yield "#elif defined(__GNUC__)"
        yield "__attribute__((noinline, noclone))" + (
            f" {self.long_vectors}" if self.operation.extremum is not None else ""
        )
        yield "#endif"
        yield f"static void {self.name}({self.parameters()}) {{"
        yield self.has_vectors
        large, small = (min(accumulator_rows(count), self.rows) for count in (MANY_REGISTERS, FEW_REGISTERS))
        if large > small:
            yield f"#if {' || '.join(f'defined({macro})' for macro in self.with_many_registers)}"
            yield from self.blocks(large)
            yield "#else"
        yield from self.blocks(small)
        if large > small:
            yield "#endif"
        yield "#else"
        yield from self.plain()
        yield "#endif"
        yield "}"

    def blocks(self, rows: int) -> Iterator[str]:
        """The steps, for so many rows of accumulators at a time."""
        vectors = VECTORS_A_ROW
        lanes = f"({self.name}_bytes / {self.bytes})"
        indent = "  "
        if rows < self.rows:
            yield f"{indent}for (int i = 0; i < {self.rows}; i += {rows})"
            indent += "  "
        yield f"{indent}for (int j = 0; j < {self.columns}; j += {vectors} * {lanes}) {{"
        body = "".join((indent, "  "))
        row = "i" if rows < self.rows else "0"
        first = "i + " if rows < self.rows else ""
        yield (
            f"{body}{self.type} *c = cell + {row} * length + j;"
            if rows < self.rows
            else f"{body}{self.type} *c = cell + j;"
        )
        for r in range(rows):
            accumulators = ", ".join(
                f"c{r}_{v} = *({self.vector} *)(c + {r} * length + {v} * {lanes})" for v in range(vectors)
            )
            yield f"{body}{self.vector} {accumulators};"
        yield from (f"{body}{line}" for line in self.steps(rows, first, lanes))
        for r in range(rows):
            yield body + " ".join(
                f"*({self.vector} *)(c + {r} * length + {v} * {lanes}) = c{r}_{v};" for v in range(vectors)
            )
        yield f"{indent}}}"

    def steps(self, rows: int, first: str, lanes: str) -> Iterator[str]:
        """The loop over them. first: which row the block begins with, as a sum's first part."""
        vectors = VECTORS_A_ROW
        yield f"for ({self.long_type} k = 0; k < count; k++) {{"
        for k in range(len(self.operation.columns)):
            loads = ", ".join(
                f"y{k}_{v} = *(const {self.vector} *)(column{k} + k * {self.columns} + j + {v} * {lanes})"
                for v in range(vectors)
            )
            yield f"  {self.vector} {loads};"
        for r in range(rows):
            values = ", ".join(
                f"x{r}_{k} = {self.row_operand(k, f'{first}{r}')}" for k in range(len(self.operation.rows))
            )
            yield f"  {self.computed} {values};"
            for v in range(vectors):
                yield f"  {self.update(f'c{r}_{v}', f'x{r}_', f'y{{}}_{v}')}"
            if self.has_products:
                yield f"  {self.name}_now({', '.join(f'c{r}_{v}' for v in range(vectors))});"
        yield "}"

    def plain(self) -> Iterator[str]:
        cell = "cell[i * length + j]"
        yield f"  for ({self.long_type} k = 0; k < count; k++)"
        yield f"    for (int i = 0; i < {self.rows}; i++)"
        yield f"      for (int j = 0; j < {self.columns}; j++)"
        yield f"        {self.update(cell, None, None)}"

    def row_operand(self, number: int, row: str) -> str:
        """One of the step ``k``."""
        return f"row{number}[k * {self.rows} + {row}]"

    def update(self, cell: str, row: str | None, column: str | None) -> str:
        """One step for one cell or vector of cells."""
        plain = row is None or column is None
        as_computed = f"({self.computed})" if plain and self.is_signed_integer else ""
        names = {CELL: f"{as_computed}{cell}"}
        for k in range(len(self.operation.rows)):
            names[f"row{k}"] = f"{as_computed}{self.row_operand(k, 'i')}" if row is None else f"{row}{k}"
        for k in range(len(self.operation.columns)):
            names[f"column{k}"] = (
                f"{as_computed}column{k}[k * {self.columns} + j]" if column is None else column.format(k)
            )
        value = _Renamed(names, self.computed if self.operation.type.integer else "").visit(self.operation.expression)
        if self.operation.extremum is None:
            return f"{cell} {self.operation.op} {value};"
        if plain:
            return f"{{ {self.computed} value = {value}; {cell} = {self.extremum(cell, 'value')}; }}"
        return f"{cell} = {self.chosen}({cell}, {value});"


class _Renamed(PlainGenerator):
    """Prints an expression with other names. integers: the type that constants are cast to; "" leaves them."""

    def __init__(self, names: dict[str, str], integers: str) -> None:
        super().__init__()
        self.names = names
        self.integers = integers

    def visit_ID(self, n: ir.ID) -> str:
        name = str(n.name)
        return self.names.get(name, name)

    def visit_Constant(self, n: ir.Constant) -> str:
        return f"({self.integers}){n.value}" if self.integers else str(n.value)
