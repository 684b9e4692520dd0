"""Whether a SCoP with cells in place of scalars, and arrays in place of others, computes what the original does.

Shown from the two SCoPs alone, by their dataflow (Feautrier, "Dataflow analysis of array and scalar references", 1991):
each read gets its value from the same write, or from the same cell's value before the region, and each cell that lives
on gets its last value from the same write. Statements that only copy a cell, and that one of the two SCoPs hasn't got,
are looked through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import NoReturn

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.allocation import Allocation
from scopt.check.last_writes import chances_behind, last_writes
from scopt.check.memory import read_allocations
from scopt.check.parametric import on_parameters
from scopt.check.subscript_functions import Subscripts, base_of, function_of
from scopt.diagnostics import InternalError
from scopt.ir.nest import Const
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import same_node
from scopt.poly.dependences import last_sources
from scopt.poly.isl_utils import IN, OUT, SET, maps_of, union_of_maps
from scopt.poly.row_extents import trusted_sizes, within_sizes

# A value that is copied more often than that isn't followed.
MAX_COPIES = 8


def check_rewritten(original: Scop, rewritten: Scop, needed: Sequence[Allocation]) -> None:
    """Raise InternalError unless the rewritten SCoP computes what the original does, in memory that is large enough.

    needed: the new arrays. The rewritten SCoP may be for fewer parameters, which the text has to test.
    """
    if not holds_where(original, rewritten):
        _refuse(original, "they hold for other parameters")
    _check_statements(original, rewritten)
    _check_same_order(original, rewritten)
    affected = _affected(original, rewritten)
    for scop in (original, rewritten):
        _check_single_writes(scop, affected)
    common = {s.name for s in original.statements} & {s.name for s in rewritten.statements}
    first, second = _Flows(original, affected, common), _Flows(rewritten, affected, common)
    for statement in (s for s in original.statements if s.name in common):
        other = rewritten.statement(statement.name)
        for access, moved in zip(statement.accesses, other.accesses, strict=True):
            if access.kind != "read" or not {access.array, moved.array} & affected:
                continue
            mine, theirs = (_within(original, access, one) for one in (access, moved))
            sources = first.of(statement, mine), second.of(other, theirs)
            if not _same(original, *(one.intersect_params(rewritten.context) for one in sources)):
                _refuse(original, f"{statement.name} gets another value in place of '{access.array}'")
    for name in sorted(affected & set(original.arrays)):
        left = (one.left(name, rewritten.context).intersect_params(rewritten.context) for one in (first, second))
        if not original.arrays[name].private and not next(left).is_equal(next(left)):
            _refuse(original, f"'{name}' is left with another value")
    _check_memory(original, rewritten, needed)


def holds_where(original: Scop, made: Scop) -> bool:
    """Whether the parameters that a SCoP is for are the original's, or those of them that the program tests for."""
    tested = original.context if made.guard is None else original.context.intersect(made.guard.parameters)
    return bool(made.context.is_subset(original.context) and tested.is_subset(made.context))


def _same(scop: Scop, first: isl.UnionMap, second: isl.UnionMap) -> bool:
    """Whether sources are the same; values that private arrays never got apart."""
    private = {f"initial {name}" for name, array in scop.arrays.items() if array.private}
    mine, theirs = (
        union_of_maps(m for m in maps_of(one) if m.get_tuple_name(OUT) not in private) for one in (first, second)
    )
    return bool(mine.is_equal(theirs))


def _check_statements(original: Scop, rewritten: Scop) -> None:
    """Those of both are alike, references apart; others only copy."""
    names = {s.name: s for s in original.statements}
    for statement in rewritten.statements:
        if statement.name not in names:
            _copied(rewritten, statement)
            _check_references(rewritten, statement)
            continue
        old = names.pop(statement.name)
        same = statement.iterators == old.iterators and bool(statement.domain.is_equal(old.domain))
        kinds = [access.kind for access in statement.accesses] == [access.kind for access in old.accesses]
        if not (same and kinds and _alike(old, old.body, statement, statement.body)):
            _refuse(original, f"{statement.name} is another statement than it was")
        _check_references(rewritten, statement, old)
    for statement in names.values():
        _copied(original, statement)


