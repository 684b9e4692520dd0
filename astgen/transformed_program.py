"""A transformed region on its way to text, and that text."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.emit.math_functions import math_declarations
from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.lower.strip_lowering import Buffered
from scopt.astgen.lower.transposing import Transposed
from scopt.astgen.passes.block_distances import Distance
from scopt.astgen.passes.ended_by_data import Endings
from scopt.astgen.passes.turned_sums import Summing
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.nest_walks import calls
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names
from scopt.poly.isl_utils import IN


class Program(Struct, frozen=True, eq=False):
    """A transformed region on its way to text.

    source: the SCoP that was scheduled. marked: its schedule, after the band passes. buffered, lowered: the same
    without strips and panels, and without register tiles; each with the statements that these take. scop: with all
    statements and arrays that `nest` runs and uses. loops: the nest before it was rewritten for the printer. shown:
    before variables stand for cells. told: the last one that runs but the stages above's statements. condition: C text
    under which the nest pays; empty: always. summing: calls that sum several rows up. endings: calls that run loops
    that end on data. distances: what calls stand for that compare two blocks.
    """

    source: Scop
    marked: MarkedSchedule
    buffered: Buffered
    lowered: Lowered
    scop: Scop
    nest: LoopNest
    loops: LoopNest
    shown: LoopNest
    told: LoopNest
    condition: str = ""
    summing: Summing = Summing()
    endings: Endings = Endings()
    distances: Mapping[str, Distance] = {}


def emitted(program: Program) -> Emitted:
    """The program as C."""
    declarations = math_declarations(program.scop, program.nest)
    turned = (*(one.text for one in turning_functions(program)), *program.summing.texts, *program.endings.texts)
    definitions = (*program.buffered.definitions, *turned, *program.lowered.definitions, *declarations)
    return emit(program.scop, program.nest, definitions=definitions)


def turning_functions(program: Program) -> tuple[Transposed, ...]:
    """The functions that copy panels, those that the nest calls."""
    turned = {one.name for one in program.buffered.turned.values()}
    called = {call.statement for call in calls(program.nest.body)} & turned
    used = {name for one in called for name in used_names(program.scop.statement(one).body)}
    return tuple(one for one in program.buffered.transposed if one.name in used)


def stand_ins(program: Program) -> dict[str, str]:
    """By name of a statement that strips, panels and register tiles have brought in, the SCoP's in whose place it
    runs."""
    found = {name: str(relation.get_tuple_name(IN)) for name, relation in program.buffered.expansions.items()}
    return found | {name: found.get(one, one) for name, (one, _) in program.lowered.weights.items()}
