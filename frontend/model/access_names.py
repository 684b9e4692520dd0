"""What the collector of accesses is told of a region's names, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import islpy as isl
from msgspec import Struct, field

from scopt import ir
from scopt.diagnostics import Location, Refusal
from scopt.frontend.model.affine import Scope
from scopt.frontend.model.row_shapes import RowShape
from scopt.frontend.model.subscript_reading import Subscript
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.structs import Reference
from scopt.ir.printing import CPrinter
from scopt.ir.scop import AccessKind, Array, CType

# Functions of a text.
_NOT_A_NUMBER = ("__builtin_nan", "__builtin_nanf", "__builtin_nanl")


def unknown_call(name: str, place: Location) -> Refusal:
    """The refusal of a function's call."""
    message, hint = f"the call of '{name}' may have side effects", "declare it with __attribute__((const))"
    return Refusal("call.unknown", message, place, f"{hint} if it only computes a value from its arguments")


class RawAccess(Struct, frozen=True, eq=False):
    """An access before it is tied to a statement:
    `subscripts` is a parameter-space relation ``[i, n] -> { A[a, b] : … }``."""

    array: str
    kind: AccessKind
    subscripts: isl.Set
    node: Any
    location: Location


class Survey(Struct):
    """The subscripts of arrays of one dimension, by the arrays' names; None for one that can't be read. scattered:
    arrays with subscripts that data say, too."""

    found: dict[str, list[Subscript | None]] = field(default_factory=dict)
    scattered: set[str] = field(default_factory=set)


class Names(Struct, frozen=True, eq=False):
    """What names mean to the access collector.

    array(name, node): the array or scalar behind a name, None if it is an iterator or constant; raises Refusal for what
      can't be accessed. member(reference, node): the array behind a reference that goes through members, and whether
      the reference is only a part of its elements. scope(domain, inner): the affine scope in a domain, with more
      iterators of these types.
    location(node): where a node stands. purity: of declared functions. defined: functions with a body in this file.
    written_arrays(): what the region writes. iterator_type(loop): of an iterator that the region's loops declare.
    fixed_pointer(name): whether it is a pointer that the region doesn't change. bounds(subscript): its least and its
      greatest value, where types and constants bound it. trusts(array): whether subscripts that data give
      stay within what is declared, even where C lets them leave it. shapes: of arrays that the program
      keeps in one dimension, by their names in C. survey: notes subscripts of others of one dimension.
    value_type(name): of an integer that may change in the region, where its name stands; None for all else.
    """

    array: Callable[[str, Any], Array | None]
    member: Callable[[Reference, Any], tuple[Array, bool]]
    scope: Callable[[isl.Set, Mapping[str, CType]], Scope]
    location: Callable[[Any], Location]
    purity: Mapping[str, str]
    defined: frozenset[str]
    written_arrays: Callable[[], Iterable[Array]]
    iterator_type: Callable[[ir.For], CType]
    fixed_pointer: Callable[[str], bool]
    bounds: Callable[[Any], tuple[int, int] | None]
    trusts: Callable[[Array], bool]
    shapes: Mapping[str, RowShape]
    survey: Survey
    value_type: Callable[[str], CType | None]

    def refuse(self, id: str, message: str, node: Any, hint: str = "") -> Refusal:
        """The refusal of a node."""
        return Refusal(id, message, self.location(node), hint)

    def purity_of(self, call: ir.FuncCall) -> str:
        """Whether a function only computes a value from its arguments (``const``) or from memory. Raises Refusal."""
        name = call.name.name if isinstance(call.name, ir.ID) else str(CPrinter().visit(call.name))
        purity = self.purity.get(name) or ("const" if name in VALUE_FUNCTIONS and name not in self.defined else None)
        if purity is None:
            raise unknown_call(name, self.location(call))
        for argument in call.args.exprs if call.args else []:
            if isinstance(argument, ir.Constant) and argument.type == "string" and name not in _NOT_A_NUMBER:
                raise self.refuse("call.pointer", f"a pointer is passed to '{name}'", argument)
        return purity
