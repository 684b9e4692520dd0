"""Vector loops whose lanes have copies of an extremum of floating-point numbers.

That iterations may run in any order follows from what they compare (`scopt.poly.reordering`), as for other reductions
(`scopt.poly.legality`). Here it is seen that copies begin as they have to: with the value that the loop begins with,
which stays if it is as good as what is found, or no number. A clause of OpenMP's would let them begin with another one.
That the text has such copies is seen by reading it (`scopt.astgen.emit.reparse`).
"""

from __future__ import annotations

from scopt.astgen.emit.lane_texts import lane_names
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.lane_copies import may_be_parted
from scopt.astgen.transformed_program import Program
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, LoopMark
from scopt.ir.nest_walks import items
from scopt.ir.scop import Dependences


def check_lane_copies(program: Program, deps: Dependences) -> None:
    """Raise InternalError if copies of such an extremum may begin with another number, or lie where something else
    does."""
    scop = program.scop
    taken = names_in_use(scop, program.nest) | {array.spelling for array in scop.arrays.values()}
    best = {(one.operator, one.array) for one in deps.reductions if one.best}
    for loop in items(program.nest.body):
        if not isinstance(loop, For):
            continue
        mark, where = loop.mark, f"{scop.location}: lanes: the loop over '{loop.iterator}'"
        if any(one.best != ((one.operator, one.array) in best) for one in mark.reductions):
            raise InternalError(f"{where} has copies that begin with another number")
        if mark.parted is None:
            if any(one.best for one in mark.reductions):
                raise InternalError(f"{where} has no copies for its lanes")
            continue
        plain = LoopMark(simd=True, private=mark.private, reductions=mark.reductions, parted=mark.parted)
        same = mark == plain and len(mark.parted.copies) == len(mark.reductions) > 0 and mark.parted.count > 1
        if not same or not may_be_parted(scop, loop):
            raise InternalError(f"{where} can't have copies for its lanes")
        names = list(lane_names(loop))
        if len({*names}) < len(names) or taken & {*names}:
            raise InternalError(f"{where} has a name that means something else")
