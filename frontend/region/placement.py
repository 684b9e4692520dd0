"""Where ``#pragma scopt`` stands: before a SCoP or a loop of one, and what that makes of its clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location, Remark
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.unit import Region
from scopt.frontend.text.directives import (
    Clause,
    Directive,
    Directives,
    Setting,
    Wish,
    error_at,
    is_directive,
    normalized,
)
from scopt.ir.walks import walk

# Clauses that say opposite things, or the same twice, about one SCoP.
_EXCLUSIVE = (("tile", "notile"), ("fuse", "nofuse"), ("scheduler",), ("noparallel",), ("novector",))
_CONTRADICTIONS = (("parallel", "noparallel"), ("vector", "novector"))


def with_directives(region: Region, directives: Sequence[Directive], file: str) -> Region:
    """The region with the directives that stand before it and before its loops.

    Right before an unmarked region, clauses for loops mean its first loop. Raises InputError where clauses contradict
    each other, name an iterator that no loop has, or ask for a part of the SCoP what can only be had for all of it.
    """
    if not directives:
        return region
    find = _Finder(directives, file)
    first = next((item for item in region.items if isinstance(item, ir.For)), None)
    placed: list[_Placed] = []
    for directive in find.among(_before(region)):
        for clause in directive.clauses:
            scope = first if not region.marked and clause.word in ("parallel", "vector") else None
            placed.append(_Placed(directive, clause, scope))
    for pragmas, loop in _before_loops(region.items):
        for directive in find.among(pragmas):
            placed.extend(_Placed(directive, clause, loop) for clause in directive.clauses)
    return replace(region, pragmas=_combined(region, placed)) if placed else region


def misplaced(directives: Iterable[Directive], regions: Iterable[Region]) -> tuple[Remark, ...]:
    """Remarks on the directives that belong to none of the regions."""
    used = {id(directive) for region in regions for directive in region.pragmas.used}
    message, hint = (
        "'#pragma scopt' stands neither before a SCoP nor before a loop of one",
        "put it before '#pragma scop' or a loop of the region",
    )
    return tuple(
        Remark("missed", "pragma.misplaced", message, d.location, hint) for d in directives if id(d) not in used
    )


# --- finding them -----------------------------------------------------------------------------------------------------


class _Placed(Struct, frozen=True, eq=False):
    """A clause and the loop that it stands before, None: before the SCoP."""

    directive: Directive
    clause: Clause
    loop: Any


class _Finder(Struct, frozen=True, eq=False):
    """Directives by their pragma nodes: those of the file, by line and text."""

    directives: Sequence[Directive]
    file: str

    def among(self, nodes: Iterable[Any]) -> Iterator[Directive]:
        for node in nodes:
            text = normalized(node.string)
            yield from (
                d
                for d in self.directives
                if node.coord.file == self.file and d.line == node.coord.line and d.text == text
            )


def _before(region: Region) -> list[Any]:
    """The directives' nodes right before a region, in order."""
    items = region.parent.block_items
    position = region.first - (2 if region.marked else 1)  # `first` follows a marked region's own pragma
    found = []
    while (
        position >= 0 and isinstance(items[position], ir.Pragma) and items[position].string not in ("scop", "endscop")
    ):
        found.append(items[position])
        position -= 1
    return [node for node in reversed(found) if is_directive(node)]


def _before_loops(items: Iterable[Any]) -> Iterator[tuple[list[Any], ir.For]]:
    """The directives' nodes right before loops, at any depth, and these loops. Other pragmas may stand between."""
    pending: list[Any] = []
    for item in items:
        if isinstance(item, ir.Pragma):
            pending += [item] if is_directive(item) else []
            continue
        if isinstance(item, ir.For) and pending:
            yield pending, item
        pending = []
        yield from _inside_node(item)


def _inside_node(node: Any) -> Iterator[tuple[list[Any], ir.For]]:
    if isinstance(node, ir.Compound):
        yield from _before_loops(node.block_items or ())
        return
    for child in node.parts:
        yield from _inside_node(child)


# --- putting them together --------------------------------------------------------------------------------------------


