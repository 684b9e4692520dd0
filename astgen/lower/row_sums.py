"""The function that sums up along several rows at a time, each in its order: rows that lie along the steps become
lanes, by a transposition in registers.

Of rows beside each other (`scopt.scheduler.decisions.strips`) each step adds a number to each row's sum, and these
numbers lie in different lines: element by element, or gathered, that takes several times as long as the additions do
(measured: 8 rows of doubles, 0.55 ns an element; by this function 0.15). Here as many rows as a vector has lanes are
read along their steps, as many steps at a time, and turned as `scopt.astgen.lower.transposing` turns panels; nothing is
written. Only where the target has such vectors; elsewhere, and for what is left, row by row in variables.

Rows that are shorter than a page, and follow each other in memory, are no streams that prefetchers see in time. Their
block's lines are one piece of memory, and so are those of the next block: each step asks for as many of these as it
reads itself (measured, 41664 rows of 288 floats: 8.1 ms one after the other, 6.2 beside each other, 3.6 so).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.astgen.lower.register_turns import Turns
from scopt.ir.scop import CType
from scopt.ir.walks import walk, with_nodes

# Bytes that a request asks for: a line of most processors.
_LINE = 64


class Update(Struct, frozen=True, eq=False):
    """``target op value``. target: `own0`, …, a cell of the row's, or `temporary0`, …, which each step sets anew."""

    target: str
    op: str
    value: ir.Node


