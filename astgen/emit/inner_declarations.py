"""Local arrays that are declared inside of the parallel loop whose iterations have one each, and inside of the same
loop for one thread: compilers then know that nothing in them outlives an iteration, and keep cells in registers
(measured: declared around the loop, clang takes up to twice as long for products of small matrices). Elsewhere they are
declared where the source does it, if the loops around are the same (measured: around all loops, forces between pairs of
particles take a tenth longer)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Block, Call, For, Hold, If, LoopNest, Name
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
        if not inside or uses > own:
            inside = _source_loops(scop, nest, array, frozenset(users))
        for loop in inside:
            found[id(loop)] = (*found.get(id(loop), ()), array)
        if inside:  # parts of a loop whose statements are in other parts have nothing to name in their clauses
            for loop in _unused(nest, array, inside):
                found[id(loop)] = (*found.get(id(loop), ()), replace(array, declaration=None))
    for loop, name in _narrow(scop, nest):
        found[id(loop)] = (*found.get(id(loop), ()), replace(scop.arrays[name], declaration=None))
    return found


def _unused(nest: LoopNest, array: Array, inside: list[For]) -> Iterator[For]:
    """Loops that have an array of their own by their marks, beside those that declare it."""
    known = {id(loop) for loop in inside}
    for loop in items(nest.body):
        if isinstance(loop, For) and array.name in loop.mark.private and id(loop) not in known:
            yield loop


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


def _source_loops(scop: Scop, nest: LoopNest, array: Array, users: frozenset[str]) -> list[For]:
    """The loops whose iterations each are all that belongs to one iteration of the source's loop that declares an
    array; none where there are others. users: the statements that use it."""
    depths = {len(one.iterators) for one in scop.kills if any(access.array == array.name for access in one.accesses)}
    depth = max(depths, default=0)
    if depth == 0 or len(depths) > 1:
        return []
    return _scopes(nest.body, (), array.name, users, depth) or []


def _scopes(block: Block, path: tuple[For, ...], array: str, users: frozenset[str], depth: int) -> list[For] | None:
    """Such loops in a block; None where there is something else that uses the array."""
    found: list[For] = []
    here: list[For] | None
    for item in block.items:
        match item:
            case Call():
                here = None if item.statement in users else []
            case Hold():
                held = any(one.array == array for one in item.cells)
                here = None if held else _scopes(item.body, path, array, users, depth)
            case If():
                sides = [_scopes(child, path, array, users, depth) for child in children(item)]
                here = None if None in sides else [loop for side in sides for loop in side or ()]
            case For() if len(path) + 1 < depth:
                named = array in item.mark.private
                here = None if named else _scopes(item.body, (*path, item), array, users, depth)
            case For():
                here = _scope(item, (*path, item), array, users)
        if here is None or (here and found):  # one iteration's statements lie in one loop
            return None
        found += here
    return found


def _scope(loop: For, path: tuple[For, ...], array: str, users: frozenset[str]) -> list[For] | None:
    """The last loop of a path, if each of its iterations is one of the source's loops."""
    inside = [call for call in calls(loop.body) if call.statement in users]
    if not inside:
        return []
    iterators = {Name(one.iterator) for one in path}
    same = all(set(call.args[: len(path)]) == iterators for call in inside)
    plain = not (loop.mark.simd or loop.mark.parallel or loop.mark.jammed or array in loop.mark.private)
    return [loop] if same and plain else None


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
