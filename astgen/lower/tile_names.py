"""Names and buffers of the tiles of a SCoP: those that do the same share them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain, count

from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.helper_texts import KERNEL
from scopt.astgen.lower.body_syntax import (
    array_of,
)
from scopt.astgen.lower.tile_geometry import array_name
from scopt.ir.scop import Array, CType, Scop


class TileNames(Struct, frozen=True):
    """Names for buffers and kernels that nothing else in the file has. earlier: buffers of other tilings, which may be
    used again. alignment: of buffers, in bytes."""

    scop: Scop
    number: int
    earlier: Mapping[str, Array]
    alignment: int

    def kernel(self) -> str:
        return f"{KERNEL}{self.scop.name.removeprefix('scop')}_{self.number}"

    def buffers(self, ctype: CType) -> Callable[[ir.Node, str, int], Array]:
        taken = set(self.scop.reserved) | set(self.scop.arrays) | {p.spelling for p in self.scop.parameters}

        def buffer(value: ir.Node, what: str, size: int) -> Array:
            base = f"{array_name(value)}_{what}"
            names = chain((base,), (f"{base}{k}" for k in count(2)))
            name = next(n for n in names if n not in taken and self.fits(n, ctype, size))
            taken.add(name)
            return array_of(name, ctype, (size,), self.alignment)

        return buffer

    def fits(self, name: str, ctype: CType, size: int) -> bool:
        """Whether no earlier buffer of that name is another one."""
        other = self.earlier.get(name)
        return other is None or (other.type, other.sizes) == (ctype, (size,))
