"""What a user gives for regions, besides options."""

from __future__ import annotations

from msgspec import Struct

from scopt.decision_file import DecisionDocument
from scopt.ir.scop import Scop
from scopt.schedule_file import ScheduleDocument


class Wanted(Struct, frozen=True):
    """What the user gives for one region: its schedule, decisions about it. scop: what was extracted of it before.
    allowance: the budget by which it is judged to be too large as a whole; None: its own, 0: it isn't."""

    schedule: ScheduleDocument | None = None
    decisions: DecisionDocument | None = None
    scop: Scop | None = None
    allowance: float | None = None

    @property
    def some(self) -> bool:
        return self.schedule is not None or self.decisions is not None
