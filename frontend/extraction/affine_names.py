"""The names of a region in affine expressions: iterators and parameters, and what is assumed of their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import islpy as isl
from msgspec import Struct, field

from scopt import ir
from scopt.frontend.extraction.isl_words import ISL_WORDS
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.affine import INT, NotAffine, Scope, Value, type_range
from scopt.frontend.model.assumptions import Assumptions
from scopt.frontend.syntax.symbols import constant_value, ctype_of, typed_constant
from scopt.ir.scop import CType, Parameter
from scopt.poly.isl_utils import constant_pw_aff


class AffineNames(Struct, frozen=True, eq=False):
    """What has been found so far. types: of iterators. parameters: by name.
    assumed: values with which C's arithmetic is exact."""

    names: RegionNames
    types: dict[str, CType] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    assumed: Assumptions = field(default_factory=Assumptions)

    def lookup(self, active: Mapping[str, CType]) -> Any:
        """What a name means in an affine expression: an iterator's type, a parameter's, or a constant."""

        region, symbols = self.names.region, self.names.symbols

        def find(name: str, node: Any) -> CType | Value:
            if name in active:
                return active[name]
            symbol = symbols.get(name)
            if symbol is None:
                if name in region.symbolic:
                    ctype = symbols[region.types[name]].type if name in region.types else INT
                    return self.parameter(name, ctype, region.symbolic[name], node)
                raise NotAffine("nonlinear", f"'{name}' is not declared here", node)
            if (value := constant_value(ir.ID(name), symbols)) is not None and symbol.kind == "enum-constant":
                return Value(constant_pw_aff(value), symbol.type)
            if name in self.names.iterator_names or name in self.names.effects.written:
                hint = "use a loop iterator, or a variable that the region doesn't write"
                raise NotAffine("variant", f"'{name}' changes inside the region", node, hint)
            if symbol.type.volatile:
                raise NotAffine("volatile", f"'{name}' is volatile", node)
            if symbol.dims or symbol.pointer or not symbol.type.integer or symbol.type.bits == 0:
                raise NotAffine("nonlinear", f"'{name}' is no integer variable", node)
            return self.parameter(name, symbol.type, None, node)

        return find

    def value_type(self, name: str) -> CType | None:
        """The type of an integer that may change in the region, but only by its name."""
        symbol = self.names.symbols.get(name)
        if symbol is None or name in ISL_WORDS or name not in self.names.iterator_names | self.names.effects.written:
            return None
        own = symbol.kind in ("local", "parameter") and not symbol.static and not symbol.address_taken
        number = symbol.type.integer and symbol.type.bits > 0 and not symbol.type.volatile and symbol.within is None
        return symbol.type if own and number and not symbol.dims and not symbol.pointer else None

    def parameter(self, name: str, ctype: CType, estimate: int | None, node: Any) -> CType:
        """Make a name a parameter; its type. estimate: of its value. Raises NotAffine."""
        if name in ISL_WORDS:
            message = f"a loop bound or subscript can't depend on a variable named '{name}'"
            raise NotAffine("name", message, node, "rename the variable")
        self.parameters.setdefault(name, Parameter(name, name, ctype, estimate))
        return ctype

    def scope(self, domain: isl.Set, iterators: Iterable[str], inner: Mapping[str, CType] | None = None) -> Scope:
        """The affine scope with these iterators, and others of these types, and what is known of them (`domain`)."""
        active = {**{iterator: self.types[iterator] for iterator in iterators}, **(inner or {})}

        def ranges() -> isl.Set:
            result = self.assumed.values
            for known, ctype in {**{p.name: p.type for p in self.parameters.values()}, **active}.items():
                result = result.intersect(type_range(known, ctype))
            return result

        return Scope(
            self.lookup(active),
            self.names.tu.functions,
            domain,
            ranges,
            lambda node: ctype_of(node, self.names.symbols),
            lambda node: typed_constant(node, self.names.symbols),
            lambda violation: self.assumed.add(violation, active, self.parameters.values()),
        )
