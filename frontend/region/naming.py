"""Unmarked regions whose integer macros keep their names.

Where such regions begin is only known after the file was parsed with its macros expanded. Then it is read again, with
the macros undefined inside the regions, as it is at once with marked ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import InputError, Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.origins import choosing_macros
from scopt.frontend.region.parse import parse
from scopt.frontend.region.placement import with_directives
from scopt.frontend.region.short_loops import LONG_LOOP, short_macros, telling_macros, with_number
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import Directives
from scopt.frontend.text.macros import reachable_words
from scopt.frontend.text.preprocessed import RegionMacros
from scopt.ir.scop import Scop
from scopt.ir.walks import walk
from scopt.options import Options
from scopt.poly.isl_utils import operation_limit

# Macros of a region among which the one is looked for whose value has to be known.
MAX_NAMES = 6


class Placed(Struct, frozen=True, eq=False):
    """A region and the translation unit that it's a part of. expanded: the same one with the values of its integer
    macros in place of names. scop: what was extracted of it, if that was done before."""

    tu: TranslationUnit
    region: Region
    expanded: Placed | None = None
    scop: Scop | None = None


def with_names(
    tu: TranslationUnit,
    regions: Sequence[Region],
    options: Options,
    extracted: Callable[[Region], Scop | None] = lambda region: None,
) -> list[Placed]:
    """The unmarked regions of a translation unit, in which integer macros are identifiers where they can be. extracted:
    what is known of one without names."""
    asked = [region for region in regions if region.baked and not region.directives]
    named = _parsed_again(tu, asked, options) if asked else None
    if named is None:
        return [Placed(tu, region, scop=extracted(region)) for region in regions]
    found = {macros.start: macros for macros in named.preprocessed.regions if not macros.marked}
    finder = _Counterparts(tu, named, options.eager)
    return [_placed(Placed(tu, one, scop=extracted(one)), found.get(one.start), finder) for one in regions]


def _parsed_again(tu: TranslationUnit, regions: Sequence[Region], options: Options) -> TranslationUnit | None:
    try:
        return parse(tu.source, tu.file, options, unmarked=[(region.start, region.end) for region in regions])
    except InputError:
        return None  # the file is C: then it's a use of macros that nobody has thought of


def _placed(placed: Placed, macros: RegionMacros | None, finder: _Counterparts) -> Placed:
    tu, region = placed.tu, placed.region
    if macros is None:
        return placed
    # A macro may have another value at the end of the file.
    expanded = replace(placed, region=replace(region, baked={**macros.baked, **macros.symbolic}))
    counterpart = finder.of(region) if macros.symbolic else None
    if counterpart is None or choosing_macros(tu, region) & reachable_words(macros.symbolic, macros.defined):
        return expanded
    short = short_macros(counterpart, macros.symbolic, macros.types, LONG_LOOP) if not finder.eager else []
    short += [name for name in telling_macros(counterpart, macros.symbolic, macros.types) if name not in short]
    for name in short:
        counterpart = with_number(counterpart, name, macros.symbolic[name])
    if short and len(short) == len(macros.symbolic):
        return expanded
    symbolic = {name: value for name, value in macros.symbolic.items() if name not in short}
    baked = {**macros.baked, **{name: macros.symbolic[name] for name in short}}
    counterpart = replace(counterpart, symbolic=symbolic, baked=baked, types=macros.types, beside=region.beside)
    return Placed(finder.named, with_directives(counterpart, finder.named.directives, finder.named.file), expanded)


# --- values in place of names -----------------------------------------------------------------------------------------


def with_value(placed: Placed, options: Options) -> Placed | None:
    """The region with the value of one of its macros in the place of the name,
    if that is all it takes for it to be a SCoP."""
    region = placed.region
    if not 1 < len(region.symbolic) <= MAX_NAMES or _scop(placed.tu, region, options) is not None:
        return None
    for name, value in region.symbolic.items():
        if name in region.types or value < 0:
            continue  # these values are no plain literals
        symbolic = {other: hint for other, hint in region.symbolic.items() if other != name}
        chosen = replace(with_number(region, name, value), symbolic=symbolic, baked={**region.baked, name: value})
        scop = _scop(placed.tu, replace(chosen, pragmas=Directives()), options)
        if scop is not None:
            return replace(placed, region=chosen, scop=None if chosen.pragmas.used else scop)
    return None


def _scop(tu: TranslationUnit, region: Region, options: Options) -> Scop | None:
    try:
        from scopt.frontend.region.autodetect import MAX_OPERATIONS  # loaded by then: it has found the regions

        with operation_limit(MAX_OPERATIONS):
            return extract(tu, region, "candidate", assume_apart=options.assume_apart)
    except (Refusal, isl.Error):
        return None


# --- the second tree --------------------------------------------------------------------------------------------------


class _Counterparts:
    """Finds regions in a second tree of the same file, in which only expressions differ."""

    def __init__(self, tu: TranslationUnit, named: TranslationUnit, eager: bool) -> None:
        self.tu, self.named, self.eager = tu, named, eager
        self.functions = {function: position for position, function in enumerate(tu.user_functions)}
        self.compounds: dict[Any, list[Any]] = {}

    def of(self, region: Region) -> Region | None:
        """The region, without its directives, in the second tree; None if that isn't like the first one."""
        if len(self.tu.user_functions) != len(self.named.user_functions):
            return None
        function = self.named.user_functions[self.functions[region.function]]
        ours, theirs = self.listed(region.function), self.listed(function)
        position = next((k for k, compound in enumerate(ours) if compound is region.parent), None)
        if position is None or len(ours) != len(theirs) or function.decl.name != region.function.decl.name:
            return None
        parent = theirs[position]
        items = tuple((parent.block_items or ())[region.first : region.stop])
        if [_like(item) for item in items] != [_like(item) for item in region.items]:
            return None
        return replace(region, function=function, parent=parent, items=items, pragmas=Directives())

    def listed(self, function: Any) -> list[Any]:
        if function not in self.compounds:
            self.compounds[function] = list(_compounds(function.body))
        return self.compounds[function]


def _like(item: Any) -> tuple[type, str, int]:
    return type(item), item.coord.file, item.coord.line


def _compounds(root: Any) -> Iterator[Any]:
    """The compound statements in the order of the text."""
    return (node for node in walk(root) if isinstance(node, ir.Compound))
