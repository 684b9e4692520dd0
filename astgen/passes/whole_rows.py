"""Strips that only share columns among threads are whole rows for one thread.

``for st += 256: for t: for s = st … st + 255`` lets threads take columns of a sweep that goes on from row to row. Where
the rows that it goes on from stay in a cache anyway, one thread gains nothing by strips, but has prefetchers begin anew
in each piece of a row (measured: a sweep over a matrix takes 1.6 times as long in pieces of 2 KiB). Nothing leads from
strip to strip, since threads run them at the same time: so their iterations may alternate, as long as each strip's own
stay in their order. ``for t: for s`` does that.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.expr import compare, names, plus
from scopt.ir.nest import Block, Const, Expr, For, Hold, If, Max, Min, Name
from scopt.ir.nest_walks import Item, calls, items, used_names
from scopt.ir.scop import Scop


def with_whole_rows(strips: For) -> Block | None:
    """What stands in place of a parallel loop over strips where they run as one: their loops along all of each row.
    None if that would be something else: where strips have copies of their own that last from one loop to the next,
    combine results, or are used for anything but where their innermost loops begin and end."""
    mark = strips.mark
    if not mark.parallel or mark.reductions or mark.collapse > 1 or strips.step == 1:
        return None
    found = [item for item in items(strips.body) if isinstance(item, For)]
    along = [loop for loop in found if strips.iterator in names(loop.lower) | names(loop.upper)]
    if any(loop.mark.reductions or loop.mark.searched for loop in found):
        return None
    if mark.private and not (len(along) == 1 and set(mark.private) <= set(along[0].mark.private)):
        return None
    body = _block(strips.body, strips)
    if body is None or not any(isinstance(item, Hold) for item in items(strips.body)):
        return body
    return Block((If(compare(strips.upper, ">=", strips.lower), body),))  # without strips, nothing is read


def keeps_copies(scop: Scop, strips: For) -> bool:
    """Whether a loop over strips writes private cells that its mark doesn't tell of. What strips only read was there
    before them, and is the same in any order of theirs."""
    known = {statement.name: statement for statement in scop.statements}
    used = {call.statement for call in calls(strips.body)}
    written = {a.array for name in used & known.keys() for a in known[name].accesses if a.is_write}
    own = {array for array in written if scop.arrays[array].private}
    return not used <= known.keys() or not own <= set(strips.mark.private)


def _block(block: Block, strips: For) -> Block | None:
    """A block with its loops along strips along all of them; None if it has anything else that depends on strips, or
    that would run once for each of them."""
    made: list[Item] = []
    for item in block.items:
        whole = _item(item, strips)
        if whole is None:
            return None
        made.append(whole)
    return Block(tuple(made))


def _item(item: Item, strips: For) -> Item | None:
    match item:
        case For() if strips.iterator in names(item.lower) | names(item.upper):
            return _along(item, strips)
        case For() if not item.mark.parallel:
            body = _block(item.body, strips)
            return None if body is None else replace(item, body=body)
        case Hold() if _only_reads(item) and strips.iterator not in used_names(Block((replace(item, body=Block(())),))):
            body = _block(item.body, strips)
            return None if body is None else replace(item, body=body)
        case If(otherwise=None) if strips.iterator not in names(item.condition):
            body = _block(item.then, strips)
            return None if body is None else replace(item, then=body)
    return None


def _only_reads(hold: Hold) -> bool:
    """Whether variables stand for what is read alone: a cell that all strips read is one that none writes, or threads
    could not share them."""
    return not any(cell.stored for cell in hold.cells)


def _along(loop: For, strips: For) -> For | None:
    """A loop along a strip along all of them: from where the first one begins, or later, to where the last one ends."""
    begins = _other(loop.lower, Name(strips.iterator), Max)
    ends = _other(loop.upper, plus(Name(strips.iterator), strips.step - 1), Min)
    if loop.step != 1 or begins is None or ends != strips.upper or strips.iterator in used_names(loop.body):
        return None
    mark = replace(loop.mark, most=0)
    if begins == Name(strips.iterator):
        return replace(loop, lower=strips.lower, upper=strips.upper, mark=mark)
    later = isinstance(begins, Const) and isinstance(strips.lower, Const) and begins.value >= strips.lower.value
    return replace(loop, lower=begins, upper=strips.upper, mark=mark) if later else None


def _other(bound: Expr, own: Expr, kind: type[Min] | type[Max]) -> Expr | None:
    """Of two limits of a loop the one that isn't the strip's own, or that one if it is the only one; None if it is none
    of them."""
    if isinstance(bound, kind) and own in bound.args and len(bound.args) > 1:
        rest = [one for one in bound.args if one != own]
        return rest[0] if len(rest) == 1 else None
    return own if bound == own else None
