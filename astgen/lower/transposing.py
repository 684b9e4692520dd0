"""The function that packs an operand whose rows lie along the steps, or that brings a panel's cells back to such rows:
a transposition, through vectors.

Element by element such a copy writes, or reads, a line for each of its elements. Here as many rows as a vector has
lanes, eight at most, by as many steps are read along the rows, turned in registers
(`scopt.astgen.lower.register_turns`), and written along the panel. Only where the target has such vectors; elsewhere,
and for what is left, it copies one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.astgen.lower.register_turns import Turns
from scopt.ir.ctypes import plain_type
from scopt.ir.references import is_cell
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.walks import walk, with_nodes
from scopt.machine import Machine
from scopt.machine.costs import vector_lanes
from scopt.machine.targets import SHUFFLES
from scopt.poly.linear import subscript_rows

# Of vectors that are turned at a time: each is a variable. Narrow elements fill vectors of so many bytes.
_MOST_LANES, _LEAST_BYTES = 8, 32
_BYTE = 8


class Transposed(Struct, frozen=True, eq=False):
    """``to[k * width + i] = operand of from[i * length + k]``, for 0 <= i < rows, 0 <= k < count.

    back: ``to[i * length + k] = from[k * width + i]`` instead, where the operand is nothing but its source.
    source: the operand's reference that moves. subscript: of it, which one the row moves. scalars: other variables that
    the operand reads. lanes: of the vectors that it is turned in, a power of two. narrow: the type of what is read, if
    that has fewer bits than the panel's cells, which it is widened to; the operand is nothing but its source then.
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
    back: bool = False
    narrow: CType | None = None

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.turns.definitions(), *self.widening(), *self.function(), ""))

    def same(self, other: Transposed) -> bool:
        """Whether another function does the same."""
        return replace(self, name=other.name).text == other.text

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def turns(self) -> Turns:
        return Turns(self.name, self.type, self.lanes)

    @property
    def vector(self) -> str:
        return self.turns.vector

    @property
    def source_type(self) -> CType:
        """Of what is read."""
        return self.narrow or self.type

    def widening(self) -> Iterator[str]:
        """What makes a vector of one of narrower elements."""
        if self.narrow is not None:
            size = self.lanes * self.narrow.bits // 8
            element = f"{self.name}_n __attribute__((vector_size({size}), aligned({self.narrow.bits // 8}), may_alias))"
            yield f"#ifdef {self.turns.has_vectors}"
            yield f"typedef {self.narrow.spelling} {element};"
            yield "static inline __attribute__((always_inline))"
            yield f"{self.vector} {self.name}_wide({self.name}_n x) {{"
            yield f"  return __builtin_convertvector(x, {self.vector});"
            yield "}"
            yield "#endif"

    def function(self) -> Iterator[str]:
        yield from self.turns.attributes()
        long, kind = self.long_type, self.type.spelling
        scalars = "".join(f", {kind} scalar{k}" for k in range(len(self.scalars)))
        row, panel = f"{self.source_type.spelling} *restrict {self.row}", f"{kind} *restrict {self.panel}"
        row, panel = (row, f"const {panel}") if self.back else (f"const {row}", panel)
        yield f"static void {self.name}({long} rows, {long} count, {row}, {long} length, {panel}{scalars}) {{"
        (outer, most), (inner, least) = self.order
        yield f"  {long} {outer} = 0;"
        yield from self.turns.of_forms(self.blocks)
        yield f"  for (; {outer} < {most}; {outer}++)"
        yield f"    for ({long} {inner} = 0; {inner} < {least}; {inner}++)"
        yield f"      {self.single('i', 'k')}"
        yield "}"

    def blocks(self, turns: Turns) -> Iterator[str]:
        """The loops over whole blocks, and over what is left beside them."""
        (outer, most), (inner, least) = self.order
        lanes, long = turns.lanes, self.long_type
        yield f"  for (; {outer} + {lanes} <= {most}; {outer} += {lanes}) {{"
        yield f"    {long} {inner} = 0;"
        yield f"    for (; {inner} + {lanes} <= {least}; {inner} += {lanes}) {{"
        yield from (f"      {line}" for line in self.block(turns))
        yield "    }"
        yield f"    for (; {inner} < {least}; {inner}++)"
        yield f"      for ({long} n = {outer}; n < {outer} + {lanes}; n++)"
        yield f"        {self.single('n', 'k') if self.back else self.single('i', 'n')}"
        yield "  }"

    @property
    def order(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The loops' iterators and ends: what is written goes on where it was, along the rows, or along the panel."""
        rows, steps = ("i", "rows"), ("k", "count")
        return (rows, steps) if self.back else (steps, rows)

    @property
    def row(self) -> str:
        return "to" if self.back else "from"

    @property
    def panel(self) -> str:
        return "from" if self.back else "to"

    def single(self, row: str, step: str) -> str:
        """The statement for one element."""
        there, here = f"{self.row}[{row} * length + {step}]", f"{self.panel}[{step} * {self.width} + {row}]"
        return f"{there} = {here};" if self.back else f"{here} = {self.value(there)};"

    def block(self, turns: Turns) -> Iterator[str]:
        """As many rows and steps as lanes."""
        before, after = turns.before(), turns.after()
        along = [f"{self.row} + (i + {k}) * length + k" for k in range(turns.lanes)]
        across = [f"{self.panel} + (k + {k}) * {self.width} + i" for k in range(turns.lanes)]
        sources, targets = (across, along) if self.back else (along, across)
        for k, source in enumerate(sources):
            load = f"*(const {turns.vector} *)({source})"
            if self.narrow is not None:
                load = f"{self.name}_wide(*(const {self.name}_n *)({source}))"
            yield f"{turns.vector} {before}{k} = {load};"
        if self.operand is not self.source:
            yield " ".join(f"{before}{k} = {self.value(f'{before}{k}')};" for k in range(turns.lanes))
        yield from turns.rounds()
        for k, target in enumerate(targets):
            yield f"*({turns.vector} *)({target}) = {after}{k};"

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
    scop: Scop,
    statement: Statement,
    operand: ir.Node,
    row: int,
    step: int,
    width: int,
    name: str,
    machine: Machine,
    target: CType,
) -> Transposed | None:
    """The function that packs an operand, if rows of its array lie along the steps and all else in it are constants and
    scalar variables; it widens at most 8 bits to 16.

    row, step: iterators' positions. width: elements from step to step in the panel. machine: its vectors are taken.
    target: the panel's type.
    """
    inside = set(walk(operand))
    accesses = [access for access in statement.accesses if access.node in inside]
    arrays = [access for access in accesses if scop.arrays[access.array].rank]
    reference = arrays[0].node if len(arrays) == 1 else None
    if not isinstance(reference, ir.ArrayRef) or any(isinstance(node, ir.Cast) for node in inside):
        return None
    source, array = arrays[0], scop.arrays[arrays[0].array]
    subscripts = set(walk(reference))  # of which parameters may be a part
    others = [access.node for access in accesses if access.node not in subscripts]
    scalars = tuple(node for node in others if isinstance(node, ir.ID))
    if len(scalars) < len(others) or not is_cell(reference, array.spelling, array.rank) or array.rows:
        return None
    source_type = turned_type(array.type, scop.long_type)
    if source_type.spelling != target.spelling and not (is_widened(source_type, target) and operand is reference):
        return None
    narrow = source_type if source_type.spelling != target.spelling else None
    lanes = turned_lanes(target, width, machine)
    if not lanes:
        return None
    rows = subscript_rows(source.relation)
    if rows is None or rows[-1][step] != 1 or rows[-1][row] != 0:
        return None
    moved = [k for k, subscript in enumerate(rows[:-1]) if subscript[row]]
    if len(moved) != 1 or rows[moved[0]][row] != 1 or any(subscript[step] for subscript in rows[:-1]):
        return None
    return Transposed(name, operand, reference, moved[0], scalars, target, width, scop.long_type, lanes, narrow=narrow)


def turned_type(ctype: CType, long_type: str) -> CType:
    """A type by the name that it has everywhere, if it has one."""
    byte = {"int8_t": "signed char", "uint8_t": "unsigned char"}.get(ctype.spelling)
    if byte is not None and ctype.bits == _BYTE:
        return replace(ctype, spelling=byte)
    return plain_type(ctype, long_type) or ctype


def is_widened(source: CType, target: CType) -> bool:
    """Whether a function widens what it turns."""
    return source.spelling in ("signed char", "unsigned char") and target.spelling == "short"


def turned_lanes(ctype: CType, width: int, machine: Machine) -> int:
    """Of the vectors that elements are turned in, for a panel so wide; 0 if there are none."""
    element = ctype.bits // 8
    most = max(_MOST_LANES, _LEAST_BYTES // element) if element else 0
    lanes = min(most, vector_lanes(machine, element), 1 << width.bit_length() - 1) if element else 0
    return lanes if lanes * element in SHUFFLES else 0
