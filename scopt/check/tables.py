"""Whether a SCoP with tables, or totals, computes what the original does.

Shown from the two SCoPs alone. A table is cleared, updated in place of the array by statements that are otherwise the
same, and added to it: so the array gets the same sum, of which only the order of the terms is another one, as long as
nothing else looks at the array in between, and as the sum is one modulo a power of two (or of single bits, or an
extremum of integers). An extremum of floating-point numbers keeps its order, and is the first one of the best. A total
is a table of one cell, which stands for one of the array's; others may be used meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.check.places_of_best import places_left_out
from scopt.check.rewritten import holds_where
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import UNSIGNED
from scopt.ir.scop import Array, Scop, Statement
from scopt.ir.walks import same_node, same_tree, walk
from scopt.poly.first_best import is_first_best
from scopt.poly.isl_utils import IN, OUT, SET, maps_of
from scopt.poly.reductions import BETTER, neutral, update_of
from scopt.poly.sure_cells import surely_touched

# Types that nothing is promoted from: an extremum is the one that the program would take.
_COMPARED = (32, 64)


def check_tables(original: Scop, made: Scop) -> None:
    """Raise InternalError unless a SCoP with tables, all arrays that the original lacks, computes what that does."""
    without = places_left_out(original, made)
    original, made = without.original, without.made
    checked, old = _Tables(original, made), {one.name: one for one in original.statements}
    if not holds_where(original, made):
        checked.refuse("it holds for other parameters")
    tables = [one for name, one in made.arrays.items() if name not in original.arrays]
    if {*original.arrays} - {*made.arrays} or any(made.arrays[n] is not a for n, a in original.arrays.items()):
        checked.refuse("another array is declared")
    new = {one.name for one in made.statements} - old.keys()
    if old.keys() - {one.name for one in made.statements}:
        checked.refuse("a statement is missing")
    place = checked.place(new)
    roles = [checked.roles(table, new) for table in tables]
    counting = {name for one in roles for name in one.counting}
    if new != {name for one in roles for name in (one.clear.name, one.add.name)}:
        checked.refuse("there are other new statements")
    for name, statement in old.items():
        if name not in counting and made.statement(name) is not statement:
            checked.refuse(f"{name} is another statement")
    for one in roles:
        checked.group(one, place, without.beside.get(one.table.name, frozenset()))


class _Roles(Struct, frozen=True, eq=False):
    """What is done with a table. counting: the names of the statements that update it in place of the array."""

    table: Array
    array: Array
    operator: str
    clear: Statement
    add: Statement
    counting: frozenset[str]


class _Tables(Struct, frozen=True, eq=False):
    original: Scop
    made: Scop

    def roles(self, table: Array, new: Iterable[str]) -> _Roles:
        """The table's statements, each of the form that it has to have."""
        users = [s for s in self.made.statements if any(a.array == table.name for a in s.accesses)]
        own = [s for s in users if s.name in new]
        clear = [s for s in own if isinstance(s.body, ir.Assignment)]
        add = [s for s in own if isinstance(s.body, ir.If)]
        if len(own) != 2 or not clear or not add:
            self.refuse(f"'{table.name}' isn't cleared and added")
        array, operator = self.adds(table, add[0])
        self.clears(table, clear[0], operator)
        rest = frozenset(s.name for s in users if s.name not in new)
        for name in rest:
            self.counts(self.original.statement(name), self.made.statement(name), array, table, operator)
        self.typed(table, array, operator, rest)
        return _Roles(table, array, operator, clear[0], add[0], rest)

    def clears(self, table: Array, statement: Statement, operator: str) -> None:
        match statement.body, statement.accesses:
            case ir.Assignment(op="=", lvalue=cell, rvalue=value), (write,):
                named = write.kind == "write" and write.node is cell and self.is_own(table, statement, cell)
                left = same_tree(value, neutral(operator, table.type))
                if named and left and write.relation.is_equal(_cells(statement, table)):
                    return
        self.refuse(f"{statement.name} doesn't clear '{table.name}'")

    def adds(self, table: Array, statement: Statement) -> tuple[Array, str]:
        """``if (table[c]) array[c] += table[c]``, for the same cells; ``if (total > cell) cell = total``."""
        match statement.body:
            case ir.If(cond=tested, iftrue=ir.Assignment(op=op, lvalue=target, rvalue=value), iffalse=None):
                operator, read = op[:-1], target
                if op == "=":
                    operator, tested, read = self.compared(tested, target)
                names = {a.array for a in statement.accesses} - {table.name}
                array = self.made.arrays[next(iter(names))] if len(names) == 1 else None
                own = all(self.is_own(table, statement, one) for one in (tested, value))
                if array is not None and own and operator in ("+", "|", "^", *BETTER):
                    kinds = sorted((a.array, a.kind, id(a.node)) for a in statement.accesses)
                    right = [
                        *((table.name, "read", id(node)) for node in (tested, value)),
                        (array.name, "read", id(read)),
                        (array.name, "may-write", id(target)),
                    ]
                    exact = all(
                        a.relation.is_equal(_cells(statement, table))
                        for a in statement.accesses
                        if a.array == table.name
                    )
                    if kinds == sorted(right) and exact and self.reaches(table, array, statement, target):
                        return array, operator
        self.refuse(f"{statement.name} doesn't add '{table.name}'")

    def compared(self, condition: ir.Node, target: ir.Node) -> tuple[str, ir.Node, ir.Node]:
        """The operator, and what is compared with the target: both references."""
        match condition:
            case ir.BinaryOp(op=op, left=left, right=right) if same_tree(right, target):
                for operator, better in BETTER.items():
                    if op == better:
                        return operator, left, right
        return "", condition, target

    def reaches(self, table: Array, array: Array, statement: Statement, target: ir.Node) -> bool:
        """Whether what a table is added to is the array's cell of the same subscripts; or, of a total, the one cell
        that the statements refer to which count in its place, by the same words."""
        there = [a.relation for a in statement.accesses if a.array == array.name]
        if table.rank:
            exact = all(one.is_equal(_cells(statement, array)) for one in there)
            return exact and self.is_own(array, statement, target)
        depth, fixed = len(statement.iterators), {p.spelling for p in self.made.parameters}
        cells = isl.Map.empty(there[0].get_space()).reset_tuple_id(IN)
        for one in self.made.statements:
            if one.name == statement.name or not any(a.array == table.name and not a.is_write for a in one.accesses):
                continue
            for access in self.original.statement(one.name).accesses:
                if access.array == array.name:
                    if one.iterators[:depth] != statement.iterators or not same_tree(access.node, target):
                        return False
                    cells = cells.union(_by_outer(access.relation, depth))
        named = {one.name for one in walk(target) if isinstance(one, ir.ID)} - {array.spelling}
        mine = [_by_outer(one, depth) for one in there]
        same = all(one.is_equal(cells.intersect_domain(one.domain())) for one in mine)
        return same and bool(cells.is_single_valued()) and named <= fixed

    def is_own(self, array: Array, statement: Statement, node: ir.Node | None) -> bool:
        """Whether a reference has the statement's last iterators as subscripts."""
        for name in reversed(statement.iterators[len(statement.iterators) - array.rank :]):
            match node:
                case ir.ArrayRef(name=base, subscript=ir.ID(name=subscript)) if subscript == name:
                    node = base
                case _:
                    return False
        return isinstance(node, ir.ID) and node.name == array.spelling

    def counts(self, old: Statement, new: Statement, array: Array, table: Array, operator: str) -> None:
        """An update of the array in the original, of the table here, and of nothing else."""
        update = update_of(self.original, old)
        touching = [a for a in old.accesses if a.array == array.name]
        if update is None or update.reduction != (operator, array.name) or any(a not in update.own for a in touching):
            self.refuse(f"{old.name} doesn't update '{array.name}'")
        if operator in BETTER and not all(surely_touched(self.original, old, a) for a in touching):
            self.refuse(f"'{array.name}' might have no cell to compare with")
        same = old.domain.is_equal(new.domain) and old.iterators == new.iterators
        if not same or not _alike(old, old.body, new.body, array, table):
            self.refuse(f"{old.name} is another statement")
        there = dict(_pairs(old, old.body, new.body, array, table))
        kept = [a for a in old.accesses if a.node in there or a.is_write]  # others are parameters in subscripts
        if len(kept) != len(new.accesses):
            self.refuse(f"{old.name} has other accesses")
        for mine, theirs in zip(kept, new.accesses, strict=True):
            renamed = mine.array == array.name
            relation = _renamed(mine.relation, table) if renamed else mine.relation
            moved = theirs.array == (table.name if renamed else mine.array) and theirs.kind == mine.kind
            if mine.node is None or theirs.node is not there.get(mine.node):
                self.refuse(f"{old.name} has accesses to something else")
            if not moved or not relation.is_equal(theirs.relation):
                self.refuse(f"{old.name} accesses something else")
            if renamed and not theirs.relation.range().is_subset(_box(table)):
                self.refuse(f"'{table.name}' is left by a reference")

    def typed(self, table: Array, array: Array, operator: str, names: frozenset[str]) -> None:
        """Cells that hold the sum modulo the array's, or the same bits."""
        own, theirs = table.type, array.type
        bits = own.bits == theirs.bits and own.integer and theirs.integer and theirs.bits in UNSIGNED
        if theirs.floating:  # the order is the same one; what is found first is the first one of the best
            bits = own.bits == theirs.bits and own.floating and operator in BETTER
            counting = (s for s in self.original.statements if s.name in names)
            if table.rank or not all(is_first_best(self.original, one) for one in counting):
                self.refuse(f"'{table.name}' takes other numbers than '{array.name}'")
        qualified = any(one.volatile or one.atomic or one.const for one in (own, theirs))
        signed = not own.signed and own.spelling == UNSIGNED.get(own.bits)
        kept = own.spelling == theirs.spelling and own.signed == theirs.signed
        kept = kept and (operator != "+" or not own.signed)
        signed = signed and operator not in BETTER
        if operator in BETTER and own.bits not in _COMPARED:
            self.refuse(f"'{table.name}' is compared as another type")
        if not bits or qualified or not (signed or kept) or theirs.spelling == "_Bool":
            self.refuse(f"'{table.name}' has another type than '{array.name}' asks for")
        declared = table.declaration.type if table.declaration is not None else None
        for size in table.sizes:
            match declared:
                case ir.ArrayDecl(dim=ir.Constant(value=value), type=inner) if value == str(size):
                    declared = inner
                case _:
                    self.refuse(f"'{table.name}' is declared otherwise")
        match declared:
            case ir.TypeDecl(declname=name, quals=[], type=ir.IdentifierType(names=names)) if (
                name == table.spelling and " ".join(names) == own.spelling and table.local and not table.pointer
            ):
                return
        self.refuse(f"'{table.name}' is declared otherwise")

    # --- order --------------------------------------------------------------------------------------------------------

    def place(self, new: Iterable[str]) -> list[int]:
        """The dimensions that the dates of the new SCoP have more: zero for all that the original runs."""
        mine = {m.get_tuple_name(IN): m for m in maps_of(self.original.order)}
        theirs = {m.get_tuple_name(IN): m for m in maps_of(self.made.order)}
        if mine.keys() != theirs.keys() - set(new):
            self.refuse("something else is dated")
        widths = {theirs[name].dim(OUT) - one.dim(OUT) for name, one in mine.items()}
        if len(widths) != 1:
            self.refuse("dates of different lengths")
        found = [k for k in range(next(iter(theirs.values())).dim(OUT)) if _zero(theirs, mine, k)]
        more = next(iter(widths))
        for chosen in _choices(found, more):
            if all(_less(theirs[name], chosen).is_equal(one.reset_tuple_id(OUT)) for name, one in mine.items()):
                return chosen
        self.refuse("statements run at other times")

    def group(self, one: _Roles, place: list[int], beside: frozenset[str]) -> None:
        """All updates of a table come between its being cleared and added, and nothing else touches the array there.
        beside: arrays that nothing else touches there either."""
        dates = {m.get_tuple_name(IN): m for m in maps_of(self.made.order)}
        for when in place:
            clear, add = (_prefixes(s, dates[s.name], when, one.table.rank) for s in (one.clear, one.add))
            first, last = (_values(dates[s.name], when) for s in (one.clear, one.add))
            if first.is_equal(isl.Set("{ [-1] }")) and last.is_equal(isl.Set("{ [1] }")):
                break
        else:
            self.refuse(f"'{one.table.name}' isn't cleared before, and added behind")
        if not (add.is_subset(clear) if not one.table.rank else add.is_equal(clear)):
            self.refuse(f"'{one.table.name}' isn't added where it is cleared")
        around = clear.domain()
        if not clear.is_equal(isl.Map.from_domain_and_range(around, _box(one.table).reset_tuple_id()).coalesce()):
            self.refuse(f"'{one.table.name}' isn't cleared as a whole")
        for statement in self.made.statements:
            touched = {access.array for access in statement.accesses}
            if statement.domain.is_empty() or statement.name in (one.clear.name, one.add.name):
                continue  # what never runs has no dates
            if not touched & {one.table.name, one.array.name, *beside}:
                continue
            there = dates[statement.name].intersect_domain(statement.domain).range()
            there = there.project_out(SET, when, there.dim(SET) - when)
            if statement.name in one.counting and not there.is_subset(around.intersect(add.domain())):
                self.refuse(f"{statement.name} runs where '{one.table.name}' isn't cleared, or isn't added")
            if statement.name in one.counting or there.intersect(around).is_empty():
                continue
            if one.table.rank or touched & beside or self.meets(one, statement, dates, when):
                self.refuse(f"{statement.name} touches '{one.array.name}' in between")

    def meets(self, one: _Roles, statement: Statement, dates: dict[str, isl.Map], when: int) -> bool:
        """Whether a statement touches the cell that a total stands for, before it is added."""

        def touched(other: Statement) -> isl.Map:
            before = _before(other, dates[other.name], when)
            relations = [a.relation for a in other.accesses if a.array == one.array.name]
            found = relations[0]
            for relation in relations[1:]:
                found = found.union(relation)
            return before.apply_range(found)

        return not touched(statement).intersect(touched(one.add)).is_empty()

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.original.location}: tables: {what}")