def _check_references(rewritten: Scop, statement: Statement, before: Statement | None = None) -> None:
    """References in the body are to the cells that the accesses say. before: the statement in the original."""
    subscripts = Subscripts.of(rewritten, statement)
    accesses = before.accesses if before is not None else (None,) * len(statement.accesses)
    for access, old in zip(statement.accesses, accesses, strict=True):
        if before is not None and old is not None and _is_kept(statement, access, before, old):
            continue
        if before is not None and old is not None and _is_renamed(rewritten, statement, access, before, old):
            continue
        if old is not None and old.node is not None and isinstance(base_of(old.node), ir.StructRef):
            _refuse(rewritten, f"{statement.name} has something else in place of a member")
        base = base_of(access.node) if access.node is not None else None
        function = function_of(access.node, subscripts) if access.node is not None else None
        named = isinstance(base, ir.ID) and base.name == rewritten.arrays[access.array].spelling
        if function is None or not named or function.dim(OUT) != access.relation.dim(OUT):
            _refuse(rewritten, f"{statement.name} refers to something else than '{access.array}'")
        # a condition on iterators leaves out the same instances as before
        reached = statement.domain if old is None else old.relation.domain()
        cells = isl.Map.from_multi_pw_aff(function).intersect_domain(reached).reset_tuple_id(OUT)
        if not cells.intersect_params(rewritten.context).is_equal(
            access.relation.intersect_params(rewritten.context).reset_tuple_id(OUT)
        ):
            _refuse(rewritten, f"{statement.name} refers to other cells of '{access.array}'")


def _check_single_writes(scop: Scop, affected: Collection[str]) -> None:
    """A value is known by the statement instance that writes it, and by the array, to one cell of which that may write
    (see `_Flows.place`): several cells get the same value if an assignment to one is assigned to another, of the same
    type."""
    for statement in scop.statements:
        writes = [access for access in statement.accesses if access.is_write and access.array in affected]
        for array in {one.array for one in writes}:
            first, *others = (one.relation for one in writes if one.array == array)
            alike = all(one.is_equal(first) for one in others)
            if not alike and not _is_chained(scop, statement, affected):
                _refuse(scop, f"{statement.name} writes several values")


def _is_chained(scop: Scop, statement: Statement, affected: Collection[str]) -> bool:
    """Whether all that a statement writes to some arrays is one value."""
    writes = [access for access in statement.accesses if access.is_write and access.array in affected]
    types = {scop.arrays[one.array].type.spelling for one in writes}
    return len(types) == 1 and _is_chain(statement.body, [one.node for one in writes])


def _is_chain(body: ir.Node, targets: Sequence[ir.Node | None]) -> bool:
    """Whether a body is ``a = b = … = value``, with no other targets than these."""
    found = list[ir.Node]()
    while isinstance(body, ir.Assignment) and body.op == "=":
        found.append(body.lvalue)
        body = body.rvalue
    return len(found) == len(targets) and all(any(one is target for target in targets) for one in found)


def _is_kept(statement: Statement, access: Access, before: Statement, old: Access) -> bool:
    """Whether a reference is what it was: in its subscripts, other references may stand, which are looked at
    themselves, and get the same values."""
    if access.node is None or old.node is None:
        return access is old
    if access.array != old.array or not access.relation.is_equal(old.relation):
        return False
    mine, theirs = old.node.children(), access.node.children()
    return (
        same_node(old.node, access.node)
        and [role for role, _ in mine] == [role for role, _ in theirs]
        and all(_alike(before, a, statement, b) for (_, a), (_, b) in zip(mine, theirs, strict=True))
    )


def _is_renamed(rewritten: Scop, statement: Statement, access: Access, before: Statement, old: Access) -> bool:
    """Whether a reference is to the same cells of another array, whatever its subscripts are."""
    mine, theirs = access.node, old.node
    if not access.relation.reset_tuple_id(OUT).is_equal(old.relation.reset_tuple_id(OUT)):
        return False
    count = 0
    while isinstance(mine, ir.ArrayRef) and isinstance(theirs, ir.ArrayRef):
        if not _alike(before, theirs.subscript, statement, mine.subscript):
            return False
        mine, theirs, count = mine.name, theirs.name, count + 1
    named = isinstance(mine, ir.ID) and mine.name == rewritten.arrays[access.array].spelling
    return named and isinstance(theirs, ir.ID) and count == access.relation.dim(OUT)


def _alike(old: Statement, mine: ir.Node, new: Statement, theirs: ir.Node) -> bool:
    """Whether bodies are the same where no access is."""
    here = [k for k, access in enumerate(old.accesses) if access.node is mine]
    if here:
        return here == [k for k, access in enumerate(new.accesses) if access.node is theirs]
    pairs = list(zip(mine.children(), theirs.children(), strict=False))
    if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
        return False
    return all(role == other and _alike(old, a, new, b) for (role, a), (other, b) in pairs)


def _is_parameter(scop: Scop, access: Access) -> bool:
    """Whether an access is to a variable that has the same value wherever the SCoP reads it."""
    names = {parameter.spelling for parameter in scop.parameters}
    written = any(a.array == access.array and a.is_write for s in scop.statements for a in s.accesses)
    return isinstance(access.node, ir.ID) and access.node.name in names and not written


