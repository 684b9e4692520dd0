"""What becomes of a band: mechanisms are asked for claims, and the best claim is taken.

What the user fixes restricts the claims: those that keep to pragmas come first, then those that keep to what an
influence tree hopes for, then those with tiles if the user gives sizes, then those of fewer cycles; between equals,
the one that was asked first. No mechanism is switched off in silence: the choice says what was given up for which wish.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scopt.ir.decisions import Alternative
from scopt.ir.marked_schedule import BandChoice, GivenUp
from scopt.ir.scop import LoopDirective
from scopt.scheduler.decisions.claims import Band, Claim, Mechanism, Reason
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.decisions.needs import needs
from scopt.scheduler.influence.honoured import wished_members

# What is asked of a band.
MECHANISM = "mechanism"


def decide(band: Band, mechanisms: Sequence[Mechanism], decider: Decider | None = None) -> tuple[Claim, BandChoice]:
    """The claim that is taken, and what is to be told of it. Some mechanism has to claim any band. decider: None: the
    model."""
    return arbitrate(band, [mechanism.claim(band) for mechanism in mechanisms], decider)


def arbitrate(
    band: Band, answers: Iterable[Claim | Reason], decider: Decider | None = None, question: str = MECHANISM
) -> tuple[Claim, BandChoice]:
    """The same from answers that are there."""
    listed = tuple(answers)
    claims = [one for one in listed if isinstance(one, Claim)]
    reasons = tuple((one.mechanism, one.why) for one in listed if isinstance(one, Reason))
    against = {one: broken(band, one, band.setting.loops) for one in claims}
    hopes = {one: broken(band, one, band.setting.hopes) for one in claims}
    sizes = bool(band.setting.options.tile_sizes)
    ranked = sorted(claims, key=lambda one: (len(against[one]), len(hopes[one]), sizes and not one.tiled, one.cycles))
    offered = [Alternative(_named(one, ranked), one.cycles) for one in ranked]
    position = decider.choose(question, band.names, offered) if decider is not None else 0
    taken, others = ranked[position], [*ranked[:position], *ranked[position + 1 :]]
    kept = (*against[taken], *hopes[taken])
    given_up = tuple(
        GivenUp(one.mechanism, one.cycles, tuple(wish for wish in broke if wish not in kept))
        for one in others
        if one.cycles < taken.cycles and (broke := (*against[one], *hopes[one]))
    )
    rest = tuple((one.mechanism, one.what, one.cycles) for one in others)
    needed = _needs(band, taken) if band.setting.options.explain else ()
    choice = BandChoice(
        band.names, taken.mechanism, taken.what, taken.cycles, rest, reasons, given_up, taken.notes, needed
    )
    return taken, choice


def _needs(band: Band, claim: Claim) -> tuple[tuple[str, float], ...]:
    vectors = claim.vectors is None or bool(claim.vectors) or bool(claim.lanes)
    return needs(band.work, min(claim.vectors or (), default=None), vectors=vectors, tiled=claim.tiled)


def _named(claim: Claim, claims: Sequence[Claim]) -> str:
    """A name for a claim that no other one has."""
    alike = [one for one in claims if one.mechanism == claim.mechanism]
    if len(alike) == 1:
        return claim.mechanism
    told = f"{claim.mechanism} {claim.what}"
    same = [one for one in alike if one.what == claim.what]
    return told if len(same) == 1 else f"{told} ({[one is claim for one in same].index(True) + 1})"


def broken(band: Band, claim: Claim, wishes: Sequence[LoopDirective]) -> tuple[str, ...]:
    """The wishes for loops of a band that a claim doesn't keep to.

    Of several loops that are to be parallel one is enough, since threads are forked once.
    """
    found = [str(one) for one in wishes if one.kind == "vector" and not _has_lanes(band, claim, one)]
    parallel = [one for one in wishes if one.kind == "parallel"]
    members = wished_members(band.setting.scop, band.node, parallel, "parallel")
    if members and not band.parallel_above and claim.parallel not in members:
        found += [str(one) for one in parallel if wished_members(band.setting.scop, band.node, (one,), "parallel")]
    return tuple(found)


def _has_lanes(band: Band, claim: Claim, wish: LoopDirective) -> bool:
    """Whether a claim makes the vector loop that is wished for; it may be decided later, or elsewhere."""
    if any(name in claim.lanes and claim.lanes[name] != iterator for name, iterator in wish.targets):
        return False
    members = wished_members(band.setting.scop, band.node, (wish,), "vector")
    return claim.vectors is None or set(members) <= claim.vectors
