"""Parts of marked regions that can't be taken as a whole, found as unmarked regions are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Remark
from scopt.frontend.normalize.counting_loops import has_loop
from scopt.frontend.region.autodetect import Detected, Search
from scopt.frontend.region.naming import Placed
from scopt.frontend.region.parse import parse
from scopt.frontend.region.placement import with_directives
from scopt.frontend.region.regions import region_of, runs_between, runs_in
from scopt.frontend.region.surroundings import beside_one_thread, with_surroundings
from scopt.frontend.syntax.kept_rows import keeps_rows
from scopt.frontend.syntax.symbols import Symbol, scope_at
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.effects import effects
from scopt.ir.walks import walk
from scopt.options import Options


def parts_of(regions: Iterable[Region], tu: TranslationUnit, options: Options) -> tuple[TranslationUnit, Detected]:
    """What can be extracted inside of some marked regions of a file, and in the functions that these call; and the file
    as it was parsed for that: with macros expanded, as where nothing is marked.

    What a pragma takes for granted holds of what is marked, where pointers have the values that they have in front of
    it. Inside they may have others, so parts take it for granted of those alone that keep theirs. Raises InputError as
    `parse` does.
    """
    starts = {region.start: region.exchanging for region in regions}
    again = parse(tu.source, tu.file, replace(options, autodetect=True), symbolic=False)
    search = Search(replace(again, regions=()))
    chosen = [replace(region, exchanging=starts[region.start]) for region in again.regions if region.start in starts]
    found = [part for region in chosen for part in _parts(search, region)]
    for function in _called(again, chosen):
        found += [one for run in runs_in(again, function, function.body) for one in search.within(run)]
    known = with_surroundings(search.tu, found)
    placed = tuple(with_directives(part, again.directives, again.file) for part in known)
    return again, Detected(placed, tuple(search.remarks), search.scops)


def _parts(search: Search, region: Region) -> Iterator[Region]:
    search = replace(search, exchanging=region.exchanging, promised=_promised(search.tu, region))
    for candidate in runs_between(search.tu, region.function, region.parent, region.first, region.stop):
        yield from (replace(part, part=True) for part in search.within(candidate))


def _promised(tu: TranslationUnit, region: Region) -> frozenset[str]:
    """The names of a marked region that lead to memory of their own by its convention, in all of its parts: those of
    arrays, and of pointers that nothing in it may change."""
    if not region.marked:
        return region.promised
    done, symbols = effects(*region.items), scope_at(tu, region)
    kept = symbols.keys() - done.changed
    moving = {
        name
        for name in kept
        if symbols[name].pointer_depth > 1 and not keeps_rows(tu, region.items, symbols, symbols[name])
    }
    return frozenset(name for name in kept - moving if not symbols[name].pointer or _keeps(symbols[name]))


def _keeps(pointer: Symbol) -> bool:
    """Whether a pointer has another value only where its name is assigned one."""
    return pointer.kind in ("local", "parameter") and not (pointer.static or pointer.address_taken)


def _called(tu: TranslationUnit, regions: Iterable[Region]) -> list[Any]:
    """The functions of the file that statements of some regions call, or these functions, and in which nothing is
    marked: what they do is what the regions do."""
    todo, seen = [one for region in regions for one in region.items], set[str]()
    own = {function.decl.name: function for function in tu.user_functions}
    while todo:
        names = effects(todo.pop()).called & own.keys() - seen
        seen |= names
        todo += [own[name].body for name in names]
    marked = {region.function.decl.name for region in tu.regions} | tu.openmp.teams
    return [function for name, function in own.items() if name in seen - marked]


def nests_of(regions: Iterable[Region], tu: TranslationUnit, options: Options) -> tuple[TranslationUnit, Detected]:
    """The loops of some regions that there is too little time for as a whole, each by itself, or, of a region that is
    one loop, those inside of it. Found, and parsed, as `parts_of` does; raises InputError likewise."""
    again = parse(tu.source, tu.file, replace(options, autodetect=True), symbolic=False)
    search = Search(replace(again, regions=()))
    runs = [run for function in again.user_functions for run in runs_in(search.tu, function, function.body)]
    found = [
        replace(part, part=True)
        for region in regions
        for run in runs
        for nest in _nests(search.tu, run, region)
        for part in replace(search, promised=_promised(again, region)).within(nest)
    ]
    known = with_surroundings(search.tu, found)
    placed = tuple(with_directives(part, again.directives, again.file) for part in known)
    return again, Detected(placed, tuple(search.remarks), search.scops)


def less_shared(placed: Mapping[int, Placed], shared: Mapping[int, Region]) -> dict[int, Placed]:
    """Those of the loops of `nests_of` that threads share indeed, beside others that stay with one thread. shared: the
    ones that threads share, by their numbers."""
    if not shared:
        return {}
    tu = placed[next(iter(shared))].tu
    return {number: replace(placed[number], region=region) for number, region in beside_one_thread(tu, shared).items()}


def _nests(tu: TranslationUnit, run: Region, region: Region) -> Iterator[Region]:
    """The loops of a region, or those right inside of the only one, as far as they are in a run."""
    if run.end <= region.start or region.end <= run.start:
        return
    loops = [*_loops_of(tu, run)]
    own = [one for one in loops if region.start <= one.start and one.end <= region.end]
    if len(own) > 1:
        yield from own
        return
    for loop in own or loops:
        for inner in _inner_runs(tu, loop):
            yield from _loops_of(tu, inner) if own else _nests(tu, inner, region)


def _loops_of(tu: TranslationUnit, run: Region) -> Iterator[Region]:
    """Each loop of a run by itself."""
    for position in range(run.first, run.stop):
        if has_loop(run.parent.block_items[position]):
            one = region_of(tu, run.function, run.parent, position, position + 1)
            if one is not None:
                yield one


def _inner_runs(tu: TranslationUnit, loop: Region) -> Iterator[Region]:
    for child in loop.items[0].parts:
        yield from runs_in(tu, loop.function, child)


def news(remarks: Iterable[Remark], told: Iterable[Remark], known: str = "") -> tuple[Remark, ...]:
    """The remarks that say something else than those that were told, wherever these were about. known: the id of those
    that nothing else needs to be said of."""
    said = {(remark.id, remark.message) for remark in told}
    return tuple(one for one in remarks if (one.id, one.message) not in said and one.id != known)


def is_whole(part: Region, region: Region) -> bool:
    """Whether a part of a marked region has all of its loops."""
    return part.lies_in(region) and _loops(part) == _loops(region)


def _loops(region: Region) -> int:
    return sum(isinstance(node, ir.For) for node in walk(*region.items))
