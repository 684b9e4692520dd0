"""Maximal SCoPs without pragmas.

Of each run of loops: the longest stretches that can be extracted, and inside loops that can't be, the loops within. The
time is near to linear in the size of the file: what is tried together is bounded, and the end of a stretch is found by
bisection.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Refusal, Remark
from scopt.frontend.extract import extract_whole
from scopt.frontend.normalize.counting_loops import has_loop, is_counting
from scopt.frontend.normalize.statement_counts import MAX_STATEMENTS, SET_VARIABLES, counted
from scopt.frontend.normalize.whole_runs import with_whole_runs
from scopt.frontend.region.constant_stages import written_out
from scopt.frontend.region.in_sight import in_sight
from scopt.frontend.region.placement import misplaced, with_directives
from scopt.frontend.region.regions import find_autodetected, region_of, runs_in, statement_extent
from scopt.frontend.region.sums_in_lanes import in_lanes
from scopt.frontend.region.surroundings import with_surroundings
from scopt.frontend.syntax.symbols import scope_at
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.openmp_clauses import sequential
from scopt.ir.scop import Scop
from scopt.ir.walks import walk
from scopt.poly.bands import band_nodes, ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import operation_limit, sets_of
from scopt.poly.loop_order import statements_in_order
from scopt.poly.reordering import Reorder, updates_of
from scopt.poly.source_loops import source_loops

# isl's elementary operations for one extraction: what needs more is no candidate.
MAX_OPERATIONS = 10_000_000
# Loops in one another, and nodes of the syntax tree, of a region that is found.
MAX_DEPTH = 8
MAX_NODES = 10_000


Place: TypeAlias = tuple[Any, int, int]


def place_of(region: Region) -> Place:
    """The block that a region's statements stand in, the first one, and the one behind the last."""
    return region.parent, region.first, region.stop


class Detected(Struct, frozen=True, eq=False):
    """regions: unmarked regions that can be extracted, in the order of the file. remarks: why loops around or beside
    them can't be, and on ``#pragma scopt`` that belong neither to them nor to marked regions. scops: what was extracted
    of the regions, by their places, as in `Search`."""

    regions: tuple[Region, ...]
    remarks: tuple[Remark, ...]
    scops: Mapping[Place, Scop] = {}

    def scop(self, region: Region) -> Scop | None:
        """The SCoP of a region, if it doesn't depend on what was found out about the region later."""
        return None if region.pragmas.used else self.scops.get(place_of(region))


def detect(
    tu: TranslationUnit,
    *,
    assume_apart: bool = False,
    deadline: float = float("inf"),
    reassociate: bool = False,
) -> Detected:
    """All maximal SCoPs outside marked regions.

    assume_apart: as in `extract`. reassociate: as in `Search`. deadline: of `time.monotonic`; candidates whose turn
      comes later stay as they are.
    Raises InputError where a ``#pragma scopt`` asks for what can't be meant.
    """
    search = Search(tu, assume_apart, deadline, reassociate)
    found, remarks = _searched(search, tuple(find_autodetected(tu)))
    regions = tuple(with_directives(region, tu.directives, tu.file) for region in found)
    regions = with_surroundings(tu, regions)
    told = (*remarks, *misplaced(tu.directives, (*tu.regions, *regions)))
    return Detected(regions, told, search.scops)


def _searched(search: Search, candidates: Sequence[Region]) -> tuple[list[Region], list[Remark]]:
    """What is found in candidates, and what is told of them, in their order. Where time is limited, small ones come
    first: a large function, whose parts are tried one by one, would take it from all those behind."""
    order = list(range(len(candidates)))
    if search.deadline < float("inf"):
        order.sort(key=lambda number: sum(1 for _ in walk(*candidates[number].items)))
    found, told = dict[int, list[Region]](), dict[int, list[Remark]]()
    for number in order:
        begun = len(search.remarks)
        found[number] = list(search.within(candidates[number]))
        told[number] = search.remarks[begun:]
    numbers = range(len(candidates))
    return [one for number in numbers for one in found[number]], [one for number in numbers for one in told[number]]


def detect_inside(
    tu: TranslationUnit, regions: Sequence[Region], *, assume_apart: bool = False, reassociate: bool = False
) -> Detected:
    """The SCoPs in some unmarked regions of a translation unit where no iterations exchange pointers. assume_apart,
    reassociate: as for `detect`."""
    search = Search(tu, assume_apart, reassociate=reassociate, exchanging=False)
    found = [replace(part, part=region.part) for region in regions for part in search.within(region)]
    placed = (with_directives(part, tu.directives, tu.file) for part in with_surroundings(tu, found))
    return Detected(tuple(placed), tuple(search.remarks), search.scops)


