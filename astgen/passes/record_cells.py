"""Records that a loop writes, one each iteration: all of ``out[3 * i]``, ``out[3 * i + 1]``, ``out[3 * i + 2]``, or of
``row[i][0]`` … ``row[i][7]``.

Compilers make whole vectors of such stores, and shuffle what they hold, once they have loaded each cell of a record
once, which a store in between keeps them from as far as types tell, and once they know the values before they store
any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from scopt.ir.expr import linear, weighted
from scopt.ir.nest import Expr, Name
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Array, Scop
from scopt.poly.isl_utils import OUT
from scopt.poly.linear import affine_row

Cell = tuple[str, tuple[Expr, ...]]
# Elements of a record at most: compilers don't shuffle longer ones.
MOST = 16


class Record(Struct, frozen=True):
    """cells: in the order of their addresses."""

    array: str
    cells: tuple[Cell, ...]


def records(scop: Scop, iterator: str, cells: Iterable[Cell], step: int = 1) -> list[Record]:
    """The whole records, of two elements at least, among cells that a loop over an iterator writes, step by step: from
    one iteration to the next they follow each other without a gap."""
    found: list[tuple[tuple[str, tuple[Expr, ...]], dict[Expr, int], int, Cell]] = []
    for cell in cells:
        place = _place(scop.arrays[cell[0]], cell, iterator)
        if place is not None:
            found.append(((cell[0], place[0]), place[1], place[2], cell))
    made = []
    while found:
        key, terms, _, _ = found[0]
        own = {offset: cell for other, others, offset, cell in found if (other, others) == (key, terms)}
        found = [one for one in found if (one[0], one[1]) != (key, terms)]
        size, places = step * terms[Name(iterator)], sorted(own)
        parts = [places[k : k + size] for k in range(0, len(places), size)] if 1 < size <= MOST else []
        if all(part == list(range(part[0], part[0] + size)) for part in parts):  # of several rows, perhaps
            made += [Record(key[0], tuple(own[place] for place in part)) for part in parts]
    return made


def _place(array: Array, cell: Cell, iterator: str) -> tuple[tuple[Expr, ...], dict[Expr, int], int] | None:
    """The subscripts outside of rows of constant length, and the element in such a row; None if that isn't what moves
    with the iterator."""
    _, subscripts = cell
    inside, weight, terms, offset = len(subscripts) - 1, 1, dict[Expr, int](), 0
    while inside >= 0:
        own, constant = linear(subscripts[inside])
        for term, factor in own.items():
            terms[term] = terms.get(term, 0) + weight * factor
        offset += weight * constant
        size = array.sizes[inside] if inside < len(array.sizes) else None
        if size is None or size <= 0 or inside == 0:
            break
        inside, weight = inside - 1, weight * size
    terms = {term: factor for term, factor in terms.items() if factor}
    outside = subscripts[: max(inside, 0)]
    moves = any(Name(iterator) in linear(one)[0] for one in outside)
    return None if moves or terms.get(Name(iterator), 0) < 1 else (outside, terms, offset)


def by_address(cell: Cell) -> tuple[str, tuple[int, ...]]:
    """A key that sorts cells of a record by their places in it."""
    return cell[0], tuple(linear(subscript)[1] for subscript in cell[1])


def subscripts_of(scop: Scop, access: Access, args: Sequence[Expr]) -> tuple[Expr, ...] | None:
    """The cell of a reference of a call with these arguments, over the nest's iterators; None if it isn't a single
    cell, given by linear subscripts."""
    array = scop.arrays[access.array]
    if access.kind == "may-write" or not is_cell(access.node, array.spelling, access.relation.dim(OUT)):
        return None
    if not access.relation.is_single_valued():
        return None
    parameters = [p.name for p in scop.parameters]
    function = access.relation.as_pw_multi_aff()
    found = []
    for position in range(access.relation.dim(OUT)):
        row = affine_row(function.get_pw_aff(position), parameters)
        if row is None:
            return None
        *factors, constant = row
        things = (*args, *map(Name, parameters))
        found.append(weighted([(c, x) for c, x in zip(factors, things, strict=True) if c], constant))
    return tuple(found)
