"""A region's statements in the form that extraction takes apart: a copy, rewritten where C has several ways to say the same."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from scopt.frontend.continues import without_continue
from scopt.frontend.counted import Variables, counted
from scopt.frontend.liveness import may_be_read_after
from scopt.frontend.opaque import LOOPS, scalar_iterators
from scopt.frontend.rewriting import mentions
from scopt.frontend.symbols import Symbol, facts_of, symbol_of, taken_in
from scopt.model import CType

if TYPE_CHECKING:
    from scopt.frontend.parse import TranslationUnit
    from scopt.frontend.regions import Region

_INT_BITS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """items: the rewritten statements. origins: by the ids of their nodes, the region's own nodes that they are copies of."""

    items: tuple[Any, ...]
    origins: Mapping[int, Any]

    def origin(self, node: Any) -> Any:
        """The region's own node that a node is a copy of; the node itself if it was made here."""
        return self.origins.get(id(node), node)


def normalized(tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]) -> Normal:
    """The statements of a region, copied and rewritten. symbols: what names mean where it begins."""
    copies = [copy.deepcopy(item) for item in region.items]
    pairs = list(zip(all_nodes(copies), all_nodes(region.items), strict=True))
    normal = Normal(tuple(copies), {id(ours): theirs for ours, theirs in pairs})
    rewriter = _Rewriter(tu, region, symbols, normal, {id(node): node for node, _ in pairs})
    items = tuple(rewriter.statements(copies, _straight_before(tu, region)))
    scalar_iterators(items)
    return Normal(items, {key: node for key, node in normal.origins.items()})


@dataclass(frozen=True, slots=True, eq=False)
class _Rewriter:
    """alive: all nodes of the copy, so that none of their ids is used again."""

    tu: TranslationUnit
    region: Region
    symbols: Mapping[str, Symbol]
    normal: Normal
    alive: Mapping[int, Any]

    def statements(self, items: Iterable[Any], outside: Sequence[Any] = ()) -> list[Any]:
        """The items of a block, rewritten from the inside out. outside: what stands in front of them in the same block."""
        done: list[Any] = []
        for item in items:
            self.inside(item)
            done.extend(self.loop(item, done, outside) if isinstance(item, LOOPS) else [item])
        return done

    def inside(self, node: Any) -> None:
        """Rewrite what lies in a statement."""
        if isinstance(node, c_ast.Compound):
            node.block_items = self.statements(node.block_items or [])
            return
        for _, child in node.children():
            self.inside(child)

    def loop(self, loop: Any, before: list[Any], outside: Sequence[Any]) -> list[Any]:
        """What stands in a loop's place."""
        made = counted(loop, before, outside, Variables(self.type_of, self.used_after, self.uses, self.fresh)) or [loop]
        for one in made:
            if isinstance(one, c_ast.For):
                without_continue(one)
        return made

    # --- variables ---------------------------------------------------------------------------------------------------------------------

    def type_of(self, name: str) -> CType | None:
        symbol = self.symbol(name)
        if symbol is None or symbol.static or symbol.address_taken or symbol.kind not in ("local", "parameter"):
            return None
        if symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic:
            return None
        return symbol.type if symbol.type.integer and symbol.type.bits >= _INT_BITS else None

    def symbol(self, name: str) -> Symbol | None:
        """What a name means in the whole region; None if it means several things."""
        declared = [node for node in all_nodes(self.region.items) if isinstance(node, c_ast.Decl) and node.name == name]
        if not declared:
            return self.symbols.get(name)
        if len(declared) > 1 or name in self.symbols or name in taken_in(facts_of(self.tu, self.region.function), {}):
            return None
        return symbol_of(declared[0], self.symbols)

    def uses(self, name: str) -> int:
        return sum(mentions(item, name) for item in self.region.items)

    def fresh(self, name: str) -> str:
        return next(candidate for k in count(2) if (candidate := f"{name}_{k}") not in self.tu.reserved)

    def used_after(self, loop: Any, name: str) -> bool:
        """Whether anything executed after a loop may read the value that it leaves in a variable."""
        facts = facts_of(self.tu, self.region.function)
        original = self.normal.origin(loop)
        parent, _ = facts.parents.get(id(original), (None, 0))
        if not isinstance(parent, c_ast.Compound):
            return True
        place = next(k for k, item in enumerate(parent.block_items) if item is original)
        stretch = replace(self.region, items=(original,), parent=parent, first=place, stop=place + 1)
        return may_be_read_after(facts, stretch, name)


def _straight_before(tu: TranslationUnit, region: Region) -> Sequence[Any]:
    """The statements in front of a region, in its block, that are executed one after the other, and then the region."""
    items = (region.parent.block_items or ())[: region.first]
    facts = facts_of(tu, region.function)
    if facts.hidden_jumps:
        return ()
    entered = [k for k, item in enumerate(items) if id(item) in facts.entered]
    return items[entered[-1] + 1:] if entered else items


def all_nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes and all below them, parents first."""
    for node in nodes:
        yield node
        yield from all_nodes(child for _, child in node.children())
