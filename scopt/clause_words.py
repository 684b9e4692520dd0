"""Words of the emitted text that mean something else where the file has them for things of its own: those of
directives, `static`, and names of the library's functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from scopt.astgen.emit.c_expr import THREADS as HOW_MANY
from scopt.diagnostics import Location, Remark
from scopt.frontend.text.macros import Macro
from scopt.ir.library_names import MEMORY, MOST_THREADS, THREADS
from scopt.tell.results import Outcome

_WITH_PARENTHESES = frozenset(("simdlen", "collapse", "if", "private", "firstprivate", "reduction", "schedule"))
_ALONE = frozenset(("omp", "parallel", "for", "simd", "static", "dynamic", "guided", "min", "max"))
# All that `emit_c.pragma_text` writes and OpenMP gives a meaning.
WORDS = _WITH_PARENTHESES | _ALONE
_RENAME = "give the file's function another name"


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


def functions_for_threads(outcome: Outcome) -> frozenset[str]:
    """OpenMP's functions that a region's text calls."""
    of_helpers = [MOST_THREADS] if HOW_MANY in outcome.helpers else []
    return frozenset(of_helpers) | {name for name in THREADS if any(name in text for text in outcome.definitions)}


def asks_for_memory(outcome: Outcome) -> bool:
    """Whether a region's text asks the library for memory."""
    return bool(outcome.allocations) or any("__builtin_malloc" in text for text in outcome.definitions)


def without_threads(names: frozenset[str], location: Location) -> Remark:
    """That a region has no threads since OpenMP's functions can't be called."""
    return Remark("analysis", "pragma.own-function", f"no threads: {_own(names & THREADS)}", location, _RENAME)


def without_memory(names: frozenset[str], location: Location) -> Remark:
    """That a region stays as it was since the library can't be asked for memory."""
    return Remark("missed", "region.own-malloc", f"left as it was: {_own(names & MEMORY)}", location, _RENAME)


def _own(names: Collection[str]) -> str:
    listed = " and ".join(f"'{name}'" for name in sorted(names))
    return f"the file has something of its own with the name {listed}"
