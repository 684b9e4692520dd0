"""Loops that ask for a bit of their iterator as loops over blocks, each with a half where the bit isn't set, and one
where it is."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.bit_halves import Bit, bits_of, does_something, masks_of
from scopt.frontend.normalize.opaque import has_jump
from scopt.frontend.normalize.stage_values import CountedLoop, StageValues, loop_over, operand
from scopt.frontend.normalize.tree_rewriting import number, step_of, substituted, value_of
from scopt.frontend.syntax.symbols import is_value
from scopt.ir.constants import constant_value
from scopt.ir.effects import changes_of
from scopt.ir.walks import changed, replaced, same_tree, walk


class BitLoops(Struct, frozen=True, eq=False):
    """Makes them."""

    known: StageValues

    def blocks(self, node: ir.For, loop: CountedLoop, around: tuple[ir.For, ...]) -> ir.For | None:
        """What stands in a loop's place. around: the loops around it."""
        if value_of(loop.start) != 0 or loop.op != "<" or step_of(node.next) != (loop.name, 1) or has_jump(node.stmt):
            return None
        end, reached = self.known.fixed.type_of(loop.end), self.known.reached(around)
        if end is None or reached is None or (not end.signed and loop.type.signed):
            return None
        body = self.with_partners(node.stmt, loop)
        for bit in bits_of(loop.name, body):
            if not self.known.joins(loop.type, bit.mask):
                continue
            made = self.halves(changed(node, stmt=body), loop, bit, reached)
            if made is not None:
                return made
        return None

    def with_partners(self, body: Any, loop: CountedLoop) -> Any:
        """A body with the values of variables such as ``int l = i ^ h;`` in their places."""
        for decl in [node for node in walk(body) if isinstance(node, ir.Decl) and isinstance(node.init, ir.BinaryOp)]:
            symbol, value = self.known.fixed.symbols.get(decl.name), decl.init
            if symbol is None or not is_value(symbol) or symbol.type.spelling != loop.type.spelling:
                continue
            masks = [mask for mask in masks_of(value, loop.name) if self.known.joins(loop.type, mask)]
            if masks and changes_of(decl.name, body) == 1:
                body = substituted(_without_value(body, decl), decl.name, value)
        return body

    def halves(self, node: ir.For, loop: CountedLoop, bit: Bit, reached: list[str]) -> ir.For | None:
        """The same for one bit. reached: what holds where the loop is."""
        halves = [bit.half(node.stmt, on=on) for on in (False, True)]
        done = [half if does_something(half) else None for half in halves]
        declares = any(isinstance(one, ir.Decl) for one in walk(node.stmt))
        if all(half is None for half in done) or (declares and None not in done):
            return None
        names = self.size(loop, bit, reached, node)
        if names is None:
            return None
        blocks, size = names
        block, place = self.known.iterator(f"{loop.name}_block"), self.known.iterator(f"{loop.name}_place")
        first = ir.BinaryOp("*", ir.ID(block), ir.BinaryOp("*", number(2), size, node.coord), node.coord)
        loops = []
        for on, half in enumerate(done):
            if half is None:
                continue
            own: Any = ir.ID(place, node.coord)
            own = ir.BinaryOp("+", own, size, node.coord) if on else own
            value = ir.BinaryOp("+", first, own, node.coord)
            body = replaced(half, lambda part: size if same_tree(part, bit.mask) else part)
            loops.append(loop_over(place, loop.type, size, substituted(body, loop.name, value), node))
            place = self.known.iterator(f"{loop.name}_place") if half is not done[-1] else place
        body = loops[0] if len(loops) == 1 else ir.Compound(loops, node.coord)
        return loop_over(block, loop.type, blocks, body, node)

    def size(self, loop: CountedLoop, bit: Bit, reached: list[str], node: ir.For) -> tuple[Any, Any] | None:
        """How many blocks there are, and how long half of one is."""
        size, end = (
            constant_value(bit.mask, self.known.fixed.symbols),
            constant_value(loop.end, self.known.fixed.symbols),
        )
        if size is not None and (size <= 0 or size & (size - 1)):
            return None
        if size is not None and end is not None:
            return (number(end // size // 2), number(size)) if end >= 0 and end % (2 * size) == 0 else None
        entry = " && ".join(dict.fromkeys([*reached, self.known.entry(loop)]))
        half: Any = number(size) if size is not None else bit.mask
        if size is None and not isinstance(bit.mask, ir.ID):
            half = ir.ID(
                self.known.named(f"{loop.name}_half", loop.type, f"{entry} ? {operand(bit.mask)} : 0", bit.mask)
            )
        wide, wide_half = self.known.wide(loop.end), self.known.wide(half)
        tests = [f"{wide} % {wide_half} == 0", f"{wide} / {wide_half} % 2 == 0"]
        if size is None:
            tests = [f"{wide_half} > 0", f"({wide_half} & ({wide_half} - 1)) == 0", *tests]
            self.known.distances.append((bit.mask, 1))
        if not self.fixed_sign(loop.end):
            tests.insert(0, f"{wide} >= 0")
        whole = f"{wide} / {wide_half} / 2"
        blocks = self.known.number(loop.name, f"{entry} ? {' && '.join(tests)} ? {whole} : -1 : 0", loop.end, bit.mask)
        return ir.ID(blocks), half

    def fixed_sign(self, node: Any) -> bool:
        ctype = self.known.fixed.type_of(node)
        return ctype is not None and ctype.signed


def _without_value(body: Any, decl: ir.Decl) -> Any:
    """A statement without a declaration in it."""

    def change(node: Any) -> Any:
        if isinstance(node, ir.DeclList) and decl in node.decls:
            others = [one for one in node.decls if one is not decl]
            return changed(node, decls=others) if others else ir.EmptyStatement(node.coord)
        return ir.EmptyStatement(node.coord) if node is decl else node

    return replaced(body, change)
