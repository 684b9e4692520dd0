"""A SCoP, its dependences and its schedule in words: what `--explain` prints.

Everything is computed from the dependences, as the band passes do it; nothing that a scheduler claims is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Array, Dependence, Dependences, Scop, Statement
from scopt.poly.bands import band_nodes, distances, ordered, zero
from scopt.poly.isl_utils import sets_of
from scopt.tell.member_texts import member_functions
from scopt.tell.wording import (
    aligned,
    distance_text,
    domain_text,
    kinds_text,
    one_line,
    people_order,
    some,
    wrapped,
)


def explain(scop: Scop, deps: Dependences, tree: isl.Schedule, marked: MarkedSchedule) -> str:
    """A text of several lines about one SCoP.

    tree: the scheduler's, before the band passes; marked: after them. Instances are written ``S0[i, j]``, distances in
    iterations of the original loops, outermost first: ``(0, 1)``, with ranges such as ``-1..1``, ``>=1`` and ``*``
    (any).
    """
    from scopt.tell.choices import choice_lines
    from scopt.tell.explain_result import final_lines  # asked for by few
    from scopt.tell.explain_schedule import schedule_lines

    dependences = ordered(scop, deps)
    parameters = ", ".join(p.spelling for p in scop.parameters) or "none"
    lines = [
        f"{scop.location}: SCoP of {some(len(scop.statements), 'statement')}; parameters: {parameters}",
        *_section("statements", _statement_lines(scop)),
        *_section("arrays", array_lines(scop)),
        *_section("dependences", dependence_lines(scop, deps)),
        *_section("schedule", schedule_lines(scop, deps, dependences, tree)),
        *_section("after the band passes", final_lines(scop, dependences, tree, marked)),
        *_section("choices, by cycles of the machine's model", choice_lines(scop, marked)),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f" {title}:"
    yield from (f"  {line}" for line in lines)


def _statement_lines(scop: Scop) -> list[str]:
    return aligned(statement_rows(scop))


def statement_rows(scop: Scop) -> list[tuple[str, str, str, str]]:
    """Of each statement: its name, its line, the loops around it and their constraints, its text."""

    def around(statement: Statement) -> str:
        if not statement.iterators:
            return ""
        constraints = domain_text(statement.domain)
        return f"for {', '.join(statement.iterators)}" + (f": {constraints}" if constraints else "")

    return [(s.name, f"line {s.location.line}", around(s), one_line(s)) for s in scop.statements]


# --- arrays -----------------------------------------------------------------------------------------------------------


def array_lines(scop: Scop) -> list[str]:
    """By what happens to them."""
    written = {a.array for s in scop.statements for a in s.accesses if a.is_write}
    touched = {a.array for s in scop.statements for a in s.accesses}
    groups = {
        "written: ": [a for name, a in scop.arrays.items() if name in written and not a.private],
        "only read: ": [a for name, a in scop.arrays.items() if name in touched - written],
        "private (not needed afterwards; iterations and threads may have copies): ": [
            a for a in scop.arrays.values() if a.private
        ],
    }
    return [
        line
        for head, arrays in groups.items()
        if arrays
        for line in wrapped(head, [_declaration(array) for array in arrays])
    ]


def _declaration(array: Array) -> str:
    def text(extent: ir.Node | None, size: int | None) -> str:
        return str(size) if size is not None else "" if extent is None else PlainGenerator().visit(extent)

    sizes = array.sizes or (None,) * array.rank
    return (
        f"{array.type.spelling} "
        f"{array.spelling}{''.join(f'[{text(e, s)}]' for e, s in zip(array.extents, sizes, strict=True))}"
    )


# --- dependences ------------------------------------------------------------------------------------------------------


class _Carried(Struct, frozen=True):
    """A part of a dependence. loop: "carried by i (level 1)" or "loop-independent".
    distance: empty or ``distance (1, 0)``."""

    array: str
    source: str
    sink: str
    level: int
    loop: str
    distance: str


class _Loop(Struct, frozen=True, eq=False):
    """A loop of the original program, as a band of one member."""

    member: isl.UnionPwAff
    statements: frozenset[str]


Row = tuple[str, str, str, str, str]


def dependence_lines(scop: Scop, deps: Dependences) -> list[str]:
    """The dependences that order something as lines, and the names of private arrays with others."""
    rows, reuse = dependence_rows(scop, deps)
    lines = aligned(rows) or ["none over shared arrays" if reuse else "none"]
    names = [f"{kinds_text(found)} over {name}" for name, found in reuse.items()]
    return lines + (
        wrapped("not listed, since uses of private cells may change places, but not overlap: ", names) if reuse else []
    )


def dependence_rows(scop: Scop, deps: Dependences) -> tuple[list[Row], dict[str, set[str]]]:
    """The dependences that order something, split by the original loop that carries them: (kinds, array, ``S0 → S1``,
    what carries it, distance); those of several kinds that are alike in one row. And by private array: the kinds of
    those that only keep live ranges apart."""
    loops = _original_loops(scop)
    private = {name for name, array in scop.arrays.items() if array.private}
    kinds: dict[_Carried, set[str]] = {}
    reuse: dict[str, set[str]] = {}
    for dependence in (*deps.select("flow", "anti", "output"), *deps.reductions):
        if dependence.array in private and dependence.kind != "flow":
            reuse.setdefault(dependence.array, set()).add(dependence.kind)
            continue
        for part in _parts(scop, dependence, loops):
            kinds.setdefault(part, set()).add(dependence.kind)
    sinks: dict[tuple[str, ...], list[str]] = {}
    for part, found in sorted(kinds.items(), key=lambda item: (item[0].array, _order(scop, item[0]))):
        array = f"{part.array}{' (private)' if part.array in private else ''}"
        sinks.setdefault((kinds_text(found), array, part.loop, part.distance, part.source), []).append(part.sink)
    rows = [
        (kind, array, f"{source} → {', '.join(names)}", loop, distance)
        for (kind, array, loop, distance, source), names in sinks.items()
    ]
    return rows, reuse


def _order(scop: Scop, part: _Carried) -> tuple[int, int, int]:
    names = [s.name for s in scop.statements]
    return names.index(part.source), names.index(part.sink), part.level


def _original_loops(scop: Scop) -> list[_Loop]:
    """Outer ones first."""
    loops = []
    for node in band_nodes(scop.schedule):
        names = frozenset(s.get_tuple_name() for s in sets_of(node.get_domain()))
        loops += [_Loop(node.band_get_partial_schedule().get_at(k), names) for k in range(node.band_n_member())]
    return loops


def _parts(scop: Scop, dependence: Dependence, loops: Sequence[_Loop]) -> Iterator[_Carried]:
    """The parts of a dependence, by the outermost loop in which source and sink differ."""
    ends = {dependence.source, dependence.sink}
    common = [loop for loop in loops if ends <= loop.statements]
    rest = isl.UnionMap.from_map(dependence.relation)
    for level, loop in enumerate(common):
        same = rest.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(loop.member))
        if not zero(distances(rest, loop.member)):
            pairs = rest.subtract(same)
            vector = ", ".join(distance_text(distances(pairs, each.member)) for each in common)
            date = people_order(member_functions(scop, loop.member)[dependence.source])
            name = date.removeprefix("-") if date.removeprefix("-").isidentifier() else date
            text = f"carried by {name} (level {level + 1})"
            yield _Carried(dependence.array, dependence.source, dependence.sink, level, text, f"distance ({vector})")
        rest = same
    if not rest.is_empty():
        yield _Carried(dependence.array, dependence.source, dependence.sink, len(common), "loop-independent", "")
