"""Texts that are made of the source's own, without a SCoP: nothing is scheduled, and each has a proof of its own."""

from __future__ import annotations

from scopt.attempts import internal_remark
from scopt.check.written_lanes import check_written_lanes
from scopt.check.written_stages import check_written_stages
from scopt.diagnostics import InternalError, Remark
from scopt.frontend.region.constant_stages import written_out
from scopt.frontend.region.sums_in_lanes import in_lanes
from scopt.frontend.syntax.symbols import scope_at
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.options import Options
from scopt.tell.results import Outcome

# Why regions stay as they were that may have sums in lanes all the same.
_WITHOUT_GAIN = frozenset({"region.no-gain", "region.tiny"})


def plain_text(tu: TranslationUnit, region: Region, options: Options) -> Outcome:
    """What becomes of a region that is no SCoP: a loop over constant stages as copies of its body, one with sums below
    each other with these in lanes."""
    lanes = _with_lanes(tu, region, options, deep=False)
    return lanes if lanes is not None else _with_stages(tu, region)


def with_lanes(tu: TranslationUnit, region: Region, options: Options, outcome: Outcome) -> Outcome:
    """The outcome; that of a region that nobody marked, and in which there is nothing to gain by other loops, with its
    sums in lanes, if it has some."""
    idle = outcome.text is None and any(one.id in _WITHOUT_GAIN for one in outcome.remarks)
    if not idle or region.marked or region.threads:
        return outcome
    found = _with_lanes(tu, region, options, deep=True)
    return found if found is not None and found.text is not None else outcome


def _with_lanes(tu: TranslationUnit, region: Region, options: Options, *, deep: bool) -> Outcome | None:
    found = in_lanes(tu, region, deep=deep) if options.simd else None
    if found is None:
        return None
    text, known = found
    scopes = {loop: types.scope for loop, types in known.items()}
    try:
        check_written_lanes(region.items, text, scopes, tu.typedefs)
    except InternalError as fault:
        return Outcome(None, remarks=(internal_remark(region, fault),))
    message = "transformed: sums that stand one below the other are lanes of vectors"
    return Outcome(text, remarks=(Remark("passed", "region.transformed", message, region.location),))


def _with_stages(tu: TranslationUnit, region: Region) -> Outcome:
    text = written_out(tu, region)
    if text is None:
        message = "the loop's stages are no plain numbers"
        hint = "write each stage as loops of its own"
        return Outcome(None, remarks=(Remark("missed", "loop.step", message, region.location, hint),))
    try:
        check_written_stages(region.items[0], text, scope_at(tu, region), tu.typedefs)
    except InternalError as fault:
        return Outcome(None, remarks=(internal_remark(region, fault),))
    message = "transformed: a loop over constant stages is written out"
    return Outcome(text, remarks=(Remark("passed", "region.transformed", message, region.location),))
