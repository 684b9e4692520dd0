"""The steps from a SCoP to its text, by name, and what each of them makes: for people who want to look."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.generation import REWRITES
from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.lower.strip_lowering import Buffered
from scopt.astgen.rewrite_setting import Watch
from scopt.astgen.transformed_program import Program
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.isl_utils import block_style
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.passes.band_passes import passes
from scopt.scheduler.passes.expansion import Expansion
from scopt.scheduler.passes.private_tables import Tabulated
from scopt.scheduler.passes.totals import Totals

T = TypeVar("T")

STEPS: tuple[tuple[str, str], ...] = (
    ("rewritten", "cells in place of scalars, arrays in place of others, where that makes contractions"),
    ("totals", "variables for what nests sum up in signed numbers, or in cells, so that threads can have copies"),
    ("own", "local arrays in place of those that iterations share as memory alone, so that threads can share these"),
    ("tables", "tables for what data say where to add, so that threads can have copies"),
    ("work", "cells of each line's own in place of work arrays that lines alone share"),
    ("rolled", "cells of each row's own for what dynamic programs hand on, whose rows take each other's place"),
    ("carrying", "scalars for what rows carry from one iteration to the next, where rows are independent"),
    ("schedule", "the scheduler's tree, or the user's"),
    *((one.name, one.what) for one in passes(Options())),
    ("strips-and-panels", "the tree with statements that use buffers, and copies"),
    ("register-tiles", "the tree with packed operands and steps of kernels"),
    ("loops", "the loops of the tree"),
    *((rewrite.name, rewrite.what) for rewrite in REWRITES),
    ("guard", "the test in front of the region"),
    ("print", "the C text, and the functions in front of it"),
)
"""All steps in their order, each with one line about it; the proof (`scopt.check.program`) comes after the last one."""


class Shown(Watch, Struct):
    """Keeps what one step makes, as text. A region that is tried in several forms has the last one's."""

    step: str
    text: str = ""
    scop: Scop | None = None
    sees: ClassVar[bool] = True

    def __call__(self, step: str, made: T) -> T:
        if isinstance(made, Lowered):
            self.scop = made.scop
        if step == self.step and made is not None:
            self.text = f"{_text(made, self.scop).rstrip()}\n"
        return made


def _text(made: Any, scop: Scop | None) -> str:
    """made: of any step. scop: has the statements of a nest."""
    match made:
        case Program():
            return emit(made.scop, made.nest).text
        case LoopNest() if scop is not None:
            return emit(scop, made).text
        case Emitted():
            return "\n".join((*made.definitions, made.text))
        case Expansion() | Tabulated() | Totals():
            return block_style(str(made.scop.schedule))
        case ScheduleResult() | MarkedSchedule():
            return block_style(str(made.tree))
        case Buffered() | Lowered():
            return block_style(str(made.schedule.tree))
    return str(made)
