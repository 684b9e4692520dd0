"""Loops of transforms that go in stages, where the distance is a small number: with the number in the place of its
name, short loops become straight code, and the loop over blocks is one along lines.

Such a region has a text of its own for each of these numbers, which runs where the name has that value. Blocks are so
short that compilers put vectors together from whole ones; of code with branches they make none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Refusal
from scopt.frontend.extraction.region_names import read_names
from scopt.frontend.normalize.stage_loops import may_go_in_stages
from scopt.frontend.normalize.tree_rewriting import names_of, number, substituted
from scopt.frontend.syntax.symbols import Symbol, constant_value, is_value
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.scop import CType
from scopt.ir.walks import walk

# Bytes of a block, and cells that it has at most.
_BYTES, _CELLS = 32, 8


def small_distances(tu: TranslationUnit, region: Region) -> Iterator[tuple[str, Region]]:
    """For each of these numbers, the condition under which the region is what it becomes with it, and that region."""
    if not any(may_go_in_stages(loop) for loop in walk(*region.items) if isinstance(loop, ir.For)):
        return
    try:
        found = read_names(tu, region)
    except Refusal:
        return
    branches = any(isinstance(node, ir.If | ir.TernaryOp) for node in walk(*found.items))
    sizes = [found.symbols[node.name.name].size for node in walk(*found.items) if _is_cell(node, found.symbols)]
    if not found.distances or branches or not sizes or not all(sizes):
        return
    longest = min(_CELLS, _BYTES // max(sizes))
    names = {name for distance, _ in found.distances for name in names_of(distance)}
    names = {name for name in names if name in found.symbols and found.symbols[name].value is None}
    if len(names) != 1:
        return
    name = names.pop()
    symbol = found.symbols[name]
    if not is_value(symbol) or symbol.pointer or name in found.local_names or _declares(region, name):
        return
    for value in _values(found.distances, name, found.symbols, longest):
        literal = _literal(value, symbol.type)
        if literal is None:
            return
        items = tuple(substituted(item, name, literal) for item in region.items)
        yield f"{name} == {value}", replace(region, items=items, version=True)


def _values(
    distances: tuple[tuple[Any, int], ...], name: str, symbols: Mapping[str, Symbol], longest: int
) -> Iterator[int]:
    """The values of a variable with which all blocks are short. longest: cells of one."""
    for value in range(longest + 1):
        made = [(constant_value(substituted(one, name, number(value)), symbols), factor) for one, factor in distances]
        lengths = [0 if length is None else length * 2 // factor for length, factor in made]
        if all(1 < length <= longest and not length & (length - 1) for length in lengths):
            yield value


def _is_cell(node: Any, symbols: Mapping[str, Symbol]) -> bool:
    return isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID) and node.name.name in symbols


def _declares(region: Region, name: str) -> bool:
    return any(isinstance(node, ir.Decl) and node.name == name for node in walk(*region.items))


def _literal(value: int, ctype: CType) -> Any | None:
    """A number of a variable's type; None for types that literals don't have."""
    suffixes = {"int": "", "unsigned int": "u", "unsigned": "u", "long": "l", "unsigned long": "ul"}
    suffix = suffixes.get(ctype.spelling)
    if suffix is not None:
        return ir.Constant("int", f"{value}{suffix}")
    # those of fixed sizes are one of these
    if not ctype.integer or ctype.bits not in (32, 64):
        return None
    typed = ir.TypeDecl(None, [], None, ir.IdentifierType(ctype.spelling.split()))
    return ir.Cast(ir.Typename(None, [], None, typed), number(value))
