"""Whether the function that packs an operand across its rows copies what it has to, in every configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.lower.transposing import Transposed
from scopt.check.functions.conversions import Signature
from scopt.check.functions.faults import Fault
from scopt.check.functions.meaning import computed
from scopt.check.functions.runtime import Memory
from scopt.check.functions.terms import Term, Terms
from scopt.check.functions.translated_statements import Functions
from scopt.check.functions.tried_sizes import around
from scopt.check.functions.values import Element, Pointer, Void, Whole, size, spelling
from scopt.check.functions.workshop import Form, Workshop, check_forms, declared_signature, limited, run, translated

# Whole blocks, all that may be left beside them, and less than a block.
_SIZES = (0, 1, 7, 8, 9, 16, 17)
_SLACK = 50


def check_transposed(workshop: Workshop, function: Transposed, text: str) -> None:
    """Raise Fault unless the function of that name in the text copies rows of the operand as is meant, up to as many as
    the panel is wide.
    """
    meaning = _Meaning(workshop.terms, function)
    check_forms(workshop, function, text, lambda form: _check_form(workshop, meaning, form))


def _check_form(workshop: Workshop, meaning: _Meaning, form: Form) -> None:
    function = meaning.function
    made = translated(workshop, form.source, meaning.signature)
    if function.name not in made.functions:
        raise Fault("there is no such function")
    call = run(made, form.source, {})
    for rows, count, length in _sizes(around(made.thresholds, _SIZES), function.width):
        source, target = meaning.source(rows, count, length), meaning.target(rows, count, length)
        before = list(source)
        row, panel = (target, source) if function.back else (source, target)
        limited(call, _SLACK + 4 * (rows + 1) * (count + 1))
        try:
            call[function.name](rows, count, row, length, panel, *meaning.scalars)
        except StopIteration:
            raise Fault(f"doesn't end, for {rows} rows of {count} steps") from None
        except Fault as fault:
            raise Fault(f"{fault}, for {rows} rows of {count} steps, {length} apart") from fault
        meaning.compare(rows, count, length, target)
        if source != before:
            raise Fault("writes its operand")


def _sizes(sizes: Sequence[int], width: int) -> Iterator[tuple[int, int, int]]:
    """How many rows and steps, and how far rows are from each other: further than they are long, for small ones by
    several distances.
    """
    for rows in sorted({one for one in sizes if one < width} | {width}):
        for count in sizes:
            yield rows, count, count + 3
            if rows <= 1 or rows == width:
                yield rows, count, max(count, 1)


class _Meaning(Struct, eq=False):
    """What a copy is to do. values: the operand of an element, by its row and step."""

    terms: Terms
    function: Transposed
    scalars: list[Term] = field(default_factory=list)
    values: dict[tuple[int, int], Term] = field(default_factory=dict)
    type: str = ""

    def __post_init__(self) -> None:
        self.type = spelling(self.function.type.spelling.split())
        self.scalars = [self.terms.leaf(f"scalar{k}") for k in range(len(self.function.scalars))]

    def signature(self, functions: Functions, declaration: ir.Decl) -> Signature | None:
        """Of the function; there may be no other but one that widens vectors."""
        own, long = self.type, Whole(self.function.long_type)
        if self.function.narrow is not None and declaration.name == f"{self.function.name}_wide":
            return declared_signature(functions, declaration)
        if declaration.name != self.function.name or size(own) * 8 != self.function.type.bits:
            raise Fault(f"a function '{declaration.name}' that isn't understood")
        scalars, back = [Element(own)] * len(self.scalars), self.function.back
        read = Element(spelling(self.function.source_type.spelling.split()))
        row, panel = Pointer(read, not back), Pointer(Element(own), back)
        return Signature((long, long, row, long, panel, *scalars), Void())

    # --- memory -------------------------------------------------------------------------------------------------------

    def places(self, rows: int, count: int, length: int) -> tuple[dict[int, tuple[int, int]], int]:
        """Where the elements of rows are, by row and step, and how many there are from the first to the last one."""
        found = {i * length + k: (i, k) for i in range(rows) for k in range(count)}
        return found, max(found, default=-1) + 1

    def panel(self, rows: int, count: int) -> tuple[dict[int, tuple[int, int]], int]:
        """The same in the panel."""
        found = {k * self.function.width + i: (i, k) for i in range(rows) for k in range(count)}
        return found, max(found, default=-1) + 1

    def source(self, rows: int, count: int, length: int) -> Memory:
        """Elements; what lies between them isn't to be read."""
        places, size = self.panel(rows, count) if self.function.back else self.places(rows, count, length)
        return [self.terms.leaf("from", *places[at]) if at in places else None for at in range(size)]

    def target(self, rows: int, count: int, length: int) -> Memory:
        """From the first element to the last one that is written."""
        _, size = self.places(rows, count, length) if self.function.back else self.panel(rows, count)
        return [None] * size

    def compare(self, rows: int, count: int, length: int, target: Memory) -> None:
        places, _ = self.places(rows, count, length) if self.function.back else self.panel(rows, count)
        expected = self.target(rows, count, length)
        for at, place in places.items():
            expected[at] = self.value(*place)
        if target == expected:
            return
        at = next(at for at, (one, other) in enumerate(zip(target, expected, strict=True)) if one != other)
        meant = self.terms.text(expected[at])
        i, k = places.get(at, (-1, -1))
        what = f"row {i} of step {k} becomes" if at in places else f"element {at} between rows becomes"
        raise Fault(
            f"{what} {self.terms.text(target[at])}, not {meant}, for {rows} rows of {count} steps, {length} apart"
        )

    def value(self, i: int, k: int) -> Term:
        """The operand for an element."""
        found = self.values.get((i, k))
        if found is None:
            function = self.function
            leaves: dict[ir.Node, int] = {function.source: self.terms.leaf("from", i, k)}
            leaves |= {own: scalar for own, scalar in zip(function.scalars, self.scalars, strict=True)}
            found = self.values[i, k] = computed(self.terms, function.operand, self.type, lambda n: leaves.get(n))
        return found
