"""The values of cells of index arrays: functions in front of the region find out their least and greatest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location
from scopt.frontend.reach.code import Code, Operand, Unbounded
from scopt.frontend.reach.slices import Slice, Slicer, is_few, path_to
from scopt.frontend.reach.states import NARROW_BITS
from scopt.ir.ctypes import Symbol
from scopt.ir.scop import CType
from scopt.ir.walks import walk

# Operations of a loop's body from which on it takes much longer than looking at a cell, with what counts for several.
_WORK, _LONG = 12, 4


def _pays(path: Sequence[Any]) -> bool:
    """Whether a loop does much more in each iteration than a slice that has as many: a sparse matrix times a vector
    takes no longer than looking at its columns row by row."""
    inner = next((one for one in reversed(path) if isinstance(one, ir.For)), None)
    if inner is None or inner is path[-1]:
        return True
    work = 0
    for node in walk(inner.stmt):
        match node:
            case ir.For() | ir.While() | ir.DoWhile():
                return True
            case ir.FuncCall() | ir.BinaryOp(op="/" | "%"):
                work += _LONG
            case ir.ArrayRef() | ir.BinaryOp() | ir.TernaryOp():
                work += 1
            case ir.Assignment(op=op):
                work += op != "="
    return work >= _WORK


def _chooses_rows(path: Sequence[Any]) -> bool:
    """Whether a cell is read once for a whole loop: in a loop around others that aren't known to be short."""
    inner = next((one for one in reversed(path) if isinstance(one, ir.For)), None)
    if inner is None or inner is path[-1]:
        return False
    return any(isinstance(one, ir.For) and not is_few(one.cond) for one in walk(inner.stmt))


class Inspector(Struct, frozen=True):
    """items: the region's statements. iterators: types of variables that loops declare. code: that calls the functions.
    frozen: arrays that are what they are all through the region. made: the functions, by their names."""

    items: tuple[Any, ...]
    symbols: Mapping[str, Symbol]
    iterators: Mapping[str, CType]
    code: Code
    frozen: Set[str]
    location: Location
    made: dict[str, Slice] = field(default_factory=dict)

    def values(self, node: ir.ArrayRef, ctype: CType) -> tuple[Operand, Operand]:
        """The least and the greatest value that a cell has where it is read. Raises Unbounded."""
        keys: tuple[tuple[Operand, ...], ...] = (("least of", id(node)), ("greatest of", id(node)))
        if keys[0] not in self.code.known:
            slicer = Slicer(self.items, self.code.type, self.type_of, self.symbols, self.frozen.__contains__)
            path = path_to(self.items, node)
            made = slicer.slice(node, path, ctype)
            if "break;" not in made.definition and not (made.flat or _pays(path)):
                raise Unbounded
            if ctype.bits <= NARROW_BITS:
                if not made.short and not _chooses_rows(path):
                    raise Unbounded  # its type says enough for what that costs
                made = replace(made, short=True)
            same = tuple((end, made.definition, *made.variables) for end in ("least", "greatest"))
            if same[0] in self.code.known:  # another reference sees the same values
                self.code.known[keys[0]], self.code.known[keys[1]] = (self.code.known[end] for end in same)
                return self.code.known[keys[0]], self.code.known[keys[1]]
            name = f"scopt_values_{self.location.line}_{self.location.column}_{len(self.made)}"
            least, greatest = self.code.fresh(), self.code.fresh()
            self.made[name] = made
            arrays = (f"{array}_cells" for array in made.arrays)
            arguments = ", ".join((*made.variables, *arrays, f"&{least}", f"&{greatest}"))
            self.code.line(f"if (!{name}({arguments})) return 0;")
            for least_of, greatest_of in (keys, same):
                self.code.known[least_of], self.code.known[greatest_of] = least, greatest
        return self.code.known[keys[0]], self.code.known[keys[1]]

    def type_of(self, own: str) -> CType | None:
        symbol = self.symbols.get(own)
        plain = symbol is not None and not symbol.dims and not symbol.pointer and symbol.value is None
        ctype = self.iterators.get(own) or (symbol.type if symbol is not None and plain else None)
        return ctype if ctype is not None and ctype.integer and not ctype.volatile else None
