"""Whether what searches for the best value find besides, its place, is the one that the original finds.

The extremum itself is shown by `scopt.check.tables`, for statements without places. These are set wherever it is: by
the first one of the best iterations of a row in the row's own variables, and behind it, where the row is better than
all before, in the program's. So the iteration that has set them last is the same one, as long as a comparison only
lets through what is better, nothing else touches the cells meanwhile, and both set the same values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.best_places import Search, accesses_in, search_of

# What is set, and to what: the nodes of the cell and of the value.
_Places = dict[str, tuple[ir.Node, ir.Node]]


class WithoutPlaces(Struct, frozen=True, eq=False):
    """Two SCoPs in which searches are extrema and nothing else. beside: by the total's name, the arrays of places,
    which nothing else may touch where the total is in use."""

    original: Scop
    made: Scop
    beside: Mapping[str, frozenset[str]]


def places_left_out(original: Scop, made: Scop) -> WithoutPlaces:
    """Raise InternalError unless a SCoP finds the places that the original finds, if it finds the same extrema."""
    return _Checked(original, made).run()


class _Checked(Struct, frozen=True, eq=False):
    original: Scop
    made: Scop

    def run(self) -> WithoutPlaces:
        old = {one.name: one for one in self.original.statements}
        changed = [one for one in self.made.statements if one.name in old and one is not old[one.name]]
        searches = {one.name: (found, one) for one in changed if (found := search_of(old[one.name])) is not None}
        mine, theirs = dict(old), {one.name: one for one in self.made.statements}
        beside, tables = dict[str, frozenset[str]](), set[str]()
        for name, (search, counting) in searches.items():
            total = self.total(counting)
            add = self.user(total, old, ir.If)
            clear = self.user(total, old, ir.Assignment, ir.Compound)
            own = self.of_rows(search, counting, total)
            places = frozenset({*own, *(write.array for _, write in search.places)})
            if beside.get(total, places) != places:
                self.refuse(f"{name} sets other places")
            beside[total] = places
            mine[name], theirs[name] = search.alone, _only(counting, 0)
            self.cleared(self.made.statement(clear), own)
            self.added(search, self.made.statement(add), own)
            theirs[clear], theirs[add] = _only(self.made.statement(clear), 0), _only(self.made.statement(add), 0)
            tables |= own.keys()
            self.alone({*own}, {clear, add} | {k for k, (_, s) in searches.items() if self.total(s) == total})
        if sum(map(len, beside.values())) > len(frozenset[str]().union(*beside.values())):
            self.refuse("several searches set the same places")
        if not searches:
            return WithoutPlaces(self.original, self.made, {})
        arrays = {name: one for name, one in self.made.arrays.items() if name not in tables}
        return WithoutPlaces(
            replace(self.original, statements=tuple(mine[one.name] for one in self.original.statements)),
            replace(self.made, arrays=arrays, statements=tuple(theirs[one.name] for one in self.made.statements)),
            beside,
        )

    def total(self, counting: Statement) -> str:
        """The new variable that a search compares with, and sets first."""
        first = _items(counting)[0]
        match first:
            case ir.Assignment(op="=", lvalue=ir.ID() as cell):
                names = {a.array for a in counting.accesses if a.node is cell}
                if len(names) == 1 and not names & self.original.arrays.keys():
                    return next(iter(names))
        self.refuse(f"{counting.name} has no total")

    def user(self, total: str, old: Mapping[str, Statement], *bodies: type) -> str:
        """The new statement of one form that a total has."""
        users = [s for s in self.made.statements if s.name not in old and any(a.array == total for a in s.accesses)]
        found = [one.name for one in users if isinstance(one.body, bodies)]
        if len(found) != 1:
            self.refuse(f"'{total}' isn't cleared and added")
        return found[0]

    def of_rows(self, search: Search, counting: Statement, total: str) -> _Places:
        """The row's own places, by their arrays' names, with the original's cells and the values that both are set to;
        what isn't among them is set behind the row alone."""
        own: _Places = {}
        rest = [place for place, _ in search.places]
        if not isinstance(counting.body, ir.If):
            self.refuse(f"{counting.name} doesn't search")
        for item in _items(counting)[1:]:
            match item:
                case ir.Assignment(op="=", lvalue=ir.ID() as cell, rvalue=value):
                    pass
                case _:
                    self.refuse(f"{counting.name} does something else")
            place = next((one for one in rest if same_tree(one.rvalue, value)), None)
            writes = [a for a in counting.accesses if a.node is cell]
            if place is None or len(writes) != 1 or not writes[0].is_write or writes[0].array in self.original.arrays:
                self.refuse(f"{counting.name} sets something else")
            rest.remove(place)
            self.same_reads(search.statement, place.rvalue, counting, value)
            self.typed(search, place, writes[0].array)
            if writes[0].array in {*own, total}:
                self.refuse(f"'{writes[0].array}' is set twice")
            own[writes[0].array] = (place.lvalue, place.rvalue)
        return own

    def same_reads(self, old: Statement, mine: ir.Node, new: Statement, theirs: ir.Node) -> None:
        """Equal expressions whose references are to the same cells."""
        if old.iterators != new.iterators:
            self.refuse(f"{old.name} has other iterators")
        for a, b in zip(walk(mine), walk(theirs), strict=True):
            one, other = ([x for x in s.accesses if x.node is node] for s, node in ((old, a), (new, b)))
            same = len(one) == len(other) and all(
                x.array == y.array and x.kind == y.kind == "read" and x.relation.is_equal(y.relation)
                for x, y in zip(one, other, strict=True)
            )
            if not same:
                self.refuse(f"{old.name} reads something else")

    def typed(self, search: Search, place: ir.Assignment, name: str) -> None:
        """A variable of the type that the place has."""
        own = self.made.arrays[name]
        theirs = next(self.original.arrays[write.array] for one, write in search.places if one is place)
        plain = not any(k.volatile or k.atomic or k.const for k in (own.type, theirs.type))
        same = own.type == theirs.type and (own.type.integer or own.type.floating) and plain
        match own.declaration:
            case ir.Decl(type=ir.TypeDecl(declname=declared, quals=quals, type=ir.IdentifierType(names=names))):
                spelled = declared == own.spelling and not quals and " ".join(names) == own.type.spelling
            case _:
                spelled = False
        if not same or not spelled or own.rank or own.pointer or not own.local or theirs.within:
            self.refuse(f"'{name}' is declared otherwise")

    def cleared(self, clear: Statement, own: _Places) -> None:
        """The row's places begin with constants: they are looked at only if they were set."""
        for item in _items(clear)[1:]:
            match item:
                case ir.Assignment(op="=", lvalue=cell, rvalue=ir.Constant()):
                    found = [a for a in clear.accesses if a.node is cell]
                    if len(found) == 1 and found[0].kind == "write" and found[0].array in own:
                        continue
            self.refuse(f"{clear.name} does something else")
        if len(clear.accesses) != len(_items(clear)):
            self.refuse(f"{clear.name} accesses something else")

    def added(self, search: Search, add: Statement, own: _Places) -> None:
        """What a row has found is set in the program's cells, each once."""
        depth = len(add.iterators)
        around, old = frozenset(p.spelling for p in self.made.parameters) | set(add.iterators), search.statement
        rest = list(search.places)
        for item in _items(add)[1:]:
            if not isinstance(item, ir.Assignment) or item.op != "=":
                self.refuse(f"{add.name} does something else")
            place = next((one for one in rest if same_tree(one[0].lvalue, item.lvalue)), None)
            writes = [a for a in add.accesses if a.node is item.lvalue]
            if place is None or len(writes) != 1 or (writes[0].array, writes[0].kind) != (place[1].array, "may-write"):
                self.refuse(f"{add.name} sets something else")
            rest.remove(place)
            cells = place[1].relation.range()
            named = {one.name for one in walk(item.lvalue) if isinstance(one, ir.ID)}
            fixed = named <= {p.spelling for p in self.made.parameters} | {self.made.arrays[writes[0].array].spelling}
            single = isl.Map.from_range(cells).is_single_valued()
            if not fixed or not single or not writes[0].relation.range().is_subset(cells):
                self.refuse(f"{add.name} sets another cell")
            read = accesses_in(add, item.rvalue)
            if read:
                names = {a.array for a in read}
                name = next(iter(names))
                if len(read) != 1 or name not in own or read[0].node is not item.rvalue or read[0].is_write:
                    self.refuse(f"{add.name} sets a place to something else")
                if not same_tree(own[name][0], item.lvalue) or not isinstance(item.rvalue, ir.ID):
                    self.refuse(f"{add.name} sets another place")
                continue
            told = {one.name for one in walk(item.rvalue) if isinstance(one, ir.ID)} <= around
            same = same_tree(item.rvalue, place[0].rvalue) and not accesses_in(old, place[0].rvalue)
            if not told or not same or old.iterators[:depth] != add.iterators:
                self.refuse(f"{add.name} sets a place to something else")
        if rest:
            self.refuse(f"{add.name} leaves out a place")
        if len(add.accesses) != len(accesses_in(add, add.body)):
            self.refuse(f"{add.name} accesses something else")

    def alone(self, tables: Iterable[str], users: Iterable[str]) -> None:
        """Nothing else touches the row's own places."""
        for one in self.made.statements:
            if one.name not in users and any(access.array in tables for access in one.accesses):
                self.refuse(f"{one.name} touches a place of a row's own")

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.original.location}: places of extrema: {what}")


def _items(statement: Statement) -> tuple[ir.Node, ...]:
    """What a statement does, where its condition holds."""
    body: ir.Node | None = statement.body
    if isinstance(body, ir.If):
        body = body.iftrue
    assert body is not None
    return tuple(body.block_items or ()) if isinstance(body, ir.Compound) else (body,)


def _only(statement: Statement, position: int) -> Statement:
    """The statement that does one of these things alone."""
    item = _items(statement)[position]
    body = ir.If(statement.body.cond, item, None) if isinstance(statement.body, ir.If) else item
    inside = set(walk(body))
    return replace(statement, body=body, accesses=tuple(a for a in statement.accesses if a.node in inside))
