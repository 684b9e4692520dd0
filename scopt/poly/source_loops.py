"""Which loops of the source a statement stands in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from scopt.ir.scop import Scop
from scopt.poly.isl_utils import sets_of
from scopt.poly.trees import Band, Leaf, Sequence, Tree, read

Loops = tuple[int, ...]


@lru_cache(maxsize=4)
def source_loops(scop: Scop) -> Mapping[str, Loops]:
    """By statement, the loops of the source around it, outermost first; each loop has a number. None around one that
    never runs: the schedule doesn't have it."""
    never: dict[str, Loops] = {one.name: () for one in scop.statements}
    return never | dict(_in_order(scop))


@lru_cache(maxsize=4)
def source_order(scop: Scop) -> tuple[str, ...]:
    """The names of the statements that run at all, as they follow each other in the text of the source."""
    return tuple(name for name, _ in _in_order(scop))


def _in_order(scop: Scop) -> Iterator[tuple[str, Loops]]:
    """The statements, as they follow each other, and the loops around each."""
    numbers = iter(range(10**9))

    def visit(tree: Tree, around: Loops) -> Iterator[tuple[str, Loops]]:
        match tree:
            case Leaf(domain):
                yield from ((str(part.get_tuple_name()), around) for part in sets_of(domain))
            case Band(body=body):
                yield from visit(body, (*around, *(next(numbers) for _ in range(tree.width))))
            case Sequence(parts):
                for part in parts:
                    yield from visit(part, around)

    return visit(read(scop.schedule.get_root()), ())
