"""What processors do in one instruction, and compilers have functions for: products of numbers of 16 bits in pairs,
added up; numbers that are widened lane by lane.

Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, PMADDWD and VPDPWSSD; the headers of gcc and
clang, in which the intrinsics are defined by these functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scopt.check.functions.conditionals import Configuration
from scopt.check.functions.faults import Fault
from scopt.check.functions.values import Vector

# What the texts call them once they are read: no C identifiers of a program.
ADDED, WIDENED = "__scopt_pairs_added", "__scopt_widened_"
# A pair in all lanes, with the vector of pairs that it is multiplied by.
_PAIRS = r"\(\1_y\)\(\(\1_v\)\{0\} \+ \(unsigned int\)x\), y"
# ``c + x * y``: what it looks like, for a prefix of types' names; the vectors' bytes; macros that there have to be, and
# that there mustn't.
_FORMS = (
    (
        r"\((\w+)_v\)__builtin_ia32_vpdpwssd_v16si\(\(\1_i\)c, "
        r"\(\1_i\)\(\(\1_v\)\{0\} \+ \(unsigned int\)x\), \(\1_i\)y\)",
        64,
        ("__AVX512VNNI__", "__AVX512BW__"),
        ("__clang__",),
    ),
    (
        rf"c \+ \((\w+)_v\)__builtin_ia32_pmaddwd512_mask\({_PAIRS}, \(\1_i\)\{{0\}}, -1\)",
        64,
        ("__AVX512BW__",),
        ("__clang__",),
    ),
    (rf"c \+ \((\w+)_v\)__builtin_ia32_pmaddwd512\({_PAIRS}\)", 64, ("__AVX512BW__", "__clang__"), ()),
    (rf"c \+ \((\w+)_v\)__builtin_ia32_pmaddwd256\({_PAIRS}\)", 32, ("__AVX2__",), ()),
    (rf"c \+ \((\w+)_v\)__builtin_ia32_pmaddwd128\({_PAIRS}\)", 16, ("__SSE2__",), ()),
)
_ELEMENTS = {"v": "unsigned int", "i": "int", "y": "short"}
_CONVERTED = re.compile(r"__builtin_convertvector\((\w+), (\w+)\)")


def named(text: str, configuration: Configuration, vectors: Mapping[str, Vector]) -> str:
    """A text with one name for each of them. Raises Fault where a configuration has no such instruction."""
    if ADDED in text or WIDENED in text:
        raise Fault("a function that isn't known")
    for form, size, needed, excluded in _FORMS:
        for match in re.finditer(form, text):
            if any(configuration.get(name) is None for name in needed) or any(
                configuration.get(name) is not None for name in excluded
            ):
                raise Fault("an instruction that the processor doesn't have, or a compiler no name for")
            _check_vectors(match.group(1), size, vectors)
        text = re.sub(form, f"{ADDED}(c, x, y)", text)
    return _CONVERTED.sub(rf"{WIDENED}\2(\1)", text)


def _check_vectors(prefix: str, size: int, vectors: Mapping[str, Vector]) -> None:
    for letter, element in _ELEMENTS.items():
        own = vectors.get(f"{prefix}_{letter}")
        if own is None or (own.element, own.bytes) != (element, size):
            raise Fault(f"vectors that an instruction of {size} bytes doesn't have")
