"""Declarations that let compilers compute functions of <math.h> in vectors.

A square root may set errno, so that compilers make a call of it, and no vector loop. A declaration as ``const`` says
that nobody looks: that holds for files that never name errno (a thread's errno would not be the caller's anyway). gcc
and clang then use instructions that round alike, as IEEE 754 has it.
"""

from __future__ import annotations

from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names

# Whose vector instructions give the same results, with the types of the value and of the argument.
_TYPES = {"sqrt": "double", "sqrtf": "float"}
# What names errno, in C libraries of several systems.
_ERRNO = frozenset({"errno", "__errno_location", "___errno", "__errno", "__error", "_errno"})


def math_declarations(scop: Scop, nest: LoopNest) -> tuple[str, ...]:
    """Those of functions that the vector loops of a nest call; none where the file may look at errno."""
    if scop.reserved & _ERRNO:
        return ()
    vectors = [item for item in items(nest.body) if isinstance(item, For) and item.mark.simd]
    names = {call.statement for loop in vectors for call in calls(loop.body)}
    used = set(used_names(*(scop.statement(name).body for name in names)))
    return tuple(_declaration(name) for name in _TYPES if name in used)


def is_math_declaration(text: str) -> bool:
    """Whether it is one of these, and nothing else."""
    return text in map(_declaration, _TYPES)


def _declaration(name: str) -> str:
    """The parentheses are for headers in which the name is a macro, too."""
    kind = _TYPES[name]
    return f"#ifdef __GNUC__\n{kind} ({name})({kind}) __attribute__((const));\n#endif\n"
