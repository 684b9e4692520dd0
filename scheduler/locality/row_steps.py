"""Steps through memory of references whose last subscripts together count elements of a row: where all but the first
dimensions are constants, ``rgb[y][x][2]`` is element ``3 * x + 2`` of a row, and moves by three when x moves by one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from scopt.ir.scop import Array
from scopt.machine.costs import MOST_STEP, RECORD_BYTES, STEP_BYTES, TABLE_BYTES
from scopt.poly.linear import Vector


def weights(array: Array) -> tuple[int, ...]:
    """Elements from one value to the next of each of the last subscripts, those whose dimensions inside are constants;
    the last one's is 1. () for a scalar."""
    found = [1] if array.rank else []
    for size in reversed(array.sizes[1:]):
        if size is None or size <= 0:
            break
        found.append(found[-1] * size)
    return tuple(reversed(found))


def in_rows(array: Array, values: Vector) -> Vector:
    """What subscripts grow by, with all that moves within rows counted in their elements, as the last subscript."""
    own = weights(array)
    if len(own) < 2 or len(values) != array.rank:
        return values
    rest = len(values) - len(own)
    inside = sum((weight * value for weight, value in zip(own, values[rest:], strict=True)), start=0 * values[-1])
    return (*values[:rest], *(0 * values[-1] for _ in own[1:]), inside)


def joined_rows(array: Array, rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Subscripts as affine rows, likewise: those outside of rows, and the element of the row."""
    own = weights(array)
    if len(rows) != array.rank or not own:
        return tuple(map(tuple, rows))
    rest = len(rows) - len(own)
    inside = [sum(w * row[k] for w, row in zip(own, rows[rest:], strict=True)) for k in range(len(rows[0]))]
    return (*map(tuple, rows[:rest]), tuple(inside))


def is_step(array: Array, moves: Vector | None) -> bool:
    """Whether a reference moves by a few elements within a row: compilers put vectors together from whole lines."""
    if not moves or any(moves[:-1]):
        return False
    step, size = abs(moves[-1]), max(array.type.bits // 8, 1)
    return 0 < step <= MOST_STEP and step * size <= STEP_BYTES


def is_record(array: Array, moves: Vector | None) -> bool:
    """Whether a reference moves by a few lines at most within a row: to the same place of the next record."""
    if not moves or any(moves[:-1]):
        return False
    return 0 < abs(moves[-1]) * max(array.type.bits // 8, 1) <= RECORD_BYTES


def is_table(array: Array) -> bool:
    """Whether an array is so small that the first cache keeps all of it."""
    known = [size for size in array.sizes if size is not None]
    return 0 < len(known) == array.rank and prod(known) * max(array.type.bits // 8, 1) <= TABLE_BYTES
