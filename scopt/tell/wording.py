"""How the parts of a SCoP read in text for people: statements, instances, domains, functions, distances."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

import islpy as isl

from scopt.astgen.emit.c_statement import PlainGenerator
from scopt.ir.marked_schedule import Mark, PanelMark, StripMark, TileMark
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Statement

MAX_STATEMENT = 80

# isl puts the constant of a sum first, `-2 + n`; people put it last. Only where all that follows is a plain sum.
_SUM = re.compile(r"(?<![\w+\-*/] )(?<!\w)(-?)(\d+)((?: [+-] \d*[A-Za-z_]\w*)+)(?! [+\-]|[\w(])")


def one_line(statement: Statement, width: int = MAX_STATEMENT) -> str:
    """The statement's text, macros expanded, in one line of at most that many columns."""
    text = " ".join(str(PlainGenerator()._generate_stmt(statement.body)).split())
    return text if len(text) <= width else text[: width - 2].rstrip() + " …"


def instance_text(instances: isl.Set) -> str:
    """One of some statement instances, with the values of the parameters where there are any: ``S0[0, 3] with n = 4``.
    The set isn't empty."""
    point = isl.Set.from_point(instances.sample_point())
    values = [str(point.dim_max_val(k)) for k in range(point.dim(isl.dim_type.set))]
    dims = range(point.dim(isl.dim_type.param))
    parameters = [
        f"{point.get_dim_name(isl.dim_type.param, k)} = {point.plain_get_val_if_fixed(isl.dim_type.param, k)}"
        for k in dims
    ]
    return f"{point.get_tuple_name()}[{', '.join(values)}]" + (f" with {', '.join(parameters)}" if parameters else "")


def domain_text(domain: isl.Set) -> str:
    """The constraints of a domain alone: ``0 <= i < n, 0 < j < n``; empty if there are none."""
    inside = str(domain.coalesce()).split("{", 1)[-1].rsplit("}", 1)[0]
    if " : " not in inside:
        return ""
    constraints = inside.split(" : ", 1)[1].strip()
    return people_order(
        constraints if " or " in constraints or "exists" in constraints else constraints.replace(" and ", ", ")
    )


def function_text(function: isl.PwAff, iterators: Iterable[str], *, raw: bool = False) -> str:
    """A function of a statement's iterators, without its space: ``2t + i + 1``; several pieces with their conditions.

    raw: exactly as isl writes it: ``1 + 2t + i``.
    """
    for position, name in enumerate(iterators):
        function = function.set_dim_id(isl.dim_type.in_, position, isl.Id(name))
    inside = str(function).split("{", 1)[-1].rsplit("}", 1)[0]
    pieces = []
    for piece in inside.split("; "):
        value, _, condition = piece.split(" -> [(", 1)[-1].partition(")]")
        condition = condition.removeprefix(" : ").strip()
        pieces.append((value if raw else people_order(value), condition))
    if len({value for value, _ in pieces}) == 1:
        return pieces[0][0]
    return "; ".join(f"{value} if {condition}" for value, condition in pieces)


def distance_text(distances: isl.Set | None) -> str:
    """The values of one component of a distance vector: ``1``, ``-1..1``, ``>=2``, ``*`` where it has no bounds, ``0``
    without any value."""
    if distances is None:
        return "0"
    values = distances.project_out_all_params()
    low, high = _bound(values, "min"), _bound(values, "max")
    if low is not None and high is not None:
        return low if low == high else f"{low}..{high}"
    return f">={low}" if low is not None else f"<={high}" if high is not None else "*"


def _bound(values: isl.Set, side: str) -> str | None:
    """The smallest or largest element of ``{ [d] }``, None if there is no such bound."""
    found = values.dim_min_val(0) if side == "min" else values.dim_max_val(0)
    return str(found) if found.is_int() else None


def people_order(text: str) -> str:
    """isl's text with the constants of sums at their end."""

    def turned(match: re.Match[str]) -> str:
        sign, constant, rest = match.groups()
        return match[0] if rest.startswith(" -") else f"{rest.removeprefix(' + ')} {sign or '+'} {constant}"

    return _SUM.sub(turned, text)


def some(number: int, noun: str) -> str:
    """``1 region``, ``2 regions``."""
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("s") else "s")


def kinds_text(kinds: Iterable[str], separator: str = ", ") -> str:
    """Kinds of dependences in the usual order."""
    found = set(kinds)
    return separator.join(kind for kind in ("flow", "anti", "output", "reduction") if kind in found)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equally many cells as lines of columns."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def wrapped(head: str, items: Iterable[str], width: int = 110) -> list[str]:
    """A head and items with commas between them, in lines of that width; the later ones are indented by the head's
    length, at most by 4."""
    return textwrap.wrap(
        head + ", ".join(items), width, subsequent_indent=" " * min(len(head), 4) or "  ", break_long_words=False
    )


def mark_text(mark: Mark) -> str:
    """What a loop is: ``parallel, private copies of t, reduces s by +``; scalar: nothing is carried, but vectors would
    lose. Of other marks: what they stand for."""
    if not isinstance(mark, LoopMark):
        return place_text(mark) or "below the loops over panels of columns"
    what = [
        text for text, on in (("parallel", mark.parallel), ("vector loop", mark.simd), ("scalar", mark.scalar)) if on
    ] or ["sequential"]
    copies = [f"private copies of {', '.join(mark.private)}"] if mark.private else []
    reduced = (
        [f"reduces {', '.join(f'{one.array} by {one.operator}' for one in mark.reductions)}"] if mark.reductions else []
    )
    return ", ".join(what + copies + reduced)


def place_text(mark: TileMark | StripMark | PanelMark) -> str:
    """What stands at the place of a mark that isn't about a loop; empty if that needs no words."""
    match mark:
        case TileMark(place="rows", tiling=tiling):
            return (
                f"operands of {tiling.block} rows and {tiling.depth} steps are packed: "
                f"copied into buffers in the order of their use"
            )
        case TileMark(place="tile", tiling=tiling):
            return f"register tile: {tiling.rows} × {tiling.columns} cells stay in registers while they are computed"
        case StripMark(strips=strips) if not strips.vectors:
            return f"{strips.count} rows beside each other" if strips.count > 1 else "a row at a time"
        case StripMark(strips=strips):
            return f"strips of {strips.count} rows, side by side in the lanes of vectors"
    return ""
