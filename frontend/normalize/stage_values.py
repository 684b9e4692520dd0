"""What loops that go in stages need in front of the region: numbers of blocks, their lengths; whether that holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.fixed_values import FixedValues
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.normalize.tree_rewriting import cast, mentions, names_of, number
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.constants import usual_conversion
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import changed

LONG_BITS, INT_BITS = 64, 32


class CountedLoop(Struct, frozen=True, eq=False):
    """``for (name = start; name < end; …)``, or with ``<=``."""

    name: str
    type: CType
    start: Any
    op: str
    end: Any


class StageValues(Struct, frozen=True, eq=False):
    """What is known of a region, and what is found. fixed: expressions that it doesn't change. taken: names that mean
    something. long_type, read_after: as in `with_stage_loops`. items: of the region. iterators, values, required,
    distances: as in `StageLoops`."""

    fixed: FixedValues
    taken: set[str]
    long_type: str
    read_after: Callable[[str], bool]
    items: tuple[Any, ...]
    iterators: list[str] = field(default_factory=list)
    values: list[Hoisted] = field(default_factory=list)
    required: list[tuple[str, int]] = field(default_factory=list)
    distances: list[tuple[Any, int]] = field(default_factory=list)

    def header(self, node: ir.For) -> CountedLoop | None:
        """How a loop counts; None where that is in another form, or its last value may be read."""
        name = loop_iterator(node)
        match node.cond:
            case ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=own), right=end) if own == name:
                pass
            case _:
                return None
        if name is None or node.next is None or name in effects(node.stmt).changed:
            return None
        if isinstance(node.init, ir.DeclList):
            ctype, start = symbol_of(node.init.decls[0], self.fixed.symbols), node.init.decls[0].init
        else:
            if name not in self.fixed.symbols:
                return None
            ctype, start = self.fixed.symbols[name], node.init.rvalue
            everywhere = sum(mentions(item, name) for item in self.items)
            if self.read_after(name) or everywhere > mentions(node, name):
                return None
        if start is None or ctype.dims or ctype.pointer or not ctype.type.integer:
            return None
        plain = ctype.type.bits in (INT_BITS, LONG_BITS) and not (ctype.type.volatile or ctype.type.atomic)
        return CountedLoop(name, ctype.type, start, op, end) if plain and ctype.kind != "global" else None

    def joins(self, ctype: CType, node: Any) -> bool:
        """Whether an expression is fixed, and sums and products with one of a type are of that type."""
        other = self.fixed.type_of(node)
        if other is None:
            return False
        common = usual_conversion(ctype, other, self.fixed.symbols)
        return common.bits == ctype.bits and common.signed == ctype.signed

    def reached(self, around: tuple[ir.For, ...]) -> list[str] | None:
        """What holds where loops are entered, as far as it can be asked in front of the region."""
        found = []
        for node in around:
            match node.cond:
                case ir.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=ir.ID(name=own), right=end):
                    decls = isinstance(node.init, ir.DeclList)
                    start = node.init.decls[0].init if decls else getattr(node.init, "rvalue", None)
                    known = start is not None and all(map(self.is_known, (start, end)))
                    if own != loop_iterator(node) or not known:
                        return None
                    found.append(f"{operand(start)} {op} {operand(end)}")
                case _:
                    return None
        return found

    def entry(self, loop: CountedLoop) -> str:
        """Whether a loop has iterations, as the source asks that."""
        start = loop.start if loop.type.signed else cast(loop.type.spelling, loop.start)
        return f"{operand(start)} {loop.op} {operand(loop.end)}"

    def is_known(self, node: Any) -> bool:
        made = {one.symbol.name for one in self.values}
        return (isinstance(node, ir.ID) and node.name in made) or self.fixed.type_of(node) is not None

    def wide(self, node: Any) -> str:
        """The text of an expression in 64 bits."""
        return str(CPrinter(reduce_parentheses=True).visit(cast(self.long_type, node)))

    def number(self, name: str, value: str, *read: Any) -> str:
        """Name a number of blocks."""
        ctype = self.fixed.symbols[self.long_type].type
        made = self.named(f"{name}_blocks", ctype, value, *read)
        self.required.append((made, 0))
        return made

    def named(self, wish: str, ctype: CType, value: str, *read: Any) -> str:
        name = self.fresh(wish)
        reads = {one for node in read for one in names_of(node) if one in self.fixed.symbols}
        symbol = Symbol(name, "local", ctype, size=ctype.bits // 8)
        self.values.append(Hoisted(symbol, f"const {ctype.spelling} {name} = {value};", reads=frozenset(reads)))
        return name

    def iterator(self, wish: str) -> str:
        name = self.fresh(wish)
        self.iterators.append(name)
        return name

    def fresh(self, wish: str) -> str:
        names = (f"{wish}_{k}" if k > 1 else wish for k in count(1))
        name = next(name for name in names if name not in self.taken and name not in self.fixed.symbols)
        self.taken.add(name)
        return name


def operand(node: Any) -> str:
    """An expression as an operand."""
    text = str(CPrinter(reduce_parentheses=True).visit(node))
    return text if isinstance(node, ir.ID | ir.Constant) else f"({text})"


def loop_over(name: str, ctype: CType, end: Any, body: Any, loop: ir.For) -> ir.For:
    where = loop.coord
    typed = ir.TypeDecl(name, [], None, ir.IdentifierType(ctype.spelling.split(), where), where)
    init = ir.DeclList([ir.Decl(name, [], [], [], [], typed, number(0), None, where)], where)
    cond = ir.BinaryOp("<", ir.ID(name, where), end, where)
    return changed(loop, init=init, cond=cond, next=ir.UnaryOp("p++", ir.ID(name, where), where), stmt=body)
