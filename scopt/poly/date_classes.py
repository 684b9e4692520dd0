"""Which pairs of statements have the same dates, as far as their order is concerned: up to the statements' names, and
up to where in a block they stand, but for which of the two comes first."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import IN, OUT, maps_of
from scopt.poly.pair_classes import Classes

# What orders two statements: the numbers of their dates without the dimensions that are constant, and these.
Between = tuple[int, int, tuple[object, ...]]


class DateClasses(Struct, frozen=True, eq=False):
    """Dates by statement. own: each with its constant dimensions (None: not constant), and the number of the rest's
    class."""

    classes: Classes
    own: dict[str, tuple[isl.Map, tuple[int | None, ...], int]]

    @staticmethod
    def of(classes: Classes, dates: isl.UnionMap) -> DateClasses:
        """dates: to one integer space."""
        return DateClasses(classes, {str(one.get_tuple_name(IN)): _parts(classes, one) for one in maps_of(dates)})

    def between(self, source: str, sink: str) -> Between | None:
        """The same for any two pairs of statements with the same pairs of dates, as far as a lexicographic order looks
        at them; None for statements without dates."""
        if source not in self.own or sink not in self.own:
            return None
        (_, first, number), (_, last, other) = self.own[source], self.own[sink]
        found: list[object] = []
        for one, two in zip(first, last, strict=True):
            if one is None or two is None:
                found.append((one, two))
            elif one != two:
                found.append(one < two)
                break  # what comes after isn't looked at
            else:
                found.append("same")
        return number, other, tuple(found)


def _parts(classes: Classes, dates: isl.Map) -> tuple[isl.Map, tuple[int | None, ...], int]:
    fixed: list[int | None] = []
    for position in range(dates.dim(OUT)):
        value = dates.plain_get_val_if_fixed(OUT, position)
        fixed.append(int(value.to_python()) if value.is_int() else None)
    rest = dates
    for position in reversed(range(len(fixed))):
        if fixed[position] is not None:
            rest = rest.project_out(OUT, position, 1)
    return dates, tuple(fixed), classes.number(rest)
