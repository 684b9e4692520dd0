"""The statements of a region in the order of its text: loops, branches, declarations, what is executed as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location, Refusal, Remark
from scopt.frontend.extraction.affine_conditions import is_passed, with_affine_outside
from scopt.frontend.extraction.affine_names import AffineNames
from scopt.frontend.extraction.anew import access_names, filled_anew
from scopt.frontend.extraction.border_iterations import Body, decided, is_innermost, is_plain, is_small, parts
from scopt.frontend.extraction.declared_room import has_declared_room
from scopt.frontend.extraction.fresh_scalars import Lives, set_anew
from scopt.frontend.extraction.isl_words import ISL_WORDS
from scopt.frontend.extraction.region_arrays import RegionArrays
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.access_names import RawAccess, Survey
from scopt.frontend.model.accesses import AccessCollector
from scopt.frontend.model.affine import NotAffine, Scope, condition
from scopt.frontend.model.copied_members import differ
from scopt.frontend.model.element_sets import all_elements
from scopt.frontend.model.loop_headers import Loop as ParsedLoop, NotALoop, parse_loop
from scopt.frontend.model.order import Leaf, Loop, Sequence, Tree
from scopt.frontend.model.value_ranges import values_of_subscripts
from scopt.frontend.normalize.opaque import blocking, construct_of, leaving, out_of_statements
from scopt.frontend.normalize.stage_loops import goes_in_stages
from scopt.frontend.normalize.taking_turns import is_one
from scopt.frontend.syntax.constructs import construct_text
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.scop import Array, CType
from scopt.ir.walks import changed, copied, mapped, walk


class RawStatement(Struct, frozen=True, eq=False):
    """A statement before the spaces are set up: iterators are parameters still. loops: the source's. kill: of a
    declaration, which ends the value that the variable had."""

    name: str
    domain: isl.Set
    iterators: tuple[str, ...]
    types: tuple[CType, ...]
    body: Any
    accesses: tuple[RawAccess, ...]
    location: Location
    loops: tuple[Any, ...]
    kill: bool = False


class Place(Struct, frozen=True, eq=False):
    """Where the walk stands: the enclosing iterators (outermost first) and the parameter set of their values; loops:
    their `for` nodes. split: whether one of these stands there in parts."""

    iterators: tuple[str, ...]
    domain: isl.Set
    loops: tuple[Any, ...] = ()
    split: bool = False
    staged: Any = None


class RegionWalk(Struct, frozen=True, eq=False):
    """What has been found so far.

    statements: kills too. obstacles: by statement, why it is executed as a whole. stages: by statement, that it is one
    of loops that only a part of the region can be taken for. unknown: remarks on cells that only the run tells.
    intervals: of subscripts, once one of them has been asked for; trusted: arrays whose declared sizes are; sized:
    macros that known sizes are made of. wanted_values: refusals that hold unless the next reading of the region does
    without values of macros. survey: subscripts of arrays of one dimension. anew: what iterations of a loop set before
    they read it.
    """

    names: RegionNames
    affine: AffineNames
    arrays: RegionArrays
    statements: list[RawStatement] = field(default_factory=list)
    obstacles: dict[str, Refusal] = field(default_factory=dict)
    stages: dict[str, Refusal] = field(default_factory=dict)
    unknown: list[Remark] = field(default_factory=list)
    wanted_values: list[Refusal] = field(default_factory=list)
    survey: Survey = field(default_factory=Survey)
    intervals: list[dict[Any, tuple[int, int]]] = field(default_factory=list)
    trusted: dict[str, None] = field(default_factory=dict)
    sized: dict[str, int] = field(default_factory=dict)
    anew: set[str] = field(default_factory=set)
    lives: Lives = field(default_factory=Lives)

    def tree(self, known: isl.Set) -> Tree:
        """Collect statements and accesses; their order. known: of the parameters. Raises Refusal."""
        for item in self.names.items:
            self.refuse_control(item)
        self.require_numbers(known)
        tree = self.sequence(self.names.items, Place((), known))
        if tree is None or all(raw.kill for raw in self.statements):
            raise Refusal("region.empty", "the region contains no statement", self.names.region.location)
        return tree

    def require_numbers(self, known: isl.Set) -> None:
        """Take for granted that what stands for numbers of iterations, or for members, does. Raises Refusal."""
        scope = self.affine.scope(known, ())
        bounds = (("<", self.names.required), (">", self.names.limits))
        wrong = (ir.BinaryOp(op, ir.ID(name), ir.Constant("int", str(n))) for op, some in bounds for name, n in some)
        empty = (ir.UnaryOp("!", one) for one in self.names.entered)
        for violation in chain(
            (condition(one, scope) for one in (*wrong, *empty)),
            (differ(*one, scope) for one in self.names.numbers.items()),
        ):
            if not scope.assume(violation):
                raise self.names.refuse("loop.step", "the loop's step is not a constant", self.names.items[0])

    def sequence(self, items: Iterable[Any], place: Place) -> Tree | None:
        parts = [tree for item in items if (tree := self.visit(item, place)) is not None]
        return Sequence(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)

    def visit(self, node: Any, place: Place) -> Tree | None:
        match node:
            case None | ir.EmptyStatement():
                return None
            case ir.Compound() if node not in self.names.blocks:
                return self.sequence(node.block_items or (), place)
            case _ if place.iterators and (node in self.names.blocks or is_one(node, place.loops[-1])):
                return self.leaf(node, place)
            case _ if (construct := blocking(node)) is not None:
                return self.opaque(node, place, self.control(construct))
            case ir.For():
                return self.loop(node, place)
            case ir.If():
                return self.branch(node, place)
            case ir.Decl():
                return self.declaration(node, place)
            case ir.DeclList():
                return self.sequence(node.decls, place)
            case ir.Pragma():
                if node.string.split()[:1] == ["omp"]:
                    message = "the region has OpenMP directives of its own"
                    raise self.names.refuse("region.openmp", message, node, "remove them")
                return None
            case (
                ir.Assignment()
                | ir.UnaryOp()
                | ir.BinaryOp()
                | ir.TernaryOp()
                | ir.Cast()
                | ir.ExprList()
                | ir.FuncCall()
            ):
                return self.leaf(node, place)
            case ir.ID() | ir.Constant():
                return None
        raise self.names.refuse("statement.unsupported", f"{construct_text(node)} is not supported", node)

    def loop(self, node: ir.For, place: Place) -> Tree | None:
        """A loop over an affine set; any other one is executed as a whole."""
        try:
            iterator_type, loop = self.header(node, place)
        except Refusal as refusal:
            return self.opaque(node, place, refusal)
        self.affine.types[loop.iterator] = iterator_type
        loops = (*place.loops, self.names.origin(node))
        staged = node if self.goes_in_stages(node) else place.staged
        inside = Place((*place.iterators, loop.iterator), loop.domain, loops, place.split, staged)
        bodies = self.bodies(node.stmt, Body(node, inside.iterators, inside.domain))
        borders = parts(Body(node, inside.iterators, inside.domain), bodies, self.affine.scope) if bodies else []
        if len(borders) < 2:
            stmt = node.stmt
            if place.split and is_innermost(node):
                stmt = decided(copied(stmt), self.affine.scope(inside.domain, inside.iterators))
            first = len(self.statements)
            body = self.visit(stmt, inside)
            if body is None:
                return None
            anew = filled_anew(self, stmt, inside, first)
            anew += set_anew(self.names, self.arrays, self.lives, node, self.statements[first:])
            self.anew.update(array.name for array in anew)
            body = Sequence((*(self.kill(array, node, inside) for array in anew), body)) if anew else body
            return Loop(loop.iterator, 1 if loop.step > 0 else -1, body)
        whole = any(body.inner for body in bodies or ())
        return self.bordered(node, loop, inside, borders, whole=whole)

    def bodies(self, node: Any, around: Body) -> list[Body] | None:
        """The statements of a loop's body, below loops of few iterations at most; None if there are others."""
        items = (node.block_items or ()) if isinstance(node, ir.Compound) else (node,)
        found: list[Body] = []
        for item in items:
            if is_plain(item):
                found.append(replace(around, node=item))
                continue
            if not isinstance(item, ir.For):
                return None
            place = Place(around.iterators, around.domain)
            try:
                iterator_type, loop = self.header(item, place)
            except Refusal:
                return None
            self.affine.types[loop.iterator] = iterator_type
            inner = Body(item, (*around.iterators, loop.iterator), loop.domain, (*around.inner, loop.iterator))
            below = self.bodies(item.stmt, inner) if is_small(loop.domain, loop.iterator) else None
            if below is None:
                return None
            found += below
        return found

    def bordered(
        self, node: ir.For, loop: ParsedLoop, inside: Place, borders: list[tuple[isl.Set, bool]], *, whole: bool
    ) -> Tree:
        """A loop in parts that follow each other. whole: iterations at borders are statements as they stand."""
        trees: list[Tree] = []
        for domain, border in borders if loop.step > 0 else reversed(borders):
            place = replace(inside, domain=domain, split=True)
            if whole and border:
                body: Tree | None = self.leaf(copied(node.stmt), place)
            else:
                stmt = decided(copied(node.stmt), self.affine.scope(domain, inside.iterators))
                body = self.visit(stmt, place)
            if body is not None:
                trees.append(Loop(loop.iterator, 1 if loop.step > 0 else -1, body))
        return Sequence(tuple(trees))

    def header(self, node: ir.For, place: Place) -> tuple[CType, ParsedLoop]:
        """The type of a loop's iterator, and what it runs over. Raises Refusal."""
        iterator_type = self.names.iterator_type(node)
        iterator = loop_iterator(node)
        if iterator is not None:
            self.check_iterator(node, iterator, place)

        def within(domain: isl.Set) -> Scope:
            return self.affine.scope(domain, place.iterators, {str(iterator): iterator_type})

        try:
            return iterator_type, parse_loop(
                node, iterator_type, self.affine.scope(place.domain, place.iterators), within
            )
        except NotALoop as error:
            raise self.names.refuse(error.id, error.message, error.node, error.hint) from error
        except NotAffine as error:
            raise self.names.not_affine(error, "bound", "the loop's bounds") from error

    def check_iterator(self, node: ir.For, iterator: str, place: Place) -> None:
        if iterator in ISL_WORDS:
            message = f"an iterator named '{iterator}' is not supported"
            raise self.names.refuse("affine.name", message, node, "rename it")
        if iterator in place.iterators:
            message = f"the iterator '{iterator}' is also the iterator of an enclosing loop"
            raise self.names.refuse("loop.iterator-modified", message, node)
        if node.stmt is not None and iterator in effects(node.stmt).changed:
            message = f"the iterator '{iterator}' is modified in the loop's body"
            raise self.names.refuse("loop.iterator-modified", message, node, "use a copy of it")
        if not isinstance(node.init, ir.DeclList):
            self.check_live_out(node, iterator)

    def check_live_out(self, node: ir.For, iterator: str) -> None:
        """Refuse an iterator that is declared before the region and may be read behind it."""
        if iterator not in self.names.local_names and self.names.read_after(iterator):
            message = f"the value of '{iterator}' after the loop may be used"
            raise self.names.refuse("loop.iterator-live-out", message, node, "declare the iterator in the loop")

    def branch(self, node: ir.If, place: Place) -> Tree | None:
        try:
            holds = condition(node.cond, scope := self.affine.scope(place.domain, place.iterators))
        except NotAffine:
            apart = with_affine_outside(node, place.domain, lambda domain: self.affine.scope(domain, place.iterators))
            return self.leaf(node, place) if apart is None else self.branch(apart, place)
        then = otherwise = None
        if is_passed(self.names.tu, node.iftrue, holds, scope, place.iterators):
            self.affine.assumed.checks = True
        else:
            then = self.visit(node.iftrue, replace(place, domain=place.domain.intersect(holds).coalesce()))
        if node.iffalse is not None:
            otherwise = self.visit(node.iffalse, replace(place, domain=place.domain.subtract(holds).coalesce()))
        parts = tuple(part for part in (then, otherwise) if part is not None)
        return None if not parts else parts[0] if len(parts) == 1 else Sequence(parts)

    def declaration(self, node: ir.Decl, place: Place) -> Tree | None:
        """A local: a kill of its old value, and an assignment if it is initialized."""
        symbol = self.names.symbols.get(node.name)
        if symbol is None or "static" in (node.storage or []) or "extern" in (node.storage or []) or symbol.pointer:
            message = f"a declaration of this kind ('{node.name}') inside a SCoP is not supported"
            raise self.names.refuse("decl.form", message, node)
        if node.name in self.names.iterator_names and node.init is None:
            return None  # only ever a loop's iterator: the emitted loops declare their own
        array = self.arrays.array(node.name, node)
        assert array is not None
        if any(size is None for size in array.sizes):
            message = f"'{node.name}' has a variable length"
            raise self.names.refuse("decl.variable-length", message, node, "declare it before the region")
        if isinstance(node.init, ir.InitList) or (node.init is not None and array.rank):
            message = "an initializer list inside a SCoP is not supported"
            raise self.names.refuse("decl.initializer", message, node, "assign the elements")
        kill = self.kill(array, node, place)
        if node.init is None:
            return kill
        assignment = ir.Assignment("=", ir.ID(node.name, node.coord), node.init, node.coord)
        return Sequence((kill, self.leaf(assignment, place)))

    def kill(self, array: Array, node: Any, place: Place) -> Leaf:
        """The end of what an array or scalar holds."""
        whole = all_elements(array).intersect_params(place.domain)
        killed = RawAccess(array.name, "write", whole, node, self.names.location(node))
        return Leaf(self.add(node, place, (killed,), kill=True))

    def leaf(self, node: Any, place: Place) -> Leaf:
        """A statement executed as a whole."""
        node = self.with_own_iterators(node)
        names = access_names(self, node, place)
        collector = AccessCollector(names, place.domain, place.iterators)
        body, accesses = collector.collected(node)
        for error in collector.unknown:
            if self.names.needs_values(error.node):
                # If the subscripts show rows, the array is read again with them, which may do without.
                self.wanted_values.append(self.names.not_affine(error, "subscript", "the subscript of a written array"))
        if collector.unknown and not self.unknown:
            error = collector.unknown[0]
            message = f"which elements are written here is only known at run time: {error.message}"
            self.unknown.append(
                Remark("analysis", "access.unknown-cell", message, self.names.location(error.node), error.hint)
            )
        name = self.add(body, place, accesses)
        if place.staged is not None:
            self.stages[name] = self.stage(place.staged)
        return Leaf(name)

    def bounds(self, subscript: Any) -> tuple[int, int] | None:
        """The least and the greatest value of a subscript, where types and constants bound it."""
        if not self.intervals:
            names = self.names
            self.intervals.append(values_of_subscripts(names.items, names.symbols, *names.typed_names()))
        return self.intervals[0].get(subscript)

    def trusts(self, array: Array) -> bool:
        """Whether subscripts that data give stay within what is declared. (Of what is only read, nobody asks.)"""
        name = array.spelling
        return name in self.names.effects.written and has_declared_room(self.names, name, self.trusted, self.sized)

    def with_own_iterators(self, node: Any) -> Any:
        """An opaque statement with loops that have iterators of their own:
        one declared outside would be shared by all threads."""
        name = loop_iterator(node) if isinstance(node, ir.For) else None
        if name is not None and isinstance(node.init, ir.Assignment):
            ctype = self.names.iterator_type(node)
            self.check_live_out(node, name)
            spelled = ir.IdentifierType(ctype.spelling.split(), node.coord)
            declared = ir.TypeDecl(name, [], None, spelled, node.coord)
            decl = ir.Decl(name, [], [], [], [], declared, node.init.rvalue, None, node.coord)
            node = changed(node, init=ir.DeclList([decl], node.coord))
        return mapped(node, self.with_own_iterators)

    def opaque(self, node: Any, place: Place, refusal: Refusal) -> Leaf:
        """A loop or `switch` that isn't affine as a statement of the loops around it; without any, there is nothing to
        gain: raises the refusal."""
        if not place.iterators or self.names.waits_for_values(node, refusal.remark.id):
            raise refusal
        leaf = self.leaf(node, place)
        self.obstacles[leaf.statement] = refusal
        found = next((one for one in walk(node) if isinstance(one, ir.For) and self.goes_in_stages(one)), None)
        if found is not None:
            self.stages[leaf.statement] = self.stage(found)
        return leaf

    def goes_in_stages(self, node: ir.For) -> bool:
        names = self.names
        return goes_in_stages(node, names.iterator_names | names.local_names | names.effects.assigned)

    def stage(self, node: Any) -> Refusal:
        message = "the loop goes in stages, at distances that change around it"
        return self.names.refuse("loop.stages", message, node)

    def control(self, construct: Any) -> Refusal:
        said = construct_of(construct)
        return self.names.refuse(said.id, said.message, construct, said.hint)

    def refuse_control(self, node: Any) -> None:
        """Refuse jumps that leave their statement, wherever they hide."""
        found = out_of_statements(node) or next(leaving(node), None)
        if found is not None:
            raise self.control(found)

    def add(self, node: Any, place: Place, accesses: tuple[RawAccess, ...], kill: bool = False) -> str:
        """Note a statement; its name."""
        name = f"{'K' if kill else 'S'}{sum(raw.kill == kill for raw in self.statements)}"
        types = tuple(self.affine.types[iterator] for iterator in place.iterators)
        nest, where = (place.domain, place.iterators, types), self.names.location(node)
        self.statements.append(RawStatement(name, *nest, node, accesses, where, place.loops, kill))
        return name
