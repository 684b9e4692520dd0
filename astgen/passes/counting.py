"""Plain loops that count, and sum integers up, under several conditions, without branches.

``if (a != 4) n++; if (a != 4 && a < b) m++;`` is one branch inside of another to gcc, which makes vectors of neither.
Of sums of choices, ``n += a != 4 ? 1 : 0; m += (a != 4) & (a < b) ? 1 : 0;``, it does (measured for three counts over
pairs of bytes: 0.13 of the time).

No clause is needed: compilers know that sums of integers may be made in any order, even where C's signed ones might
overflow on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scopt import ir
from scopt.astgen.passes.conditional_sums import summed
from scopt.astgen.passes.eager import EAGER
from scopt.astgen.passes.stepping import lies_apart
from scopt.ir.effects import effects
from scopt.ir.nest import Call, For
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.reductions import update_of

# Of integers: compilers make no vectors of quotients.
_SLOW = ("/", "%")


def counted(scop: Scop, loop: For) -> Mapping[str, Statement]:
    """The sums without branches that a plain innermost loop runs instead of its own, by their names; none where
    compilers would make vectors of the loop as it is, or of neither.

    The loop's statements are those of the source: what else these do, vectors can, too."""
    mark, own = loop.mark, [one for one in loop.body.items if isinstance(one, Call)]
    plain = loop.step == 1 and not (mark.simd or mark.parallel or mark.jammed or mark.searched)
    if not plain or len(own) < len(loop.body.items) or any(one.held for one in own):
        return {}
    statements = [scop.statement(one.statement) for one in own]
    if not any(isinstance(one.body, ir.If | ir.Compound) and _branches(one) for one in statements):
        return {}
    if not all(_has_rows(scop, one, loop.iterator) for one in own) or _carries(scop, statements):
        return {}
    made = {one.name: summed(scop, one, masks=True) for one in statements}
    left = [made[one.name] or one for one in statements]
    if any(_branches(one) or isinstance(one.body, ir.If) for one in left):
        return {}
    return {name: one for name, one in made.items() if one is not None}


def _branches(statement: Statement) -> bool:
    return any(isinstance(one, ir.BinaryOp) and one.op in EAGER for one in walk(statement.body))


def _has_rows(scop: Scop, call: Call, iterator: str) -> bool:
    """Whether a statement reads neighbours, or the same cells, alone, writes nothing but variables, and computes with
    what vectors have."""
    statement = scop.statement(call.statement)
    for access in statement.accesses:
        array = scop.arrays[access.array]
        if not (array.type.integer or array.type.floating) or array.type.volatile or array.type.atomic:
            return False
        if not array.rank:
            continue
        if access.is_write or not access.relation.is_single_valued() or lies_apart(call, access, iterator):
            return False
    found = effects(statement.body)
    slow = any(isinstance(one, ir.BinaryOp) and one.op in _SLOW for one in walk(statement.body))
    return not (slow or found.called or found.opaque or found.unnamed)


def _carries(scop: Scop, statements: Iterable[Statement]) -> bool:
    """Whether an iteration hands anything on to the next one but sums of integers that nothing else looks at."""
    sums, fresh, used = set[str](), set[str](), set[str]()
    for one in statements:
        update = update_of(scop, one)
        if update is not None:
            if update.array in fresh | used or not scop.arrays[update.array].type.integer:
                return True
            sums.add(update.array)
            used |= {access.array for access in one.accesses} - {update.array} - fresh
            continue
        read = {access.array for access in one.accesses if not access.is_write}
        written = {access.array for access in one.accesses if access.is_write}
        used |= read - fresh
        if not (isinstance(one.body, ir.Assignment) and one.body.op == "=") or written & used:
            return True
        fresh |= written
    return bool(sums & (fresh | used))