def _pairs(
    old: Statement, mine: ir.Node, theirs: ir.Node, array: Array, table: Array
) -> Iterator[tuple[ir.Node, ir.Node]]:
    """The nodes of bodies that are alike, side by side; none of those inside of a reference that a total stands for."""
    yield mine, theirs
    if not table.rank and _is_own(old, mine, array):
        return
    for (_, a), (_, b) in zip(mine.children(), theirs.children(), strict=True):
        yield from _pairs(old, a, b, array, table)


def _is_own(old: Statement, node: ir.Node, array: Array) -> bool:
    return any(a.node is node and a.array == array.name for a in old.accesses)


def _alike(old: Statement, mine: ir.Node, theirs: ir.Node, array: Array, table: Array) -> bool:
    """Whether bodies are the same but for the table's name in place of the array's, where that is accessed."""
    if _is_own(old, mine, array):
        while not table.rank and isinstance(mine, ir.ArrayRef):
            mine = mine.name
        while isinstance(mine, ir.ArrayRef) and isinstance(theirs, ir.ArrayRef):
            if not same_tree(mine.subscript, theirs.subscript):
                return False
            mine, theirs = mine.name, theirs.name
        return (
            isinstance(mine, ir.ID)
            and isinstance(theirs, ir.ID)
            and (mine.name, theirs.name) == (array.spelling, table.spelling)
        )
    pairs = list(zip(mine.children(), theirs.children(), strict=False))
    if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
        return False
    return all(role == other and _alike(old, a, b, array, table) for (role, a), (other, b) in pairs)


