"""Extremes of those values that a condition lets through, without branches.

``if (x[j] < x[i] && d[j] > best) best = d[j];`` is a reduction for compilers that find the extremum in it: clang does,
gcc doesn't, and neither does where the value is computed (``d[j] + 1``). With a call of a function that masks what the
condition leaves out, ``best = scopt_max_if(best, x[j] < x[i], x[j] < x[i] ? d[j] + 1 : 0)``, both make a vector loop.
(As a reduction clause of a vector loop, gcc's loop gets slower.) Vector loops that sum up what a condition lets through
choose what they add (`scopt.astgen.passes.conditional_sums`), and so do plain ones that gcc would leave branches in
(`scopt.astgen.passes.counting`).
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import MASKED, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.chains import stays
from scopt.astgen.passes.conditional_sums import summed
from scopt.astgen.passes.counting import counted
from scopt.ir.effects import effects
from scopt.ir.nest import Block, Call, For, LoopNest
from scopt.ir.nest_walks import Item, calls, map_block
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.truths import COMPARISONS, conjuncts
from scopt.ir.walks import same_tree, walk
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import IN
from scopt.poly.reductions import cell_compared, fits_cell, selected
from scopt.poly.sure_cells import surely_touched


def with_masks(scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest where loops that only look for an extremum among some values, and that are neither parallel nor vector
    loops, call a function for it, and the SCoP with these statements."""
    rewriter = _Rewriter(scop, frozenset(one.name for one in scop.statements))
    block = map_block(nest.body, rewriter.item)
    made = tuple(one for one in (*rewriter.made.values(), *rewriter.summed.values()) if one is not None)
    return replace(scop, statements=(*scop.statements, *made)), LoopNest(block)


def has_masks(scop: Scop, nest: LoopNest) -> bool:
    """Whether there is such a loop."""
    known = {one.name for one in scop.statements}
    return any(call.statement not in known for call in calls(with_masks(scop, nest)[1].body))


class _Rewriter(Struct, frozen=True, eq=False):
    """made, summed: new statements, by the old ones' names; None for those that aren't of this kind. known: the names
    of the old ones."""

    scop: Scop
    known: frozenset[str]
    made: dict[str, Statement | None] = field(default_factory=dict)
    summed: dict[str, Statement | None] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        if isinstance(item, For):
            item = self.sums(item) if item.mark.simd else self.counts(item)
        match item:
            case For(body=Block((Call() as only,))) if not item.mark.jammed and only.statement in self.known:
                if only.statement not in self.made:
                    self.made[only.statement] = masked(self.scop, self.scop.statement(only.statement))
                made = self.made[only.statement]
                loop = self.loop(item, only) if made is not None else None
                if made is None or loop is None:
                    return (item,)
                return (replace(loop, body=Block((replace(only, statement=made.name),))),)
        return (item,)

    def sums(self, loop: For) -> For:
        """A vector loop that reduces variables, where nothing is added to these under a condition."""
        collected = {one.array for one in loop.mark.reductions}

        def chosen(call: Call) -> Call:
            statement = self.scop.statement(call.statement)
            if not any(access.is_write and access.array in collected for access in statement.accesses):
                return call
            if call.statement not in self.summed:
                self.summed[call.statement] = summed(self.scop, statement)
            made = self.summed[call.statement]
            return call if made is None else replace(call, statement=made.name)

        if not collected or not all(isinstance(one, Call) for one in loop.body.items):
            return loop
        return replace(loop, body=Block(tuple(chosen(one) for one in loop.body.items if isinstance(one, Call))))

    def counts(self, loop: For) -> For:
        """A plain loop that counts what several conditions let through."""
        if not self.known.issuperset(one.statement for one in loop.body.items if isinstance(one, Call)):
            return loop
        made = counted(self.scop, loop)
        self.summed.update(made)

        def chosen(item: Item) -> Item:
            new = made.get(item.statement) if isinstance(item, Call) else None
            return item if new is None or not isinstance(item, Call) else replace(item, statement=new.name)

        return replace(loop, body=Block(tuple(map(chosen, loop.body.items)))) if made else loop

    def loop(self, loop: For, call: Call) -> For | None:
        """The loop as one that gains by masks: no loop of threads unless each iteration has a cell of its own, and no
        vector loop as far as directives go where all have one; None if it is none."""
        same = stays(self.scop.statement(call.statement), call, loop.iterator)
        if not same:
            return loop if loop.mark.simd and not loop.mark.reductions else None
        if loop.mark.parallel or any(self.scop.arrays[one.array].rank for one in loop.mark.reductions):
            return None
        return replace(loop, mark=replace(loop.mark, simd=False, private=(), reductions=())) if loop.mark.simd else loop


