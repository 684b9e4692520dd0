"""isl's own scheduler: the Pluto-like algorithm with Feautrier's as its fallback, as isl implements it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.options import Options
from scopt.poly.isl_utils import union_of_maps
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.influence.influence_tree import InfluenceTree


class IslScheduler(Struct, frozen=True):
    """isl_schedule_constraints_compute_schedule.

    serialize_sccs: keep strongly connected components of the dependence graph in loops of their own (minimal fusion).
    outer_coincidence: look for parallel outer loops first.
    """

    serialize_sccs: bool = True
    outer_coincidence: bool = False

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        flow = union_of_maps(d.relation for d in deps.select("flow") if not scop.arrays[d.array].private)
        false = union_of_maps(d.relation for d in deps.select("anti", "output") if not scop.arrays[d.array].private)
        live_ranges = [d for d in deps.select("flow") if scop.arrays[d.array].private]
        reuse = [d for d in deps.select("anti", "output") if scop.arrays[d.array].private]
        ranges = union_of_maps(d.relation for d in live_ranges)
        # isl's conditional validity: pairs of live ranges only need an order
        # where the ranges are not local to an iteration.
        constraints = (
            isl.ScheduleConstraints.on_domain(scop.domain)
            .set_context(scop.context)
            .set_validity(flow.union(false).union(ranges))
            .set_coincidence(flow.union(false).union(ranges))
            .set_proximity(flow.union(false).union(ranges))
            .set_conditional_validity(
                union_of_maps(_tagged(d) for d in live_ranges), union_of_maps(_tagged(d) for d in reuse)
            )
        )
        with _options(scop.context.get_ctx(), self.serialize_sccs, self.outer_coincidence):
            return ScheduleResult(constraints.compute_schedule())


def _tagged(dependence: Dependence) -> isl.Map:
    """``{ [S[i] -> t[]] -> [T[j] -> t[]] }``: only pairs over the same array are adjacent for isl."""
    tag = isl.Map(f"{{ {dependence.array}[] -> {dependence.array}[] }}")
    return dependence.relation.product(tag)


@contextmanager
def _options(context: isl.Context, serialize: bool, outer: bool) -> Iterator[None]:
    """isl's scheduler options are global to its context: set them for one call."""
    wanted = {
        "schedule_serialize_sccs": int(serialize),
        "schedule_outer_coincidence": int(outer),
        "schedule_maximize_band_depth": 1,
    }
    before = {name: getattr(context, f"get_{name}")() for name in wanted}
    try:
        for name, value in wanted.items():
            getattr(context, f"set_{name}")(value)
        yield
    finally:
        for name, value in before.items():
            getattr(context, f"set_{name}")(value)
