"""What a user gives for regions, besides options."""

from __future__ import annotations

from msgspec import Struct

from scopt.decision_file import DecisionDocument
from scopt.ir.scop import Scop
from scopt.schedule_file import ScheduleDocument


class Wanted(Struct, frozen=True):
    """What the user gives for one region: its schedule, decisions about it. scop: what was extracted of it before.
    whole: it isn't taken apart, however large it is."""

    schedule: ScheduleDocument | None = None
    decisions: DecisionDocument | None = None
    scop: Scop | None = None
    whole: bool = False

    @property
    def some(self) -> bool:
        return self.schedule is not None or self.decisions is not None