class Search(Struct, frozen=True):
    """Looks into candidates. reassociate: sums may be computed in another order. exchanging, promised: as in `Region`,
    of what is found. remarks: why what was looked into is no SCoP as a whole. known: what `refused` has answered, by
    places; scops: what it has extracted where that was None."""

    tu: TranslationUnit
    assume_apart: bool = False
    deadline: float = float("inf")
    reassociate: bool = False
    exchanging: bool = True
    promised: frozenset[str] = frozenset()
    remarks: list[Remark] = field(default_factory=list)
    known: dict[Place, Remark | None] = field(default_factory=dict)
    scops: dict[Place, Scop] = field(default_factory=dict)

    def within(self, region: Region) -> Iterator[Region]:
        """The maximal SCoPs of a candidate, which may be itself."""
        region = replace(region, exchanging=self.exchanging)
        if time.monotonic() > self.deadline:
            message = "not looked at: the time for the file is over"
            self.remarks.append(
                Remark("missed", "budget.file", message, region.location, "allow more with --file-budget")
            )
            return
        region = replace(region, promised=self.promised)
        refusal = self.refused(region)
        if refusal is None:
            yield region
        elif region.stop - region.first > 1:
            yield from self.stretches(region)
        elif self.tu.openmp.of(region.items[0]) is not None:
            self.remarks.append(refusal)  # its threads are no place for others
        elif written_out(self.tu, region) is not None or in_lanes(self.tu, region, deep=False) is not None:
            yield replace(region, staged=True)
        else:
            if refusal.id != "region.openmp" or refusal.location.line not in self.told():
                self.remarks.append(refusal)
            for child in region.items[0].parts:
                for candidate in runs_in(self.tu, region.function, child):
                    yield from self.within(candidate)

    def fits_in_blocks(self, region: Region) -> bool:
        """Whether long stretches of straight code, taken as a whole, leave few statements."""
        shorter = with_whole_runs(tuple(region.items), scope_at(self.tu, region), {}, straight=True)
        return counted(*shorter) <= MAX_STATEMENTS

    def slows(self, region: Region, scop: Scop) -> bool:
        """Whether statements that the program runs in threads have no parallel loop here, or sums in vectors, by a
        reduction's clause, have to be computed in order."""
        loops = [*self.tu.openmp.below(region.items)]
        if not loops:
            return False
        free = updates_of(scop, Reorder.ALL if self.reassociate else Reorder.SAFE).keys()
        threads = _below(self.tu, scop, [loop for loop, said in loops if said.parallel]) - free
        vectors = _below(self.tu, scop, [loop for loop, said in loops if said.reduced and not said.parallel]) - free
        in_order = vectors & updates_of(scop, Reorder.ALL).keys()
        return bool(in_order) or (bool(threads) and without_gain(scop, threads) is not None)

    def told(self) -> Collection[int]:
        """The lines of pragmas of OpenMP that are told of already."""
        return {remark.location.line for remark in self.tu.openmp.remarks}

    def stretches(self, region: Region) -> Iterator[Region]:
        """Of several statements: each loop that can be extracted,
        joined with as many of its followers as go with it."""
        loops = [k for k in range(region.first, region.stop) if has_loop(region.parent.block_items[k])]
        number = 0
        while number < len(loops):
            single = self.part(region, loops[number], loops[number])
            if single is None or self.refused(single) is not None:
                if single is not None:
                    yield from self.within(single)
                number += 1
                continue
            last, longest = self.longest(region, loops, number, single)
            if any(is_counting(item) for item in longest.items):
                yield longest
            else:
                yield from self.within_branch(longest)
            number = last + 1

    def longest(self, region: Region, loops: list[int], first: int, single: Region) -> tuple[int, Region]:
        """The longest stretch from one of the loops on, and the number of its last loop."""
        items = region.parent.block_items
        sizes = [
            counted(items[loops[first] : loops[last] + 1])
            for last in range(first, min(len(loops), first + MAX_STATEMENTS))
        ]
        good, end, found, step = first, first + sum(size <= MAX_STATEMENTS for size in sizes), single, 4
        bad = end
        while bad - good > 1:
            # Most runs go together as a whole or hardly at all: growing steps find the end without trying all.
            middle = min(good + step, end - 1) if bad == end else (good + bad) // 2
            joined = self.part(region, loops[first], loops[middle])
            if joined is None or self.refused(joined) is not None:
                bad = middle
            else:
                good, found = middle, joined
            step *= 4
        return good, found

    def within_branch(self, region: Region) -> Iterator[Region]:
        """A branch around loops alone stays, so that what is asked inside is asked once:
        the loops in it are what may be replaced."""
        for item in region.items:
            for child in item.parts:
                for candidate in runs_in(self.tu, region.function, child):
                    yield from self.within(candidate)

    def part(self, region: Region, first: int, last: int) -> Region | None:
        found = region_of(self.tu, region.function, region.parent, first, last + 1)
        return replace(found, exchanging=self.exchanging, promised=self.promised) if found is not None else None

    def refused(self, region: Region) -> Remark | None:
        """Why a region can't be extracted; None if it can."""
        place = place_of(region)
        if place not in self.known:
            self.known[place] = self.obstacle(region)
        return self.known[place]

    def obstacle(self, region: Region) -> Remark | None:
        """The same, found out."""
        too_many = _too_many_statements(region.items)
        if too_large := _too_large(region.items):
            return _large(region, too_large)
        if too_many and not self.fits_in_blocks(region):
            return _large(region, too_many)
        if (seen := in_sight(self.tu, region)) is not None:
            return seen
        try:
            with operation_limit(MAX_OPERATIONS):
                scop, whole = extract_whole(self.tu, region, "candidate", assume_apart=self.assume_apart)
                serial = without_gain(scop, frozenset(whole)) if whole else None
                if serial is not None:
                    return whole[serial].remark
                blocks = frozenset(one.name for one in scop.statements if isinstance(one.body, ir.Compound))
                if too_many and without_gain(scop, blocks) is not None:
                    return _large(region, too_many)
                if self.slows(region, scop):
                    return sequential(region.location)
                self.scops[place_of(region)] = scop
                return None
        except Refusal as refusal:
            return refusal.remark
        except isl.Error:
            return Remark("missed", "budget.exceeded", "too complex to analyse", region.location, "split the function")


