"""Blocks of vectors that are turned in registers: rows become lanes, in rounds of perfect shuffles (Van Loan,
"Computational Frameworks for the Fast Fourier Transform", 1992, section 2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from scopt.ir.scop import CType
from scopt.machine.targets import SHUFFLES

# Each vector of a block is a variable, and one of its letters a round.
_LETTERS = "abcdef"


class Turns(Struct, frozen=True):
    """What a function of that name needs for them. lanes: of the vectors, a power of two; a block has as many."""

    name: str
    type: CType
    lanes: int

    @property
    def vector(self) -> str:
        return f"{self.name}_v"

    @property
    def has_vectors(self) -> str:
        """A macro that is defined where there are such vectors."""
        return f"{self.name}_vectors"

    def definitions(self) -> Iterator[str]:
        """The type of vectors, and the two halves of a shuffle, where the target has them."""
        lanes, element = self.lanes, self.type.bits // 8
        yield f"#if defined({SHUFFLES[lanes * element]}) && (defined(__clang__) || __GNUC__ >= 12)"
        yield f"#define {self.has_vectors}"
        yield (
            f"typedef {self.type.spelling} {self.vector} __attribute__((vector_size({lanes * element}), "
            f"aligned({element}), may_alias));"
        )
        for half, first in (("low", 0), ("high", lanes // 2)):
            turned = ", ".join(f"{first + k}, {lanes + first + k}" for k in range(lanes // 2))
            yield f"#define {self.name}_{half}(a, b) __builtin_shufflevector(a, b, {turned})"
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

    def rounds(self, prefix: str = "") -> Iterator[str]:
        """Each puts the elements of two vectors, that are half of all apart, one by one beside each other."""
        half, before = self.lanes // 2, self.before(prefix)
        for letter in _LETTERS[1 : self.lanes.bit_length()]:
            after = prefix + letter
            for k in range(half):
                first, second = (f"{self.name}_{which}({before}{k}, {before}{k + half})" for which in ("low", "high"))
                yield f"{self.vector} {after}{2 * k} = {first}, {after}{2 * k + 1} = {second};"
            before = after
