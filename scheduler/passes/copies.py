"""Copies: statements that put what a cell holds into another one, for references that look for it there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Parameter, Scop, Statement
from scopt.ir.walks import copied
from scopt.poly import trees
from scopt.poly.body_rewriting import with_references
from scopt.poly.isl_utils import IN, OUT, SET, maps_of, union_of_maps
from scopt.poly.linear import affine_row
from scopt.scheduler.passes.expansion import new_name


class Last(Struct, frozen=True):
    """The last row: a sum of parameters, with factors, and a constant."""

    terms: tuple[tuple[int, Parameter], ...]
    constant: int

    def without(self, iterator: str) -> ir.Node:
        """How many rows are behind this one."""
        node: ir.Node | None = ir.Constant("int", str(self.constant)) if self.constant or not self.terms else None
        for factor, parameter in self.terms:
            term: ir.Node = ir.ID(parameter.spelling)
            if factor != 1:
                term = ir.BinaryOp("*", ir.Constant("int", str(factor)), term)
            node = term if node is None else ir.BinaryOp("+", term, node)
        assert node is not None
        return ir.BinaryOp("-", node, ir.ID(iterator))

    def turned(self) -> isl.Map:
        """``{ [i] -> [last - i] }``"""
        names = ", ".join(parameter.name for _, parameter in self.terms)
        total = " + ".join([*(f"{factor} {parameter.name}" for factor, parameter in self.terms), str(self.constant)])
        return isl.Map(f"[{names}] -> {{ [i] -> [{total} - i] }}")


class Cell(Struct, frozen=True):
    """What stands for a cell: a scalar, or an array with some of the iterators as subscripts. last: its only subscript
    is how many rows are left: along a diagonal these move as cells along rows do."""

    name: str
    rows: tuple[int, ...]
    last: Last | None = None

    def reference(self, statement: Statement) -> ir.Node:
        node: ir.Node = ir.ID(self.name)
        for k in self.rows:
            iterator = statement.iterators[k]
            node = ir.ArrayRef(node, ir.ID(iterator) if self.last is None else self.last.without(iterator))
        return node

    def relation(self, domain: isl.Set) -> isl.Map:
        found = domain.identity()
        for k in reversed(range(found.dim(OUT))):
            if k not in self.rows:
                found = found.project_out(OUT, k, 1)
        found = found.reset_tuple_id(OUT)
        if self.last is not None:
            found = found.apply_range(self.last.turned())
        return found.set_tuple_name(OUT, self.name)

    def read_by(self, statement: Statement, nodes: Collection[ir.Node | None]) -> Statement:
        """The statement with this in place of some of its references."""
        body, become = with_references(
            statement, lambda access, node: self.reference(statement) if access.node in nodes else None
        )
        accesses = []
        for access in statement.accesses:
            if access.node in nodes:
                access = replace(access, array=self.name, relation=self.relation(access.relation.domain()))
            node = become.get(access.node, access.node) if access.node is not None else None
            accesses.append(replace(access, node=node))
        return replace(statement, body=body, accesses=tuple(accesses))


def scalar_for(scop: Scop, array: Array, what: str) -> Array:
    """A variable of its own for values of an array."""
    name = new_name(scop, array, what)
    inner: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(array.type.spelling.split()))
    declaration = ir.Decl(name, [], [], [], [], inner, None, None)
    return Array(name, name, array.type, (), (), private=True, local=True, declaration=declaration)


def cells_for(scop: Scop, array: Array, what: str) -> Array:
    """An array, of one dimension, for values of another one."""
    name = new_name(scop, array, what)
    return Array(name, name, replace(array.type, const=False), (None,), (None,))


def last_row(scop: Scop, statements: Iterable[Statement], row: int) -> Last | None:
    """The largest value of an iterator in some statements, or a larger one; None if that isn't a sum of parameters."""
    values = [one.domain.project_onto_map(isl.dim_type.set, row, 1).range() for one in statements]
    whole = values[0]
    for other in values[1:]:
        whole = whole.union(other)
    most = whole.intersect_params(scop.context).coalesce().dim_max(0).coalesce()
    names = [parameter.name for parameter in scop.parameters]
    found = affine_row(most, names)
    if found is None:
        return None
    factors = found[len(found) - 1 - len(names) : -1]
    terms = tuple((factor, one) for factor, one in zip(factors, scop.parameters, strict=True) if factor)
    return Last(terms, max(found[-1], 0)) if all(factor > 0 for factor, _ in terms) else None


def relations_to(scop: Scop, name: str) -> list[isl.Map]:
    """All accesses to an array."""
    return [a.relation for one in scop.statements for a in one.accesses if a.array == name]


