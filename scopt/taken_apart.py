"""When regions whose iterations exchange pointers are worth to be taken as a whole, and what is said of others."""

from __future__ import annotations

from scopt.diagnostics import Remark
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Scop

# What is said of such regions.
EXCHANGING = "access.pointer-modified"
# Mechanisms that gain by what iterations of outer loops hand on to each other.
DIAGONALS = frozenset({"vectors along diagonals"})
ACROSS_ITERATIONS = frozenset({"wavefronts", "wavefronts with register tiles", "tiles over time"}) | DIAGONALS
# Statements of all copies: more of them, borders of several fields among them, rarely have tiles across iterations, and
# schedulers take long to find that out.
MOST_STATEMENTS = 16
# Elementary operations of isl after which loops that exchange pointers are taken apart: most of those that gain by
# being taken as a whole need some millions, and those with chains of conditions a minute.
EXCHANGE_OPERATIONS = 8_000_000


def is_tiled_in_time(scop: Scop, marked: MarkedSchedule) -> bool:
    """Whether the outermost loops run in tiles that several of their iterations share; rows in vectors at that."""
    gaining = DIAGONALS if scop.exchanged == "rows" else ACROSS_ITERATIONS
    return any(choice.mechanism in gaining for choice in marked.choices)


def exchanging(scop: Scop) -> Remark:
    """Why a SCoP whose iterations exchange pointers is left."""
    message = "the region's iterations exchange pointers, and no tiles hold several of them: its loops are taken apart"
    return Remark("missed", EXCHANGING, message, scop.location, "")
