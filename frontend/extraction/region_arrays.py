"""The arrays and scalars of a region: variables, members as arrays of their own, arrays that hold rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.extraction.affine_names import AffineNames
from scopt.frontend.extraction.isl_words import ISL_WORDS
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.row_pointers import is_rows
from scopt.frontend.model.row_shapes import RowShape
from scopt.frontend.model.triangles import Triangle
from scopt.frontend.syntax.structs import Reference, Typed, Types, path_shape
from scopt.frontend.syntax.symbols import Layer, Symbol, constant_value
from scopt.ir.scop import Array, RowStarts
from scopt.ir.walks import walk


class RegionArrays(Struct, frozen=True, eq=False):
    """What has been found so far. shapes: of arrays of one dimension that hold rows.
    by_name: by their names in C, or the spelling of a path of members."""

    names: RegionNames
    affine: AffineNames
    shapes: Mapping[str, RowShape]
    by_name: dict[str, Array] = field(default_factory=dict)

    def array(self, name: str, node: Any) -> Array | None:
        """The array or scalar behind a name in a statement; None for constants."""
        if name in self.by_name:
            return self.by_name[name]
        symbol = self.names.symbols.get(name)
        if symbol is None:
            if name in self.names.region.symbolic:
                return None
            raise self.names.refuse("name.undeclared", f"'{name}' is not declared", node)
        if symbol.kind in ("enum-constant", "function"):
            return None
        if symbol.type.volatile or symbol.type.atomic:
            raise self.names.refuse("access.volatile", f"'{name}' is volatile or atomic", node)
        if symbol.pointer_depth > 1 and not is_rows(symbol):
            message = f"the rows of '{name}' may overlap"
            hint = "mark the region, or use an array of several dimensions"
            raise self.names.refuse("access.pointer-to-pointer", message, node, hint)
        if name in self.names.iterator_names:
            message, hint = f"'{name}' is used outside the loop that steps it", "use a variable of its own"
            raise self.names.refuse("loop.iterator-live-out", message, node, hint)
        if symbol.pointer and self.assigned(name):
            raise self.names.refuse("access.pointer-modified", f"the pointer '{name}' is modified in the region", node)
        if not (symbol.type.integer or symbol.type.floating) and symbol.dims and name not in self.names.whole:
            raise self.names.refuse(
                "access.type", f"the elements of '{name}' are of a type that is not supported", node
            )
        if name in self.shapes:
            return self.flat_array(symbol, node)
        return self.add(symbol, symbol.dims, node)

    def add(self, symbol: Symbol, dims: tuple[Any, ...], node: Any, *, flat: bool = False) -> Array:
        """The array of a variable. dims: its extents, the first one None if it isn't known. flat: it holds rows."""
        name, local = symbol.name, symbol.name in self.names.local_names
        starts = self.starts(name) if flat else None
        self.by_name[name] = Array(
            name=self.free(name) if name in ISL_WORDS else name,
            spelling=name,
            type=symbol.type,
            extents=dims,
            sizes=self.sizes(dims),
            pointer=symbol.pointer,
            private=False,
            local=local,
            declaration=symbol.decl if local else None,
            location=self.names.location(node),
            flat=flat,
            rows=is_rows(symbol) or starts is not None,
            starts=starts,
            restrict=symbol.restrict,
        )
        return self.by_name[name]

    def free(self, wish: str) -> str:
        """A name that nothing has, isl's own words included."""
        name, number = wish, 2
        taken = self.names.tu.reserved | self.names.symbols.keys() | {array.name for array in self.by_name.values()}
        while name in taken or name in ISL_WORDS:
            name, number = f"{wish}_{number}", number + 1
        return name

    def sizes(self, dims: Iterable[Any]) -> tuple[int | None, ...]:
        """The values of extents that are constants."""
        return tuple(constant_value(dim, self.names.symbols) if dim is not None else None for dim in dims)

    def member(self, reference: Reference, node: Any) -> tuple[Array, bool]:
        """The array that the members of a path make, or the elements that they are parts of (True)."""
        base = reference.base.name
        symbol = self.names.symbols.get(base)
        if symbol is None:
            raise self.names.refuse("name.undeclared", f"'{base}' is not declared", node)
        shape = path_shape(Types(self.names.symbols, self.names.tu.structs), reference)
        if shape is None or symbol.kind not in ("local", "parameter", "global"):
            raise self.names.refuse("access.struct", f"nothing is known of this member of '{base}'", node)
        layers, typed = shape
        if any(layer.kind == "pointer" for layer in layers[1:]):
            raise self.names.refuse(
                "access.pointer-to-pointer", f"what is reached through pointers of '{base}' may overlap", node
            )
        if typed.type.volatile or typed.type.atomic:
            raise self.names.refuse("access.volatile", f"this member of '{base}' is volatile or atomic", node)
        if typed.layers or (not (typed.type.integer or typed.type.floating) and base not in self.names.whole):
            raise self.names.refuse("access.type", f"this member of '{base}' is of a type that is not supported", node)
        if base in self.names.whole:
            array = self.array(base, node)
            assert array is not None
            rank = 1 if array.flat else array.rank
            if len(reference.subscripts) < rank or any(before < rank for before in reference.before):
                raise self.names.refuse(
                    "access.struct", f"members before all subscripts of '{base}' are not supported", node
                )
            return array, True
        return self.member_array(reference, symbol, layers, typed, node), False

    def member_array(
        self, reference: Reference, base: Symbol, layers: tuple[Layer, ...], typed: Typed, node: Any
    ) -> Array:
        """The array of all members of one path."""
        dots = dict[int, str]()
        for name, before in zip(reference.path, reference.before, strict=True):
            dots[before] = f"{dots.get(before, '')}.{name}"
        # No name in C is spelled like this: what makes references of its
        # own from an array's name leaves this one alone.
        spelling = base.name + "".join(f"{'[]' if k else ''}{dots.get(k, '')}" for k in range(len(layers) + 1))
        if spelling in self.by_name:
            return self.by_name[spelling]
        if base.name in self.names.iterator_names or self.assigned(base.name):
            raise self.names.refuse("access.pointer-modified", f"'{base.name}' is modified in the region", node)
        name = self.free("__".join((base.name, *reference.path)))
        dims = tuple(layer.dim for layer in layers)
        types = Types(self.names.symbols, self.names.tu.structs)
        struct = types.of(ir.ID(base.name))
        self.names.symbols[spelling] = replace(
            base,
            name=spelling,
            type=typed.type,
            dims=dims,
            size=typed.size,
            decl=None,
            within=base,
            path=reference.path,
            struct=struct.struct if struct is not None else None,
        )
        flat, inner = base.name in self.shapes, len(dims[1:])
        if flat:
            dims = self.rows(base.name, dims) + dims[1:]
        self.by_name[spelling] = Array(
            name,
            spelling,
            typed.type,
            dims,
            self.sizes(dims),
            base.pointer,
            location=self.names.location(node),
            within=base.name,
            flat=flat,
            inner=inner if flat else 0,
            rows=flat and self.starts(base.name) is not None,
            starts=self.starts(base.name) if flat else None,
            restrict=base.restrict,
        )
        return self.by_name[spelling]

    def flat_array(self, symbol: Symbol, node: Any) -> Array:
        """An array of one dimension that holds rows."""
        return self.add(symbol, self.rows(symbol.name, symbol.dims), node, flat=True)

    def rows(self, name: str, dims: tuple[Any, ...]) -> tuple[Any, ...]:
        """The extents of an array that holds rows. dims: its own."""
        shape = self.shapes[name]
        if isinstance(shape, Triangle):
            return shape.extents()
        (total,), row = self.sizes(dims[:1]), shape.strides[0]
        rows = ir.Constant("int", str(-(-total // row.factor))) if total is not None and not row.atoms else None
        extents = (rows, *shape.extents()[1:])
        for extent in extents[1:]:
            for part in walk(extent):
                if isinstance(part, ir.ID):
                    self.affine.lookup({})(part.name, part)
        return extents

    def starts(self, name: str) -> RowStarts | None:
        """Where the rows of a triangle begin; None for other arrays that hold rows."""
        shape = self.shapes[name]
        if not isinstance(shape, Triangle):
            return None
        found = shape.starts()
        for _, parameter in found.linear:
            if parameter:
                self.affine.lookup({})(parameter, ir.ID(parameter))
        return found

    def fixed_pointer(self, name: str) -> bool:
        """Whether a name is a pointer's that keeps its value in the region."""
        symbol = self.names.symbols.get(name)
        if symbol is None or not symbol.pointer or name in self.names.local_names:
            return False
        return not (symbol.type.volatile or symbol.type.atomic or self.assigned(name))

    def assigned(self, name: str) -> bool:
        """Whether the region writes a variable itself, not only what it leads to."""
        return name in self.names.effects.assigned

    def written_arrays(self, node: Any) -> list[Array]:
        """Everything that the region writes, as far as it has a name."""
        names = sorted((self.names.effects.written - self.names.iterator_names) & self.names.symbols.keys())
        types = Types(self.names.symbols, self.names.tu.structs)
        for name in names:
            typed = types.of(ir.ID(name))
            if typed is not None and typed.struct is not None and name not in self.names.whole:
                message = f"a function that may read everything is called where members of '{name}' are written"
                raise self.names.refuse("call.pointer", message, node)
        return [array for name in names if (array := self.array(name, node)) is not None]
