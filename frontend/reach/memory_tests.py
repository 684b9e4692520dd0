"""The functions that tell at run time whether stretches of memory are apart, where their ends take some computing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from scopt.diagnostics import Location
from scopt.frontend.reach.code import Code, type_of_value
from scopt.frontend.reach.slices import Slice
from scopt.frontend.reach.touched_cells import Touched
from scopt.ir.scop import CType, MemoryTest

# What no name in C has: members of records are spelled by their paths (`a[].x`).
_WORDS = re.compile(r"\W+", re.ASCII)
# Values are looked at for more than one thread alone where that takes as long as a good part of the region.
_THREADS = (
    "#if defined(_OPENMP) || defined(SCOPT_THREADS)\n",
    "extern int (omp_get_max_threads)(void);",
    "if ((omp_get_max_threads)() < 2) return 0;",
    "#else\n",
    "return 0;",
    "#endif\n",
)


class Memory(Struct, frozen=True):
    """What may be touched through a name: `base` and `element` as in `Stretch`, and which elements."""

    base: str
    element: str
    touched: Touched


def memory_test(
    location: Location,
    code: Code,
    memories: Mapping[str, Memory],
    pairs: Iterable[tuple[str, str]],
    used: Mapping[str, CType],
    slices: Mapping[str, Slice],
    *,
    threads: bool = True,
) -> MemoryTest:
    """A test that pairs of memories are apart.

    memories: by the names in `pairs`, which C takes for names. used: the variables in the code, with their types.
    slices: functions that the code may call, by their names. threads: whether OpenMP can be asked how many there are.
    Addresses are compared as signed numbers: none of a program's own is negative.
    """
    number = code.type
    beyond = {key: code.plus(memory.touched.last, 1) for key, memory in memories.items()}
    taken = {*used, *code.names}
    words = _words(memories)
    given = {key: (_free(word, taken), _free(f"{word}_size", (*taken, *code.taken))) for key, word in words.items()}
    taken |= {name for both in given.values() for name in both} | {*code.taken}
    ends = {key: (_free(f"{word}_begin", taken), _free(f"{word}_end", taken)) for key, word in words.items()}
    tail = []
    for key, memory in memories.items():
        address, size = given[key]
        place = f"({number})(__UINTPTR_TYPE__){address}"
        tail.append(f"if ({place} < 0) return 0;")
        for element, end in zip((memory.touched.first, beyond[key]), ends[key], strict=True):
            offset = (
                [f"{end} = {place};"]
                if element == 0
                else [
                    f"if (__builtin_mul_overflow({element}, {size}, &{end})) return 0;",
                    f"if (__builtin_add_overflow({end}, {place}, &{end})) return 0;",
                ]
            )
            tail += offset
    apart = (f"({ends[a][1]} <= {ends[b][0]} || {ends[b][1]} <= {ends[a][0]})" for a, b in pairs)
    tested = [*apart]
    tail.append(f"return {' && '.join(tested)};")
    lines, names = code.needed(tail)
    body = [f"{number} {', '.join([*names, *(end for both in ends.values() for end in both)])};"]
    body += [
        f"if ({name} < 0) return 0;"
        for name, ctype in used.items()
        if ctype.integer and not ctype.signed and ctype.bits == 64
    ]
    called = {name: one for name, one in slices.items() if any(f"{name}(" in line for line in lines)}
    arrays = dict.fromkeys(array for one in called.values() for array in one.arrays)
    body += [*_asked(called.values(), threads=threads), *lines, *tail]
    parameters = [f"{type_of_value(ctype, number)} {name}" for name, ctype in used.items()]
    parameters += [f"const void *{address}, {number} {size}" for address, size in given.values()]
    parameters += [f"const void *{array}_cells" for array in arrays]
    own = f"scopt_apart_{location.line}_{location.column}"
    head = f"static int {own}({', '.join(parameters)})"
    arguments = [*used, *(text for memory in memories.values() for text in (memory.base, memory.element)), *arrays]
    text = "".join(line if line[0] == "#" else f"  {line}\n" for line in body)
    before = "".join(one.named(name) for name, one in called.items())
    return MemoryTest(f"{own}({', '.join(arguments)})", f"{before}{head}\n{{\n{text}}}\n", pairs=len(tested))


def _words(keys: Iterable[str]) -> dict[str, str]:
    """A word for each, no two of them the same: a member's pointer, and the member itself, are spelled alike."""
    words: dict[str, str] = {}
    for key in keys:
        words[key] = _free(_WORDS.sub("_", key).strip("_"), words.values())
    return words


def _asked(called: Iterable[Slice], *, threads: bool) -> tuple[str, ...]:
    """The lines that leave a test which takes long where there is one thread, or may be."""
    several = tuple(called)
    short = [one for one in several if one.short]
    if all(one.short or any(_is_as_long(one, other) for other in short) for one in several):
        return ()
    return _THREADS if threads else ("return 0;",)


def _is_as_long(one: Slice, other: Slice) -> bool:
    """Whether a function takes about as long as another one, which sees as much: a nest that reads once what others
    read again and again."""
    return {*one.arrays} <= {*other.arrays} and one.loops <= other.loops


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name
