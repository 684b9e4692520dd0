"""Whether a call that compares the bytes of two blocks says what the statements say that add one byte's difference.

``s += function(rows, &a, &a_below, &b, &b_below)`` adds all blocks' differences up
(`scopt.astgen.emit.distance_texts`). In the nest it stands for two loops over the statements (`scopt.check.reading`),
whose iterators start where the call's do. It reads both blocks before it writes, which are other arrays, and hands on
nothing but the sum.
"""

from __future__ import annotations

from scopt.astgen.passes.block_distances import Distance, block_body
from scopt.astgen.passes.byte_distances import distance_of_bytes
from scopt.astgen.transformed_program import Program
from scopt.check.summed_calls import is_handed_on
from scopt.diagnostics import InternalError
from scopt.ir.scop import Dependences
from scopt.ir.walks import same_tree


def check_compared_blocks(program: Program, deps: Dependences) -> None:
    """Raise InternalError unless each call that compares blocks does what its loops do. deps: the SCoP's."""
    for name, distance in program.distances.items():
        if not _is_right(program, deps, name, distance):
            raise InternalError(f"{program.source.location}: generated loops: {name} compares something else")


def _is_right(program: Program, deps: Dependences, name: str, distance: Distance) -> bool:
    source, call = program.source, program.scop.statement(name)
    singles = [source.statement(one) for one in distance.statements]
    meant, difference = block_body(source, singles, distance), distance_of_bytes(source, singles)
    if meant is None or difference is None or call.iterators != singles[0].iterators:
        return False
    if not same_tree(call.body, meant):
        return False
    if not difference.temporary:
        return True
    private, names = source.arrays[difference.temporary].private, set(distance.statements)
    return private and not is_handed_on(deps, difference.temporary, singles[0].name, names)