class RowSums(Struct, frozen=True, eq=False):
    """For 0 <= k < count, for 0 <= i < width: the updates, one after the other; those of one i in the order of k.

    Values are over `row0`, … (cell k of row i, each of which has a pointer), `common0`, … (``common0[k]``), `own0`, …
    (``own0[i]``), `scalar0`, …, variables that stay, and temporaries. rows, common, scalars, own: how many there are.
    lanes: of the vectors that rows are turned in, a power of two that divides the width. streamed: steps from which on
    rows are streams; shorter ones are asked for ahead; 0 for none.
    """

    name: str
    updates: tuple[Update, ...]
    rows: int
    common: int
    scalars: int
    own: int
    type: CType
    width: int
    long_type: str
    lanes: int
    streamed: int = 0

    @property
    def text(self) -> str:
        """The definition, with what it needs."""
        return "\n".join((*self.turns.definitions(), *self.function(), ""))

    def same(self, other: RowSums) -> bool:
        """Whether another function does the same."""
        return replace(self, name=other.name).text == other.text

    @property
    def written(self) -> frozenset[str]:
        """The row's cells that are updated."""
        return frozenset(one.target for one in self.updates if one.target.startswith("own"))

    # --- pieces -------------------------------------------------------------------------------------------------------

    @property
    def turns(self) -> Turns:
        return Turns(self.name, self.type, self.lanes)

    @property
    def vector(self) -> str:
        return self.turns.vector

    def function(self) -> Iterator[str]:
        yield from self.turns.attributes()
        yield f"static void {self.name}({', '.join(self.parameters())}) {{"
        yield f"  {self.long_type} k = 0;"
        yield from self.turns.of_forms(lambda form: (f"  {line}" for line in self.vectors(form)))
        yield from (f"  {line}" for line in self.singles())
        yield "}"

    def parameters(self) -> Iterator[str]:
        kind = self.type.spelling
        yield f"{self.long_type} count"
        for k in range(self.rows):
            yield from (f"const {kind} *row{k}_{i}" for i in range(self.width))
        yield from (f"const {kind} *restrict common{k}" for k in range(self.common))
        yield from (f"{kind} scalar{k}" for k in range(self.scalars))
        for k in range(self.own):
            yield f"{'' if f'own{k}' in self.written else 'const '}{kind} *restrict own{k}"

    def vectors(self, turns: Turns) -> Iterator[str]:
        """As many steps at a time as lanes."""
        blocks, cells = range(self.width // turns.lanes), [f"own{k}" for k in range(self.own)]
        for block in blocks:
            for cell in cells:
                yield f"{turns.vector} {cell}_{block} = *(const {turns.vector} *)({cell} + {block * turns.lanes});"
        yield f"for (; k + {turns.lanes} <= count; k += {turns.lanes}) {{"
        yield from (f"  {line}" for line in self.ahead(turns.lanes))
        for block in blocks:
            yield "  {"
            yield from (f"    {line}" for line in self.block(turns, block))
            yield "  }"
        yield "}"
        for block in blocks:
            for cell in cells:
                if cell in self.written:
                    yield f"*({turns.vector} *)({cell} + {block * turns.lanes}) = {cell}_{block};"

    def ahead(self, lanes: int) -> Iterator[str]:
        """The lines of the next block of rows, where rows are short, and without gaps; elsewhere those at hand."""
        element = self.type.bits // 8
        for row in range(self.rows if self.streamed else 0):
            dense = f"row{row}_1 - row{row}_0 == count && count < {self.streamed}"
            for first in range(0, self.width * lanes, _LINE // element):
                yield f"__builtin_prefetch(row{row}_0 + ({dense} ? {self.width} * (count + k) + {first} : k));"

    def block(self, turns: Turns, block: int) -> Iterator[str]:
        """Rows as lanes."""
        prefixes = [f"r{row}" for row in range(self.rows)]
        for row, prefix in enumerate(prefixes):
            before = turns.before(prefix)
            for k in range(turns.lanes):
                yield f"{turns.vector} {before}{k} = *(const {turns.vector} *)(row{row}_{block * turns.lanes + k} + k);"
            yield from turns.rounds(prefix)
        for k in range(turns.lanes):
            rows = [f"{turns.after(prefix)}{k}" for prefix in prefixes]
            common = [f"common{one}[k + {k}]" for one in range(self.common)]
            yield from self.step(turns.vector, rows, common, [f"own{one}_{block}" for one in range(self.own)])

    def singles(self) -> Iterator[str]:
        """One step at a time."""
        kind, cells = self.type.spelling, [f"own{k}" for k in range(self.own)]
        for cell in cells:
            yield f"{kind} {', '.join(f'{cell}_at{i} = {cell}[{i}]' for i in range(self.width))};"
        yield "for (; k < count; k++) {"
        for i in range(self.width):
            rows = [f"row{row}_{i}[k]" for row in range(self.rows)]
            common = [f"common{one}[k]" for one in range(self.common)]
            own = [f"own{one}_at{i}" for one in range(self.own)]
            yield from (f"  {line}" for line in self.step(kind, rows, common, own))
        yield "}"
        for cell in cells:
            if cell in self.written:
                yield " ".join(f"{cell}[{i}] = {cell}_at{i};" for i in range(self.width))

    def step(self, kind: str, rows: Sequence[str], common: Sequence[str], own: Sequence[str]) -> Iterator[str]:
        """The updates, given texts for their parts. kind: type of temporaries."""
        parts = (("row", rows), ("common", common), ("own", own))
        texts = {f"{what}{k}": text for what, found in parts for k, text in enumerate(found)}
        values = {name: ir.ID(text) for name, text in texts.items()}
        lines = []
        for one in self.updates:
            value = PlainGenerator().visit(value_of(one, values))
            named = texts.get(one.target)
            lines.append(f"{named} {one.op} {value};" if named else f"{kind} {one.target} = {value};")
        if any(one.target not in texts for one in self.updates):
            lines = ["{", *(f"  {line}" for line in lines), "}"]
        yield from lines


def value_of(update: Update, values: Mapping[str, ir.Node]) -> ir.Node:
    """An update's value with others in place of its names."""
    named = (node for node in walk(update.value) if isinstance(node, ir.ID))
    become: dict[ir.Node, ir.Node] = {node: values[node.name] for node in named if node.name in values}
    made: ir.Node = with_nodes(update.value, become)
    return made


def function_name(number: str, others: int) -> str:
    """Of the next one of a region. number: the region's."""
    return f"scopt_sums_{number}_{others}"
