"""What becomes of regions and of files: what a region's transformation hands on, and what `optimize` returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from scopt.astgen.allocation import Allocation
from scopt.astgen.splice import Piece
from scopt.diagnostics import Location, Remark
from scopt.tell.gains import Gain

if TYPE_CHECKING:
    from scopt.tell.view import RegionView


class Account(Struct, frozen=True, kw_only=True):
    """What is told of a region besides remarks; empty where it stayed as it was.

    schedule: the transformed schedule tree as isl prints it.
    proposal, final: the schedule tree before and after the band passes, as a document of a schedule file (see
      `scopt.schedule_file`; the final one can't be given to scopt).
    decisions: what was decided, as a document of a decision file (see `scopt.decision_file`); empty unless
      `Options.tell_decisions`.
    explanation: what was found and done, for people; empty unless `Options.explain` or `Options.print_after`.
    view: what a report shows of it; None unless `Options.report`.
    gains: what the loops of its first level got.
    """

    schedule: str = ""
    proposal: str = ""
    decisions: str = ""
    final: str = ""
    explanation: str = ""
    view: RegionView | None = None
    gains: tuple[Gain, ...] = ()

    def told(self) -> dict[str, Any]:
        """The fields above by their names, for another object that has them."""
        return {name: getattr(self, name) for name in Account.__struct_fields__}


class Outcome(Account, frozen=True):
    """What a region's transformation hands on. text is None if it stays as it was; then a `missed` remark says why.

    helpers: helper functions that the text calls, by name. definitions: of other functions that it calls.
    allocations: memory that it needs. seconds: per stage.
    error: what is wrong with something that the user gave for this region, such as a schedule. It ends the run;
      nothing is written.
    guard: C expression that has to hold where the region begins, so that the text may run in place of the original;
      empty if it always may.
    prologue: declarations that text, guard and allocations need.
    epilogue: statements that have to run behind the text.
    exchanging: it stays as it was, since pointers that its iterations exchange keep its loops from gaining anything as
      a whole.
    idle: loops that are executed as a whole are deeper than all that threads or vectors have.
    jammed: rows of some loop run together.
    baked: macros that the text is only right for with these values, beside those of the region.
    """

    text: str | None
    helpers: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    remarks: tuple[Remark, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""
    guard: str = ""
    prologue: tuple[str, ...] = ()
    epilogue: tuple[str, ...] = ()
    exchanging: bool = False
    idle: bool = False
    jammed: bool = False
    baked: Mapping[str, int] = {}

    @property
    def in_threads(self) -> bool:
        """Whether threads share loops."""
        return "#pragma omp parallel" in (self.text or "")


class RegionResult(Account, frozen=True):
    """What became of one region.

    marked: by pragmas, as opposed to found. part: found in a marked region that can't be taken as a whole. function:
      the C function that it is in.
    seconds: wall time of the region as a whole; stages: of its parts.
    """

    location: Location
    marked: bool
    transformed: bool
    part: bool = False
    remarks: tuple[Remark, ...] = ()
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    function: str = ""


class Result(Struct, frozen=True):
    """The output of `optimize`.

    text: the whole file; bytes outside transformed regions are those of the input. remarks: all, in order of discovery.
    timings: seconds by stage: parse, each region (by location), total. pieces: which bytes of the source became which
      of the text; all others are the same in both.
    """

    text: bytes
    remarks: tuple[Remark, ...]
    regions: tuple[RegionResult, ...]
    timings: dict[str, float]
    pieces: tuple[Piece, ...] = ()

    @property
    def schedules(self) -> tuple[str, ...]:
        """The schedule trees of the transformed regions, as isl prints them."""
        return tuple(region.schedule for region in self.regions if region.transformed)
