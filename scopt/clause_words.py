"""Words of the emitted text that mean something else where the file has macros for them:
those of directives, and `static`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scopt.diagnostics import Location, Remark
from scopt.frontend.text.macros import Macro

_WITH_PARENTHESES = frozenset(("simdlen", "collapse", "if", "private", "firstprivate", "reduction", "schedule"))
_ALONE = frozenset(("omp", "parallel", "for", "simd", "static", "dynamic", "guided", "min", "max"))
# All that `emit_c.pragma_text` writes and OpenMP gives a meaning.
WORDS = _WITH_PARENTHESES | _ALONE


def expanded_words(macros: Mapping[str, Macro]) -> tuple[str, ...]:
    """The words that a compiler expands, by name.
    A macro with parameters only stands for what has parentheses behind it."""
    found = (macros[word] for word in sorted(WORDS & macros.keys()))
    return tuple(one.name for one in found if one.parameters is None or one.name in _WITH_PARENTHESES)


def without_directives(words: Sequence[str], location: Location) -> Remark:
    """That a region's loops have no directives since these words are macros."""
    names = " and ".join(f"'{word}'" for word in words)
    message = f"no directives of OpenMP, which would say something else: there are macros with the names {names}"
    return Remark("analysis", "pragma.macro", message, location, "give the macros other names")


def without_helpers(location: Location) -> Remark:
    """That a region stays as it was since functions could not be declared static."""
    message = "left as it was: there is a macro with the name 'static', a word that helper functions need"
    return Remark(
        "missed", "region.static-macro", message, location, "give the macro another name, or leave it out for this file"
    )
