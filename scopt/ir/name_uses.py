"""Where trees use variables: how often, what declares them, what is asked of them. Rewrites ask this of one variable
after the other, and of the same trees again: each statement is looked through once."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.ir.effects import STATEMENTS
from scopt.ir.walks import walk

# What asks for the size or the address of a variable itself.
_ASKING = ("sizeof", "_Alignof", "__alignof__", "&")


class NameUses(Struct, frozen=True):
    """Of some nodes, with all below them, by the names of variables. uses: how many identifiers there are. declared:
    their declarations. asked: those whose size or address is asked for."""

    uses: Counter[str] = field(default_factory=Counter)
    declared: dict[str, tuple[ir.Decl, ...]] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()


@lru_cache(maxsize=1 << 12)
def name_uses(*nodes: Any) -> NameUses:
    """Of the nodes together."""
    if len(nodes) != 1:
        return _together([name_uses(node) for node in nodes])
    if isinstance(nodes[0], STATEMENTS):
        return _together([name_uses(part) for part in nodes[0].parts])
    uses, declared, asked = Counter[str](), dict[str, tuple[ir.Decl, ...]](), set[str]()
    for node in walk(*nodes):
        match node:
            case ir.ID(name=name):
                uses[name] += 1
            case ir.Decl(name=str(name)):
                declared[name] = (*declared.get(name, ()), node)
            case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if op in _ASKING:
                asked.add(name)
    return NameUses(uses, declared, frozenset(asked))


def _together(parts: list[NameUses]) -> NameUses:
    """Of several nodes that stand beside each other."""
    uses, declared = Counter[str](), dict[str, tuple[ir.Decl, ...]]()
    for one in parts:
        uses.update(one.uses)
        for name, found in one.declared.items():
            declared[name] = (*declared.get(name, ()), *found)
    return NameUses(uses, declared, frozenset[str]().union(*(one.asked for one in parts)))
