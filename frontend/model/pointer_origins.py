"""Where a region's pointers come from: what they may lead to, and what has memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.model.row_pointers import is_rows
from scopt.frontend.model.type_rules import diverge, is_sole, types_differ
from scopt.frontend.syntax.pointees import Pointees
from scopt.frontend.syntax.pointer_slots import Kind, Slot
from scopt.frontend.syntax.pointer_values import ALLOCATING, hands_on, without_casts
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.ctypes import CHARACTER
from scopt.ir.effects import assigned_by
from scopt.ir.walks import walk


class Origins(Struct, frozen=True, eq=False):
    """What the file says about the values of a function's pointers, and what they can't lead to.

    symbols, written, defined, strict, pointees, members: as in `scopt.frontend.model.aliasing.Names`.
    local: arrays that begin to live in the region.
    """

    function: Any
    symbols: Mapping[str, Symbol]
    written: Collection[str]
    defined: Collection[str]
    local: Collection[str]
    strict: bool
    pointees: Callable[[], Pointees] | None
    members: Mapping[str, Slot] = field(default_factory=dict)

    def may_overlap(self, a: Symbol, b: Symbol) -> bool:
        """Whether what two names stand for may have bytes in common."""
        first, second = a.within or a, b.within or b
        different = diverge(a.path, b.path)
        if first.name == second.name and (a.within is not None or b.within is not None):
            return not different
        # Objects of one structure type are the same object or have nothing in common.
        if a.within is not None and b.within is not None and a.struct and a.struct == b.struct and different:
            return False
        if self.strict and types_differ(a.type, b.type) and not self.begin_alike(a, b):
            return False
        return self.objects_overlap(first, second)

    def begin_alike(self, a: Symbol, b: Symbol) -> bool:
        """Whether two pointers get the value of one variable: what is stored there as one type may be stored over as
        another one, as a pool of memory is used."""
        first, second = (
            {value.name for value in map(without_casts, self.values(one.name)) if isinstance(value, ir.ID)}
            for one in (a, b)
        )
        return not first.isdisjoint(second)

    def may_hold(self, rows: str, other: str) -> bool:
        """Whether rows may lie in what another name stands for, or have a row in common: pointers to rows are data."""
        symbol = self.symbols[other]
        if other in self.local:
            return False  # it begins to live in the region, where no pointers to rows are written
        hidden = not symbol.pointer and not symbol.dims and not symbol.address_taken and symbol.within is None
        alike = self.strict and types_differ(self.symbols[rows].type, symbol.type)
        return not (alike or (hidden and symbol.kind in ("local", "parameter") and not symbol.static))

    def objects_overlap(self, a: Symbol, b: Symbol) -> bool:
        if not (a.pointer or b.pointer) or self.lead_elsewhere(a, b):
            return False
        if not (a.pointer and b.pointer):
            pointer, other = (a, b) if a.pointer else (b, a)
            # A pointer reaches an object by name only if that object's address can be known to it; and one of both is
            # written, which what is defined const never is (C17 6.7.3p7).
            if other.type.const and not other.type.volatile:
                return False
            return self.is_known_to(pointer, other) and not is_sole(pointer) and not self.fresh(pointer)
        if (is_sole(a) and is_sole(b)) or self.keeps_to_itself(a) or self.keeps_to_itself(b):
            return False
        if (is_sole(a) and not self.derived(b)) or (is_sole(b) and not self.derived(a)):
            return False
        if self.fresh(a) or self.fresh(b):
            return not all(self.fresh(one) or self.from_outside(one) for one in (a, b))
        return True

    def is_known_to(self, pointer: Symbol, other: Symbol) -> bool:
        """Whether a pointer may have the address of an object that has a name."""
        if other.kind == "global":
            number = not other.dims and (other.type.integer or other.type.floating)
            return not (number and self.pointees is not None and self.pointees().is_hidden(other.name))
        return other.static or (other.address_taken and not self.from_outside(pointer))

    def lead_elsewhere(self, a: Symbol, b: Symbol) -> bool:
        """Whether the file shows that two variables lead to different memory."""
        if self.pointees is None or max(a.pointer_depth, b.pointer_depth) > 1:
            return False
        return self.pointees().are_apart(self.function, self.place(a), self.place(b))

    def lead_to_own(self, rows: str, other: str) -> bool:
        """Whether the file shows that rows are apart from each other, and from what another name leads to."""
        if self.pointees is None or not self.strict:
            return False
        symbol, second, pointees = self.symbols[rows], self.symbols[other], self.pointees()
        kinds: list[Kind] = [
            (symbol.type.floating, symbol.type.bits, depth) for depth in range(1, symbol.pointer_depth)
        ]
        if is_rows(second) and second.pointer_depth == symbol.pointer_depth:
            return pointees.rows_are_apart(self.function, self.place(symbol), self.place(second), kinds)
        plain = second.within is None and second.pointer_depth <= 1 and (second.pointer or bool(second.dims))
        if not plain or not all(map(pointees.is_owned, kinds)):
            return False
        return not pointees.lead_from_rows(self.function, self.place(second), kinds[0])

    def place(self, symbol: Symbol) -> str | Slot:
        """What the file is asked for where it is about the values of a name."""
        return self.members.get(symbol.name, symbol.name)

    def may_move(self, written: Symbol, pointer: Symbol) -> bool:
        """Whether a write of characters may change a pointer: other types can't (C11 6.5)."""
        if not (written.pointer and written.name in self.written and written.type.bits == CHARACTER):
            return False
        return (
            pointer.pointer
            and (pointer.kind == "global" or pointer.address_taken)
            and not is_sole(written)
            and not self.fresh(written)
        )

    def from_outside(self, pointer: Symbol) -> bool:
        """Whether it is a parameter that keeps the value that the caller gave it."""
        return pointer.kind == "parameter" and not pointer.address_taken and not self.values(pointer.name)

    def derived(self, pointer: Symbol) -> bool:
        """Whether its value may have been computed from another pointer of the function."""
        kept = pointer.kind == "global" and not self.values(pointer.name)
        return not kept and not self.fresh(pointer) and not self.from_outside(pointer)

    def fresh(self, pointer: Symbol) -> bool:
        """Whether it only ever gets memory that was allocated for it."""
        if pointer.kind != "local" or pointer.static or pointer.address_taken:
            return False
        values = self.values(pointer.name)
        return bool(values) and all(self.allocates(value) for value in values)

    def keeps_to_itself(self, pointer: Symbol) -> bool:
        """Whether memory that was allocated for a variable is reached by that alone: its value goes nowhere else, so
        that no pointer in memory, nor what a function returns, leads there. Asked of arrays of numbers: a row of rows
        would be an address, too."""
        rows = len(pointer.dims) > 1 or pointer.pointer_depth > 1 or not (pointer.type.integer or pointer.type.floating)
        return not rows and self.fresh(pointer) and not hands_on(self.function.body, pointer.name)

    def allocates(self, value: Any) -> bool:
        while isinstance(value, ir.Cast):
            value = value.expr
        if not isinstance(value, ir.FuncCall) or not isinstance(value.name, ir.ID):
            return False
        return value.name.name in ALLOCATING and value.name.name not in self.defined

    def values(self, name: str) -> Sequence[Any]:
        """All that the function assigns to variables of this name; what isn't a plain assignment stands for itself."""
        return _values(self.function.body).get(name, ())


@lru_cache(maxsize=1 << 8)
def _values(body: Any) -> Mapping[str, Sequence[Any]]:
    """The same for all names in a function's body: every pair of a region's pointers asks for those of two."""
    found = dict[str, list[Any]]()
    for node in walk(body):
        match node:
            case ir.Decl(name=str(name), init=value) if value is not None:
                found.setdefault(name, []).append(value)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                found.setdefault(name, []).append(value)
            case _:
                for name in assigned_by(node):
                    found.setdefault(name, []).append(node)
    return found
