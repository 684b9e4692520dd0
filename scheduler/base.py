"""What a scheduler is: a function from a SCoP and its dependences to a schedule tree. Schedulers are untrusted."""

from __future__ import annotations

from typing import Protocol

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import Remark
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.scheduler.influence.influence_tree import InfluenceNode, InfluenceTree

# What a scheduler says that gives up, by a TimeoutError.
UNSCHEDULED = "its schedule takes too long"


class ScheduleResult(Struct, frozen=True, eq=False):
    """A schedule tree over the SCoP's domain, and what its scheduler has to say about it.

    Whatever the tree claims (permutable, coincident) is recomputed from the dependences by `scopt.poly.bands`.
    scenario: the nodes of the influence constraint tree that the schedule follows, from dimension 0 on; none if there
    are none, or not all of them could be followed.
    """

    tree: isl.Schedule
    remarks: tuple[Remark, ...] = ()
    scenario: tuple[InfluenceNode, ...] = ()


class Scheduler(Protocol):
    """Computes schedules. Stateless: everything comes with the call."""

    def schedule(
        self, scop: Scop, deps: Dependences, options: Options, influence: InfluenceTree | None = None
    ) -> ScheduleResult:
        """A schedule tree of single-valued, integer affine bands that covers `scop.domain`. May raise `isl.Error` or
        `ScoptError`.

        influence: scenarios to prefer; a scheduler that can't be influenced ignores them (see
          `scopt.scheduler.takes_influence`).
        """
        ...
