"""A source optimized as the arguments ask: what is written of it, and what is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from scopt.diagnostics import InputError, Location, Remark
from scopt.options import Options

if TYPE_CHECKING:
    from scopt.tell.results import RegionResult, Result


class Outcome(Struct, frozen=True):
    """What is written and told. refused: a marked region stayed as it was. explanation: empty unless asked for.
    result: all that is known."""

    text: bytes
    result: Result
    refused: bool = False
    explanation: str = ""


def outcome_of(source: bytes, options: Options, name: str, emit: str) -> Outcome:
    """Transform the source, which messages call `name`; emit: as `--emit`. A fault of scopt itself,
    outside of any region, costs nobody their file: it goes through unchanged. Raises InputError."""
    # isl takes a while to load: --help and --version do without
    from scopt.pipeline import optimize
    from scopt.tell.results import Result

    try:
        result = optimize(source, options, file=name)
    except InputError:
        raise
    except Exception as error:
        remark = Remark(
            "missed",
            "internal.error",
            f"internal error, the file is left as it was: {type(error).__name__}: {error}",
            Location(name, 1),
            "please report this with the input",
        )
        return Outcome(source if emit == "c" else b"", Result(source, (remark,), (), {}), refused=True)
    refused = any(region.marked and not region.transformed for region in result.regions)
    text = result.text if emit == "c" else _documents(result.regions, emit)
    told = options.explain or options.print_after
    explanation = "\n".join(_explanation(region) for region in result.regions) if told else ""
    return Outcome(text, result, refused, explanation)


def _documents(regions: Iterable[RegionResult], emit: str) -> bytes:
    """A file of schedules or of decisions with a document for each region that can be given one; an empty one for a
    region that stays as it was."""
    from scopt.decision_file import nothing_decided
    from scopt.schedule_file import document

    def text(region: RegionResult) -> str:
        if emit == "decisions":
            return region.decisions or nothing_decided(region.location)
        return (region.final if emit == "schedule-final" else region.proposal) or document(region.location, "")

    return "".join(text(region) for region in regions if not region.part).encode()


def _explanation(region: RegionResult) -> str:
    """What was found and done in one region, or why nothing was."""
    if region.transformed:
        return region.explanation
    reasons = [f"\n  {remark.location}: {remark.message}" for remark in region.remarks if remark.kind == "missed"]
    return f"{region.location}: left as it was:{''.join(reasons)}\n"
