"""Local arrays that are declared inside of the parallel loop whose iterations have one each, and inside of the same
loop for one thread: compilers then know that nothing in them outlives an iteration, and keep cells in registers
(measured: declared around the loop, clang takes up to twice as long for products of small matrices)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Block, For, If, LoopNest
from scopt.ir.nest_walks import calls, children, items
from scopt.ir.scop import Array, Scop

# By the `id` of a loop, the arrays that are declared in its body.
Inner = Mapping[int, tuple[Array, ...]]


def inner_declarations(scop: Scop, nest: LoopNest) -> Inner:
    """The loops with arrays of the region's own that are declared inside; no others use any of them."""
    around = dict(_loops(nest.body))
    arrays = [one for one in scop.arrays.values() if one.in_source]
    found: dict[int, tuple[Array, ...]] = {}
    for array in arrays:
        users = {one.name for one in scop.statements if any(access.array == array.name for access in one.accesses)}
        inside = [loop for loop, names in around.values() if array.name in names]
        uses = sum(call.statement in users for call in calls(nest.body))
        own = sum(call.statement in users for loop in inside for call in calls(loop.body))
        if inside and uses == own:
            for loop in inside:
                found[id(loop)] = (*found.get(id(loop), ()), array)
    for loop, name in _narrow(scop, nest):
        found[id(loop)] = (*found.get(id(loop), ()), replace(scop.arrays[name], declaration=None))
    return found


def _narrow(scop: Scop, nest: LoopNest) -> Iterator[tuple[For, str]]:
    """Loops whose clauses don't name variables that only vector loops use, which declare them themselves, narrower
    (`scopt.astgen.emit.narrow_texts`)."""
    loops = [(loop, loop.mark.narrow) for loop in items(nest.body) if isinstance(loop, For)]
    own = [(loop, narrow.variables) for loop, narrow in loops if narrow is not None and narrow.tested]
    for name in dict.fromkeys(name for _, names in own for name in names):
        users = {one.name for one in scop.statements if any(access.array == name for access in one.accesses)}
        inside = [loop for loop, names in own if name in names]
        uses = sum(call.statement in users for call in calls(nest.body))
        if uses == sum(call.statement in users for loop in inside for call in calls(loop.body)):
            yield from ((loop, name) for loop, _ in loops if name in loop.mark.private)


def outer_declarations(scop: Scop, inner: Inner) -> list[ir.Decl]:
    """Those that stand in front of all loops."""
    inside = {one.name for arrays in inner.values() for one in arrays}
    own = (one for one in scop.arrays.values() if one.local and one.name not in inside)
    return [one.declaration for one in own if one.declaration is not None]


def copied_names(loop: For, own: Collection[Array]) -> tuple[str, ...]:
    """The private variables of a loop that a clause has to name."""
    return tuple(name for name in loop.mark.private if name not in {one.name for one in own})


def _loops(block: Block) -> Iterator[tuple[int, tuple[For, tuple[str, ...]]]]:
    """Parallel loops with their private variables, and those that run in their place without threads."""
    for item in block.items:
        match item:
            case If(then=then, otherwise=Block() as otherwise) if pairs := _twins(then, otherwise):
                for loop, twin in pairs:
                    yield from ((id(one), (one, loop.mark.private)) for one in (loop, twin))
            case For() if _has_copies(item):
                yield id(item), (item, item.mark.private)
            case _:
                for child in children(item):
                    yield from _loops(child)


def _twins(then: Block, otherwise: Block) -> list[tuple[For, For]]:
    """Loops of two forms of the same statements, of which the first one has threads; none if these are others."""
    match (*then.items, *otherwise.items):
        case [For() as loop, For() as twin] if _has_copies(loop) and loop.iterator == twin.iterator:
            return [(loop, twin)]
    return []


def _has_copies(loop: For) -> bool:
    return loop.mark.parallel and not loop.mark.simd and not loop.mark.jammed and loop.mark.collapse == 1
