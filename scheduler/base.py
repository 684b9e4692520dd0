"""What a scheduler is: a function from a SCoP and its dependences to a schedule tree. Schedulers are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import islpy as isl

from scopt.diagnostics import Remark
from scopt.model import Dependences, Scop
from scopt.options import Options


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleResult:
    """A schedule tree over the SCoP's domain, and what its scheduler has to say about it.

    Whatever the tree claims (permutable, coincident) is recomputed from the dependences by `scopt.scheduler.bands`.
    """

    tree: isl.Schedule
    remarks: tuple[Remark, ...] = ()


class Scheduler(Protocol):
    """Computes schedules. Stateless: everything comes with the call."""

    def schedule(self, scop: Scop, deps: Dependences, options: Options) -> ScheduleResult:
        """A schedule tree of single-valued, integer affine bands that covers `scop.domain`. May raise `isl.Error`."""
        ...