def _combined(region: Region, placed: Sequence[_Placed]) -> Directives:
    """All clauses as one; raises InputError where they don't go together."""
    by_word: dict[str, list[_Placed]] = {}
    for item in placed:
        by_word.setdefault(item.clause.word, []).append(item)
        if item.clause.word not in ("parallel", "vector"):
            _check_whole(region, item)
    for words in _EXCLUSIVE:
        _refuse_two([item for item in placed if item.clause.word in words])
    for word, opposite in _CONTRADICTIONS:
        for item in by_word.get(word, ())[:1]:
            _refuse_two([item, *by_word.get(opposite, ())])
    single = {word: items[0].clause for word, items in by_word.items()}
    parallel = tuple(wish for item in by_word.get("parallel", ()) for wish in _wishes(region, item))
    vector = tuple(wish for item in by_word.get("vector", ()) for wish in _wishes(region, item))
    _refuse_same(parallel)
    _refuse_same(vector)
    _refuse_nested(region, vector)
    named = {word: clause.words[0].value for word, clause in single.items() if clause.words}
    return Directives(
        tile=_setting(single, {"tile": True, "notile": False}),
        tile_sizes=_setting(single, {"tile": single["tile"].sizes} if "tile" in single else {}),
        fusion=_setting(single, {"fuse": named.get("fuse"), "nofuse": "no"}),
        scheduler=_setting(single, {"scheduler": named.get("scheduler")}),
        threads=_setting(single, {"noparallel": False}),
        simd=_setting(single, {"novector": False}),
        parallel=parallel,
        vector=vector,
        used=tuple(dict.fromkeys(item.directive for item in placed)),
    )


def _setting(clauses: Mapping[str, Clause], meaning: Mapping[str, Any]) -> Setting[Any] | None:
    """What the one of some exclusive words that is given means."""
    return next((Setting(value, clauses[word].location) for word, value in meaning.items() if word in clauses), None)


def _refuse_two(items: Sequence[_Placed]) -> None:
    if len(items) > 1:
        first, second = sorted((item.clause for item in items), key=lambda clause: clause.location)[:2]
        same = first.word == second.word
        what = (
            f"'{second.word}' is given twice, first in line"
            if same
            else f"'{second.word}' contradicts the '{first.word}' of line"
        )
        raise error_at(second.location, f"{what} {first.location.line}")


def _check_whole(region: Region, item: _Placed) -> None:
    """Raise InputError if the clause is about a part of the SCoP."""
    if item.loop is not None and not _is_whole(region.items, item.loop):
        where = "before '#pragma scop'" if region.marked else "before the first loop"
        raise error_at(
            item.clause.location,
            f"'{item.clause.word}' acts on the whole SCoP, and there is more in it than this loop: put it {where}",
        )


def _is_whole(items: Iterable[Any], loop: Any) -> bool:
    """Whether all statements among the items are inside the loop."""
    real = [
        item
        for item in items
        if not isinstance(item, (ir.Pragma, ir.EmptyStatement))
        and not (isinstance(item, ir.Decl) and item.init is None)
    ]
    if len(real) != 1 or real[0] is loop:
        return len(real) == 1
    inner = real[0]
    return (isinstance(inner, ir.Compound) and _is_whole(inner.block_items or (), loop)) or (
        isinstance(inner, ir.For) and _is_whole([inner.stmt], loop)
    )


def _wishes(region: Region, item: _Placed) -> Iterator[Wish]:
    for name in item.clause.words:
        scope = list(region.items) if item.loop is None else [item.loop]
        if not any(loop_iterator(loop) == name.value for loop in _loops(scope)):
            around = any(loop_iterator(loop) == name.value for loop in _loops(region.items))
            where = "inside the loop after the pragma, or itself," if around else "in this SCoP"
            raise error_at(name.location, f"no loop {where} has the iterator '{name.value}'")
        place = (
            Location(item.loop.coord.file, item.loop.coord.line, item.loop.coord.column or 0)
            if item.loop is not None
            else None
        )
        yield Wish(name.value, name.location, item.loop, place)


def _refuse_same(wishes: Sequence[Wish]) -> None:
    for first, second in combinations(wishes, 2):
        if first.loop is second.loop and first.iterator == second.iterator:
            raise error_at(second.location, f"'{second.iterator}' is given twice, first in line {first.location.line}")


def _refuse_nested(region: Region, wishes: Sequence[Wish]) -> None:
    """Raise InputError if two loops of one nest shall be its vector loop."""
    for first, second in combinations(wishes, 2):
        ours, theirs = (
            [
                loop
                for loop in _loops([wish.loop] if wish.loop is not None else region.items)
                if loop_iterator(loop) == wish.iterator
            ]
            for wish in (first, second)
        )
        nested = any(a is not b and (_contains(a, b) or _contains(b, a)) for a in ours for b in theirs)
        if nested:
            raise error_at(
                second.location,
                f"'vector({second.iterator})' contradicts the 'vector({first.iterator})' of line {first.location.line}",
            )


def _contains(outer: Any, inner: Any) -> bool:
    return any(loop is inner for loop in _loops([outer]))


def _loops(items: Iterable[Any]) -> Iterator[ir.For]:
    """All `for` loops among and inside the nodes."""
    return (node for node in walk(*items) if isinstance(node, ir.For))
