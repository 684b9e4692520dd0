"""What translated functions call."""

from __future__ import annotations

from collections.abc import Sequence

from scopt.check.functions.faults import Fault
from scopt.check.functions.terms import Table, Term

# A buffer: terms, or the values of integers; None where there is nothing to be read.
Memory = list[Term | None]
Terms = tuple[Term, ...]
_PAIR = 2


def read(memory: Memory, offset: int) -> Term:
    if not 0 <= offset < len(memory):
        raise Fault(f"reads element {offset} of {len(memory)}")
    value = memory[offset]
    if value is None:
        raise Fault(f"reads element {offset}, which is none of its own")
    return value


def write(memory: Memory, offset: int, value: Term) -> None:
    if not 0 <= offset < len(memory):
        raise Fault(f"writes element {offset} of {len(memory)}")
    memory[offset] = value


def read_vector(memory: Memory, offset: int, lanes: int) -> Terms:
    if not 0 <= offset <= len(memory) - lanes:
        raise Fault(f"reads elements {offset} to {offset + lanes - 1} of {len(memory)}")
    values = memory[offset : offset + lanes]
    if None in values:
        raise Fault(f"reads elements {offset} to {offset + lanes - 1}, of which some are none of its own")
    return tuple(values)  # type: ignore[arg-type]


def write_vector(memory: Memory, offset: int, lanes: int, value: Terms) -> None:
    if not 0 <= offset <= len(memory) - lanes:
        raise Fault(f"writes elements {offset} to {offset + lanes - 1} of {len(memory)}")
    memory[offset : offset + lanes] = value


def read_lane(vector: Terms, lane: int) -> Term:
    if not 0 <= lane < len(vector):
        raise Fault(f"reads lane {lane} of {len(vector)}")
    return vector[lane]


def with_lane(vector: Terms, lane: int, value: Term) -> Terms:
    if not 0 <= lane < len(vector):
        raise Fault(f"writes lane {lane} of {len(vector)}")
    return (*vector[:lane], value, *vector[lane + 1 :])


def shuffled(left: Terms, right: Terms, lanes: Sequence[int]) -> Terms:
    both = left + right
    if not all(0 <= lane < len(both) for lane in lanes):
        raise Fault(f"a shuffle of {len(left)} lanes by {len(lanes)}: {', '.join(map(str, lanes))}")
    return tuple(both[lane] for lane in lanes)


def pairs_added(cells: Terms, pair: Terms, others: Terms, sums: Table, products: Table) -> Terms:
    """Each cell with the products of a pair and its own one added."""
    if len(pair) != _PAIR or len(others) != _PAIR * len(cells):
        raise Fault(f"{len(pair)} and {len(others)} factors for {len(cells)} cells")
    for k, factor in enumerate(pair):
        cells = tuple(sums[cell, products[factor, own]] for cell, own in zip(cells, others[k::_PAIR], strict=True))
    return cells


def quotient(a: int, b: int) -> int:
    """As C rounds it."""
    if b == 0:
        raise Fault("divides by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def fitting(value: int, bits: int) -> int:
    """The value of a signed operation."""
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise Fault(f"{value} overflows")
    return value


def missing() -> None:
    raise Fault("ends without a result")


FUNCTIONS = {
    f"_{function.__name__}": function
    for function in (
        read,
        write,
        read_vector,
        write_vector,
        read_lane,
        with_lane,
        shuffled,
        pairs_added,
        quotient,
        remainder,
        fitting,
        missing,
    )
}
