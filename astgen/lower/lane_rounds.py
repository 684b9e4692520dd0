"""One iteration of a loop that ends on data, for all lanes of a vector: conditions are masks, and what a lane doesn't
do leaves its variables as they were.

`on` says which lanes are still in the loop. A condition narrows a mask, in the text below it; ``break`` takes the lanes
that come there out of the loop, ``continue`` lets them wait for the loop's step. Both sides of each choice are
computed for all lanes, and for those that have ended: that nothing in them can fail is what `values` lets through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.lower.lane_values import Kind, LaneValues, NoLanes, kind_of
from scopt.ir.scop import CType

_MASK = re.compile(r"const \w+ (m\d+_\d+) =")
# A mask's name; none where no lane can be.
Mask = str | None


class Rounds(Struct, eq=False):
    """name: of the function. long_type: as in the SCoP. body: the loop. types: of the names in it. shared: those that
    all items have in common. numbers: vectors of one number each, by type and text."""

    name: str
    long_type: str
    body: ir.Node
    types: dict[str, CType]
    bits: int
    shared: tuple[str, ...]
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)

    def vectors(self) -> Iterator[tuple[str, str]]:
        """Letters of the vectors' types, with their elements'."""
        wide = self.bits == 64
        if any(ctype.floating for ctype in self.types.values()):
            yield "f", "double" if wide else "float"
        yield "i", "long long" if wide else "int"
        yield "u", "unsigned long long" if wide else "unsigned int"
        yield "w", "long long"

    def vector(self, ctype: CType) -> str:
        return f"{self.name}_{kind_of(ctype).letter}"

    def element(self, ctype: CType) -> str:
        """Of a type's vectors."""
        return dict(self.vectors())[kind_of(ctype).letter]

    def constants(self) -> Iterator[str]:
        """Declarations of what is the same in all lanes, once units were written."""
        for (letter, text), name in self.numbers.items():
            kind = f"{self.name}_{letter}"
            yield f"const {kind} {name} = {text} - ({kind}){{0}};"

    def unit(self, unit: int) -> tuple[list[str], list[str]]:
        """What one vector does before its first iteration, and in each."""
        writer = _Writer(self, unit)
        return writer.whole()


