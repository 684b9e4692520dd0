"""Loops of threads that are two, one right inside of the other: OpenMP's ``collapse(2)``.

Source: OpenMP 5.2, sections 4.4.1 and 4.4.3: perfectly nested loops whose bounds don't change in the region.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.expr import names
from scopt.ir.nest import Block, For


def inner_loop(loop: For) -> For | None:
    """The loop that may be collapsed with one of threads: all that stands in it, with bounds that are the same in all
    its iterations and no mark of its own. None if there is no such loop."""
    match loop:
        case For(body=Block((For(mark=mark) as inner,))) if loop.mark.parallel and not loop.mark.simd:
            marked = (
                mark.parallel or mark.simd or mark.jammed or mark.beside or mark.scalar or mark.around or mark.private
            )
            moves = loop.iterator in names(inner.lower) | names(inner.upper)
            return None if marked or moves or loop.mark.reductions else inner
    return None


def with_threads_inside(loop: For) -> Block:
    """The body of a loop; a loop that is collapsed with it has its mark there."""
    inner = inner_loop(loop)
    if loop.mark.collapse == 1 or inner is None:
        return loop.body
    return Block((replace(inner, mark=replace(inner.mark, parallel=True, private=loop.mark.private)),))