class Copy(Struct, frozen=True, eq=False):
    """A statement that copies, right before or behind another one that has all of its instances, among others. loops:
    it stands before all that an iteration of so many loops has, the first of which is the other statement."""

    made: Statement
    beside: Statement
    before: bool
    loops: int | None = None

    def places(self) -> isl.Map:
        """``{ made[…] -> beside[…] }``"""
        if self.loops is None:
            return self.made.domain.identity().set_tuple_name(OUT, self.beside.name)
        pairs = isl.Map.from_domain_and_range(self.made.domain, self.beside.domain)
        for k in range(self.loops):
            pairs = pairs.equate(IN, k, OUT, k)
        return pairs.lexmin()


def copy_of(scop: Scop, beside: Statement, domain: isl.Set, access: Access, cell: Cell, what: str) -> Statement:
    """``cell = array[…]`` for some instances of a statement."""
    taken = {one.name for one in scop.statements}
    wishes = (f"{beside.name}_{what}{k if k > 1 else ''}" for k in range(1, 1000))
    own = next(wish for wish in wishes if wish not in taken)
    there = domain.set_tuple_name(own)
    same = there.identity().set_tuple_name(OUT, beside.name)
    assert access.node is not None
    target, value = cell.reference(beside), copied(access.node)
    accesses = (
        Access(access.array, "read", same.apply_range(access.relation), value, beside.location),
        Access(cell.name, "write", cell.relation(there), target, beside.location),
    )
    body = ir.Assignment("=", target, value)
    return Statement(own, there, beside.iterators, beside.iterator_types, body, accesses, beside.location)


def with_copies(scop: Scop, statements: Mapping[str, Statement], copies: Sequence[Copy]) -> Scop:
    """The SCoP with copies. statements: all others, by name."""
    order = union_of_maps(_dated(dates, 0) for dates in maps_of(scop.order))
    tree = trees.read(scop.schedule.get_root())
    for one in copies:
        same = one.places()
        for dates in maps_of(scop.order.intersect_domain(one.beside.domain.to_union_set())):
            order = order.union(isl.UnionMap.from_map(_dated(same.apply_range(dates), -1 if one.before else 1)))
        tree = _with(tree, one, one.loops)
    made = tuple(_in_order(statements, copies))
    return replace(scop, statements=made, schedule=trees.build(tree), order=order)


def _in_order(statements: Mapping[str, Statement], copies: Sequence[Copy]) -> Iterator[Statement]:
    for one in statements.values():
        yield from (copy.made for copy in copies if copy.beside.name == one.name and copy.before)
        yield one
        yield from (copy.made for copy in copies if copy.beside.name == one.name and not copy.before)


def _dated(dates: isl.Map, place: int) -> isl.Map:
    """Dates with one more dimension behind."""
    length = dates.dim(OUT)
    return dates.insert_dims(OUT, length, 1).fix_val(OUT, length, isl.Val(place)).reset_tuple_id(OUT)


def _with(tree: trees.Tree, copy: Copy, loops: int | None) -> trees.Tree:
    """The tree with a copy at its date, below so many more loops."""
    beside = copy.beside.domain.to_union_set()
    if trees.domain_of(tree).intersect(beside).is_empty():
        return tree
    match tree:
        case trees.Band(partial, body) if loops is None or loops > 0:
            same = copy.places()
            own = [_extended(partial.get_at(k), same, copy.beside) for k in range(tree.width)]
            return trees.nested(own, _with(body, copy, None if loops is None else loops - tree.width))
        case trees.Sequence(parts):
            return trees.Sequence(tuple(_with(part, copy, loops) for part in parts))
    leaf = _instances(copy)
    return trees.Sequence((leaf, tree) if copy.before else (tree, leaf))


def _instances(copy: Copy) -> trees.Tree:
    """The instances of a copy at one date: those of the loops that it doesn't stand in one after the other."""
    domain = copy.made.domain
    space, members = isl.LocalSpace.from_space(domain.get_space()), list[isl.UnionPwAff]()
    for k in range(copy.loops if copy.loops is not None else domain.dim(SET), domain.dim(SET)):
        rest = domain.project_out(SET, 0, copy.loops or 0)
        if not rest.dim_max(k - (copy.loops or 0)).is_equal(rest.dim_min(k - (copy.loops or 0))):
            member = isl.UnionPwAff.from_pw_aff(isl.PwAff.var_on_domain(space, SET, k))
            members.append(member.intersect_domain(domain.to_union_set()))
    return trees.nested(members, trees.Leaf(domain.to_union_set()))


def _extended(member: isl.UnionPwAff, same: isl.Map, beside: Statement) -> isl.UnionPwAff:
    own = member.intersect_domain(beside.domain.to_union_set())
    function = isl.UnionPwMultiAff.from_union_map(isl.UnionMap.from_map(same))
    return member.union_add(own.pullback_union_pw_multi_aff(function))