class _Found(Struct, frozen=True, eq=False):
    """``if (conditions) cell = max(cell, value);`` use: a reference that reads the cell."""

    operator: str
    cell: ir.Node
    use: ir.Node
    conditions: tuple[ir.Node, ...]
    value: ir.Node


def masked(scop: Scop, statement: Statement) -> Statement | None:
    """A statement that takes the extremum of a cell and a value under a condition, as a call that masks the value; None
    if it is none, or if a cell might not be there where the original one doesn't look at it."""
    found = _found(statement.body)
    if found is None:
        return None
    writes = [access for access in statement.accesses if access.is_write]
    if len(writes) != 1 or writes[0].node is not found.cell:
        return None
    array = scop.arrays[writes[0].array]
    helper = MASKED.get((found.operator, array.type.bits, array.type.signed))
    plain = array.type.integer and not (array.type.volatile or array.type.atomic)
    parts = (*found.conditions, found.value)
    if helper is None or not plain or not fits_cell(scop, statement, found.value, array.type):
        return None
    if any(access.node is None for access in statement.accesses) or not _is_plain(found.cell):
        return None
    if not all(map(_is_pure, parts)) or any(same_tree(one, found.cell) for part in parts for one in walk(part)):
        return None
    if not _is_safe(scop, statement, found, writes[0]):
        return None
    return _called(scop, statement, found, helper)


def _called(scop: Scop, statement: Statement, found: _Found, helper: str) -> Statement:
    together = found.conditions[0]
    for other in found.conditions[1:]:
        together = ir.BinaryOp("&", together, other)
    value = ir.TernaryOp(together, found.value, ir.Constant("int", "0"))
    masking = call(helper_name(helper, scop.reserved), [found.use, together, value])
    body = ir.Assignment("=", found.cell, masking)
    name, kept = f"{statement.name}_masked", set(walk(body))
    accesses = tuple(
        replace(access, kind="write" if access.is_write else "read", relation=access.relation.set_tuple_name(IN, name))
        for access in statement.accesses
        if access.node in kept
    )
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), body=body, accesses=accesses)


# --- forms ------------------------------------------------------------------------------------------------------------


def _found(body: ir.Node) -> _Found | None:
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return _found(only)
        case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
            inner = selected(then)
            if inner is not None:
                conditions = tuple(conjuncts(condition))
                return _Found(inner.operator, inner.cell, inner.uses[-1], conditions, inner.value)
            while isinstance(then, ir.Compound) and len(then.block_items or ()) == 1:
                then = then.block_items[0]
            match then:
                case ir.Assignment(op="=", lvalue=cell, rvalue=value):
                    return _beside(condition, cell, value)
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.TernaryOp(cond=condition, iftrue=value, iffalse=kept)):
            return _beside(condition, cell, value) if same_tree(kept, cell) else None
    return None


def _beside(condition: ir.Node, cell: ir.Node, value: ir.Node) -> _Found | None:
    """The comparison with the cell as one of several conditions."""
    parts = list(conjuncts(condition))
    for place, one in enumerate(parts):
        match = cell_compared(one, cell, value)
        others = (*parts[:place], *parts[place + 1 :])
        if match is not None and others:
            op, use, _ = match
            return _Found("min" if op in (">", ">=") else "max", cell, use, others, value)
    return None


# --- what may be evaluated at any time --------------------------------------------------------------------------------


def _is_safe(scop: Scop, statement: Statement, found: _Found, write: Access) -> bool:
    """Whether the cell is there, to be read and written, whatever the conditions say, and so is what they compare.

    Comparisons have the values 0 and 1. What the original evaluates in any case, it evaluates with the same values."""
    if not all(isinstance(one, ir.BinaryOp) and one.op in COMPARISONS for one in found.conditions):
        return False
    if scop.arrays[write.array].rank and not surely_touched(scop, statement, write, written=True):
        return False  # variables are there in any case
    rest = [one for one in found.conditions if not always_evaluated(statement.body, one)]
    if not all(_is_plain(side) for one in rest for side in (one.left, one.right)):
        return False
    nodes = {node for one in rest for node in walk(one)}
    return all(surely_touched(scop, statement, one) for one in statement.accesses if one.node in nodes)


def _is_plain(side: ir.Node) -> bool:
    """Whether it is a reference, an iterator or a constant: nothing that could overflow."""
    while isinstance(side, ir.ArrayRef):
        side = side.name
    return isinstance(side, ir.ID | ir.Constant)


def _is_pure(value: ir.Node) -> bool:
    found = effects(value)
    return not (found.written or found.called or found.opaque or found.unnamed)
