"""Regions with what has become of them, and what else may be tried with those that were left."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import Remark
from scopt.frontend.syntax.unit import Region
from scopt.large_regions import LARGE
from scopt.region_texts import Texts
from scopt.tell.results import Outcome

# Why regions stay as they are that could be transformed, whether macros have their names or their values.
_NOT_WANTED = frozenset(
    {"region.no-gain", "region.tiny", "region.library", "region.cold", "region.static-macro", "region.own-malloc"}
    | {"budget.file"}
)
# Why nothing is looked for in them either, and why values would only take longer.
_LATE = "budget.exceeded"
_NO_PARTS = frozenset({_LATE, LARGE, "internal.error", "region.static-macro"})


class Done(Struct, frozen=True, eq=False):
    """A region, what became of it, and how long it took.
    macros: integer macros that the text depends on, with their values. versions: what became of it for some values of
    a variable, by the conditions under which it has these."""

    region: Region
    outcome: Outcome
    seconds: float
    macros: Mapping[str, int] = field(default_factory=dict)
    versions: tuple[tuple[str, Outcome], ...] = ()

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All that its text consists of."""
        return (self.outcome, *(outcome for _, outcome in self.versions))

    @property
    def texts(self) -> Texts:
        """What takes the region's place."""
        return Texts(self.region, self.macros, (("", self.outcome), *reversed(self.versions)))


def macros_in_the_way(item: Done) -> bool:
    """Whether a region was refused although it might not be with its macros' values in place of their names: an
    unmarked one was found with them."""
    if item.outcome.text is not None or not item.region.symbolic:
        return False
    if item.outcome.exchanging:
        return False  # its loops are taken apart
    reasons = [remark.id for remark in item.outcome.remarks if remark.kind == "missed"]
    if item.region.marked:
        return any(reason.startswith(("affine.", "loop.", "decl.")) for reason in reasons)
    return not any(reason in _NOT_WANTED or reason in (_LATE, LARGE) for reason in reasons)


def is_slow(item: Done) -> bool:
    """Whether there was too little time for a region, which is nobody's wish as a whole."""
    reasons = {remark.id for remark in item.outcome.remarks if remark.kind == "missed"}
    return item.outcome.text is None and not reasons.isdisjoint((_LATE, LARGE)) and not item.region.pragmas.used


def is_large(item: Done) -> bool:
    """Whether a slow region has taken next to none of its time."""
    return LARGE in {remark.id for remark in item.outcome.remarks}


def is_idle(item: Done) -> bool:
    """Whether a marked region may gain less as a whole than its parts do: it is left, mostly, or goes in stages."""
    left = item.outcome.text is None and "region.no-gain" in {remark.id for remark in item.outcome.remarks}
    return (item.outcome.idle or left) and item.region.marked and not item.region.pragmas.used


def in_parts(item: Done) -> Done:
    """The region as it was, but for parts of it."""
    message = (
        "as a whole, its innermost loops would be neither parallel nor vector loops: only loops inside are transformed"
    )
    hint = "give these bounds that don't change"
    if any(one.id == "statement.stages" for one in item.outcome.remarks):
        message, hint = "some loops go in stages: the region's parts are transformed by themselves", ""
    remark = Remark("missed", "region.no-gain", message, item.region.location, hint)
    why = (one for one in item.outcome.remarks if one.id in ("statement.opaque", "statement.stages"))
    return replace(item, outcome=Outcome(None, remarks=(*why, remark), seconds=item.outcome.seconds))


def has_parts(item: Done) -> bool:
    """Whether a region is a marked one that is no SCoP; with the user's wishes, as a whole or not at all."""
    reasons = {remark.id for remark in item.outcome.remarks if remark.kind == "missed"}
    wished = item.region.pragmas.used or not item.region.marked
    return item.outcome.text is None and not (wished or reasons & (_NOT_WANTED | _NO_PARTS))


def left_again(item: Done, why: str) -> Done:
    """The region as it was."""
    message = f"left as it was, an internal check failed: {why}"
    remark = Remark("missed", "internal.error", message, item.region.location, "please report this")
    return replace(item, outcome=Outcome(None, remarks=(remark,), seconds=item.outcome.seconds))
