"""Whether the function that sums up along several rows adds what it has to, in its order, in every configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """Raise Fault unless the function of that name in the text adds the operands of all steps to each row's sum."""
    meaning = _Meaning(workshop.terms, function)
    check_forms(workshop, function, text, lambda form: _check_form(workshop, meaning, form))


def _check_form(workshop: Workshop, meaning: _Meaning, form: Form) -> None:
    function = meaning.function
    made = translated(workshop, form.source, meaning.signature)
    if function.name not in made.functions:
        raise Fault("there is no such function")
    call = run(made, form.source, {})
    for count, more in _sizes(around(made.thresholds, _SIZES)):
        # rows of different operands are at different distances
        lengths = [count + more * (k + 1) for k in range(function.rows)]
        rows = [meaning.row(k, count, length) for k, length in enumerate(lengths)]
        common = [[meaning.terms.leaf("common", k, step) for step in range(count)] for k in range(function.common)]
        sums: Memory = [meaning.terms.leaf("sum", i) for i in range(function.width)]
        before = [list(one) for one in (*rows, *common)]
        limited(call, _SLACK + 4 * (count + 1) * function.width)
        arguments = [one for pair in zip(rows, lengths, strict=True) for one in pair]
        try:
            call[function.name](count, *arguments, *common, *meaning.scalars, sums)
        except StopIteration:
            raise Fault(f"doesn't end, for {count} steps") from None
        except Fault as fault:
            raise Fault(f"{fault}, for {count} steps, {lengths} apart") from fault
        meaning.compare(count, sums)
        if before != [*rows, *common]:
            raise Fault("writes its operands")


def _sizes(counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """How many steps, and by how much rows are longer."""
    for steps in counts:
        yield steps, 3
        yield steps, 0 if steps else 1


class _Meaning(Struct, eq=False):
    """What a function is to do."""

    terms: Terms
    function: RowSums
    scalars: list[Term] = field(default_factory=list)
    type: str = ""

    def __post_init__(self) -> None:
        self.type = spelling(self.function.type.spelling.split())
        self.scalars = [self.terms.leaf(f"scalar{k}") for k in range(self.function.scalars)]

    def signature(self, functions: Functions, declaration: ir.Decl) -> Signature | None:
        """Of the function; there may be no other."""
        own, long, function = self.type, Whole(self.function.long_type), self.function
        if declaration.name != function.name or size(own) * 8 != function.type.bits:
            raise Fault(f"a function '{declaration.name}' that isn't understood")
        read = Pointer(Element(own), True)
        rows = [one for _ in range(function.rows) for one in (read, long)]
        scalars = [Element(own)] * function.scalars
        return Signature((long, *rows, *[read] * function.common, *scalars, Pointer(Element(own), False)), Void())

    def row(self, which: int, count: int, length: int) -> Memory:
        """Elements of all rows; what lies between them isn't to be read."""
        places = {i * length + k: (i, k) for i in range(self.function.width) for k in range(count)}
        leaves = (self.terms.leaf("row", which, *places[at]) if at in places else None for at in range(_end(places)))
        return list(leaves)

    def compare(self, count: int, sums: Memory) -> None:
        add = self.terms.table(self.function.op[0], self.type)
        for i, found in enumerate(sums):
            expected = self.terms.leaf("sum", i)
            for step in range(count):
                expected = add[expected, self.value(i, step)]
            if found != expected:
                texts = self.terms.text(found), self.terms.text(expected)
                raise Fault(f"row {i}'s sum becomes {texts[0]}, not {texts[1]}, for {count} steps")

    def value(self, i: int, step: int) -> Term:
        """The operand of a row's step."""
        function = self.function
        leaves = {f"row{k}": self.terms.leaf("row", k, i, step) for k in range(function.rows)}
        leaves |= {f"common{k}": self.terms.leaf("common", k, step) for k in range(function.common)}
        leaves |= {f"scalar{k}": scalar for k, scalar in enumerate(self.scalars)}
        return computed(
            self.terms, function.operand, self.type, lambda n: leaves.get(n.name) if isinstance(n, ir.ID) else None
        )


def _end(places: dict[int, tuple[int, int]]) -> int:
    return max(places, default=-1) + 1
