"""Whether the function that sums up along several rows does its updates, in their order, in every configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.lower.row_sums import RowSums
from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.meaning import computed
from scopt.check.functions.runtime import Memory
from scopt.check.functions.terms import Term, Terms
from scopt.check.functions.translated_statements import Functions
from scopt.check.functions.tried_sizes import around
from scopt.check.functions.values import Element, Pointer, Void, Whole, size, spelling
from scopt.check.functions.workshop import Form, Workshop, check_forms, limited, run, translated

# Whole blocks, all that may be left beside them, and less than a block.
_SIZES = (0, 1, 7, 8, 9, 16, 17)
_SLACK = 50


def check_sums(workshop: Workshop, function: RowSums, text: str) -> None:
    """Raise Fault unless the function of that name in the text does the updates of all steps for each row."""
    meaning = _Meaning(workshop.terms, function)
    check_forms(workshop, function, text, lambda form: _check_form(workshop, meaning, form))


def _check_form(workshop: Workshop, meaning: _Meaning, form: Form) -> None:
    function = meaning.function
    made = translated(workshop, form.source, meaning.signature)
    if function.name not in made.functions:
        raise Fault("there is no such function")
    call = run(made, form.source, {})
    for count in around(made.thresholds, _SIZES):
        rows = [[meaning.row(k, i, count) for i in range(function.width)] for k in range(function.rows)]
        common = [meaning.leaves("common", k, count) for k in range(function.common)]
        own = [meaning.leaves("own", k, function.width) for k in range(function.own)]
        read = [*(one for some in rows for one in some), *common]
        before = [list(one) for one in read]
        limited(call, _SLACK + 4 * (count + 1) * function.width)
        try:
            call[function.name](count, *read, *meaning.scalars, *own)
        except StopIteration:
            raise Fault(f"doesn't end, for {count} steps") from None
        except Fault as fault:
            raise Fault(f"{fault}, for {count} steps") from fault
        meaning.compare(count, own)
        if before != read:
            raise Fault("writes its operands")


class _Meaning(Struct, eq=False):
    """What a function is to do."""

    terms: Terms
    function: RowSums
    scalars: list[Term] = field(default_factory=list)
    type: str = ""

    def __post_init__(self) -> None:
        self.type = spelling(self.function.type.spelling.split())
        self.scalars = [self.terms.leaf("scalar", k) for k in range(self.function.scalars)]

    def signature(self, functions: Functions, declaration: ir.Decl) -> Signature | None:
        """Of the function; there may be no other."""
        kind, long, function = Element(self.type), Whole(self.function.long_type), self.function
        if declaration.name != function.name or size(self.type) * 8 != function.type.bits:
            raise Fault(f"a function '{declaration.name}' that isn't understood")
        read = Pointer(kind, True)
        rows = [read] * (function.rows * function.width)
        own = [Pointer(kind, f"own{k}" not in function.written) for k in range(function.own)]
        return Signature((long, *rows, *[read] * function.common, *[kind] * function.scalars, *own), Void())

    def leaves(self, name: str, which: int, count: int) -> Memory:
        return [self.terms.leaf(name, which, at) for at in range(count)]

    def row(self, which: int, i: int, count: int) -> Memory:
        return [self.terms.leaf("row", which, i, k) for k in range(count)]

    def compare(self, count: int, own: Sequence[Memory]) -> None:
        """own: what the function has made of the rows' cells."""
        for i in range(self.function.width):
            expected = self.row_cells(i, count)
            for k, cells in enumerate(own):
                if cells[i] != expected[k]:
                    texts = self.terms.text(cells[i]), self.terms.text(expected[k])
                    raise Fault(f"cell {k} of row {i} becomes {texts[0]}, not {texts[1]}, for {count} steps")

    def row_cells(self, i: int, count: int) -> list[Term]:
        """A row's cells after so many steps."""
        function = self.function
        cells = {f"own{k}": self.terms.leaf("own", k, i) for k in range(function.own)}
        for step in range(count):
            known = {f"row{k}": self.terms.leaf("row", k, i, step) for k in range(function.rows)}
            known |= {f"common{k}": self.terms.leaf("common", k, step) for k in range(function.common)}
            known |= {f"scalar{k}": scalar for k, scalar in enumerate(self.scalars)}
            for one in function.updates:
                value = self.value(one.value, known | cells)
                if one.op != "=":
                    value = self.terms.table(one.op[0], self.type)[cells[one.target], value]
                (cells if one.target in cells else known)[one.target] = value
        return list(cells.values())

    def value(self, node: ir.Node, known: Mapping[str, Term]) -> Term:
        return computed(self.terms, node, self.type, lambda n: known.get(n.name) if isinstance(n, ir.ID) else None)