def _cells(statement: Statement, array: Array) -> isl.Map:
    """Each instance's cell: its last iterators."""
    identity = statement.domain.identity()
    return identity.project_out(OUT, 0, identity.dim(OUT) - array.rank).set_tuple_name(OUT, array.name)


def _box(table: Array) -> isl.Set:
    """All cells."""
    names = [f"c{k}" for k in range(table.rank)]
    limits = " and ".join(f"0 <= {name} < {size}" for name, size in zip(names, table.sizes, strict=True))
    return isl.Set(f"{{ {table.name}[{', '.join(names)}] : {limits or 'true'} }}")


def _renamed(relation: isl.Map, table: Array) -> isl.Map:
    """An access of the array as one of its table, or of its total."""
    if not table.rank:
        relation = relation.project_out(OUT, 0, relation.dim(OUT))
    return relation.set_tuple_name(OUT, table.name)


def _by_outer(relation: isl.Map, depth: int) -> isl.Map:
    """``{ [outer iterators] -> A[…] }`` of an access."""
    return relation.project_out(IN, depth, relation.dim(IN) - depth).reset_tuple_id(IN)


def _zero(theirs: dict[str, isl.Map], mine: dict[str, isl.Map], k: int) -> bool:
    return all(_values(theirs[name], k).is_equal(isl.Set("{ [0] }")) for name in mine)


