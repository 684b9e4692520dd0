"""What C says about objects that have nothing in common: members, types, restrict pointers."""

from __future__ import annotations

from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.ctypes import CHARACTER, is_complex
from scopt.ir.scop import CType


def diverge(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether two paths lead to different members."""
    return any(x != y for x, y in zip(a, b, strict=False))


def types_differ(a: CType, b: CType) -> bool:
    """Whether an object of one type can't be accessed as the other one (C11 6.5, paragraph 7); False if in doubt."""
    first, second = _kind(a), _kind(b)
    return first != second and None not in (first, second)


def _kind(ctype: CType) -> tuple[str, int] | None:
    """What tells types apart: their kind and width. None for characters,
    which are part of everything, and for what isn't known."""
    if ctype.spelling.endswith("*"):
        return "pointer", 0
    if ctype.floating:
        return "floating", ctype.bits // 2 if is_complex(ctype) else ctype.bits
    if ctype.integer and ctype.bits != CHARACTER:
        return "integer", ctype.bits
    return None


def is_sole(pointer: Symbol) -> bool:
    """Whether what it leads to is reached by nothing else but pointers that are computed from it where it is visible: a
    restrict pointer that does not outlive the call. Of a global one, any pointer of the program may be a copy.
    """
    return pointer.restrict and pointer.kind != "global" and not pointer.static
