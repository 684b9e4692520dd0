"""What lets compilers compute functions of <math.h> in vectors, in front of the functions that call them.

A square root may set errno, so that compilers make a call of it, and no vector loop. A declaration as ``const`` says
that nobody looks: that holds for files that never name errno (a thread's errno would not be the caller's anyway). gcc
and clang then use instructions that round alike, as IEEE 754 has it. Of a loop that sums up roots in their order, gcc
makes vectors by itself then, and adds one element after the other (measured: four and eight times as fast).

gcc calls fmin, fmax, round and the like for reasons that hold for few programs (signaling numbers, flags of
exceptions); clang doesn't. A definition for gcc to inline gives the same values. Minima are branches to gcc until it
looks for vectors; before, it runs straight from one branch to another one that the first decides about, and what is
left is no body of a vector loop (measured: a level set 4 times as fast with definitions, as with clang, and 1.7 times
without `NO_JUMPS`).
"""

from __future__ import annotations

from scopt.ir.nest import Block, For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names

# Whose vector instructions give the same results, with the types of the value and of the argument.
_TYPES = {"sqrt": "double", "sqrtf": "float"}
# What names errno, in C libraries of several systems.
_ERRNO = frozenset({"errno", "__errno_location", "___errno", "__errno", "__error", "_errno"})
# Of two zeros C leaves open which one is the less; here, as in glibc, it is the second one, in whatever order gcc has
# the operands.
_EXTREMUM = "b != b ? a : a {} b ? a : b"
# The largest number below a half: a half itself would round up what is in front of it.
_ROUNDED = "__builtin_trunc{0}(a + __builtin_copysign{0}({1}, a))"
_HALVES = {"": "0.49999999999999994", "f": "0.49999997f"}
# Functions that gcc calls, with the macros that have to be there, the type of the value, and the value.
_BODIES = {
    f"{name}{kind}": body
    for kind, half in _HALVES.items()
    for name, body in {
        "fmax": ("__GLIBC__", "", _EXTREMUM.format(">")),
        "fmin": ("__GLIBC__", "", _EXTREMUM.format("<")),
        "round": ("__SSE4_1__", "", _ROUNDED.format(kind, half)),
        "lround": ("__SSE4_1__", "long", f"(long){_ROUNDED.format(kind, half)}"),
        "lrint": ("__SSE4_1__", "long", f"(long)__builtin_rint{kind}(a)"),
    }.items()
}
_BRANCHES = ("fmax", "fmin")
NO_JUMPS = '#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize("no-thread-jumps")\n#endif\n'


def math_declarations(scop: Scop, nest: LoopNest) -> tuple[str, ...]:
    """Those of functions that a nest calls, and definitions; none where the file may look at errno."""
    if scop.reserved & _ERRNO:
        return ()
    vectors = [item for item in items(nest.body) if isinstance(item, For) and item.mark.simd]
    in_vectors, anywhere = _called(scop, Block(tuple(vectors))), _called(scop, nest.body)
    declared = tuple(_declaration(name) for name in _TYPES if name in anywhere)
    defined = tuple(_definition(name) for name in _BODIES if name in anywhere)
    jumps = any(name.startswith(_BRANCHES) for name in in_vectors & _BODIES.keys())
    return (*declared, *defined, *((NO_JUMPS,) if jumps else ()))


def calls_roots(scop: Scop, block: Block) -> bool:
    """Whether statements of a block call functions that compilers have vector instructions for."""
    return not _called(scop, block).isdisjoint(_TYPES)


def is_math_declaration(text: str) -> bool:
    """Whether it is one of these, and nothing else."""
    return text == NO_JUMPS or text in map(_declaration, _TYPES) or text in map(_definition, _BODIES)


def _called(scop: Scop, block: Block) -> frozenset[str]:
    """The functions of the library that a block's statements call, or functions of the file for them."""
    names = used_names(*(scop.statement(name).body for name in {call.statement for call in calls(block)}))
    return frozenset(one for name in names for one in scop.library.get(name, ()))


def _declaration(name: str) -> str:
    """The parentheses are for headers in which the name is a macro, too."""
    kind = _TYPES[name]
    return f"#ifdef __GNUC__\n{kind} ({name})({kind}) __attribute__((const));\n#endif\n"


def _definition(name: str) -> str:
    """Inline, and nothing but that: a pointer to the function leads to the library's."""
    macro, value, body = _BODIES[name]
    kind = "float" if name.endswith("f") else "double"
    params = f"{kind} a, {kind} b" if name.startswith(_BRANCHES) else f"{kind} a"
    macros = ("__GNUC__", "__x86_64__", "__LP64__", macro)
    return (
        f"#if {' && '.join(f'defined({one})' for one in macros)} && !defined(__clang__)\n"
        "extern __inline__ __attribute__((gnu_inline, always_inline))\n"
        f"{value or kind} ({name})({params}) {{ return {body}; }}\n#endif\n"
    )
