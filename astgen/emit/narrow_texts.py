"""Vector loops with narrower variables, in front of the same loops as they were, as text.

``long total = 8; total += 255 * (scopt_size(w_0) + scopt_size(w_1)); if (total <= 32767) { short narrow_0 =
scopt_short(w_0), narrow_1 = scopt_short(w_1); for (…) { short sum; … } } else for (…) { … }``
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import SHORT, SIZE, helper_name
from scopt.ir.nest import Block, Call, For, Narrow
from scopt.ir.scop import Scop

# The largest magnitude of a short.
MOST = 32767
# What stands in a line.
_A_LINE = 3


class Widths(Struct, frozen=True):
    """A loop with narrower variables, and as it was. total: the lines that compute how large variables get. test:
    whether all of it has 16 bits. copies: the lines that declare what the narrow loop takes in the place of others."""

    total: tuple[str, ...]
    test: str
    copies: tuple[str, ...]
    narrow: For
    wide: For


def stands_twice(loop: For) -> bool:
    """Whether a test decides between a loop with narrower variables and the same loop as it was."""
    return loop.mark.narrow is not None and not loop.mark.narrow.tested


def two_widths(scop: Scop, loop: For) -> Widths:
    """Of a loop that stands twice."""
    narrow = loop.mark.narrow
    assert narrow is not None
    total, copies = _total(scop, narrow), _copies(scop, narrow)
    wide = replace(loop, mark=replace(loop.mark, narrow=None))
    return Widths(tuple(total), f"{narrow.total} <= {MOST}", tuple(copies), _narrow(scop, loop, narrow), wide)


def narrow_declarations(scop: Scop, loop: For) -> list[ir.Decl]:
    """What a loop with narrower variables declares in its body."""
    narrow = loop.mark.narrow
    names = [] if narrow is None or not narrow.tested else [scop.arrays[name].spelling for name in narrow.variables]
    types = [ir.TypeDecl(name, [], None, ir.IdentifierType(["short"])) for name in names]
    return [ir.Decl(name, [], [], [], [], kind, None, None) for name, kind in zip(names, types, strict=True)]


def _total(scop: Scop, narrow: Narrow) -> Iterator[str]:
    size = helper_name(SIZE, scop.reserved)
    yield f"{scop.long_type} {narrow.total} = {narrow.constant};"
    for factor, some in groupby(narrow.factors, key=lambda one: one[0]):
        for names in _lines([f"{size}({name})" for _, name in some]):
            text = " + ".join(names)
            if factor > 1:
                text = f"{factor} * ({text})" if len(names) > 1 else f"{factor} * {text}"
            yield f"{narrow.total} += {text};"


def _copies(scop: Scop, narrow: Narrow) -> Iterator[str]:
    short = helper_name(SHORT, scop.reserved)
    for some in _lines([f"{copy} = {short}({name})" for name, copy in narrow.copies]):
        yield f"short {', '.join(some)};"


def _lines(some: list[str]) -> Iterator[list[str]]:
    return (some[k : k + _A_LINE] for k in range(0, len(some), _A_LINE))


def _narrow(scop: Scop, loop: For, narrow: Narrow) -> For:
    """The loop with narrower variables, where the test says that they are enough."""
    copies = dict(narrow.copies)
    made = []
    for call in loop.body.items:
        assert isinstance(call, Call)
        held = {position: copies.get(name, name) for position, name in call.held}
        accesses = scop.statement(call.statement).accesses
        plain = {k: scop.arrays[one.array].spelling for k, one in enumerate(accesses) if k not in held}
        held |= {k: copies[name] for k, name in plain.items() if name in copies}
        made.append(replace(call, held=tuple(sorted(held.items()))))
    private = tuple(name for name in loop.mark.private if name not in narrow.variables)
    mark = replace(loop.mark, private=private, narrow=replace(narrow, tested=True))
    return replace(loop, body=Block(tuple(made)), mark=mark)
