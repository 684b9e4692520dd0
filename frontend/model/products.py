"""Bounds like ``rows * cols`` or ``n / block``, of variables that stay what they are in a region, get a name before it.

No sum of parameters tells how long such a loop is, but its length is as good a parameter as any other. Where ``rows``
and ``cols`` bound other loops of the region too, nothing is known of how the three go together; regions are found so
that this does no harm (`scopt.frontend.extract`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.failing_checks import behind_checks
from scopt.frontend.normalize.fixed_values import FixedValues
from scopt.frontend.normalize.member_uses import Use
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.opaque import may_end_early
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.truths import COMPARISONS

_SUMS = ("+", "-")


def hoist_products(around: MemberHoister, symbolic: Collection[str]) -> tuple[Hoisted, ...]:
    """Name products, quotients, remainders and shifts in the heads of loops, where two variables make one; the items
    are changed in place.

    around: has named the members. symbolic: macros with names of their own, whose products are decided by their values.
    """
    hoister = _Hoister(around, symbolic, behind_checks(around.items))
    for item in around.items:
        hoister.statement(item, ())
    return tuple(hoister.found.values())


class _Hoister(Struct, frozen=True, eq=False):
    """late: `behind_checks`. found: by what is evaluated, and when."""

    around: MemberHoister
    symbolic: Collection[str]
    late: frozenset[Any]
    found: dict[str, Hoisted] = field(default_factory=dict)

    def statement(self, node: Any, guards: tuple[Any, ...] | None) -> None:
        """guards: the loops around, or None where it depends on something else too whether the node is reached."""
        guards = None if node in self.late else guards
        match node:
            case ir.For():
                starts = (
                    [decl.init for decl in node.init.decls]
                    if isinstance(node.init, ir.DeclList)
                    else [getattr(node.init, "rvalue", None)]
                )
                for head in (*starts, node.cond):
                    for product in list(self.products(head)):
                        self.name(product, guards)
                inner = (*guards, node) if guards is not None and not may_end_early(node.stmt) else None
                self.statement(node.stmt, inner)
            case ir.If() | ir.While() | ir.DoWhile() | ir.Switch() | ir.TernaryOp():
                for child in node.parts:
                    self.statement(child, None)
            case ir.Node():
                for child in node.parts:
                    self.statement(child, guards)

    def products(self, node: Any) -> Iterator[Any]:
        """What is no sum of variables, as large as possible."""
        match node:
            case ir.BinaryOp(op=op) if op in _SUMS or op in COMPARISONS:
                yield from self.products(node.left)
                yield from self.products(node.right)
            case ir.BinaryOp(op="&&"):
                yield from self.products(node.left)  # the other side may not be evaluated
            case ir.BinaryOp(op="*" | "/" | "%" | "<<" | ">>" as op):
                if self.varies(node.right) and (op != "*" or self.varies(node.left)):
                    if self.type_of(node) is not None:
                        yield node
                else:
                    yield from self.products(node.left)
                    yield from self.products(node.right)
            case ir.UnaryOp(op="-" | "+") | ir.Cast():
                yield from self.products(node.expr)

    def varies(self, node: Any) -> bool:
        return constant_value(node, self.around.symbols) is None

    def type_of(self, node: Any) -> CType | None:
        """The type of an expression of variables that the region doesn't change; None for everything else."""
        around = self.around
        changing = {*self.symbolic, *around.inside, *effects(*around.items).assigned}
        return FixedValues(around.symbols, changing).type_of(node)

    def name(self, node: Any, guards: tuple[Any, ...] | None) -> None:
        use = Use(node, guards)
        condition = self.around.condition([use], [use]) if guards is not None else None
        ctype = self.type_of(node)
        if condition is None or ctype is None:
            return
        text = CPrinter(reduce_parentheses=True).visit(node)
        value = f"{condition} ? {text} : 0" if condition else text
        if value not in self.found:
            read = list(dict.fromkeys(_names(node)))
            name = self.around.fresh("_".join(read))
            self.around.symbols[name] = Symbol(name, "local", ctype, size=ctype.bits // 8)
            factors = _factors(node) if ctype.signed else ()
            self.found[value] = Hoisted(
                self.around.symbols[name],
                f"const {ctype.spelling} {name} = {value};",
                reads=frozenset(read),
                factors=tuple(sorted(factors)),
                entries=tuple(self.around.entry(loop) for loop in guards or ()),
            )
        self.around.put({node: ir.ID(self.found[value].symbol.name, node.coord)})


def _factors(node: Any) -> tuple[str, ...]:
    """The variables whose product an expression is; none if it is anything else."""
    match node:
        case ir.ID(name=name):
            return (name,)
        case ir.BinaryOp(op="*"):
            left, right = _factors(node.left), _factors(node.right)
            return (*left, *right) if left and right else ()
    return ()


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, ir.ID):
        yield node.name
    for child in node.parts:
        if not isinstance(child, ir.Typename):
            yield from _names(child)
