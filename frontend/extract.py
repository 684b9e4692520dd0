"""From a region's syntax tree to a `Scop`: domains, access relations and the original order. Whatever the model can't
hold is a Refusal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl

from scopt import ir
from scopt.diagnostics import Location, Refusal, Remark
from scopt.frontend.model.accesses import AccessCollector, Names, RawAccess, Survey
from scopt.frontend.model.affine import INT, NotAffine, Scope, Value, condition, type_range
from scopt.frontend.model.aliasing import Aliasing, Names as AliasNames, check_aliasing
from scopt.frontend.model.assumptions import Assumptions, long_values, summable, too_large, typed_values
from scopt.frontend.model.bound_wishes import bound
from scopt.frontend.model.delinearize import Shape, executed_by, longer_than_rows, shape_of
from scopt.frontend.model.loop_headers import Loop as ParsedLoop, NotALoop, parse_loop
from scopt.frontend.model.order import Leaf, Loop, Sequence, Tree, order_map, schedule_tree
from scopt.frontend.model.pointers import as_subscripts
from scopt.frontend.model.products import hoist_products
from scopt.frontend.model.sizes import hoist_sizes
from scopt.frontend.normalize.counting_loops import has_loop
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.normal import normalized
from scopt.frontend.normalize.opaque import blocking, construct_of, leaving, out_of_statements
from scopt.frontend.syntax.constructs import construct_text
from scopt.frontend.syntax.liveness import may_be_read_after
from scopt.frontend.syntax.mentioned import identifiers, written_names
from scopt.frontend.syntax.scoping import loop_iterator, unique_names
from scopt.frontend.syntax.structs import Reference, Typed, Types, path_shape, reference_of, references, shared_storage
from scopt.frontend.syntax.symbols import (
    Layer,
    Symbol,
    constant_value,
    ctype_of,
    facts_of,
    is_value,
    scope_at,
    symbol_of,
    typed_constant,
)
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.directives import is_directive, threadprivate_names
from scopt.ir.scop import Access, Array, CType, Guard, Parameter, Scop, Statement, Stretch
from scopt.ir.walks import changed, distinct, mapped, rebuilt, walk
from scopt.poly.dependences import classify_private
from scopt.poly.isl_utils import constant_pw_aff, to_statement_space, universe_params

# Words that isl's own syntax gives a meaning to: parameters and arrays with these names need another name inside isl.
ISL_WORDS = frozenset(
    [
        "exists",
        "mod",
        "min",
        "max",
        "floor",
        "ceil",
        "and",
        "or",
        "not",
        "true",
        "false",
        "implies",
        "rat",
        "infty",
        "infinity",
        "nan",
        "floord",
        "ceild",
        "eval",
        "lex_le",
        "lex_lt",
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class _Raw:
    """A statement before the spaces are set up."""

    name: str
    domain: isl.Set
    iterators: tuple[str, ...]
    types: tuple[CType, ...]
    body: Any
    accesses: tuple[RawAccess, ...]
    location: Location
    loops: tuple[Any, ...]
    kill: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the walk stands: the enclosing iterators (outermost first) and the parameter set of their values; loops:
    their `for` nodes."""

    iterators: tuple[str, ...]
    domain: isl.Set
    loops: tuple[Any, ...] = ()


def extract(tu: TranslationUnit, region: Region, name: str, *, assume_apart: bool = False) -> Scop:
    """The SCoP of a region. Raises Refusal where it isn't one that can be handled.

    assume_apart: different pointers are taken to lead to different memory, in unmarked regions too.
    """
    return extract_whole(tu, region, name, assume_apart=assume_apart)[0]


def extract_whole(
    tu: TranslationUnit, region: Region, name: str, *, assume_apart: bool = False
) -> tuple[Scop, Mapping[str, Refusal]]:
    """The SCoP of a region, and why some of its statements are loops or the like that are executed as a whole, by the
    statements' names.

    Where subscripts show that arrays of one dimension hold rows, the region is read again with that knowledge.
    """
    extraction = _Extraction(tu, region, name, assume_apart)
    tree = extraction.walk()
    shapes, holds = extraction.flat_arrays()
    if shapes:
        extraction = _Extraction(tu, region, name, assume_apart, shapes, holds)
        tree = extraction.walk()
    if extraction.wanted_values:
        raise extraction.wanted_values[0]
    return extraction.scop(tree), extraction.obstacles


