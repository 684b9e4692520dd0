"""Blocks of vectors that are turned in registers: rows become lanes, in rounds of perfect shuffles (Van Loan,
"Computational Frameworks for the Fast Fourier Transform", 1992, section 2.2).

A block of four vectors exchanges instead what lies beside its diagonal, in blocks of one and then of two elements
(Eklundh, "A fast computer method for matrix transposing", 1972): of four numbers of 64 bits, each half of such a round
is one instruction of AVX2, and half of a perfect shuffle two or three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from scopt.ir.scop import CType
from scopt.machine.targets import SHUFFLES

# Each vector of a block is a variable, and one of its letters a round.
_LETTERS = "abcdef"
# What the two vectors are called that become of two whose blocks of so many elements are exchanged.
_EXCHANGED = {1: ("even", "odd"), 2: ("first", "last")}


class Turns(Struct, frozen=True):
    """What a function of that name needs for them. lanes: of the vectors, a power of two; a block has as many. short:
    they stand in for vectors twice as long, where the target has only these."""

    name: str
    type: CType
    lanes: int
    short: bool = False

    @property
    def vector(self) -> str:
        return f"{self.name}_v"

    @property
    def has_vectors(self) -> str:
        """A macro that is defined where there are such vectors."""
        return f"{self.name}_{'short' if self.short else 'vectors'}"

    @property
    def forms(self) -> tuple[Turns, ...]:
        """These, and what stands in for them elsewhere, which has the same names."""
        half = self.lanes // 2
        return (self, Turns(self.name, self.type, half, short=True)) if half * self.bytes in SHUFFLES else (self,)

    @property
    def bytes(self) -> int:
        """Of an element."""
        return self.type.bits // 8

    def definitions(self) -> Iterator[str]:
        """The type of vectors, and the two halves of each kind of shuffle, for targets that have some form."""
        for number, form in enumerate(self.forms):
            size = form.lanes * form.bytes
            condition = f"defined({SHUFFLES[size]}) && (defined(__clang__) || __GNUC__ >= 12)"
            yield f"#{'elif' if number else 'if'} {condition}"
            yield f"#define {form.has_vectors}"
            yield (
                f"typedef {form.type.spelling} {form.vector} __attribute__((vector_size({size}), "
                f"aligned({form.bytes}), may_alias));"
            )
            for name, turned in form.shuffles():
                lanes = ", ".join(map(str, turned))
                yield f"#define {form.name}_{name}(a, b) __builtin_shufflevector(a, b, {lanes})"
        yield "#endif"

    def of_forms(self, lines: Callable[[Turns], Iterator[str]]) -> Iterator[str]:
        """What a function does in each form, where the target has it."""
        for number, form in enumerate(self.forms):
            yield f"#elif defined({form.has_vectors})" if number else f"#ifdef {form.has_vectors}"
            yield from lines(form)
        yield "#endif"

    def attributes(self) -> Iterator[str]:
        """In front of the function: vectors as wide as they are, and a function of its own."""
        yield "#if defined(__clang__)"
        yield f"__attribute__((min_vector_width({self.lanes * self.type.bits})))"
        yield "#elif defined(__GNUC__)"
        yield "__attribute__((noinline, noclone))"
        yield "#endif"

    def before(self, prefix: str = "") -> str:
        """What the vectors of a block are called before they are turned, but for their numbers."""
        return prefix + _LETTERS[0]

    def after(self, prefix: str = "") -> str:
        return prefix + _LETTERS[self.lanes.bit_length() - 1]

    def shuffles(self) -> Iterator[tuple[str, list[int]]]:
        """By name, which elements of two vectors make up one."""
        lanes, half = self.lanes, self.lanes // 2
        if not self.exchanges:
            for name, first in (("low", 0), ("high", half)):
                yield name, [at for k in range(first, first + half) for at in (k, lanes + k)]
            return
        for distance, names in _EXCHANGED.items():
            for name, first in zip(names, (0, distance), strict=True):
                yield name, [first + (lanes + k - distance if k & distance else k) for k in range(lanes)]

    @property
    def exchanges(self) -> bool:
        """Whether blocks beside the diagonal are exchanged."""
        return self.lanes == 2 * len(_EXCHANGED)

    def rounds(self, prefix: str = "") -> Iterator[str]:
        """Each puts the elements of two vectors, that are half of all apart, one by one beside each other; or it
        exchanges what two vectors have beside the diagonal."""
        before = self.before(prefix)
        for number, letter in enumerate(_LETTERS[1 : self.lanes.bit_length()]):
            after = prefix + letter
            for (one, other), made in self.exchanged(1 << number) if self.exchanges else self.shuffled():
                names = _EXCHANGED[1 << number] if self.exchanges else ("low", "high")
                first, second = (f"{self.name}_{which}({before}{one}, {before}{other})" for which in names)
                yield f"{self.vector} {after}{made[0]} = {first}, {after}{made[1]} = {second};"
            before = after

    def shuffled(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Two vectors of a round, and what they become."""
        for k in range(self.lanes // 2):
            yield (k, k + self.lanes // 2), (2 * k, 2 * k + 1)

    def exchanged(self, distance: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        for k in range(self.lanes):
            if not k & distance:
                yield (k, k + distance), (k, k + distance)
