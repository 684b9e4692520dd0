"""Everything a user can set, in one frozen object that is passed along; there is no global state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VerifyLevel = Literal["off", "schedule", "full"]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one `optimize` call.

    cc: the C compiler whose preprocessor is run (``cc -E``).
    cpp_flags: flags for it, in order: -I -D -U -std= -include -isystem -iquote …
    autodetect: also find maximal SCoPs without pragmas.
    scheduler: a name in `scopt.scheduler.registry`.
    tile: tile permutable bands. tile_sizes: one per level, outermost first, the last one repeated;
      empty means the default sizes of `scopt.scheduler.tiling`.
    parallel: emit ``omp parallel for``; simd: emit ``omp simd``.
    verify: ``schedule`` checks the schedule tree; ``full`` also reads back the loops and the printed C.
    budget: seconds that one SCoP may take before it is left as it was; 0 means no limit.
    """

    cc: str = "cc"
    cpp_flags: tuple[str, ...] = ()
    autodetect: bool = False
    scheduler: str = "isl"
    tile: bool = True
    tile_sizes: tuple[int, ...] = ()
    parallel: bool = True
    simd: bool = True
    verify: VerifyLevel = "full"
    budget: float = 60.0
