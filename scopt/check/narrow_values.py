"""Whether variables of vector loops may have 16 bits where the text says so: all that they are given fits.

Other variables compute as they did, and C computes with ints whatever a variable's type is. So the loop with narrower
variables does the same if each of them is given nothing but what a short holds, where the text's test holds: what
statements give is bounded here again (`scopt.poly.magnitudes`). That the text is the one that is meant is seen where it
is read (`scopt.astgen.emit.reparse`).
"""

from __future__ import annotations

from collections.abc import Mapping

from scopt.astgen.emit.names import KEYWORDS
from scopt.astgen.emit.narrow_texts import MOST
from scopt.astgen.passes.narrow_loops import narrowed
from scopt.astgen.transformed_program import Program
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, For, Hold, Narrow
from scopt.ir.nest_walks import children, declared, items, used_names
from scopt.ir.scop import Scop


def check_narrow_values(program: Program) -> None:
    """Raise InternalError if a variable might be given what it doesn't hold."""
    scop, body = program.scop, program.nest.body
    taken = scop.reserved | scop.typedefs | set(scop.arrays) | KEYWORDS | used_names(body)
    taken |= {name for p in scop.parameters for name in (p.name, p.spelling)}
    taken |= {array.spelling for array in scop.arrays.values()}
    taken |= {name for item in items(body) if isinstance(item, Hold) for name in declared(item)}
    _check(scop, body, {}, frozenset(taken))


def _check(scop: Scop, block: Block, held: Mapping[str, str], taken: frozenset[str]) -> None:
    """held: variables that stand for cells that nothing writes meanwhile, with their arrays."""
    for item in block.items:
        if isinstance(item, For) and item.mark.narrow is not None:
            _check_loop(scop, item, item.mark.narrow, held, taken)
        stands = {one.name: one.array for one in item.cells if not one.stored} if isinstance(item, Hold) else {}
        for inner in children(item):
            _check(scop, inner, {**held, **stands}, taken)


def _check_loop(scop: Scop, loop: For, narrow: Narrow, held: Mapping[str, str], taken: frozenset[str]) -> None:
    where = f"{scop.location}: the loop over '{loop.iterator}' with narrower variables"
    found = narrowed(scop, loop, held)
    if found is None or (narrow.tested and (narrow.factors or narrow.copies)):
        raise InternalError(f"{where}: there may be larger values")
    variables, total = found
    factors = {name: factor for factor, name in narrow.factors}
    enough = narrow.constant >= total.get("", 0) and all(
        factors.get(name, 0) >= count for name, count in total.items() if name
    )
    if narrow.variables != variables or not enough or len(factors) < len(narrow.factors):
        raise InternalError(f"{where}: larger values than the text says")
    if not 0 <= narrow.constant + sum(factors.values()) <= MOST:
        raise InternalError(f"{where}: a sum that may be too large")
    copied = [name for name, _ in narrow.copies]
    if narrow.tested:
        return
    fresh = [narrow.total, *(copy for _, copy in narrow.copies)]
    if len({*fresh}) < len(fresh) or taken & {*fresh} or len({*copied}) < len(copied):
        raise InternalError(f"{where}: a name that means something else")
    if not {*copied} <= {name for name, factor in factors.items() if factor > 0}:
        raise InternalError(f"{where}: a copy of what might be larger")
