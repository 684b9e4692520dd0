"""What one statement reads and writes: access relations from C expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.access_names import Names, RawAccess
from scopt.frontend.model.affine import NotAffine, Scope
from scopt.frontend.model.covered_cells import Covered
from scopt.frontend.model.element_sets import SubscriptReader, all_elements
from scopt.frontend.model.loop_headers import NotALoop, parse_loop
from scopt.frontend.model.own_values import own_values
from scopt.frontend.model.reached_parts import may_fail, may_hold
from scopt.frontend.model.reference_forms import element_of, is_null
from scopt.frontend.model.sure_writes import Cell, with_sure_writes
from scopt.frontend.normalize.once import runs_once
from scopt.frontend.normalize.opaque import LOOPS, counted_form, leaving
from scopt.frontend.syntax.constructs import construct_text
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.structs import Reference, reference_of
from scopt.ir.effects import effects
from scopt.ir.scop import AccessKind, Array, CType
from scopt.ir.walks import rewritten, walk
from scopt.poly.isl_utils import PARAM, project_out_params


class AccessCollector(Struct):
    """Collects the accesses of one statement.

    domain: parameters of the enclosing loops and of conditions (`partial`); `conditional` writes become may-writes.
    `inner` iterators, of loops inside an opaque statement, are projected out of the relations. `local_names`: declared.
    unknown: why subscripts of written arrays aren't affine, so that the writes may reach any element.
    assigned: scalars that the statement has surely assigned by now, so that a read doesn't see what was there before
      it; covered: cells of arrays likewise, in statements with loops.
    values: variables that keep the value that they have; once: those that will, once they are set; met: all of these.
    divided: references to arrays that hold rows, and what stands in their place; scattered: those of what stands there
      that may be to any cell, and why. branches: by the reference, cells that only a condition may leave unwritten.
    added_to: references to cells whose writes keep something of what was there, so that these aren't covered by them.
    """

    names: Names
    domain: isl.Set
    iterators: tuple[str, ...] = ()
    found: list[RawAccess] = field(default_factory=list)
    unknown: list[NotAffine] = field(default_factory=list)
    inner: dict[str, CType] = field(default_factory=dict)
    local_names: frozenset[str] = frozenset()
    conditional: bool = False
    partial: bool = False
    assigned: set[str] = field(default_factory=set)
    covered: Covered = field(default_factory=Covered)
    has_loops: bool = False
    values: Mapping[str, CType] = field(default_factory=dict)
    once: Mapping[str, CType] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    divided: dict[Any, ir.ArrayRef] = field(default_factory=dict)
    scattered: dict[Any, NotAffine] = field(default_factory=dict)
    branches: dict[Any, Cell] = field(default_factory=dict)
    added_to: frozenset[Any] = frozenset()

    @property
    def reader(self) -> SubscriptReader:
        bound = next((name for name in sorted(self.met) if self.domain.find_dim_by_name(PARAM, name) >= 0), "")
        sure = not (self.conditional or self.partial)
        return SubscriptReader(self.names, self.domain, self.iterators, self.inner, sure, bound, self.values)

    def settle(self, name: str) -> None:
        """A variable has been set."""
        if name in self.once and name not in self.inner and name not in self.iterators:
            self.values = {**self.values, name: self.once[name]}
            self.met.add(name)

    def child(self, **changes: Any) -> AccessCollector:
        """The same statement, seen from a nested place: results go to the same list."""
        return replace(self, assigned=set(self.assigned), covered=self.covered.copy(), **changes)

    def sometimes(self) -> AccessCollector:
        return self.child(conditional=True)  # what may be left out

    def where(self, cond: Any, *, holds: bool) -> AccessCollector:
        """A part that is only executed where a condition holds, or fails: for certain, if affine values decide."""
        scope = self.names.scope(self.domain, {**self.values, **self.inner})
        places = [self.domain.intersect(may(cond, scope)) for may in (may_hold, may_fail)]
        part = self.child(partial=True, domain=places[0 if holds else 1])
        return part if places[0].is_disjoint(places[1]) else part.sometimes()

    def collected(self, body: Any) -> tuple[Any, tuple[RawAccess, ...]]:
        """A statement, in which references to arrays that hold rows have a
        subscript for each dimension, and its accesses."""
        self.whole(body, block=isinstance(body, ir.Compound))
        become: dict[ir.Node, ir.Node] = {}
        body = rewritten(body, lambda node, made: self.divided.get(node, made), become)
        found = [replace(access, node=become.get(access.node, access.node)) for access in self.found]
        branches = {become.get(node, node): cell for node, cell in self.branches.items()}
        return body, with_sure_writes(body, found, branches)

    def whole(self, body: Any, *, block: bool = False) -> None:
        """Find the accesses of a statement, or of a block of several."""
        self.has_loops = block or any(isinstance(node, LOOPS) for node in walk(body))
        if self.has_loops:
            self.values, self.once = own_values(body, self.names.value_type)
            self.met.update(self.values)
        self.statement(body)
        for place, one in enumerate(self.found if self.met else ()):
            self.found[place] = replace(one, subscripts=project_out_params(one.subscripts, self.met))

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, node: Any) -> None:
        """A simple statement, or one taken as a whole (data-dependent if, with what it contains)."""
        match node:
            case None | ir.EmptyStatement() | ir.Break() | ir.Continue():
                return
            case ir.Compound():
                inner = replace(self)
                for item in node.block_items or []:
                    inner.block_item(item)
            case ir.If():
                self.truth(node.cond)
                then, otherwise = self.where(node.cond, holds=True), self.where(node.cond, holds=False)
                then.statement(node.iftrue)
                otherwise.statement(node.iffalse)
                self.assigned |= then.assigned & otherwise.assigned
                self.covered.branches(then.covered, then.domain, otherwise.covered, otherwise.domain)
            case ir.For():
                self.opaque_loop(node)
            case ir.While():
                self.truth(node.cond)
                self.sometimes().statement(node.stmt)
            case ir.DoWhile() if runs_once(node):
                self.statement(node.stmt)
            case ir.DoWhile():
                body = self.sometimes()
                body.statement(node.stmt)
                (self.sometimes() if next(leaving(node.stmt), None) is not None else body).truth(node.cond)
            case ir.Switch():
                self.read(node.cond)
                self.sometimes().statement(node.stmt)
            case ir.Case() | ir.Default():
                for item in node.stmts or []:
                    self.sometimes().statement(item)
            case ir.DeclList():
                for item in node.decls:
                    self.block_item(item)
            case ir.Decl():
                raise self.names.refuse("decl.form", "a declaration can't stand here", node)
            case _:
                self.read(node)

    def block_item(self, item: Any) -> None:
        """A statement or declaration of a block; what is declared is local from there on."""
        if not isinstance(item, ir.Decl):
            self.statement(item)
            return
        if set(item.storage or ()) & {"static", "extern"} or isinstance(item.type, (ir.FuncDecl, ir.PtrDecl)):
            raise self.names.refuse(
                "decl.form", f"a declaration of this kind ('{item.name}') inside a SCoP is not supported", item
            )
        if isinstance(item.init, ir.InitList):
            raise self.names.refuse("decl.initializer", "an initializer list inside a SCoP is not supported", item)
        self.read(item.init)
        self.local_names = self.local_names | {item.name}
        if item.init is not None:
            self.settle(item.name)

    def opaque_loop(self, node: ir.For) -> None:
        """A loop inside an opaque statement: its iterations happen within one instance; its own iterator is nobody
        else's, or a scalar that the loop's head sets."""
        counted = counted_form(node)
        iterator = loop_iterator(counted)
        again = iterator in self.inner or iterator in self.iterators
        jumps = next(leaving(node.stmt), None) is not None
        if iterator is None or again or jumps or iterator in effects(node.stmt).changed:
            self.free_loop(node)
            return
        iterator_type = self.names.iterator_type(counted)

        def within(domain: isl.Set) -> Scope:
            return self.names.scope(domain, {**self.values, **self.inner, iterator: iterator_type})

        try:
            loop = parse_loop(
                counted, iterator_type, self.names.scope(self.domain, {**self.values, **self.inner}), within
            )
        except (NotALoop, NotAffine):
            self.free_loop(node)
            return
        for one in walk(node.init, node.cond, node.next):
            if isinstance(one, ir.ID) and one.name in self.values:
                self.read(one)
        if counted is not node:
            self.read(node.init)
            self.sometimes().read(node.next)
        start = len(self.found)
        body = self.child(domain=loop.domain, inner={**self.inner, iterator: iterator_type})
        body.statement(node.stmt)
        self.found[start:] = self.covered.through(loop, body.covered, self.found[start:], self.met - self.values.keys())

    def free_loop(self, node: ir.For) -> None:
        """A loop inside an opaque statement whose iterations aren't known: any number of them, over all they reach."""
        inner = replace(self)
        if isinstance(node.init, ir.DeclList):
            inner.statement(node.init)
        else:
            inner.read(node.init)
        inner.read(node.cond)
        body = inner.sometimes()
        body.statement(node.stmt)
        inner.sometimes().read(node.next)

    # --- expressions --------------------------------------------------------------------------------------------------

    def read(self, node: Any) -> None:
        """An expression whose value is used."""
        match node:
            case None | ir.Constant():
                return
            case ir.ID():
                self.reference(node, "read")
            case ir.ArrayRef() | ir.StructRef() | ir.UnaryOp(op="*"):
                self.reference(node, "read")
            case ir.Assignment():
                self.assignment(node)
            case ir.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self.reference(node.expr, "read")
                self.reference(node.expr, "write")
            case ir.UnaryOp(op="&"):
                raise self.names.refuse("access.address", "taking an address inside a SCoP is not supported", node)
            case ir.UnaryOp(op="sizeof" | "_Alignof" | "__alignof__"):
                return
            case ir.UnaryOp() if node.op != "!":
                self.read(node.expr)
            case ir.BinaryOp(op="&&" | "||"):
                self.truth(node.left)
                self.where(node.left, holds=node.op == "&&").truth(node.right)
            case ir.UnaryOp(op="!"):
                self.truth(node.expr)
            case ir.BinaryOp(op="==" | "!=") if is_null(node.right) or is_null(node.left):
                self.truth(node.left if is_null(node.right) else node.right)
            case ir.BinaryOp():
                self.read(node.left)
                self.read(node.right)
            case ir.TernaryOp():
                self.truth(node.cond)
                self.where(node.cond, holds=True).read(node.iftrue)
                self.where(node.cond, holds=False).read(node.iffalse)
            case ir.Cast():
                self.read(node.expr)
            case ir.ExprList():
                for part in node.exprs:
                    self.read(part)
            case ir.FuncCall():
                self.call(node)
            case _:
                raise self.names.refuse("expression.unsupported", f"{construct_text(node)} is not supported", node)

    def truth(self, node: Any) -> None:
        """An expression of which only matters whether it is zero. Of a pointer that stays as it is no cell is read."""
        named = isinstance(node, ir.ID) and node.name not in self.inner and node.name not in self.local_names
        if not (named and self.names.fixed_pointer(node.name)):
            self.read(node)

    def assignment(self, node: ir.Assignment) -> None:
        self.read(node.rvalue)
        if node.op != "=":
            self.reference(node.lvalue, "read")
        self.reference(node.lvalue, "write")
        if node.op == "=" and isinstance(node.lvalue, ir.ID):
            self.settle(node.lvalue.name)

    def call(self, node: ir.FuncCall) -> None:
        purity = self.names.purity_of(node)
        for argument in node.args.exprs if node.args else []:
            self.read(argument)
        if purity == "pure":
            for array in self.names.written_arrays():
                self.add(array, "read", all_elements(array), node)

    # --- references ---------------------------------------------------------------------------------------------------

    def reference(self, node: Any, kind: AccessKind) -> None:
        """A read or write of a scalar or of one element of an array."""
        node = self.divided.get(node, node)
        found = reference_of(node)
        base, subscripts = found.base, list(found.subscripts)
        if not isinstance(base, ir.ID):
            raise self.names.refuse("access.form", "this is no reference to a named scalar or array", node)
        if base.name in self.local_names or base.name in self.inner:
            if base.name in self.inner and kind == "write":
                raise self.names.refuse(
                    "loop.iterator-modified", f"the iterator '{base.name}' is modified in the loop's body", node
                )
            for subscript in subscripts:
                self.read(subscript)
            return
        if found.path:
            self.member(found, kind, node)
            return
        array = self.names.array(base.name, base)
        if array is None:
            if kind == "write":
                raise self.names.refuse(
                    "loop.iterator-modified", f"the iterator '{base.name}' is modified in the loop's body", node
                )
            if subscripts:
                raise self.names.refuse("access.form", "this is no reference to a named scalar or array", node)
            return
        if array.flat and isinstance(node, ir.ArrayRef) and len(subscripts) == 1:
            shape = self.names.shapes[array.spelling]
            anywhere = self.reader.somewhere(shape, node, subscripts[0])
            if anywhere is not None:
                made, self.scattered[made] = anywhere
            else:
                made = self.reader.with_rows(shape, node, subscripts[0])
            self.divided[node] = made
            node = made
            subscripts = list(reference_of(node).subscripts)
        if len(subscripts) != array.rank:
            raise self.names.refuse(
                "access.partial",
                f"'{array.name}' has {array.rank} dimensions, but {len(subscripts)} subscripts here",
                node,
            )
        for subscript in subscripts:
            self.read(subscript)
        if array.rank == 1 and not array.local:
            self.reader.note(array, subscripts[0])
        exact, cells = self.elements(array, subscripts, kind, self.scattered.get(node))
        if kind == "read" and not array.rank and array.name in self.assigned:
            cells = isl.Set.empty(cells.get_space())
        elif kind == "write" and not array.rank:
            self.assigned.add(array.name)
        self.add(array, kind if exact or kind == "read" else "may-write", cells, node)

    def member(self, found: Reference, kind: AccessKind, node: Any) -> None:
        """A read or write of a member, or of a part of an element that is one cell as a whole."""
        array, part = self.names.member(found, node)
        if array.flat:
            found = self.with_rows(array, found, node, whole=part)
        if len(found.subscripts) != array.rank and not part:
            raise self.names.refuse(
                "access.partial",
                f"'{array.spelling}' has {array.rank} dimensions, but {len(found.subscripts)} subscripts here",
                node,
            )
        for subscript in found.subscripts:
            self.read(subscript)
        if array.rank and not array.local and not array.flat:
            alone = element_of(node) is not None and (not part or array.rank == 1)
            self.reader.note(array, found.subscripts[0] if alone else None)
        exact, cells = self.elements(array, found.subscripts[: array.rank], kind)
        self.add(array, "may-write" if kind == "write" and (part or not exact) else kind, cells, node)

    def with_rows(self, array: Array, found: Reference, node: Any, *, whole: bool) -> Reference:
        """A reference to members of structures that lie in rows, with a subscript for each dimension. whole: the array
        is that of the structures."""
        element = element_of(node)
        assert element is not None  # else there were no rows
        if element not in self.divided:
            shape = self.names.shapes[array.spelling if whole else array.within]
            self.divided[element] = self.reader.with_rows(shape, element, found.subscripts[0])
        rows = reference_of(self.divided[element]).subscripts
        more = len(rows) - 1
        return replace(
            found, subscripts=(*rows, *found.subscripts[1:]), before=tuple(before + more for before in found.before)
        )

    def elements(
        self, array: Array, subscripts: Sequence[Any], kind: AccessKind, anywhere: NotAffine | None = None
    ) -> tuple[bool, isl.Set]:
        """Whether it is known which elements are accessed; and these, or all that may be. anywhere: why it may be any
        cell of rows."""
        if anywhere is not None:
            exact, cells, unknown = False, all_elements(array).intersect_params(self.domain), [anywhere]
        else:
            exact, cells, unknown = self.reader.elements(array, subscripts)
            if any(cells.find_dim_by_name(PARAM, name) >= 0 for name in self.values):
                cells = self.reader.bounded(array, subscripts, cells)
        if kind != "read":
            self.unknown.extend(unknown)
        return exact, cells

    def add(self, array: Array, kind: AccessKind, cells: isl.Set, node: Any) -> None:
        """Note an access. Iterators of loops inside the statement are parameters until the loops end."""
        if array.rank and self.has_loops:
            self.covered.passed(array, cells)
            if kind == "write" and node not in self.added_to:
                self.covered.write(array.name, cells)
            cells = self.covered.left(array, cells) if kind == "read" else cells
        bound = any(cells.find_dim_by_name(PARAM, name) >= 0 for name in self.met)  # by a value that nobody knows
        if kind == "write" and (self.conditional or bound or (self.partial and not array.rank)):
            kind = "may-write"
            self.branches |= {} if bound else {node: (array.name, project_out_params(cells, self.inner))}
        self.found.append(RawAccess(array.name, kind, cells, node, self.names.location(node)))