def without_gain(scop: Scop, statements: frozenset[str]) -> str | None:
    """The first of some statements that no loop around can run in parallel: taken apart, they may have more to offer.
    None without any."""
    deps = dependences(scop, updates=updates_of(scop, Reorder.SAFE))
    in_order = ordered(scop, deps)
    dependences_of = in_order.relaxed or in_order
    parallel: set[str] = set()
    for node in band_nodes(with_properties(scop, dependences_of, scop.schedule)):
        if any(node.band_member_get_coincident(k) for k in range(node.band_n_member())):
            parallel |= {part.get_tuple_name() for part in sets_of(node.get_domain())}
    if statements <= parallel:
        return None
    loops = source_loops(scop)
    for around in {own[:depth] for own in loops.values() for depth in range(1, len(own) + 1)}:
        inside = {name for name in statements if loops[name][: len(around)] == around}
        # what keeps a loop in order may stand behind it
        parallel |= inside - statements_in_order(scop, deps, around) if inside - parallel else set()
    return min(statements - parallel, default=None)


def _below(tu: TranslationUnit, scop: Scop, loops: Sequence[Any]) -> frozenset[str]:
    """The statements in some of a SCoP's loops; where the place of one isn't known, all."""
    places = [statement_extent(tu, loop) for loop in loops]
    raw = tu.preprocessed.raw
    lines = [range(raw.line(place[0]), raw.line(place[1] - 1) + 1) for place in places if place is not None]
    known = len(lines) == len(loops)
    found = (s.name for s in scop.statements if not known or any(s.location.line in each for each in lines))
    return frozenset(found)


def _large(region: Region, what: str) -> Remark:
    message = f"{what} are not taken together where nobody asks for it"
    return Remark("missed", "region.large", message, region.location, "mark the region, or split the loop")


def _too_many_statements(items: Sequence[Any]) -> str:
    """How many statements there are, where these are more than are taken one by one; else empty."""
    if (statements := counted(items)) <= MAX_STATEMENTS:
        return ""
    return f"{statements} statements ({SET_VARIABLES} that set variables count as one), more than {MAX_STATEMENTS},"


def _too_large(items: Sequence[Any]) -> str:
    """What there is more of than can be taken; empty if all is well."""
    nodes, deepest, todo = 0, 0, [(item, 0) for item in items]
    while todo:
        node, depth = todo.pop()
        depth += isinstance(node, ir.For)
        nodes, deepest = nodes + 1, max(deepest, depth)
        todo += [(child, depth) for child in node.parts]
    if deepest > MAX_DEPTH:
        return f"{deepest} loops in one another, more than {MAX_DEPTH},"
    return f"statements of {nodes} operators and operands, more than {MAX_NODES}," if nodes > MAX_NODES else ""