def _values(dates: isl.Map, k: int) -> isl.Set:
    """The values that dates have in a dimension."""
    there = dates.range().reset_tuple_id()
    one = there.project_out(SET, k + 1, there.dim(SET) - k - 1).project_out(SET, 0, k)
    return one.project_out(isl.dim_type.param, 0, one.dim(isl.dim_type.param))


def _choices(found: list[int], more: int) -> Iterable[list[int]]:
    """Dimensions that may be the new ones, in their order."""
    if not more:
        yield []
        return
    for k, first in enumerate(found):
        for rest in _choices(found[k + 1 :], more - 1):
            yield [first, *rest]


def _less(dates: isl.Map, places: list[int]) -> isl.Map:
    for k in reversed(places):
        dates = dates.project_out(OUT, k, 1)
    return dates.reset_tuple_id(OUT)


def _prefixes(statement: Statement, dates: isl.Map, when: int, rank: int) -> isl.Map:
    """``{ [dates before a dimension] -> [cell] }`` of a statement's instances."""
    identity = statement.domain.identity()
    cells = identity.project_out(OUT, 0, identity.dim(OUT) - rank).reset_tuple_id(OUT)
    return _before(statement, dates, when).apply_range(cells).coalesce()


def _before(statement: Statement, dates: isl.Map, when: int) -> isl.Map:
    """``{ [dates before a dimension] -> statement[…] }``"""
    before = dates.intersect_domain(statement.domain).project_out(OUT, when, dates.dim(OUT) - when).reset_tuple_id(OUT)
    return before.reverse()
