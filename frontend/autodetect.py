"""Maximal SCoPs without pragmas.

Of each run of loops: the longest stretches that can be extracted, and inside loops that can't be, the loops within.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import islpy as isl
from pycparser import c_ast

from scopt.diagnostics import Refusal, Remark
from scopt.frontend.dependences import dependences
from scopt.frontend.extract import extract_whole
from scopt.frontend.parse import TranslationUnit
from scopt.frontend.placement import misplaced, with_directives
from scopt.frontend.regions import Region, find_autodetected, region_of
from scopt.isl_utils import operation_limit, sets_of
from scopt.model import Scop
from scopt.scheduler.bands import band_nodes, ordered, with_properties

# isl's elementary operations for one extraction: what needs more is no candidate.
MAX_OPERATIONS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Detected:
    """regions: unmarked regions that can be extracted, in the order of the file. remarks: why loops around or beside them can't be, and on
    ``#pragma scopt`` that belong neither to them nor to marked regions."""

    regions: tuple[Region, ...]
    remarks: tuple[Remark, ...]


def detect(tu: TranslationUnit, *, assume_apart: bool = False) -> Detected:
    """All maximal SCoPs outside marked regions. assume_apart: as in `extract`.

    Raises InputError where a ``#pragma scopt`` asks for what can't be meant.
    """
    search = _Search(tu, [], assume_apart)
    regions = tuple(region for candidate in find_autodetected(tu) for region in search.within(candidate))
    regions = tuple(with_directives(region, tu.directives, tu.file) for region in regions)
    return Detected(regions, (*search.remarks, *misplaced(tu.directives, (*tu.regions, *regions))))


@dataclass(frozen=True, slots=True)
class _Search:
    tu: TranslationUnit
    remarks: list[Remark]
    assume_apart: bool = False

    def within(self, region: Region) -> Iterator[Region]:
        """The maximal SCoPs of a candidate, which may be itself."""
        refusal = self.refused(region)
        if refusal is None:
            yield region
        elif region.stop - region.first > 1:
            yield from self.stretches(region)
        else:
            self.remarks.append(refusal)
            yield from self.inside(region, region.items[0])

    def stretches(self, region: Region) -> Iterator[Region]:
        """Of several statements: each loop that can be extracted, joined with as many of its followers as go with it."""
        position = region.first
        while position < region.stop:
            single = self.region(region, region.parent, position, position + 1)
            if not isinstance(region.parent.block_items[position], c_ast.For) or single is None:
                position += 1
                continue
            if (refusal := self.refused(single)) is not None:
                self.remarks.append(refusal)
                yield from self.inside(single, single.items[0])
                position += 1
                continue
            longest, stop = single, position + 1
            for end in range(position + 2, region.stop + 1):
                joined = self.region(region, region.parent, position, end)
                if joined is None or self.refused(joined) is not None:
                    break
                if isinstance(region.parent.block_items[end - 1], c_ast.For):
                    longest, stop = joined, end
            yield longest
            position = stop

    def inside(self, region: Region, node: Any) -> Iterator[Region]:
        """The SCoPs inside a loop that is none itself."""
        for _, child in node.children():
            if isinstance(child, c_ast.Compound):
                yield from self.runs(region, child)
            elif isinstance(child, c_ast.For):
                continue  # a loop that is another's whole body has no compound to be replaced in
            else:
                yield from self.inside(region, child)

    def runs(self, region: Region, compound: c_ast.Compound) -> Iterator[Region]:
        """Runs of loops among the items of a compound statement."""
        items = compound.block_items or []
        position = 0
        while position < len(items):
            if not isinstance(items[position], c_ast.For):
                search = self.runs if isinstance(items[position], c_ast.Compound) else self.inside
                yield from search(region, items[position])
                position += 1
                continue
            stop = position + 1
            while stop < len(items) and isinstance(items[stop], c_ast.For):
                stop += 1
            candidate = self.region(region, compound, position, stop)
            if candidate is not None:
                yield from self.within(candidate)
            position = stop

    def region(self, region: Region, parent: c_ast.Compound, first: int, stop: int) -> Region | None:
        return region_of(self.tu, region.function, parent, first, stop)

    def refused(self, region: Region) -> Remark | None:
        """Why a region can't be extracted; None if it can."""
        try:
            with operation_limit(MAX_OPERATIONS):
                scop, whole = extract_whole(self.tu, region, "candidate", assume_apart=self.assume_apart)
                serial = without_gain(scop, frozenset(whole)) if whole else None
                return whole[serial].remark if serial is not None else None
        except Refusal as refusal:
            return refusal.remark
        except isl.Error:
            return Remark("missed", "budget.exceeded", "too complex to analyse", region.location, "split the function")


def without_gain(scop: Scop, statements: frozenset[str]) -> str | None:
    """The first of some statements that no loop around can run in parallel: taken apart, they may have more to offer. None without any."""
    dependences_of = ordered(scop, dependences(scop))
    parallel: set[str] = set()
    for node in band_nodes(with_properties(scop, dependences_of, scop.schedule)):
        if any(node.band_member_get_coincident(k) for k in range(node.band_n_member())):
            parallel |= {part.get_tuple_name() for part in sets_of(node.get_domain())}
    return min(statements - parallel, default=None)
