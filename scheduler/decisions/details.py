"""The details of what becomes of a band, as questions: of plain loops which one is innermost, which one threads share,
in which order the others stand and which are tiled; of all that has tiles, how large they are.

The model answers them in one go (`Planner.planned`), which takes no longer than it must. Here they are taken apart for
those who want to answer some themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations

import islpy as isl
from msgspec.structs import replace

from scopt.ir.decisions import Alternative
from scopt.poly.isl_utils import sets_of
from scopt.scheduler.decisions.claim_diagonals import DiagonalVectors
from scopt.scheduler.decisions.claim_jam import JammedRows
from scopt.scheduler.decisions.claim_loops import PlainLoops, thread_member
from scopt.scheduler.decisions.claim_register_tiles import RegisterTiles
from scopt.scheduler.decisions.claim_wavefronts import Wavefronts
from scopt.scheduler.decisions.claims import Band, Claim, Mechanism
from scopt.scheduler.decisions.decider import Decider
from scopt.scheduler.decisions.leaf_facts import LeafFacts
from scopt.scheduler.decisions.leaf_plan import LeafPlan
from scopt.scheduler.decisions.strip_references import row_iterator

INNERMOST, PARALLEL, ORDER, TILES, SIZES = "innermost loop", "parallel loop", "other loops", "tiles", "tile size"
NONE, OWN = "none", "own"
# Of tiles.
_SIZES = (8, 16, 32, 64, 128, 256)
# Loops whose order is asked for, at most: of more there are too many orders.
_ORDERED = 3
_WITH_TILES: tuple[Mechanism, ...] = (RegisterTiles(), JammedRows(), DiagonalVectors(), Wavefronts())
# Which loops are tiled, in words: all but the innermost one, that one.
_TILED = {(False, False): NONE, (True, False): "outer", (False, True): "innermost", (True, True): "all"}


def detailed(band: Band, claim: Claim, decider: Decider) -> Claim:
    """The claim that was taken for a band, with its details decided."""
    if claim.mechanism == PlainLoops.name:
        plan = _plan(band, decider)
        if plan.tile or plan.tile_vector:
            band = _sized(band, decider)
        return PlainLoops().of_plan(band, plan)
    mechanism = next((one for one in _WITH_TILES if one.name == claim.mechanism), None)
    if mechanism is None:
        return claim
    sized = mechanism.claim(_sized(band, decider))
    return sized if isinstance(sized, Claim) else claim


def _sized(band: Band, decider: Decider) -> Band:
    """The band with tiles of the size that is taken along each loop."""
    if band.setting.options.tile_sizes:
        return band
    names = (OWN, *map(str, _SIZES))
    taken = decider.choose(SIZES, band.names, [Alternative(name) for name in names])
    if not taken:
        return band
    options = replace(band.setting.options, tile_sizes=(_SIZES[taken - 1],))
    return replace(band, setting=replace(band.setting, options=options))


def _plan(band: Band, decider: Decider) -> LeafPlan:
    """Of plain loops."""
    planner, above, names = band.setting.planner, band.parallel_above, _names(band)

    def planned(facts: LeafFacts) -> LeafPlan:
        return planner.planned(facts, above, waves=False)

    def cycles(plan: LeafPlan) -> float:
        return PlainLoops().of_plan(band, plan).cycles

    def pick(question: str, plans: Mapping[str, LeafPlan], best: str) -> str:
        offered = [Alternative(name, cycles(plan)) for name, plan in plans.items()]
        return [*plans][decider.choose(question, band.names, offered, [*plans].index(best))]

    ways = {names[k]: planner.along(band.facts, band.node, k) for k in range(band.width)}
    innermost = pick(INNERMOST, {name: planned(facts) for name, facts in ways.items()}, names[band.facts.vector])
    facts = ways[innermost]
    plan = planned(facts)
    if not above and plan.parallel is not None:
        shared = _threads(band, facts, plan, planned)
        best = names[thread_member(band, plan)]
        plans = {names[k]: one for k, one in shared.items()} | {NONE: planner.planned(facts, True, waves=False)}
        plan = plans[pick(PARALLEL, plans, best)]
    orders = _orders(facts, plan)
    told = {", ".join(names[k] for k in order): _in_order(facts, plan, order) for order in orders}
    plan = told[pick(ORDER, told, next(iter(told)))]
    return _tiled(band, plan, pick)


def _threads(
    band: Band, facts: LeafFacts, plan: LeafPlan, planned: Callable[[LeafFacts], LeafPlan]
) -> dict[int, LeafPlan]:
    """Plans by the member that threads share."""
    own = thread_member(band, plan)
    others = [k for k in band.coincident if k != own] if not plan.threads else []
    found = {own: plan} | {k: planned(replace(facts, threads=k)) for k in others}
    return {k: found[k] for k in sorted(found) if thread_member(band, found[k]) == k}


def _orders(facts: LeafFacts, plan: LeafPlan) -> list[tuple[int, ...]]:
    """Orders of all members, the plan's first: the innermost one stays, and so does one that threads share."""
    fixed = 1 if plan.parallel == 0 and plan.order[0] != facts.vector and len(plan.order) > 1 else 0
    first, free, last = plan.order[:fixed], plan.order[fixed:-1], plan.order[-1:]
    if not 2 <= len(free) <= _ORDERED:
        return [plan.order]
    return [plan.order, *((*first, *one, *last) for one in permutations(free) if one != free)]


def _in_order(facts: LeafFacts, plan: LeafPlan, order: tuple[int, ...]) -> LeafPlan:
    return replace(plan, order=order, slopes=tuple(facts.slopes[k] for k in order))


def _tiled(band: Band, plan: LeafPlan, pick: Callable[[str, Mapping[str, LeafPlan], str], str]) -> LeafPlan:
    """With tiles of some loops, or without."""
    if not band.setting.options.tile or band.width < 2:
        return plan
    last = plan.order[-1]
    own = plan.tile, plan.tile_vector
    ways = [*_TILED] if not band.facts.carried[last] else [(False, False), (True, False)]
    if plan.parallel is not None:
        whole = thread_member(band, plan) == last  # its tile loop is the one that threads share
        ways = [(tile, vector) for tile, vector in ways if (vector if whole else tile or not vector)]
    found = {_TILED[way]: replace(plan, tile=way[0], tile_vector=way[1]) for way in dict.fromkeys((own, *ways))}
    return found[pick(TILES, found, _TILED[own])]


def _names(band: Band) -> list[str]:
    """Of the members of a band: the iterators that they are of its first statement, else ``loop 1`` …."""
    parts = sorted(sets_of(band.node.get_domain()), key=lambda part: str(part.get_tuple_name()))
    found = [_name(band, parts[0], k) if parts else "" for k in range(band.width)]
    return [name if name and found.count(name) == 1 else f"loop {k + 1}" for k, name in enumerate(found)]


def _name(band: Band, part: isl.Set, member: int) -> str:
    row = row_iterator(band.node.band_get_partial_schedule().get_at(member), part)
    statement = band.setting.scop.statement(str(part.get_tuple_name()))
    return statement.iterators[row[0]] if row is not None else ""
