"""What is known of a band with nothing but statements below, before anything is decided about it."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import Reduction
from scopt.poly.isl_utils import sets_of
from scopt.scheduler.locality.strides import Strides


class Hidden(Struct, frozen=True):
    """What a chain in an innermost loop hides: statements that could be vectors. cycles: of the whole loop. waits: of
    these, what the chain waits for itself, in whatever loop it stands."""

    statements: frozenset[str]
    cycles: float
    waits: float = 0.0


class Grouping(Struct, frozen=True, eq=False):
    """The statement groups of an innermost loop, each with what it has in a `LeafPlan`. free: whether a group carries
    nothing but reductions; vectors: and vector instructions do several of its instances at once; ahead: whether they
    do though it carries something (`reads_ahead`). hidden: what could be vectors, and isn't, since a chain hides
    it."""

    groups: tuple[tuple[isl.UnionSet, ...], ...]
    free: tuple[bool, ...]
    vectors: tuple[bool, ...]
    private: tuple[tuple[str, ...], ...]
    reductions: tuple[tuple[Reduction, ...], ...]
    ahead: tuple[bool, ...]
    hidden: Hidden | None = None

    @property
    def bound(self) -> Grouping:
        """The same, as no vector loops."""
        none = (False,) * len(self.free)
        return replace(self, free=none, vectors=none, ahead=none)

    @property
    def penalty(self) -> int:
        """What vectors of the deepest statements lose: the copies of a reduction have to be put together in the end."""
        depths = [
            max((part.dim(isl.dim_type.set) for one in group for part in sets_of(one)), default=0)
            for group in self.groups
        ]
        deep = [k for k, depth in enumerate(depths) if depth == max(depths)]
        if any(self.vectors[k] and not self.reductions[k] for k in deep):
            return 0
        return 1 if any(self.vectors[k] or self.ahead[k] for k in deep) else 3


class LeafFacts(Struct, frozen=True, eq=False):
    """What is known of a leaf band before anything is decided.

    carried, walks, slopes: of each member. short: those with too few values for threads. vector: the member for the
    vector loop, grouping: of the innermost loops over it; wished: somebody asks for it. threads: the member that
    pragmas want parallel. reduced: see `Planner.reduced_member`. tiny: see `Planner.is_tiny`.
    far: loops around the two innermost ones reuse what these bring.
    """

    carried: tuple[bool, ...]
    walks: tuple[Strides, ...]
    grouping: Grouping
    vector: int
    wished: bool
    threads: int | None
    reduced: tuple[int, tuple[Reduction, ...]] | None
    slopes: tuple[int, ...]
    short: frozenset[int] = frozenset()
    tiny: bool = False
    far: bool = True
