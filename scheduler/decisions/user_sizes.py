"""Tile sizes that the user gives, as mechanisms with shapes of their own read them.

Sizes are for the loops of a band, outermost first, the last one repeated. Where a kernel's loops stand around tiles of
registers, they are the sizes of the blocks whose operands are packed; where rows run together, of what threads share
out. Each is rounded to what the kernel needs: a number of whole register tiles, or of whole vectors, and no more than
there is room for on a thread's stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, lcm

from msgspec.structs import replace

from scopt.machine import Machine
from scopt.machine.costs import RegisterShape, least_strip_rows, packing_shares, strip_rows
from scopt.scheduler.locality.tile_sizes import ContractionSizes

# The part of the second cache that packed operands of rows take, as in `contraction_sizes`.
_SHARE = 4


def size_of(user: Sequence[int], member: int) -> int:
    """The user's size for a member of a band. user: not empty."""
    return user[min(member, len(user) - 1)]


def fitted(
    machine: Machine,
    model: ContractionSizes,
    shape: RegisterShape,
    element: int,
    user: Sequence[int],
    members: tuple[int, int, int],
) -> ContractionSizes:
    """A contraction's sizes that are the user's as far as possible. model: those that the machine would have.
    members: its row, column and step among the band's. element: bytes of one."""
    row, column, step = (size_of(user, member) for member in members)
    room = packing_shares(machine)[1] // _SHARE // element
    depth = min(nearest(step, shape.rows), max(nearest(room // shape.rows, shape.rows), shape.rows))
    block = min(nearest(row, shape.rows), max(room // depth // shape.rows, 1) * shape.rows)
    chunk = max(round(column / shape.columns), 1)
    whole = lcm(shape.rows, shape.columns)
    tile = min(nearest(row, whole), max(isqrt(room) // whole, 1) * whole)
    return replace(model, block=block, depth=depth, chunk=chunk, tile=tile)


def fitted_rows(machine: Machine, user: Sequence[int], member: int) -> int:
    """Rows of a strip for the user's size of the rows' loop: whole vectors, and not more than twice as many rows as are
    under way at a time, since each has cells of its own on the stack."""
    return min(nearest(size_of(user, member), least_strip_rows(machine)), 2 * strip_rows(machine))


def nearest(size: int, of: int) -> int:
    """The nearest multiple, but not zero."""
    return max((size + of // 2) // of, 1) * of


def rounded(user: Sequence[int], **taken: tuple[int, int]) -> tuple[str, ...]:
    """What is to be told of sizes that aren't those of the user: by what they are of, the user's and the one taken."""
    changed = [f"{size} {what.replace('_', ' ')} for {asked}" for what, (asked, size) in taken.items() if asked != size]
    return (", ".join(changed),) if user and changed else ()
