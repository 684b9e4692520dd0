"""Arrays that each iteration of a loop fills anew, as rows of a table for a pair of words: what it finds there is its
own.

Statements of the model may go as far as only data say (``for (k = 0; k < length[i]; k++) work[k] = …``), so that it
isn't sure what one of them leaves to others. In one iteration of the loop around them, that length is one number; there
each read can be seen to have a write before it. The array begins to live in each iteration then, as if it were declared
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Refusal
from scopt.frontend.extraction.affine_names import AffineNames
from scopt.frontend.extraction.dead_behind import is_dead_behind
from scopt.frontend.extraction.region_arrays import RegionArrays
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.access_names import Names, RawAccess, Survey
from scopt.frontend.model.accesses import AccessCollector
from scopt.ir.scop import Array
from scopt.ir.walks import copied, used_names


class Found(Protocol):
    """A statement that has been found."""

    @property
    def accesses(self) -> tuple[RawAccess, ...]: ...
    @property
    def kill(self) -> bool: ...


class Where(Protocol):
    """A place in a region."""

    @property
    def iterators(self) -> tuple[str, ...]: ...
    @property
    def domain(self) -> isl.Set: ...


class Walk(Protocol):
    """A walk through a region."""

    @property
    def names(self) -> RegionNames: ...
    @property
    def affine(self) -> AffineNames: ...
    @property
    def arrays(self) -> RegionArrays: ...
    @property
    def statements(self) -> Sequence[Found]: ...
    @property
    def survey(self) -> Survey: ...

    def bounds(self, subscript: Any) -> tuple[int, int] | None: ...
    def trusts(self, array: Array) -> bool: ...


def access_names(region: Walk, node: Any, place: Where) -> Names:
    """What names mean in a statement that stands at a place."""
    return Names(
        array=lambda name, where: None if name in place.iterators else region.arrays.array(name, where),
        member=region.arrays.member,
        scope=lambda domain, inner: region.affine.scope(domain, place.iterators, inner),
        location=region.names.location,
        purity=region.names.tu.pure_functions,
        defined=region.names.tu.defined_functions,
        written_arrays=lambda: region.arrays.written_arrays(node),
        iterator_type=region.names.iterator_type,
        fixed_pointer=region.arrays.fixed_pointer,
        bounds=region.bounds,
        trusts=region.trusts,
        shapes=region.arrays.shapes,
        survey=region.survey,
        value_type=lambda name: None if name in place.iterators else region.affine.value_type(name),
    )


def filled_anew(region: Walk, body: Any, place: Where, first: int) -> list[Array]:
    """Arrays that only the body of a loop mentions, which reads nothing in them that it hasn't written before. place:
    in the loop. first: the position of the body's first statement."""
    by_name = {array.name: array for array in region.arrays.by_name.values()}
    inside = region.statements[first:]
    killed = {access.array for one in region.statements if one.kill for access in one.accesses}
    unsure = {access.array for one in inside for access in one.accesses if access.kind == "may-write"}
    found = [by_name[name] for name in sorted(unsure - killed) if _may_be_work(by_name[name])]
    if not found:
        return []
    mentioned, everywhere = Counter(used_names(body)), Counter(used_names(*region.names.items))
    found = [
        array
        for array in found
        if mentioned[array.spelling] == everywhere[array.spelling] and is_dead_behind(region.names, array.spelling)
    ]
    if not found:
        return []
    reads = _first_reads(region, body, place)
    return [array for array in found if reads is not None and array.name not in reads]


def _may_be_work(array: Array) -> bool:
    return bool(array.rank) and not (array.pointer or array.within or array.flat)


def _first_reads(region: Walk, body: Any, place: Where) -> set[str] | None:
    """The arrays of which an iteration may read what was there before; None if that isn't known."""
    names = replace(access_names(region, body, place), survey=Survey())
    block = copied(body)
    updated = frozenset(_updated(block))
    collector = AccessCollector(names, place.domain, place.iterators, added_to=updated)
    try:
        collector.whole(block, block=True)
    except Refusal:
        return None
    return {
        access.array
        for access in collector.found
        if access.kind == "read" and access.node not in updated and not access.subscripts.is_empty()
    }


def _updated(node: Any) -> Iterator[Any]:
    """The cells that statements only add to, or the like: what was there before gets nowhere but there, as long as
    whatever else reads the cell finds a write before that which leaves nothing of it."""
    match node:
        case ir.Assignment(op=op, lvalue=cell) if op != "=":
            yield cell
        case ir.UnaryOp(op="++" | "--" | "p++" | "p--", expr=cell):
            yield cell
        case ir.Compound() | ir.If() | ir.For() | ir.While() | ir.DoWhile() | ir.Switch() | ir.Case() | ir.Default():
            heads = [getattr(node, part, None) for part in ("init", "cond", "next", "expr")]
            for part in node.parts:
                if not any(part is head for head in heads):
                    yield from _updated(part)