class _Writer(Struct, eq=False):
    """masks: how many there are. declared: names with the mask below which they were declared. waiting: masks of the
    lanes that have come to a ``continue``."""

    rounds: Rounds
    number: int
    lines: list[str] = field(default_factory=list)
    masks: int = 0
    declared: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    @property
    def on(self) -> str:
        return f"on_{self.number}"

    @property
    def values(self) -> LaneValues:
        own = self.rounds
        return LaneValues(own.name, own.long_type, own.types, own.bits, self.number, own.numbers)

    def whole(self) -> tuple[list[str], list[str]]:
        integers = f"{self.rounds.name}_i"
        self.lines.append(f"{integers} {self.on} = ~({integers}){{0}};")
        match self.rounds.body:
            case ir.For(init=init, cond=condition, next=step, stmt=body):
                self.start(init)
                before, self.lines = self.lines, []
                mask = self.narrowed(self.on, condition) if condition is not None else self.on
                self.iteration(mask, body, step)
            case ir.While(cond=condition, stmt=body):
                before, self.lines = self.lines, []
                self.iteration(self.narrowed(self.on, condition), body, None)
            case ir.DoWhile(cond=condition, stmt=body):
                before, self.lines = self.lines, []
                after = self.body(self.on, body)
                if after is None:
                    raise NoLanes
                self.lines.append(f"{self.on} = {self.narrowed(after, condition)};")
            case _:
                raise NoLanes
        return before, _used(self.lines)

    def start(self, init: ir.Node | None) -> None:
        """What stands in front of a loop, for all lanes."""
        nodes = init.decls if isinstance(init, ir.DeclList) else [] if init is None else [init]
        self.declared = dict.fromkeys(self.rounds.types, self.on)
        for node in nodes:
            if isinstance(node, ir.Decl):
                self.declaration(self.on, node)
            else:
                self.assigned(self.on, node)
        self.declared = {}  # what has a value by then goes on from iteration to iteration

    def iteration(self, mask: str, body: ir.Node, step: ir.Node | None) -> None:
        after = self.body(mask, body)
        if after is None:
            raise NoLanes
        if step is not None:
            self.assigned(after, step)
        self.lines.append(f"{self.on} = {after};")

    def body(self, mask: str, body: ir.Node) -> Mask:
        """The mask of the lanes that have come to the body's end, in one way or another."""
        after = self.statements(mask, _items(body))
        return self.either([*self.waiting, *([after] if after is not None else [])])

    def statements(self, mask: Mask, nodes: Sequence[ir.Node]) -> Mask:
        for node in nodes:
            if mask is None:
                raise NoLanes
            mask = self.statement(mask, node)
        return mask

    def statement(self, mask: str, node: ir.Node) -> Mask:
        match node:
            case ir.Compound():
                return self.statements(mask, _items(node))
            case ir.EmptyStatement():
                return mask
            case ir.Break():
                return None
            case ir.Continue():
                self.waiting.append(mask)
                return None
            case ir.If(cond=condition, iftrue=then, iffalse=otherwise):
                return self.branch(mask, condition, then, otherwise)
            case ir.Decl():
                self.declaration(mask, node)
                return mask
        self.assigned(mask, node)
        return mask

    def branch(self, mask: str, condition: ir.Node, then: ir.Node, otherwise: ir.Node | None) -> Mask:
        chosen = self.values.mask(condition)
        held = self.new(chosen)
        yes = self.new(f"{mask} & {held}")
        no = self.new(f"{mask} & ~{held}")
        left = [self.statement(yes, then), no if otherwise is None else self.statement(no, otherwise)]
        if left == [yes, no]:
            return mask
        return self.either([one for one in left if one is not None])

    def declaration(self, mask: str, node: ir.Decl) -> None:
        ctype = self.rounds.types[node.name]
        if node.init is None:
            raise NoLanes  # a value that comes from nowhere
        self.lines.append(f"{self.rounds.vector(ctype)} {node.name}_{self.number} = {self.value(node.init, ctype)};")
        self.declared[node.name] = mask

    def value(self, node: ir.Node, ctype: CType) -> str:
        return self.values.converted(node, kind_of(ctype))

    def assigned(self, mask: str, node: ir.Node) -> None:
        """What is assigned, in the lanes of a mask."""
        match node:
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                pass
            case ir.Assignment(op=op, lvalue=ir.ID(name=name), rvalue=right):
                value = ir.BinaryOp(op[:-1], node.lvalue, right)
            case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=ir.ID(name=name)):
                self.stepped(mask, name, op[-1], node.expr)
                return
            case ir.ExprList(exprs=several):
                for one in several:
                    self.assigned(mask, one)
                return
            case _:
                raise NoLanes
        if name in self.rounds.shared or name not in self.rounds.types:
            raise NoLanes
        self.put(mask, name, self.value(value, self.rounds.types[name]))

    def put(self, mask: str, name: str, value: str) -> None:
        target = f"{name}_{self.number}"
        if self.declared.get(name) == mask:
            self.lines.append(f"{target} = {value};")
            return
        kind = self.rounds.vector(self.rounds.types[name])
        self.lines.append(f"{target} = {self.rounds.name}_pick({kind}, {mask}, {value}, {target});")

    def stepped(self, mask: str, name: str, sign: str, node: ir.Node) -> None:
        """A mask is -1 in its lanes."""
        if name in self.rounds.shared or name not in self.rounds.types:
            raise NoLanes
        kind, target = kind_of(self.rounds.types[name]), f"{name}_{self.number}"
        if kind == Kind("u", 32) and self.rounds.bits == 64:  # numbers of 32 bits have to wrap around
            self.put(mask, name, self.values.converted(ir.BinaryOp(sign, node, ir.Constant("int", "1")), kind))
            return
        if kind.letter == "f":
            self.put(mask, name, self.values.converted(ir.BinaryOp(sign, node, ir.Constant("int", "1")), kind))
            return
        unsigned, other = f"{self.rounds.name}_u", "-" if sign == "+" else "+"
        text = f"({unsigned}){target} {other} ({unsigned}){mask}"
        self.lines.append(f"{target} = {text if kind.letter == 'u' else f'({self.rounds.name}_i)({text})'};")

    # --- masks --------------------------------------------------------------------------------------------------------

    def narrowed(self, mask: str, condition: ir.Node) -> str:
        return self.new(f"{mask} & {self.values.mask(condition)}")

    def either(self, masks: Sequence[str]) -> Mask:
        if len(masks) < 2:
            return masks[0] if masks else None
        return self.new(" | ".join(masks))

    def new(self, text: str) -> str:
        name = f"m{self.masks}_{self.number}"
        self.masks += 1
        self.lines.append(f"const {self.rounds.name}_i {name} = {text};")
        return name


def _used(lines: Sequence[str]) -> list[str]:
    """The lines without masks that nothing looks at."""
    kept: list[str] = []
    for line in reversed(lines):
        mask = _MASK.match(line)
        if mask is None or any(re.search(rf"\b{mask.group(1)}\b", one) for one in kept):
            kept.insert(0, line)
    return kept


def _items(node: ir.Node) -> list[ir.Node]:
    return list(node.block_items or []) if isinstance(node, ir.Compound) else [node]
