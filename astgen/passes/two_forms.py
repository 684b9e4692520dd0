"""Parallel loops stand beside the same loops for one thread, where there are few statements.

An `if` clause that fails leaves the loop in a function of its own, which the OpenMP runtime calls: that takes longer
than a short loop, and the first call in a process takes 10 microseconds, with clang's runtime more than a thousand.
Nor does a compiler know in there what it knows of the variables around: that a parameter is always 8, since `main` says
so, makes small loops twice as fast, and divisions. Strips that are there for threads to share are no strips for one
(`scopt.astgen.passes.whole_rows`).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.loop_work import is_tile_loop, without_threads
from scopt.astgen.passes.turned_sums import SUMMED
from scopt.astgen.passes.whole_rows import keeps_copies, with_whole_rows
from scopt.diagnostics import InternalError
from scopt.ir.expr import conjunction, exceeds, linear, subtract
from scopt.ir.nest import And, Block, Compare, Condition, Const, Exceeds, For, Hold, If, LoopNest, Name, Or, Threads
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop

# Statements of a loop that stands twice (chosen, so that a window of 3 × 3 for three sums, or a colour matrix, does):
# the text of more is long, and a call takes little of their time. Vectors execute more in that time (rounds of a cipher
# took twice as long with the call). Of loops over tiles, and strips of rows, there may be less: gcc doesn't unroll as
# much of what stands in one function twice (a strip of 27 statements took half as long again); but rows that are
# written out beside each other need not be unrolled.
_MOST_CALLS, _MOST_IN_VECTORS, _MOST_IN_TILES = 40, 64, 16


def with_two_forms(nest: LoopNest, *, tiles: bool = False, enough: bool = False, again: bool = False) -> LoopNest:
    """The nest with a choice in the place of each guarded parallel loop that is small: with threads, without its guard,
    or as a plain loop where there is too little work, or no other thread. tiles: of loops over tiles, too; the guards
    of those that are too long for it ask for several tiles. enough: of outermost loops without a guard, too, since the
    region has one, which doesn't ask for threads. again: such loops that keep one form ask for
    threads by themselves, as if a loop were around."""
    return LoopNest(_block(nest.body, _Forms(tiles, enough, again=again)))


def takes_two_forms(loop: For) -> bool:
    """Whether a loop's text is short enough to stand twice."""
    plain = _is_without_tiles(loop) or _has_rows_beside(loop)
    most = _MOST_IN_VECTORS if loop.mark.simd else _MOST_CALLS if plain else _MOST_IN_TILES
    return sum(1 for _ in calls(loop.body)) <= most


def in_one_form(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with the threads' loops in the place of choices that depend on how much work there is.

    Raises InternalError where the other form isn't the same loops without threads: nothing is known of such conditions,
    so that either form may run.
    """

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, If):
            return (item,)
        if item.otherwise == Block(tuple(map(_sequential, item.then.items))) or _is_of_whole_rows(scop, item):
            return item.then.items
        if _of_work(item.condition):
            raise InternalError(f"{scop.location}: generated loops: two forms that aren't the same: {item.condition}")
        return (item,)

    return LoopNest(map_block(nest.body, visit))


class _Forms(Struct, frozen=True):
    """Which loops get a choice: as in `with_two_forms`. inside: a loop is around."""

    tiles: bool
    enough: bool
    inside: bool = False
    again: bool = False

    def takes(self, loop: For) -> bool:
        return takes_two_forms(loop) and (self.tiles or _is_without_tiles(loop)) and (self.enough or bool(loop.work))


def _block(block: Block, forms: _Forms) -> Block:
    return Block(tuple(_item(item, forms) for item in block.items))


def _item(item: Item, forms: _Forms) -> Item:
    match item:
        case For() if item.mark.parallel:
            if not forms.takes(item):
                if forms.inside or (forms.again and not item.work):
                    return _where_calm(item)
                return _with_several(item) if forms.tiles else item
            threads = replace(item, work=None)
            work = () if item.work is None else (item.work,)
            condition = conjunction((*work, *_several(item), Threads()))
            whole = with_whole_rows(threads) if item.mark.sharing else None
            return If(condition, Block((threads,)), whole or Block((_sequential(threads),)))
        case For():
            return replace(item, body=_block(item.body, replace(forms, enough=False, inside=True)))
        case Hold():
            return replace(item, body=_block(item.body, forms))
        case If() if _asks(item.condition):
            return item
        case If():
            own = replace(forms, enough=forms.enough and not _of_work(item.condition))
            otherwise = None if item.otherwise is None else _block(item.otherwise, own)
            return replace(item, then=_block(item.then, own), otherwise=otherwise)
    return item


def _where_calm(loop: For) -> For:
    """A loop that is reached again and again, as one in a loop is, and one in a function that nobody marked may be: it
    keeps its `if` clause, and whether there are other threads is asked each time, since other programs may have the
    cores."""
    work = () if loop.work is None else (loop.work,)
    return replace(loop, work=conjunction((*work, *_several(loop), Threads())))


def _asks(condition: Condition) -> bool:
    """Whether a condition asks for threads already."""
    match condition:
        case And(args):
            return any(map(_asks, args))
    return isinstance(condition, Threads)


def _with_several(loop: For) -> For:
    """A loop that keeps its `if` clause, which asks for two tiles at least, too: threads would be started for one."""
    return loop if loop.work is None else replace(loop, work=conjunction((loop.work, *_several(loop))))


def _several(loop: For) -> tuple[Condition, ...]:
    """That a loop over tiles has two of them at least, where its work may be enough without."""
    extent = subtract(loop.upper, loop.lower)
    terms = linear(extent)[0]
    match loop.work:
        case Compare(left=left, op=">", right=Const(limit)) if linear(left)[0] == terms and limit >= loop.step:
            return ()
    plain = terms and all(isinstance(term, Name) for term in terms)
    return (exceeds((extent,), loop.step - 1),) if plain and loop.step > 1 and loop.mark.collapse == 1 else ()


def _is_without_tiles(loop: For) -> bool:
    if is_tile_loop(loop):
        return False
    inner = [one for one in items(Block((loop,))) if isinstance(one, For)]
    return all(one.step == 1 or _is_of_blocks(one) for one in inner)


def _has_rows_beside(loop: For) -> bool:
    """Whether some rows run beside each other, in loops or in calls."""
    if any(isinstance(one, For) and one.mark.beside for one in items(loop.body)):
        return True
    return any(one.statement.endswith(SUMMED) for one in calls(loop.body))


def _is_of_blocks(loop: For) -> bool:
    """Whether a loop runs over blocks of a search."""
    return any(isinstance(one, For) and bool(one.mark.searched) for one in loop.body.items)


def _sequential(item: Item) -> Item:
    """A loop of threads as one for a single thread."""
    if isinstance(item, For) and item.mark.parallel:
        return replace(item, mark=without_threads(item.mark), work=None)
    return item


def _is_of_whole_rows(scop: Scop, item: If) -> bool:
    """Whether one form is a loop over strips that threads share, and the other one these strips as one."""
    match item.then.items:
        case (For() as strips,):
            whole = with_whole_rows(strips)
            return whole is not None and item.otherwise == whole and not keeps_copies(scop, strips)
    return False


def _of_work(condition: Condition) -> bool:
    """Whether a condition tests a product, or threads: no set of iterations is where it holds."""
    match condition:
        case Exceeds() | Threads():
            return True
        case And(args) | Or(args):
            return any(map(_of_work, args))
        case Compare():
            return False
