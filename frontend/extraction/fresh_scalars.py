"""Scalars that each iteration of a loop sets before it reads them, below conditions on data too.

`if (w[i] > 0) for (k …) { t = x[k]; y[k] = t * t; }` becomes statements that one variable decides about, so that none
of them surely writes `t`. Where none of them reads what was there before, as the conditions stand around them all, `t`
begins to live in each iteration, as if it were declared there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from scopt.frontend.extraction.dead_behind import is_dead_behind
from scopt.frontend.extraction.region_arrays import RegionArrays
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.access_names import RawAccess
from scopt.frontend.normalize.conditions_outside import Joined
from scopt.frontend.syntax.flow import live_heads
from scopt.ir.scop import Array


class Found(Protocol):
    """A statement that has been found."""

    @property
    def accesses(self) -> tuple[RawAccess, ...]: ...
    @property
    def kill(self) -> bool: ...
    @property
    def loops(self) -> tuple[Any, ...]: ...


class Lives(Struct, eq=False):
    """Where scalars of a region are live, once that is asked for.

    joined: the region's statements, with the loops that take the place of its own. heads: by scalar, the loops at whose
    heads it may hold what is read; None where that is so where the region begins, or where it ends.
    """

    joined: Joined = field(default_factory=Joined)
    items: list[Any] = field(default_factory=list)
    mentioned: dict[Any, frozenset[str]] = field(default_factory=dict)
    heads: dict[str, frozenset[Any] | None] = field(default_factory=dict)

    def begins_at(self, names: RegionNames, name: str, loop: Any) -> bool:
        """Whether nobody reads in an iteration of a loop, or later, what a scalar has held before."""
        if name not in self.heads:
            self.heads[name] = self.of(names, name)
        heads = self.heads[name]
        return heads is not None and loop in self.joined.loops and self.joined.loops[loop] not in heads

    def of(self, names: RegionNames, name: str) -> frozenset[Any] | None:
        if not is_dead_behind(names, name):
            return None
        if not self.items:
            self.items.extend(self.joined.items(names.items))
        before, heads = live_heads(self.items, name, self.mentioned, after=False)
        return None if before else heads


def set_anew(names: RegionNames, arrays: RegionArrays, lives: Lives, loop: Any, inside: Sequence[Found]) -> list[Array]:
    """Scalars that begin to live in each iteration of a loop, of those that conditions keep from being surely written.
    loop: as it stands in the region; inside: its statements."""
    unsure = {access.array for one in inside for access in one.accesses if access.kind == "may-write"}
    killed = {access.array for one in inside if one.kill for access in one.accesses}
    direct = {access.array for one in inside if one.loops[-1] is names.origin(loop) for access in one.accesses}
    return [
        array
        for array in arrays.by_name.values()
        if array.name in unsure and (array.name in direct or array.name not in killed)
        if not (array.rank or array.local or array.within or array.pointer)
        if lives.begins_at(names, array.spelling, loop)
    ]
