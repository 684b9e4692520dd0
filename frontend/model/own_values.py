"""Variables that have one value from some place in a statement on, as ``n`` behind ``int n = length[i];``: loops up to
it go as far as subscripts with it, whatever it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from scopt import ir
from scopt.ir.scop import CType
from scopt.ir.walks import used_names, walk

_STEPS = ("++", "--", "p++", "p--")


def own_values(body: Any, type_of: Callable[[str], CType | None]) -> tuple[Mapping[str, CType], Mapping[str, CType]]:
    """The integers that a statement finds and leaves as they are, and those that one place in it sets.

    type_of: of a number that may change in the region, but by nothing that doesn't name it; None for all else.
    """
    places = Counter[str]()
    for node in walk(body):
        match node:
            case ir.Assignment(lvalue=ir.ID(name=name)):
                places[name] += 1
            case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if op in _STEPS:
                places[name] += 1
            case ir.Decl(name=name, init=init) if init is not None:
                places[name] += 1
    typed = {name: ctype for name in dict.fromkeys(used_names(body)) if (ctype := type_of(name)) is not None}
    steady = {name: ctype for name, ctype in typed.items() if not places[name]}
    return steady, {name: ctype for name, ctype in typed.items() if places[name] == 1}