@dataclass(slots=True)
class _Extraction:
    tu: TranslationUnit
    region: Region
    name: str
    assume_apart: bool = False
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    known: isl.Set = field(default_factory=universe_params)
    survey: Survey = field(default_factory=Survey)
    items: tuple[Any, ...] = ()
    symbols: dict[str, Symbol] = field(default_factory=dict)
    iterator_names: frozenset[str] = frozenset()
    local_names: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    types: dict[str, CType] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    statements: list[_Raw] = field(default_factory=list)
    obstacles: dict[str, Refusal] = field(default_factory=dict)
    unknown: list[Remark] = field(default_factory=list)
    wanted_values: list[Refusal] = field(default_factory=list)
    assumed: Assumptions = field(default_factory=Assumptions)
    hoisted: tuple[Hoisted, ...] = ()
    whole: frozenset[str] = frozenset()

    def walk(self) -> Tree:
        """Collect statements and accesses."""
        self.prepare()
        for item in self.items:
            self.refuse_control(item)
        tree = self.sequence(self.items, _Place((), self.known))
        bodies = [raw for raw in self.statements if not raw.kill]
        if tree is None or not bodies:
            raise Refusal("region.empty", "the region contains no statement", self.region.location)
        return tree

    def flat_arrays(self) -> tuple[dict[str, Shape], isl.Set]:
        """Arrays of one dimension whose subscripts show rows, and the parameters for which they do."""
        shapes: dict[str, Shape] = {}
        holds, executed = universe_params(), universe_params().complement()
        for name, subscripts in self.survey.found.items():
            read = [subscript for subscript in subscripts if subscript is not None]
            found = shape_of(read) if len(read) == len(subscripts) else None
            if found is not None and _leaves_choice(holds.intersect(found[1])):
                if (
                    not self.region.marked
                    and sum(map(has_loop, self.region.items)) > 1
                    and longer_than_rows(found[0], read)
                ):
                    message = f"some loops go through the rows of '{name}', others through all of it"
                    raise Refusal("affine.rows-and-whole", message, self.region.location)
                shapes[name] = found[0]
                holds = holds.intersect(found[1])
                executed = executed.union(executed_by(read))
        return shapes, holds.gist(executed.coalesce()).coalesce()

    # --- names --------------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Give every name one meaning and note what the region writes."""
        outer = scope_at(self.tu, self.region)
        unique = unique_names(normalized(self.tu, self.region, outer), self.tu.reserved, ISL_WORDS)
        self.items, self.iterator_names = tuple(map(_without_directives, unique.items)), unique.iterators
        self.refuse_visible()
        self.symbols = dict(outer)
        for local, decl in unique.declared.items():
            self.symbols[local] = symbol_of(decl, outer)
        self.local_names = frozenset(unique.declared)
        self.refuse_thread_local()
        self.items = as_subscripts(self.items, self.symbols, self.tu.long_type, frozenset(self.shapes))
        inside = self.local_names | self.iterator_names
        self.items, sizes = hoist_sizes(distinct(self.items), self.symbols, inside, self.tu.reserved)
        members = MemberHoister(self.items, self.symbols, self.tu.structs, inside, self.tu.reserved)
        self.hoisted = (*sizes, *members.run(), *hoist_products(members, self.region.symbolic))
        # From here on accesses and the like are told by their nodes.
        self.items = distinct(members.items)
        self.whole = self.whole_structures()
        self.written = frozenset().union(*(written_names(item) for item in self.items)) if self.items else frozenset()

    def whole_structures(self) -> frozenset[str]:
        """Bases whose structures are copied as a whole, or have members that share their bytes: one element is one
        cell, whatever the member."""
        types = Types(self.symbols, self.tu.structs)
        found: set[str] = set()
        for node in (node for item in self.items for node in references(item)):
            reference = reference_of(node)
            if isinstance(reference.base, ir.ID) and reference.base.name in self.symbols:
                typed = types.of(node)
                whole = typed is not None and typed.composite and typed.struct is not None
                local = bool(reference.path) and reference.base.name in self.local_names
                if whole or local or (reference.path and shared_storage(types, reference)):
                    found.add(reference.base.name)
        return frozenset(found)

    def refuse_thread_local(self) -> None:
        """Other threads would have variables of their own by these names, and OpenMP's clauses don't take them."""
        private = threadprivate_names(self.tu.ast.ext)
        if b"threadprivate" in self.tu.source:
            private |= threadprivate_names(walk(self.region.function))
        for node in (node for node in walk(*self.items) if isinstance(node, ir.ID)):
            if node.name in private or (node.name in self.symbols and self.symbols[node.name].thread_local):
                hint = "copy it to a plain variable, or give the region a pointer to it"
                raise self.refuse("access.thread-local", f"each thread has a '{node.name}' of its own", node, hint)

    def refuse_visible(self) -> None:
        """Declarations move into a block of the region's own:
        what is used after the region has to be declared before it."""
        after = (self.region.parent.block_items or ())[self.region.stop :]
        for item in self.region.items:
            if isinstance(item, (ir.Decl, ir.Typedef)) and any(item.name in identifiers(node) for node in after):
                raise self.refuse(
                    "decl.used-after", f"'{item.name}' is used after the region", item, "declare it before the region"
                )

    def location(self, node: Any) -> Location:
        coord = getattr(node, "coord", None)
        while coord is None and node is not None:
            children = node.children()
            node = children[0][1] if children else None
            coord = getattr(node, "coord", None)
        if coord is None:
            return self.region.location
        return Location(coord.file, coord.line, coord.column or 0)

    def refuse(self, id: str, message: str, node: Any, hint: str = "") -> Refusal:
        return Refusal(id, message, self.location(node), hint)

    def not_affine(self, error: NotAffine, where: str, what: str) -> Refusal:
        """`where` is bound, condition or subscript; the id's last part says what is wrong with it."""
        reason = (
            f"{error.reason}-{where}" if error.reason in ("nonlinear", "indirect", "variant", "call") else error.reason
        )
        return self.refuse(f"affine.{reason}", f"{what}: {error.message}", error.node, error.hint)

    def lookup(self, active: Mapping[str, CType]) -> Any:
        """What a name means in an affine expression: an iterator's type, a parameter's, or a constant."""

        def find(name: str, node: Any) -> CType | Value:
            if name in active:
                return active[name]
            symbol = self.symbols.get(name)
            if symbol is None:
                if name in self.region.symbolic:
                    ctype = self.symbols[self.region.types[name]].type if name in self.region.types else INT
                    return self.parameter(name, ctype, self.region.symbolic[name], node)
                raise NotAffine("nonlinear", f"'{name}' is not declared here", node)
            if (value := constant_value(ir.ID(name), self.symbols)) is not None and symbol.kind == "enum-constant":
                return Value(constant_pw_aff(value), INT)
            if name in self.iterator_names or name in self.written:
                hint = "use a loop iterator, or a variable that the region doesn't write"
                raise NotAffine("variant", f"'{name}' changes inside the region", node, hint)
            if symbol.type.volatile:
                raise NotAffine("volatile", f"'{name}' is volatile", node)
            if symbol.dims or symbol.pointer or not symbol.type.integer or symbol.type.bits == 0:
                raise NotAffine("nonlinear", f"'{name}' is no integer variable", node)
            return self.parameter(name, symbol.type, None, node)

        return find

    def parameter(self, name: str, ctype: CType, estimate: int | None, node: Any) -> CType:
        if name in ISL_WORDS:
            raise NotAffine(
                "name",
                f"a loop bound or subscript can't depend on a variable named '{name}'",
                node,
                "rename the variable",
            )
        self.parameters.setdefault(name, Parameter(name, name, ctype, estimate))
        return ctype

    def scope(self, domain: isl.Set, active: Mapping[str, CType]) -> Scope:
        """The affine scope with these iterators and what is known of them."""

        def ranges() -> isl.Set:
            result = self.assumed.values
            for known, ctype in {**{p.name: p.type for p in self.parameters.values()}, **active}.items():
                result = result.intersect(type_range(known, ctype))
            return result

        return Scope(
            self.lookup(active),
            self.tu.functions,
            domain,
            ranges,
            lambda node: ctype_of(node, self.symbols),
            lambda node: typed_constant(node, self.symbols),
            lambda violation: self.assumed.add(violation, active, self.parameters.values()),
        )

    def active(self, place: _Place) -> dict[str, CType]:
        return {iterator: self.types[iterator] for iterator in place.iterators}

    def iterator_type(self, node: ir.For) -> CType:
        """The type of a loop's iterator, declared in the loop or before it."""
        name = loop_iterator(node)
        if isinstance(node.init, ir.DeclList):
            symbol = symbol_of(node.init.decls[0], self.symbols)
        elif name is not None and name in self.symbols:
            symbol = self.symbols[name]
        else:
            raise self.refuse("loop.form", "the loop's iterator is not a declared variable", node)
        if symbol.type.volatile:
            raise self.refuse("access.volatile", f"the iterator '{name}' is volatile", node)
        if symbol.dims or symbol.pointer or not symbol.type.integer or symbol.type.bits == 0:
            raise self.refuse(
                "loop.form", f"the iterator '{name}' is no integer variable", node, "use an integer iterator"
            )
        return symbol.type

    def array(self, name: str, node: Any) -> Array | None:
        """The array or scalar behind a name in a statement; None for constants."""
        if name in self.arrays:
            return self.arrays[name]
        symbol = self.symbols.get(name)
        if symbol is None:
            if name in self.region.symbolic:
                return None
            raise self.refuse("name.undeclared", f"'{name}' is not declared", node)
        if symbol.kind in ("enum-constant", "function"):
            return None
        if symbol.type.volatile or symbol.type.atomic:
            raise self.refuse("access.volatile", f"'{name}' is volatile or atomic", node)
        if symbol.pointer_depth > 1:
            raise self.refuse(
                "access.pointer-to-pointer",
                f"the rows of '{name}' may overlap",
                node,
                "use an array of several dimensions",
            )
        if name in self.iterator_names:
            raise self.refuse(
                "loop.iterator-live-out",
                f"'{name}' is used outside the loop that steps it",
                node,
                "use a variable of its own",
            )
        if symbol.pointer and name in self.written and not _stores_element(name, self.items):
            raise self.refuse("access.pointer-modified", f"the pointer '{name}' is modified in the region", node)
        if not (symbol.type.integer or symbol.type.floating) and symbol.dims and name not in self.whole:
            raise self.refuse("access.type", f"the elements of '{name}' are of a type that is not supported", node)
        local = name in self.local_names
        if name in self.shapes:
            return self.flat_array(symbol, node)
        sizes = tuple(constant_value(extent, self.symbols) if extent is not None else None for extent in symbol.dims)
        isl_name = f"{name}_{len(self.arrays)}" if name in ISL_WORDS else name
        self.arrays[name] = Array(
            isl_name,
            name,
            symbol.type,
            symbol.dims,
            sizes,
            symbol.pointer,
            False,
            local,
            symbol.decl if local else None,
            self.location(node),
        )
        return self.arrays[name]

    def member(self, reference: Reference, node: Any) -> tuple[Array, bool]:
        """The array that the members of a path make, or the elements that they are parts of (True)."""
        base = reference.base.name
        symbol = self.symbols.get(base)
        if symbol is None:
            raise self.refuse("name.undeclared", f"'{base}' is not declared", node)
        shape = path_shape(Types(self.symbols, self.tu.structs), reference)
        if shape is None or symbol.kind not in ("local", "parameter", "global"):
            raise self.refuse("access.struct", f"nothing is known of this member of '{base}'", node)
        layers, typed = shape
        if any(layer.kind == "pointer" for layer in layers[1:]):
            raise self.refuse(
                "access.pointer-to-pointer", f"what is reached through pointers of '{base}' may overlap", node
            )
        if typed.type.volatile or typed.type.atomic:
            raise self.refuse("access.volatile", f"this member of '{base}' is volatile or atomic", node)
        if typed.layers or (not (typed.type.integer or typed.type.floating) and base not in self.whole):
            raise self.refuse("access.type", f"this member of '{base}' is of a type that is not supported", node)
        if base in self.whole:
            array = self.array(base, node)
            assert array is not None
            if len(reference.subscripts) < array.rank or any(before < array.rank for before in reference.before):
                raise self.refuse("access.struct", f"members before all subscripts of '{base}' are not supported", node)
            return array, True
        return self.member_array(reference, symbol, layers, typed, node), False

    def member_array(
        self, reference: Reference, base: Symbol, layers: tuple[Layer, ...], typed: Typed, node: Any
    ) -> Array:
        """The array of all members of one path."""
        dots = dict[int, str]()
        for name, before in zip(reference.path, reference.before, strict=True):
            dots[before] = f"{dots.get(before, '')}.{name}"
        # No name in C is spelled like this: what makes references of its own from an array's name leaves this one
        # alone.
        spelling = base.name + "".join(f"{'[]' if k else ''}{dots.get(k, '')}" for k in range(len(layers) + 1))
        if spelling in self.arrays:
            return self.arrays[spelling]
        if base.name in self.iterator_names or any(
            isinstance(target, ir.ID) and target.name == base.name for target in _targets(self.items)
        ):
            raise self.refuse("access.pointer-modified", f"'{base.name}' is modified in the region", node)
        name, number = "__".join((base.name, *reference.path)), 2
        while (
            name in self.tu.reserved
            or name in self.symbols
            or any(array.name == name for array in self.arrays.values())
        ):
            name, number = f"{'__'.join((base.name, *reference.path))}_{number}", number + 1
        dims = tuple(layer.dim for layer in layers)
        sizes = tuple(constant_value(dim, self.symbols) if dim is not None else None for dim in dims)
        types = Types(self.symbols, self.tu.structs)
        struct = types.of(ir.ID(base.name))
        self.symbols[spelling] = replace(
            base,
            name=spelling,
            type=typed.type,
            dims=dims,
            size=typed.size,
            decl=None,
            within=base,
            path=reference.path,
            struct=id(struct.struct) if struct is not None and struct.struct is not None else 0,
        )
        self.arrays[spelling] = Array(
            name, spelling, typed.type, dims, sizes, base.pointer, location=self.location(node), within=base.name
        )
        return self.arrays[spelling]

    def flat_array(self, symbol: Symbol, node: Any) -> Array:
        """An array of one dimension that holds rows."""
        shape = self.shapes[symbol.name]
        total, row = (
            constant_value(symbol.dims[0], self.symbols) if symbol.dims[0] is not None else None,
            shape.strides[0],
        )
        rows = ir.Constant("int", str(-(-total // row.factor))) if total is not None and not row.atoms else None
        extents = (rows, *shape.extents()[1:])
        for extent in extents[1:]:
            for part in walk(extent):
                if isinstance(part, ir.ID):
                    self.lookup({})(part.name, part)
        local = symbol.name in self.local_names
        sizes = tuple(constant_value(extent, self.symbols) if extent is not None else None for extent in extents)
        isl_name = f"{symbol.name}_{len(self.arrays)}" if symbol.name in ISL_WORDS else symbol.name
        self.arrays[symbol.name] = Array(
            isl_name,
            symbol.name,
            symbol.type,
            extents,
            sizes,
            symbol.pointer,
            False,
            local,
            symbol.decl if local else None,
            self.location(node),
            flat=True,
        )
        return self.arrays[symbol.name]

    # --- control ------------------------------------------------------------------------------------------------------

    def sequence(self, items: Iterable[Any], place: _Place) -> Tree | None:
        parts = [tree for item in items if (tree := self.visit(item, place)) is not None]
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def visit(self, node: Any, place: _Place) -> Tree | None:
        match node:
            case None | ir.EmptyStatement():
                return None
            case ir.Compound():
                return self.sequence(node.block_items or (), place)
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
                    raise self.refuse(
                        "region.openmp", "the region has OpenMP directives of its own", node, "remove them"
                    )
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
        raise self.refuse("statement.unsupported", f"{construct_text(node)} is not supported", node)

    def loop(self, node: ir.For, place: _Place) -> Tree | None:
        """A loop over an affine set; any other one is executed as a whole."""
        try:
            iterator_type, loop = self.header(node, place)
        except Refusal as refusal:
            return self.opaque(node, place, refusal)
        self.types[loop.iterator] = iterator_type
        loops = (*place.loops, facts_of(self.tu, self.region.function).origin(node))
        body = self.visit(node.stmt, _Place((*place.iterators, loop.iterator), loop.domain, loops))
        return None if body is None else Loop(loop.iterator, 1 if loop.step > 0 else -1, body)

    def header(self, node: ir.For, place: _Place) -> tuple[CType, ParsedLoop]:
        """The type of a loop's iterator, and what it runs over. Raises Refusal."""
        iterator_type = self.iterator_type(node)
        iterator = loop_iterator(node)
        if iterator is not None:
            self.check_iterator(node, iterator, place)

        def within(domain: isl.Set) -> Scope:
            return self.scope(domain, {**self.active(place), str(iterator): iterator_type})

        try:
            return iterator_type, parse_loop(node, iterator_type, self.scope(place.domain, self.active(place)), within)
        except NotALoop as error:
            raise self.refuse(error.id, error.message, error.node, error.hint) from error
        except NotAffine as error:
            raise self.not_affine(error, "bound", "the loop's bounds") from error

    def check_iterator(self, node: ir.For, iterator: str, place: _Place) -> None:
        if iterator in ISL_WORDS:
            raise self.refuse("affine.name", f"an iterator named '{iterator}' is not supported", node, "rename it")
        if iterator in place.iterators:
            raise self.refuse(
                "loop.iterator-modified", f"the iterator '{iterator}' is also the iterator of an enclosing loop", node
            )
        if node.stmt is not None and iterator in written_names(node.stmt):
            raise self.refuse(
                "loop.iterator-modified",
                f"the iterator '{iterator}' is modified in the loop's body",
                node,
                "use a copy of it",
            )
        declared_outside = not isinstance(node.init, ir.DeclList) and iterator not in self.local_names
        if declared_outside and may_be_read_after(facts_of(self.tu, self.region.function), self.region, iterator):
            message = f"the value of '{iterator}' after the loop may be used"
            raise self.refuse("loop.iterator-live-out", message, node, "declare the iterator in the loop")

    def branch(self, node: ir.If, place: _Place) -> Tree | None:
        try:
            holds = condition(node.cond, self.scope(place.domain, self.active(place)))
        except NotAffine:
            return self.leaf(node, place)
        then = self.visit(node.iftrue, replace(place, domain=place.domain.intersect(holds)))
        otherwise = (
            self.visit(node.iffalse, replace(place, domain=place.domain.subtract(holds)))
            if node.iffalse is not None
            else None
        )
        parts = tuple(part for part in (then, otherwise) if part is not None)
        return None if not parts else parts[0] if len(parts) == 1 else Sequence(parts)

    def declaration(self, node: ir.Decl, place: _Place) -> Tree | None:
        """A local: a kill of its old value, and an assignment if it is initialized."""
        symbol = self.symbols.get(node.name)
        if symbol is None or "static" in (node.storage or []) or "extern" in (node.storage or []) or symbol.pointer:
            raise self.refuse(
                "decl.form", f"a declaration of this kind ('{node.name}') inside a SCoP is not supported", node
            )
        if node.name in self.iterator_names and node.init is None:
            return None  # only ever a loop's iterator: the emitted loops declare their own
        array = self.array(node.name, node)
        assert array is not None
        if any(size is None for size in array.sizes):
            raise self.refuse(
                "decl.variable-length", f"'{node.name}' has a variable length", node, "declare it before the region"
            )
        if isinstance(node.init, ir.InitList) or (node.init is not None and array.rank):
            raise self.refuse(
                "decl.initializer", "an initializer list inside a SCoP is not supported", node, "assign the elements"
            )
        whole = isl.Set(f"{{ {array.name}[{', '.join(f'd{k}' for k in range(array.rank))}] }}").intersect_params(
            place.domain
        )
        killed = RawAccess(array.name, "write", whole, node, self.location(node))
        kill = Leaf(self.add(node, place, (killed,), kill=True))
        if node.init is None:
            return kill
        assignment = ir.Assignment("=", ir.ID(node.name, node.coord), node.init, node.coord)
        return Sequence((kill, self.leaf(assignment, place)))

    def fixed_pointer(self, name: str) -> bool:
        """Whether a name is a pointer's that keeps its value in the region."""
        symbol = self.symbols.get(name)
        if (
            symbol is None
            or not symbol.pointer
            or symbol.type.volatile
            or symbol.type.atomic
            or name in self.local_names
        ):
            return False
        return name not in self.written or _stores_element(name, self.items)

    def leaf(self, node: Any, place: _Place) -> Leaf:
        """A statement executed as a whole."""
        node = self.with_own_iterators(node)
        names = Names(
            array=lambda name, where: None if name in place.iterators else self.array(name, where),
            member=self.member,
            scope=lambda domain, inner: self.scope(domain, {**self.active(place), **inner}),
            location=self.location,
            purity=self.tu.pure_functions,
            defined=self.tu.defined_functions,
            written_arrays=lambda: self.written_arrays(node),
            iterator_type=self.iterator_type,
            fixed_pointer=self.fixed_pointer,
            shapes=self.shapes,
            survey=self.survey,
        )
        collector = AccessCollector(names, place.domain, place.iterators)
        body, accesses = collector.collected(node)
        for error in collector.unknown:
            if self.needs_values(error.node):
                # If the subscripts show rows, the array is read again with them, which may do without.
                self.wanted_values.append(self.not_affine(error, "subscript", "the subscript of a written array"))
        if collector.unknown and not self.unknown:
            error = collector.unknown[0]
            message = f"which elements are written here is only known at run time: {error.message}"
            self.unknown.append(
                Remark("analysis", "access.unknown-cell", message, self.location(error.node), error.hint)
            )
        return Leaf(self.add(body, place, accesses))

    def with_own_iterators(self, node: Any) -> Any:
        """An opaque statement with loops that have iterators of their own: one declared outside would be shared by all
        threads."""
        name = loop_iterator(node) if isinstance(node, ir.For) else None
        if name is not None and isinstance(node.init, ir.Assignment):
            ctype = self.iterator_type(node)
            if name not in self.local_names and may_be_read_after(
                facts_of(self.tu, self.region.function), self.region, name
            ):
                message = f"the value of '{name}' after the loop may be used"
                raise self.refuse("loop.iterator-live-out", message, node, "declare the iterator in the loop")
            spelled = ir.IdentifierType(ctype.spelling.split(), node.coord)
            declared = ir.TypeDecl(name, [], None, spelled, node.coord)
            decl = ir.Decl(name, [], [], [], [], declared, node.init.rvalue, None, node.coord)
            node = changed(node, init=ir.DeclList([decl], node.coord))
        return mapped(node, self.with_own_iterators)

    def written_arrays(self, node: Any) -> list[Array]:
        """Everything that the region writes, as far as it has a name."""
        names = [name for name in sorted(self.written) if name not in self.iterator_names and name in self.symbols]
        types = Types(self.symbols, self.tu.structs)
        for name in names:
            typed = types.of(ir.ID(name))
            if typed is not None and typed.struct is not None and name not in self.whole:
                raise self.refuse(
                    "call.pointer",
                    f"a function that may read everything is called where members of '{name}' are written",
                    node,
                )
        return [array for name in names if (array := self.array(name, node)) is not None]

    def opaque(self, node: Any, place: _Place, refusal: Refusal) -> Leaf:
        """A loop or `switch` that isn't affine as a statement of the loops around it; without any, there is nothing to
        gain: raises the refusal."""
        if not place.iterators or (refusal.remark.id.startswith("affine.") and self.needs_values(node)):
            raise refusal
        leaf = self.leaf(node, place)
        self.obstacles[leaf.statement] = refusal
        return leaf

    def needs_values(self, node: Any) -> bool:
        """Whether something that isn't affine has names of macros, whose values might make it so."""
        return not self.region.symbolic.keys().isdisjoint(identifiers(node))

    def control(self, construct: Any) -> Refusal:
        said = construct_of(construct)
        return self.refuse(said.id, said.message, construct, said.hint)

    def refuse_control(self, node: Any) -> None:
        """Refuse jumps that leave their statement, wherever they hide."""
        found = out_of_statements(node) or next(leaving(node), None)
        if found is not None:
            raise self.control(found)

    def add(self, node: Any, place: _Place, accesses: tuple[RawAccess, ...], kill: bool = False) -> str:
        number = sum(raw.kill == kill for raw in self.statements)
        name = f"{'K' if kill else 'S'}{number}"
        types = tuple(self.types[iterator] for iterator in place.iterators)
        self.statements.append(
            _Raw(name, place.domain, place.iterators, types, node, accesses, self.location(node), place.loops, kill)
        )
        return name

    # --- the result ---------------------------------------------------------------------------------------------------

    def scop(self, tree: Tree) -> Scop:
        context = universe_params()
        for parameter in self.parameters.values():
            if not parameter.type.signed:
                context = context.intersect(isl.Set(f"[{parameter.name}] -> {{ : {parameter.name} >= 0 }}"))
        domains = {
            raw.name: to_statement_space(raw.domain, raw.name, raw.iterators).coalesce() for raw in self.statements
        }
        bodies = [raw for raw in self.statements if not raw.kill]
        body_tree = _without(tree, {raw.name for raw in self.statements if raw.kill})
        assert body_tree is not None
        statements = tuple(self.statement(raw, domains[raw.name]) for raw in bodies)
        kills = tuple(self.statement(raw, domains[raw.name]) for raw in self.statements if raw.kill)
        dead = frozenset(array.name for name, array in self.arrays.items() if self.is_dead_after(name))
        order = order_map(tree, domains)
        arrays = classify_private({array.name: array for array in self.arrays.values()}, statements, kills, order, dead)
        typed = typed_values(self.parameters.values())
        self.assumed.values = self.assumed.values.intersect(
            summable(self.parameters.values(), statements, context.intersect(typed))
        )
        context = context.intersect(self.assumed.values).intersect(self.known)
        aliasing = self.aliasing((*statements, *kills), context)
        guard = self.guard(aliasing.apart, statements, typed)
        context = context.intersect(self.in_long(guard.fits)) if guard is not None else context
        return Scop(
            name=self.name,
            location=self.region.location,
            context=context,
            parameters=tuple(self.estimated(domains, statements)),
            arrays=arrays,
            statements=statements,
            kills=kills,
            schedule=schedule_tree(body_tree, {raw.name: domains[raw.name] for raw in bodies}),
            order=order,
            reserved=self.tu.reserved | {one.symbol.name for one in self.hoisted},
            typedefs=self.tu.typedefs,
            long_type=self.tu.long_type,
            long_suffix=self.tu.long_suffix,
            assumptions=(
                *aliasing.remarks,
                *self.taken(typed),
                *self.unknown,
                *map(_as_a_whole, self.obstacles.values()),
            ),
            guard=guard,
            prologue=tuple(one.text for one in self.hoisted),
            by_value=self.by_value(),
            directives=bound(self.region.pragmas, ((raw.name, raw.iterators, raw.loops) for raw in bodies)),
        )

    def by_value(self) -> frozenset[str]:
        """Variables of the function, numbers and pointers, that threads may copy;
        none in marked regions, which have no alternative."""
        if self.region.marked:
            return frozenset()
        return frozenset(name for name, symbol in self.symbols.items() if is_value(symbol)) - self.local_names

    def guard(
        self, apart: tuple[tuple[Stretch, Stretch], ...], statements: tuple[Statement, ...], typed: isl.Set
    ) -> Guard | None:
        """What the program has to test. typed: what the parameters' types say anyway."""
        both = self.assumed.values.intersect(self.known)
        fits = too_large(self.parameters.values(), statements, typed.intersect(self.assumed.values))
        # What is assumed is tested in the long type too, where a value beyond it might pass.
        tested = both.gist(typed)
        wide = (p for p in self.parameters.values() if not p.type.signed and p.type.bits >= 64)
        fits = (*fits, *(p.spelling for p in wide if p.name in self.assumed.long or _involves(tested, p.name)))
        fitting = self.in_long(fits)
        fits = tuple(name for name in dict.fromkeys(fits) if not _implies_long(both, name))
        assumed = both.intersect(fitting).gist(typed.intersect(fitting)).coalesce()
        return Guard(assumed, apart, fits) if apart or fits or not assumed.plain_is_universe() else None

    def in_long(self, spellings: Collection[str]) -> isl.Set:
        """Parameter set where the parameters of these spellings fit into the long type."""
        return long_values(p for p in self.parameters.values() if p.spelling in spellings)

    def taken(self, typed: isl.Set) -> Iterator[Remark]:
        """What is said of the values that are tested."""
        flat = ", ".join(f"'{name}'" for name in sorted(self.shapes))
        for id, values, what in (
            ("assume.rows", self.known, f"the rows of {flat} don't overlap"),
            ("assume.values", self.assumed.values, "C's arithmetic is exact and conversions change nothing"),
        ):
            tested = values.gist(typed).coalesce()
            if not tested.plain_is_universe():
                listed = str(tested).partition("{")[2].rpartition("}")[0].strip(" :")
                yield Remark(
                    "analysis",
                    id,
                    f"the program tests where the region begins that {what}: {listed}",
                    self.region.location,
                )

    def aliasing(self, statements: tuple[Statement, ...], context: isl.Set) -> Aliasing:
        names = AliasNames(
            self.symbols,
            self.arrays,
            self.written_keys(),
            frozenset(self.parameters).union(*(one.reads for one in self.hoisted)),
            self.tu.defined_functions,
            statements,
            context,
            tuple(one.cell for one in self.hoisted if one.cell is not None),
            self.tu.strict_aliasing,
        )
        return check_aliasing(self.region, names, assume_apart=self.assume_apart)

    def written_keys(self) -> frozenset[str]:
        """The arrays, by their keys, that statements write."""
        names = {access.array for raw in self.statements for access in raw.accesses if access.kind != "read"}
        return frozenset(key for key, array in self.arrays.items() if array.name in names)

    def statement(self, raw: _Raw, domain: isl.Set) -> Statement:
        accesses = tuple(
            Access(a.array, a.kind, _relation(a, raw).intersect_domain(domain), a.node, a.location)
            for a in raw.accesses
        )
        return Statement(raw.name, domain, raw.iterators, raw.types, raw.body, accesses, raw.location)

    def is_dead_after(self, name: str) -> bool:
        """Whether nobody can see the value that the region leaves in a scalar or array."""
        if name in self.local_names:
            return True
        symbol = self.symbols[name]
        if (
            symbol.within is not None
            or symbol.pointer
            or symbol.kind not in ("local", "parameter")
            or symbol.static
            or symbol.address_taken
        ):
            return False
        return not may_be_read_after(facts_of(self.tu, self.region.function), self.region, name)

    def estimated(self, domains: Mapping[str, isl.Set], statements: Iterable[Statement]) -> Iterable[Parameter]:
        """Parameters with a guess of their values: the largest that keep subscripts inside constant extents."""
        by_name = {array.name: array for array in self.arrays.values()}
        guesses: dict[str, int] = {}
        for statement in statements:
            for access in statement.accesses:
                array = by_name[access.array]
                for position, size in enumerate(array.sizes):
                    if size is None or size <= 0:
                        continue
                    _guess_from_extent(access.relation, position, size, guesses)
        for parameter in self.parameters.values():
            estimate = parameter.estimate if parameter.estimate is not None else guesses.get(parameter.name)
            yield Parameter(parameter.name, parameter.spelling, parameter.type, estimate)


def _guess_from_extent(relation: isl.Map, position: int, size: int, guesses: dict[str, int]) -> None:
    """From `subscript < n` and a constant extent: n is probably the extent.
    Only where one parameter bounds the subscript."""
    subscripts = relation.range()
    rank = subscripts.dim(isl.dim_type.set)
    one = subscripts.project_out(isl.dim_type.set, position + 1, rank - position - 1).project_out(
        isl.dim_type.set, 0, position
    )
    involved = [p for p in range(one.dim(isl.dim_type.param)) if one.involves_dims(isl.dim_type.param, p, 1)]
    if len(involved) != 1:
        return
    name = one.get_dim_name(isl.dim_type.param, involved[0])
    fits = isl.Set(f"{{ [x] : x < {size} }}")
    beyond = one.subtract(fits).params()
    if beyond.is_empty() or not name:
        return
    inside = beyond.complement().intersect(one.params())
    index = inside.find_dim_by_name(isl.dim_type.param, name)
    if index < 0:
        return
    values = isl.Set(f"[{name}] -> {{ [x] : x = {name} }}").intersect_params(inside)
    values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
    highest = values.dim_max_val(0) if not values.is_empty() else isl.Val(0)
    if highest.is_int() and (guess := int(highest.to_python())) > 0:
        guesses[name] = min(guess, guesses.get(name, guess))


def _relation(access: RawAccess, raw: _Raw) -> isl.Map:
    """``{ S[i] -> A[a] }`` from the parameter-space form, in which the iterators are parameters."""
    space = isl.Set(f"{{ {raw.name}[{', '.join(raw.iterators)}] }}")
    relation = isl.Map.from_domain_and_range(space, access.subscripts)
    for position, iterator in enumerate(raw.iterators):
        index = relation.find_dim_by_name(isl.dim_type.param, iterator)
        if index >= 0:
            relation = relation.equate(isl.dim_type.param, index, isl.dim_type.in_, position).project_out(
                isl.dim_type.param, index, 1
            )
    return relation


def _as_a_whole(refusal: Refusal) -> Remark:
    """What is said of a statement that is executed as a whole."""
    reason = refusal.remark
    message = f"this is executed as a whole in each iteration of the loops around it: {reason.message}"
    return Remark("analysis", "statement.opaque", message, reason.location, reason.hint)


def _involves(values: isl.Set, name: str) -> bool:
    position = values.find_dim_by_name(isl.dim_type.param, name)
    return bool(position >= 0 and values.involves_dims(isl.dim_type.param, position, 1))


def _leaves_choice(values: isl.Set) -> bool:
    """Whether a parameter set holds more than one value of each parameter:
    what is only right for one length is no shape."""
    if values.is_empty():
        return False
    return not any(
        values.plain_get_val_if_fixed(isl.dim_type.param, k).is_int() for k in range(values.dim(isl.dim_type.param))
    )


def _implies_long(values: isl.Set, name: str) -> bool:
    """Whether a test of a parameter, read as one of the long type, fails where it isn't of that type."""
    return bool(values.is_subset(isl.Set(f"[{name}] -> {{ : {name} >= 1 }}")))


def _targets(items: Iterable[Any]) -> Iterator[Any]:
    """The lvalues that are assigned to."""
    for node in walk(*items):
        if isinstance(node, ir.Assignment):
            yield node.lvalue
        elif isinstance(node, ir.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            yield node.expr


def _without(tree: Tree, names: set[str]) -> Tree | None:
    """The tree less some leaves; what becomes empty goes too."""
    match tree:
        case Leaf(name):
            return None if name in names else tree
        case Loop(iterator, direction, body):
            inner = _without(body, names)
            return None if inner is None else Loop(iterator, direction, inner)
        case Sequence(parts):
            kept = tuple(part for old in parts if (part := _without(old, names)) is not None)
            return None if not kept else kept[0] if len(kept) == 1 else Sequence(kept)


def _without_directives(item: Any) -> Any:
    """A statement whose blocks have no ``#pragma scopt`` any more."""

    def change(node: Any) -> Any:
        if not isinstance(node, ir.Compound) or not any(map(is_directive, node.block_items or ())):
            return node
        return changed(node, block_items=[inner for inner in node.block_items if not is_directive(inner)])

    return rebuilt(item, change)


def _stores_element(name: str, items: Iterable[Any]) -> bool:
    """Whether a written pointer is only ever dereferenced where it is written: the pointer itself stays."""

    def modified(node: Any) -> bool:
        target = None
        if isinstance(node, ir.Assignment):
            target = node.lvalue
        elif isinstance(node, ir.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            target = node.expr
        if isinstance(target, ir.ID) and target.name == name:
            return True
        return any(modified(child) for child in node.parts)

    return not any(modified(item) for item in items)
