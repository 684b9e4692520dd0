"""The function that packs an operand whose rows lie along the steps: a transposition, through vectors.

Element by element such a copy writes, or reads, a line for each of its elements. Here as many rows as a vector has
lanes, eight at most, by as many steps are read along the rows, turned in registers in rounds of perfect shuffles (Van
Loan, "Computational Frameworks for the Fast Fourier Transform", 1992, section 2.2), and written along the panel. Only
where the target has such vectors; elsewhere, and for what is left, it copies one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.ir.references import is_cell
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.walks import walk, with_nodes
from scopt.machine import Machine
from scopt.machine.costs import vector_lanes
from scopt.machine.targets import SHUFFLES
from scopt.poly.linear import subscript_rows

# Of vectors that are turned at a time: each is a variable, and one of its letters a round.
_MOST_LANES, _LETTERS = 8, "abcd"


class Transposed(Struct, frozen=True, eq=False):
    """``to[k * width + i] = operand of from[i * length + k]``, for 0 <= i < rows, 0 <= k < count.

    source: the operand's reference that moves. subscript: of it, which one the row moves. scalars: other variables that
    the operand reads. lanes: of the vectors that it is turned in, a power of two.
    """

    name: str
    operand: ir.Node
    source: ir.ArrayRef
    subscript: int
    scalars: tuple[ir.ID, ...]
    type: CType
    width: int
    long_type: str
    lanes: int

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.vector_type(), *self.function(), ""))

    def same(self, other: Transposed) -> bool:
        """Whether another function does the same."""
        return replace(self, name=other.name).text == other.text

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def vector(self) -> str:
        return f"{self.name}_v"

    @property
    def has_vectors(self) -> str:
        """A macro that is defined where there are such vectors."""
        return f"{self.name}_vectors"

    @property
    def bytes(self) -> int:
        return self.type.bits // 8

    def vector_type(self) -> Iterator[str]:
        lanes, size = self.lanes, self.lanes * self.bytes
        yield f"#if defined({SHUFFLES[size]}) && (defined(__clang__) || __GNUC__ >= 12)"
        yield f"#define {self.has_vectors}"
        yield (
            f"typedef {self.type.spelling} {self.vector} __attribute__((vector_size({size}), "
            f"aligned({self.bytes}), may_alias));"
        )
        for half, first in (("low", 0), ("high", lanes // 2)):
            turned = ", ".join(f"{first + k}, {lanes + first + k}" for k in range(lanes // 2))
            yield f"#define {self.name}_{half}(a, b) __builtin_shufflevector(a, b, {turned})"
        yield "#endif"

    def function(self) -> Iterator[str]:
        yield "#if defined(__clang__)"
        yield f"__attribute__((min_vector_width({8 * self.lanes * self.bytes})))"
        yield "#elif defined(__GNUC__)"
        yield "__attribute__((noinline, noclone))"
        yield "#endif"
        long, kind = self.long_type, self.type.spelling
        scalars = "".join(f", {kind} scalar{k}" for k in range(len(self.scalars)))
        yield (
            f"static void {self.name}({long} rows, {long} count, const {kind} *restrict from, "
            f"{long} length, {kind} *restrict to{scalars}) {{"
        )
        yield f"  {long} k = 0;"
        yield f"#ifdef {self.has_vectors}"
        yield f"  for (; k + {self.lanes} <= count; k += {self.lanes}) {{"
        yield f"    {long} i = 0;"
        yield f"    for (; i + {self.lanes} <= rows; i += {self.lanes}) {{"
        yield from (f"      {line}" for line in self.block())
        yield "    }"
        yield "    for (; i < rows; i++)"
        yield f"      for ({long} n = k; n < k + {self.lanes}; n++)"
        yield f"        to[n * {self.width} + i] = {self.value('from[i * length + n]')};"
        yield "  }"
        yield "#endif"
        yield "  for (; k < count; k++)"
        yield f"    for ({long} i = 0; i < rows; i++)"
        yield f"      to[k * {self.width} + i] = {self.value('from[i * length + k]')};"
        yield "}"

    def block(self) -> Iterator[str]:
        """As many rows and steps as lanes. Each round puts the elements of two vectors, that are half of all apart, one
        by one beside each other."""
        half = self.lanes // 2
        for k in range(self.lanes):
            yield f"{self.vector} a{k} = *(const {self.vector} *)(from + (i + {k}) * length + k);"
        if self.operand is not self.source:
            yield " ".join(f"a{k} = {self.value(f'a{k}')};" for k in range(self.lanes))
        before, rounds = _LETTERS[0], self.lanes.bit_length() - 1
        for after in _LETTERS[1 : 1 + rounds]:
            for k in range(half):
                first, second = (f"{self.name}_{which}({before}{k}, {before}{k + half})" for which in ("low", "high"))
                yield f"{self.vector} {after}{2 * k} = {first}, {after}{2 * k + 1} = {second};"
            before = after
        for k in range(self.lanes):
            yield f"*({self.vector} *)(to + (k + {k}) * {self.width} + i) = {before}{k};"

    def value(self, source: str) -> str:
        """The operand for an element, or for a vector of them."""
        return str(
            PlainGenerator().visit(
                self.operand_of(ir.ID(source), [ir.ID(f"scalar{k}") for k in range(len(self.scalars))])
            )
        )

    def operand_of(self, source: ir.Node, scalars: Sequence[ir.Node]) -> ir.Node:
        """The operand with others in place of its references."""
        return with_nodes(self.operand, {self.source: source, **dict(zip(self.scalars, scalars, strict=True))})


def transposed(
    scop: Scop, statement: Statement, operand: ir.Node, row: int, step: int, width: int, name: str, machine: Machine
) -> Transposed | None:
    """The function that packs an operand, if rows of its array lie along the steps and all else in it are constants and
    scalar variables.

    row, step: iterators' positions. width: elements from step to step in the panel. machine: its vectors are taken.
    """
    inside = set(walk(operand))
    accesses = [access for access in statement.accesses if access.node in inside]
    arrays = [access for access in accesses if scop.arrays[access.array].rank]
    reference = arrays[0].node if len(arrays) == 1 else None
    if not isinstance(reference, ir.ArrayRef) or any(isinstance(node, ir.Cast) for node in inside):
        return None
    source, array = arrays[0], scop.arrays[arrays[0].array]
    scalars = tuple(access.node for access in accesses if isinstance(access.node, ir.ID))
    if len(scalars) + 1 != len(accesses) or not is_cell(reference, array.spelling, array.rank):
        return None
    element = array.type.bits // 8
    lanes = min(_MOST_LANES, vector_lanes(machine, element), 1 << width.bit_length() - 1) if element else 0
    if lanes * element not in SHUFFLES:
        return None
    rows = subscript_rows(source.relation)
    if rows is None or rows[-1][step] != 1 or rows[-1][row] != 0:
        return None
    moved = [k for k, subscript in enumerate(rows[:-1]) if subscript[row]]
    if len(moved) != 1 or rows[moved[0]][row] != 1 or any(subscript[step] for subscript in rows[:-1]):
        return None
    return Transposed(name, operand, reference, moved[0], scalars, array.type, width, scop.long_type, lanes)