def _copied(scop: Scop, statement: Statement) -> Access:
    """The cell that a statement copies, all it does. Raises InternalError if it does anything else."""
    match statement.body, statement.accesses:
        case ir.Assignment(op="=", lvalue=target, rvalue=value), accesses:
            # which cells these are depends on parameters
            copies = [a for a in accesses if a.kind != "read" or not _is_parameter(scop, a)]
            reads = [a for a in copies if a.kind == "read"]
            writes = [a for a in copies if a.kind == "write"]
            if len(copies) == 2 and [a.node for a in reads] == [value] and [a.node for a in writes] == [target]:
                types = {scop.arrays[a.array].type.spelling for a in copies}
                if len(types) == 1 and all(a.relation.is_single_valued() for a in copies):
                    return reads[0]
    _refuse(scop, f"{statement.name} is more than a copy")


def _check_same_order(original: Scop, rewritten: Scop) -> None:
    """What both run they run in one order; dates of the rewritten SCoP may have more dimensions in front, with zeros,
    and behind, and any that is the same for all of that."""
    mine = {m.get_tuple_name(IN): m for m in maps_of(original.order)}
    theirs = {m.get_tuple_name(IN): m for m in maps_of(rewritten.order)}
    names = [s.name for s in original.statements if s.name in theirs]
    widths = {theirs[name].dim(OUT) - mine[name].dim(OUT) for name in names}
    if len(widths) > 1:
        _refuse(original, "dates of different lengths")
    more = max(widths, default=0)

    def same(front: int) -> bool:
        return all(
            _longer(mine[name], front, more - front).intersect_domain(theirs[name].domain()).is_equal(theirs[name])
            for name in names
        )

    if any(same(front) for front in range(more + 1)):
        return
    first, second = (_without_constants([some[name] for name in names]) for some in (mine, theirs))
    for one, other in zip(first, second, strict=True):
        if one.dim(OUT) != other.dim(OUT) or not one.intersect_domain(other.domain()).is_equal(other):
            _refuse(original, "statements run at other times")


def _without_constants(dates: Sequence[isl.Map]) -> list[isl.Map]:
    """Dates without the dimensions that have one value for all of them: these put nothing in order."""
    made = list(dates)
    for k in reversed(range(min((one.dim(OUT) for one in made), default=0))):
        values = [one.plain_get_val_if_fixed(OUT, k) for one in made]
        if all(value.is_int() and value.eq(values[0]) for value in values):
            made = [one.project_out(OUT, k, 1) for one in made]
    return made


def _longer(dates: isl.Map, front: int, behind: int) -> isl.Map:
    """Dates with so many zeros more in front and behind."""
    made = dates.insert_dims(OUT, 0, front).insert_dims(OUT, front + dates.dim(OUT), behind)
    for k in (*range(front), *range(made.dim(OUT) - behind, made.dim(OUT))):
        made = made.fix_val(OUT, k, isl.Val(0))
    return made


def _affected(original: Scop, rewritten: Scop) -> set[str]:
    """The arrays that are accessed otherwise."""
    found = set(original.arrays) ^ set(rewritten.arrays)
    others = {s.name: s for s in rewritten.statements}
    for statement in original.statements:
        other = others.pop(statement.name, None)
        if other is None:
            found |= {access.array for access in statement.accesses}
            continue
        for access, moved in zip(statement.accesses, other.accesses, strict=True):
            if access.array != moved.array or not access.relation.is_equal(moved.relation):
                found |= {access.array, moved.array}
    return found | {access.array for statement in others.values() for access in statement.accesses}


