"""What is to become of a band with no bands below."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct

from scopt.ir.nest import Reduction
from scopt.scheduler.decisions.leaf_facts import Hidden


class LeafPlan(Struct, frozen=True, eq=False):
    """What is to become of a band with no bands below.

    order: its members, the vector loop's last. groups: statement groups in execution order, each with an innermost loop
      of its own; a group is a sequence of parts.
    simd: per group, whether its innermost loop carries nothing but reductions and walks through memory well; scalar:
      whether it carries nothing, but jumps in every access; ahead: whether compilers make vectors of it though it
      carries something. private: per group, what each lane needs a copy of. reductions: per group, what its innermost
      loop carries; threads: what the parallel loop does.
    tile: tile all members before the vector loop's; tile_vector: that one too. parallel: position in `order` of the
    tile loop (or loop) to run in parallel, None if there is none; skew: run wavefronts of the first two tile loops.
    slopes: per member of `order`, by how much it is skewed: sizes in that proportion make tiles that fit together, and
      cheap loop bounds.
    jumps: the vector loop jumps between lines in some access. serial: every innermost loop would carry something; rows:
      and its instances run in their order, along pieces of rows. tiny: the innermost loops would be vector loops, but
      are too short.
    around: tiles on diagonals have all iterations of the first member, which stands inside of them: sweeps may be few.
    ended: per group, whether its innermost loop carries nothing, and has loops inside that end on data.
    abreast: how many rows of a tile run beside each other along diagonals; 0: all.
    hidden: what could be vectors, but for a chain beside it that hides it.
    """

    order: tuple[int, ...]
    groups: tuple[tuple[isl.UnionSet, ...], ...]
    simd: tuple[bool, ...]
    scalar: tuple[bool, ...]
    ahead: tuple[bool, ...]
    private: tuple[tuple[str, ...], ...]
    tile: bool
    tile_vector: bool
    parallel: int | None
    skew: bool
    slopes: tuple[int, ...]
    jumps: bool
    serial: bool
    reductions: tuple[tuple[Reduction, ...], ...]
    threads: tuple[Reduction, ...] = ()
    rows: bool = False
    tiny: bool = False
    around: bool = False
    abreast: int = 0
    ended: tuple[bool, ...] = ()
    hidden: Hidden | None = None

    @property
    def diagonal(self) -> tuple[int, int]:
        """Positions of the members whose tiles are on diagonals, where wavefronts run."""
        return (1, 2) if self.around else (0, 1)
