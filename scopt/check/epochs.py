"""Epochs of buffers: parts of the text that fill a buffer anew before they look at it.

An epoch is one iteration of the loops around some block; all that the block does with the buffer belongs to it. Epochs
don't overlap in time, so that a buffer's cells may stand for other things in the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.nest import Block, Call, For, Hold, If, LoopNest
from scopt.ir.nest_walks import calls
from scopt.poly.isl_utils import IN, OUT, maps_of
from scopt.poly.readback import branches, width


class Epochs(Struct, frozen=True):
    """The epochs of one block, or of some items of it that follow each other. path: the positions of the loops around
    it, outermost first, each in its block. span: the first and the last position of the items; None: all."""

    path: tuple[int, ...]
    span: tuple[int, int] | None = None

    @property
    def depth(self) -> int:
        """How many dimensions of the dates say which epoch it is."""
        return 2 * len(self.path)

    @property
    def loops(self) -> int:
        """How many loops are around the block."""
        return len(self.path)

    def inside(self, dates: isl.UnionMap) -> dict[str, isl.Map]:
        """The part of some dates, ``{ T[…] -> [date] }``, that lies in these epochs, by statement."""

        def fixed(relation: isl.Map) -> isl.Map:
            for level, position in enumerate(self.path):
                relation = relation.fix_val(OUT, 2 * level, isl.Val(position))
            if self.span is not None:
                first, last = map(isl.Val, self.span)
                relation = relation.lower_bound_val(OUT, self.depth, first).upper_bound_val(OUT, self.depth, last)
            return relation

        here = (relation for relation in maps_of(dates) if self.may_hold(relation))
        found = {str(relation.get_tuple_name(IN)): fixed(relation) for relation in here}
        return {name: relation for name, relation in found.items() if not relation.is_empty()}

    def may_hold(self, dates: isl.Map) -> bool:
        """Whether some piece of the dates isn't known to stand in another place."""
        return any(
            all(
                (value := piece.plain_get_val_if_fixed(OUT, 2 * level)).is_nan() or value.to_python() == position
                for level, position in enumerate(self.path)
            )
            for piece in dates.get_basic_maps()
        )

    def of(self, dates: isl.Map) -> isl.Map:
        """``{ T[…] -> [epoch] }``, from dates in these epochs: the iterators of the loops around the block."""
        found = dates.project_out(OUT, self.depth, dates.dim(OUT) - self.depth)
        for level in reversed(range(len(self.path))):
            found = found.project_out(OUT, 2 * level, 1)
        return found


Test = Callable[[Epochs], bool]


def epochs_of(
    nest: LoopNest,
    mentions: Collection[str],
    openers: Collection[str],
    fillers: Collection[str],
    chosen: Collection[str],
    is_complete: Test,
    name: str = "",
) -> list[Epochs]:
    """The innermost blocks whose epochs are complete: what looks at the buffer finds it filled in its own epoch. Lanes
    of a vector loop share the buffer, unless they have one each: epochs are no part of such a loop.

    mentions: statements that use the buffer. openers: those that may be the first in an epoch; blocks without one
    aren't tried. fillers: those that only put something there. chosen: statements that choose the thread's buffer, or
    end its use; they belong to the epochs, too. name: of the buffer.
    """
    search = _Search(frozenset(mentions), frozenset(openers), frozenset(fillers), frozenset(chosen), is_complete, name)
    return search.blocks((nest.body,), ())


class _Search(Struct, frozen=True):
    mentions: frozenset[str]
    openers: frozenset[str]
    fillers: frozenset[str]
    chosen: frozenset[str]
    is_complete: Test
    name: str

    def blocks(self, blocks: Sequence[Block], path: tuple[int, ...]) -> list[Epochs]:
        """Of blocks at one place: branches of ifs, of which one runs."""
        here = [Epochs(path)]
        found: dict[int, list[Block]] = {}
        for block in blocks:
            for position, item in placed(block, 0):
                if isinstance(item, Call) and item.statement in self.chosen:
                    return here
                if not self.mentioned(item):
                    continue
                if not isinstance(item, For) or (item.mark.simd and self.name not in item.mark.private):
                    return here
                found.setdefault(position, []).append(item.body)
        return self.parts(found, path) or here

    def parts(self, found: Mapping[int, Sequence[Block]], path: tuple[int, ...]) -> list[Epochs]:
        """The epochs inside of a block, or of some of its items: what fills the buffer, with what follows. Nothing, if
        they aren't complete."""
        inner: list[Epochs] = []
        spans: list[tuple[int, int]] = []
        used = True  # whether what has been filled in last is used already
        for position, bodies in sorted(found.items()):
            own = {call.statement for body in bodies for call in calls(body)} & self.mentions
            if own <= self.fillers:
                first = position if used else spans.pop()[0]
                spans.append((first, position))
                used = False
                continue
            deeper = self.blocks(bodies, (*path, position)) if own & self.openers and used else []
            if deeper and (deeper != [Epochs((*path, position))] or self.is_complete(deeper[0])):
                inner += deeper
                continue
            if not spans:
                return []
            spans.append((spans.pop()[0], position))
            used = True
        whole = len(spans) == 1 and not inner
        parts = [Epochs(path, span) for span in spans]
        return inner + parts if not whole and all(map(self.is_complete, parts)) else []

    def mentioned(self, item: For | Call) -> bool:
        return any(call.statement in self.mentions for call in calls(Block((item,))))


def placed(block: Block, position: int) -> Iterator[tuple[int, For | Call]]:
    """The block's loops and calls with their positions in dates, those of its ifs among them."""
    for item in block.items:
        match item:
            case For() | Call():
                yield position, item
            case Hold(body=body):
                yield from placed(body, position)
            case If():
                for inner, start in branches(item, position):
                    yield from placed(inner, start)
        position += width(item)
