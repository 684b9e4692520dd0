"""Arrays that a transformed region needs for itself, from the heap; without the memory, the region runs as it was."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from msgspec import Struct

from scopt.astgen.emit.c_expr import ExprPrinter, Level, helper_name
from scopt.ir.expr import linear, maximum
from scopt.ir.nest import Const, Expr
from scopt.ir.scop import Scop

# By names that nothing in the file hides: it needs no declaration, and parameters may be called `free`.
MALLOC, FREE = "__builtin_malloc", "__builtin_free"


class Allocation(Struct, frozen=True):
    """One array. declaration: with its initializer, and with what that needs. helpers: that it calls."""

    name: str
    declaration: str
    helpers: tuple[str, ...] = ()


def allocations(scop: Scop, extents: Mapping[str, tuple[Expr, ...]]) -> tuple[Allocation, ...]:
    """Arrays with at least these extents, outermost dimension first."""
    printer = ExprPrinter.of(scop)
    return tuple(_allocation(scop, printer, name, sizes) for name, sizes in extents.items())


def _allocation(scop: Scop, printer: ExprPrinter, name: str, sizes: tuple[Expr, ...]) -> Allocation:
    # an array type without elements doesn't exist
    positive = [size if not linear(size)[0] else maximum((size, Const(1))) for size in sizes]
    brackets = [f"[{printer.expr(size).at(Level.TERNARY)}]" for size in positive]
    element = scop.arrays[name].type.spelling
    target = f"(*{name}){''.join(brackets[1:])}" if brackets[1:] else f"*{name}"
    declaration = f"{element} {target} = {MALLOC}(sizeof({element}{''.join(brackets)}));"
    used = (helper_name("scopt_max", scop.reserved),) if "scopt_max" in declaration else ()
    return Allocation(name, declaration, ("scopt_max",) if used else ())


def with_allocations(needed: tuple[Allocation, ...], text: str, original: str) -> str:
    """The text where all arrays could be had, the original elsewhere."""
    if not needed:
        return text
    lines = ["{"]
    lines += [f"  {line}" for one in needed for line in one.declaration.split("\n")]
    lines += [
        f"  if ({' && '.join(one.name for one in needed)}) {{",
        textwrap.indent(text.rstrip("\n"), "    "),
        "  } else {",
    ]
    lines += [textwrap.indent(textwrap.dedent(original).rstrip("\n"), "    "), "  }"]
    lines += [f"  {FREE}({one.name});" for one in needed]
    return "\n".join((*lines, "}", ""))
