"""Regions read once more, with the values of macros that stand in the way."""

from __future__ import annotations

from collections.abc import Mapping

from scopt.frontend.region.naming import Placed, with_value
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.options import Options
from scopt.tell.results import Outcome


def with_expanded_macros(tu: TranslationUnit, regions: Mapping[int, Placed], options: Options) -> dict[int, Placed]:
    """Some regions with one of their integer macros expanded, or all;
    the printed text is then guarded by the macros' values."""
    found = {number: with_value(placed, options) for number, placed in regions.items()}
    marked: dict[int, Placed] = {}
    if any(placed.region.marked and found[number] is None for number, placed in regions.items()):
        expanded = parse(tu.source, tu.file, options, symbolic=False)
        marked = {region.start: Placed(expanded, region) for region in expanded.regions}
    found = {
        number: found[number] or marked.get(placed.region.start, placed.expanded) for number, placed in regions.items()
    }
    return {number: placed for number, placed in found.items() if placed is not None}


def says_more(region: Region, retried: Outcome) -> bool:
    """Whether what became of a region with its macros expanded counts, rather than what was said before. An unmarked
    one was found that way."""
    if region.marked:
        return retried.text is not None
    return all(remark.id != "budget.file" for remark in retried.remarks)