class _Flows(Struct, frozen=True, eq=False):
    """Where values come from in one SCoP. affected: arrays to look at. common: statements whose writes count, others
    are looked through."""

    scop: Scop
    affected: Collection[str]
    common: Collection[str]

    def of(self, statement: Statement, access: Access, depth: int = 0) -> isl.UnionMap:
        """``{ S[…] -> W[…] }``, the writes that a read may get its value from, and ``{ S[…] -> initial A[…] }`` where
        it is older."""
        full, exposed = last_sources(self.scop, access)
        found = full.union(self.initial(exposed))
        return self.through_copies(found, access.array, depth)

    def initial(self, exposed: isl.UnionMap) -> isl.UnionMap:
        return union_of_maps(m.set_tuple_name(OUT, f"initial {m.get_tuple_name(OUT)}") for m in maps_of(exposed))

    def through_copies(self, sources: isl.UnionMap, array: str, depth: int) -> isl.UnionMap:
        """The writes of an array's cells that the values come from, each as the instances of `place`."""
        result = isl.UnionMap("{ }")
        for relation in maps_of(sources):
            name = str(relation.get_tuple_name(OUT))
            statement = next((s for s in self.scop.statements if s.name == name), None)
            if statement is None:
                result = result.union(isl.UnionMap.from_map(relation))
                continue
            if name in self.common:
                written = relation.set_tuple_name(OUT, f"{name} {self.place(statement, array)}")
                result = result.union(isl.UnionMap.from_map(written))
                continue
            if depth == MAX_COPIES:
                _refuse(self.scop, "values are copied too often")
            origin = self.of(statement, _copied(self.scop, statement), depth + 1)
            result = result.union(isl.UnionMap.from_map(relation).apply_range(origin))
        return result

    def place(self, statement: Statement, array: str) -> int:
        """Which of a statement's accesses is the first write to an array: in both SCoPs the same ones are, whatever the
        arrays are called. Of one value for several cells, the first write of all."""
        chained = _is_chained(self.scop, statement, self.affected)
        return next(
            k
            for k, one in enumerate(statement.accesses)
            if one.is_write and (one.array in self.affected if chained else one.array == array)
        )

    def left(self, array: str, context: isl.Set) -> isl.UnionMap:
        """``{ A[…] -> W[…] }``: the last write of each cell that gets another value than it had, and the writes behind
        it that may take place."""
        last, chances = last_writes(self.scop, array), chances_behind(self.scop, array, context)
        if chances is None:
            _refuse(self.scop, f"'{array}' may be written or not")
        if chances.is_empty():
            return union_of_maps(_changed(m, array) for m in maps_of(self.through_copies(last, array, 0)))
        return self.through_copies(last.union(chances), array, 0)


def _changed(relation: isl.Map, array: str) -> isl.Map:
    """What a cell is left with, where that isn't what it had itself."""
    if relation.get_tuple_name(OUT) != f"initial {array}":
        return relation
    own = relation.domain().identity().set_tuple_name(OUT, f"initial {array}")
    return relation.subtract(own)


def _check_memory(original: Scop, rewritten: Scop, needed: Sequence[Allocation]) -> None:
    """New arrays hold all cells that are accessed."""
    extents = {one.name: one.extents for one in read_allocations(rewritten, needed)}
    declared = {name: one for name, one in rewritten.arrays.items() if one.local and one.declaration is not None}
    own = {name for name, one in declared.items() if not one.rank}
    extents |= {
        name: tuple(map(Const, sizes))
        for name, one in declared.items()
        if name not in original.arrays and one.rank and (sizes := _declared_sizes(one)) is not None
    }
    lacking = set(rewritten.arrays) - set(original.arrays) - set(extents) - own
    if lacking:
        _refuse(rewritten, f"'{min(lacking)}' has no memory")
    for access in _reaching(original, rewritten):
        if access.array not in extents:
            continue
        cells = access.relation.range().intersect_params(rewritten.context).reset_tuple_id()
        for position, size in enumerate(extents[access.array]):
            assert size is not None
            index = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(cells.get_space()), SET, position)
            limit = on_parameters(rewritten, size)
            inside = index.lt_set(limit.insert_domain(cells.get_space().align_params(limit.get_space().params())))
            if not cells.is_subset(inside.intersect(index.ge_set(index.sub(index)))):
                _refuse(rewritten, f"'{access.array}' is left by a reference")


def _declared_sizes(array: Array) -> tuple[int, ...] | None:
    """What an array is declared with; None if these are no numbers."""
    node, found = array.declaration.type if array.declaration is not None else None, list[int]()
    while isinstance(node, ir.ArrayDecl):
        if not (isinstance(node.dim, ir.Constant) and node.dim.value.isdecimal()):
            return None
        found.append(int(node.dim.value))
        node = node.type
    return tuple(found)


def _reaching(original: Scop, rewritten: Scop) -> Iterator[Access]:
    """The rewritten SCoP's accesses, each with the cells that it may come to."""
    before = {one.name: one.accesses for one in original.statements}
    for statement in rewritten.statements:
        for access, old in zip_longest(statement.accesses, before.get(statement.name, ())):
            yield access if old is None else _within(original, old, access)


def _within(original: Scop, old: Access, access: Access) -> Access:
    """An access in the place of another one, which keeps to the extents of its array where data say where it goes:
    another program has no meaning."""
    if old.relation.is_single_valued() or old.relation.dim(OUT) != access.relation.dim(OUT):
        return access
    return replace(access, relation=within_sizes(access.relation, trusted_sizes(original.arrays[old.array])))


def _refuse(scop: Scop, what: str) -> NoReturn:
    raise InternalError(f"{scop.location}: rewritten statements: {what}")
