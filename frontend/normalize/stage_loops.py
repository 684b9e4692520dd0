"""Loops of transforms that go in stages, at distances that are the stage's own: as loops over blocks with loops over
places in a block.

``for (i = 0; i < n; i += 2 * h) for (k = 0; k < h; k++) … x[i + k] … x[i + k + h]`` steps by a variable (Fourier
transforms); ``for (i = 0; i < n; i++) if (i & h) x[i] += x[i ^ h]`` asks for a bit (sums over subsets, networks that
sort). Within a stage `h` is a parameter: both are loops over blocks ``q``, of ``2 * h`` cells, at ``q * (2 * h)``, whose
number is computed in front of the region, as -1 where it isn't one: where `h` isn't positive, nor a power of two that
the second form needs, or a last block would lack cells. The program tests that (`StageLoops.required`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.bit_halves import Bit, bits_of, does_something
from scopt.frontend.normalize.fixed_values import FixedValues
from scopt.frontend.normalize.members import Hoisted, has_jump
from scopt.frontend.normalize.opaque import LOOPS
from scopt.frontend.normalize.tree_rewriting import cast, items_of, mentions, names_of, number, step_of, substituted, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, is_value, symbol_of
from scopt.ir.constants import constant_value, usual_conversion
from scopt.ir.effects import changes_of, effects
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import changed, mapped, replaced, same_tree, walk

_LONG_BITS, _INT_BITS = 64, 32
_LARGEST = {32: "4294967295", 64: "9223372036854775807"}


class StageLoops(Struct, frozen=True, eq=False):
    """items: the statements. iterators: the new ones. values: numbers of blocks, and their sizes. required: those that
    have to be at least 0. distances: expressions of blocks' lengths, whatever they are multiplied with. decided: conditions are.
    """

    items: tuple[Any, ...]
    iterators: frozenset[str]
    values: tuple[Hoisted, ...]
    required: tuple[str, ...]
    distances: tuple[tuple[Any, int], ...]
    decided: bool


def with_stage_loops(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    inside: Collection[str],
    symbolic: Collection[str],
    reserved: Collection[str],
    long_type: str,
    read_after: Callable[[str], bool],
) -> StageLoops:
    """The statements of a region, in which each name has one meaning, with such loops.

    inside: names that are declared in it, and iterators. symbolic: macros with names of their own. long_type: an
    integer type of 64 bits. read_after: whether what the region leaves in a variable may be read."""
    items = tuple(items)
    if not any(isinstance(node, ir.For) for node in walk(*items)):
        return StageLoops(items, frozenset(), (), (), (), decided=False)
    changing = {*inside, *symbolic, *effects(*items).assigned}
    maker = _Maker(symbols, FixedValues(symbols, changing), {*reserved, *inside}, long_type, read_after, items)
    made = tuple(maker.statement(item, ()) for item in items)
    iterators, values, required = frozenset(maker.iterators), tuple(maker.values), tuple(maker.required)
    return StageLoops(made, iterators, values, required, tuple(maker.distances), bool(maker.decided))


def may_go_in_stages(loop: ir.For) -> bool:
    """Whether a loop has the form of one of this kind, as far as it can be told by itself."""
    name = loop_iterator(loop)
    if name is None or loop.next is None:
        return False
    step = _step_of(loop.next, name)
    return bool(names_of(step)) if step is not None else next(bits_of(name, loop.stmt), None) is not None


def goes_in_stages(loop: ir.For, changing: Collection[str]) -> bool:
    """Whether a loop steps by, or asks for a bit of, what changes around it: it would be one of this kind if it were
    taken alone. changing: names that the region sets, declares or steps."""
    name = loop_iterator(loop)
    if name is None or loop.next is None:
        return False
    own = {name, *effects(loop.stmt).changed}
    step = _step_of(loop.next, name)
    found = [step] if step is not None else [bit.mask for bit in bits_of(name, loop.stmt)]
    return any(names_of(one) & set(changing) and not names_of(one) & own for one in found)


class _Loop(Struct, frozen=True, eq=False):
    """``for (name = start; name < end; …)``, or with ``<=``."""

    name: str
    type: CType
    start: Any
    op: str
    end: Any


class _Maker(Struct, frozen=True, eq=False):
    symbols: Mapping[str, Symbol]
    fixed: FixedValues
    taken: set[str]
    long_type: str
    read_after: Callable[[str], bool]
    items: tuple[Any, ...]
    iterators: list[str] = field(default_factory=list)
    values: list[Hoisted] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    distances: list[tuple[Any, int]] = field(default_factory=list)
    decided: list[Bit] = field(default_factory=list)

    def statement(self, node: Any, around: tuple[ir.For, ...] | None) -> Any:
        """A statement rewritten from the outside in. around: the loops around it; None where it depends on something
        else too whether it is reached."""
        if not isinstance(node, ir.For):
            inner = None if isinstance(node, (*LOOPS, ir.If, ir.Switch, ir.TernaryOp)) else around
            return mapped(node, lambda child: self.statement(child, inner))
        loop = self.header(node)
        made = None
        if around is not None and loop is not None:
            made = self.steps(node, loop, around) or self.bits(node, loop, around)
        node = made if made is not None else node
        inner = None if around is None or has_jump(node.stmt) else (*around, node)
        body = self.statement(node.stmt, inner)
        return node if body is node.stmt else changed(node, stmt=body)

    def header(self, node: ir.For) -> _Loop | None:
        name = loop_iterator(node)
        match node.cond:
            case ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=own), right=end) if own == name:
                pass
            case _:
                return None
        if name is None or node.next is None or name in effects(node.stmt).changed:
            return None
        if isinstance(node.init, ir.DeclList):
            ctype, start = symbol_of(node.init.decls[0], self.symbols), node.init.decls[0].init
        else:
            ctype, start = self.symbols.get(name), node.init.rvalue
            everywhere = sum(mentions(item, name) for item in self.items)
            if self.read_after(name) or everywhere > mentions(node, name):
                return None
        if ctype is None or start is None or ctype.dims or ctype.pointer or not ctype.type.integer:
            return None
        plain = ctype.type.bits in (_INT_BITS, _LONG_BITS) and not (ctype.type.volatile or ctype.type.atomic)
        return _Loop(name, ctype.type, start, op, end) if plain and ctype.kind != "global" else None

    # --- steps that are variables -------------------------------------------------------------------------------------

    def steps(self, node: ir.For, loop: _Loop, around: tuple[ir.For, ...]) -> ir.For | None:
        """A loop that steps by a variable as one over blocks."""
        step = _step_of(node.next, loop.name)
        if step is None or constant_value(step, self.symbols) is not None or not self.joins(loop.type, step):
            return None
        end = self.fixed.type_of(loop.end)
        if end is None or (not end.signed and end.bits > loop.type.bits) or (loop.type.signed and not end.signed):
            return None
        tests = [f"{_text(step)} > 0"]
        wide, wide_step = self.wide(loop.end), self.wide(step)
        if not loop.type.signed:
            if loop.op == "<=" or not end.signed and end.bits != loop.type.bits:
                return None
            tests = [f"{wide} >= 0", f"{wide_step} > 0", f"{wide} <= {_LARGEST[loop.type.bits]} - {wide_step}"]
        outer = next((one for one in around if loop_iterator(one) == _name(loop.start)), None)
        if outer is not None:
            found = self.header(outer)
            first = value_of(found.start) if found is not None else None
            if found is None or not loop.type.signed or found.type.spelling != loop.type.spelling or loop.op != "<":
                return None
            if first is None or first < 0 or step_of(outer.next) != (found.name, 1):
                return None
            if self.fixed.type_of(found.end) is None:
                return None
            last = f"{self.wide(found.end)} {'<=' if found.op == '<' else '<'} {wide_step}"
            tests += [f"{wide} % {wide_step} == 0", last]
            entry, whole = f"0 < {_text(loop.end)}", f"{wide} / {wide_step}"
        else:
            start = self.fixed.type_of(loop.start)
            value = value_of(loop.start)
            if start is None or not self.joins(loop.type, loop.start):
                return None
            if (value is None or value < 0) and (loop.type.bits == _LONG_BITS or not loop.type.signed):
                return None
            entry = self.entry(loop)
            length = wide if value == 0 else f"({wide} - {self.wide(loop.start)})"
            if loop.op == "<":
                length = f"({length} - 1)"
            whole = f"{length} / {wide_step} + 1"
        shifted = self.shifted(node.stmt, loop, wide_step, tests)
        reached = self.reached(around)
        if shifted is None or reached is None:
            return None
        entry = " && ".join(dict.fromkeys([*reached, entry]))
        blocks = self.number(loop.name, f"{entry} ? {' && '.join(tests)} ? {whole} : -1 : 0", node)
        self.distances.append((step, 2))
        block = self.iterator(f"{loop.name}_block")
        place: Any = ir.BinaryOp("*", ir.ID(block), _factor(step), node.coord)
        if value_of(loop.start) != 0:
            place = ir.BinaryOp("+", loop.start, place, node.coord)
        body = substituted(shifted, loop.name, place)
        return _for(block, loop.type, ir.ID(blocks), body, node)

    def joins(self, ctype: CType, node: Any) -> bool:
        """Whether an expression is fixed, and sums and products with one of a type are of that type."""
        other = self.fixed.type_of(node)
        if other is None:
            return False
        common = usual_conversion(ctype, other, self.symbols)
        return common.bits == ctype.bits and common.signed == ctype.signed

    def shifted(self, body: Any, loop: _Loop, wide_step: str, tests: list[str]) -> Any | None:
        """A body whose loops start where they did in the first block; None where one of them begins in a block, and
        ends somewhere else. tests: gets what has to hold for that."""
        failed = False

        def change(node: Any) -> Any:
            nonlocal failed
            if failed or not isinstance(node, ir.For) or not any(
                mentions(part, loop.name) for part in (node.init, node.cond, node.next) if part is not None
            ):
                return node if not isinstance(node, ir.For) else mapped(node, lambda child: replaced(child, change))
            made = self.from_zero(node, loop, wide_step, tests)
            failed = failed or made is None
            return node if made is None else mapped(made, lambda child: replaced(child, change))

        made = replaced(body, change)
        return None if failed else made

    def from_zero(self, node: ir.For, loop: _Loop, wide_step: str, tests: list[str]) -> ir.For | None:
        inner = self.header(node)
        if inner is None or inner.type.spelling != loop.type.spelling or mentions(node.next, loop.name):
            return None
        start, end = _without(inner.start, loop.name), _without(inner.end, loop.name)
        if start is None or end is None or loop.name in {*names_of(start), *names_of(end)}:
            return None
        if not loop.type.signed:
            # Beyond the last block the sums might wrap around.
            if self.fixed.type_of(end) is None or (value_of(start) or 0) < 0 or value_of(start) is None:
                return None
            if inner.op != "<" or not self.joins(loop.type, end):
                return None
            tests += [f"{self.wide(end)} >= 0", f"{self.wide(end)} <= {wide_step}"]
        body = substituted(node.stmt, inner.name, ir.BinaryOp("+", ir.ID(loop.name), ir.ID(inner.name), node.coord))
        if isinstance(node.init, ir.DeclList):
            init: Any = changed(node.init, decls=[changed(node.init.decls[0], init=start)])
        else:
            init = changed(node.init, rvalue=start)
        return changed(node, init=init, cond=changed(node.cond, right=end), stmt=body)

    # --- bits ---------------------------------------------------------------------------------------------------------

    def bits(self, node: ir.For, loop: _Loop, around: tuple[ir.For, ...]) -> ir.For | None:
        """A loop that asks for a bit of its iterator as one over blocks, each with a half where the bit isn't set, and
        one where it is."""
        if value_of(loop.start) != 0 or loop.op != "<" or step_of(node.next) != (loop.name, 1) or has_jump(node.stmt):
            return None
        end, reached = self.fixed.type_of(loop.end), self.reached(around)
        if end is None or reached is None or end.bits > _LONG_BITS or (not end.signed and loop.type.signed):
            return None
        body = self.with_partners(node.stmt, loop)
        for bit in bits_of(loop.name, body):
            if not self.joins(loop.type, bit.mask):
                continue
            made = self.halves(changed(node, stmt=body), loop, bit, reached)
            if made is not None:
                return made
        return None

    def with_partners(self, body: Any, loop: _Loop) -> Any:
        """A body with the values of variables such as ``int l = i ^ h;`` in their places."""
        for item in items_of(body):
            for decl in item.decls if isinstance(item, ir.DeclList) else (item,):
                if not isinstance(decl, ir.Decl) or not isinstance(decl.init, ir.BinaryOp):
                    continue
                symbol, value = self.symbols.get(decl.name), decl.init
                if symbol is None or not is_value(symbol) or symbol.type.spelling != loop.type.spelling:
                    continue
                if not any(Bit(loop.name, mask).is_other(value) for mask in (value.left, value.right)):
                    continue
                if changes_of(decl.name, body) == 1:
                    body = substituted(_without_value(body, decl), decl.name, value)
        return body

    def halves(self, node: ir.For, loop: _Loop, bit: Bit, reached: list[str]) -> ir.For | None:
        halves = [bit.half(node.stmt, on=on) for on in (False, True)]
        done = [half if does_something(half) else None for half in halves]
        declares = any(isinstance(one, ir.Decl) for one in walk(node.stmt))
        if all(half is None for half in done) or (declares and None not in done):
            return None
        names = self.size(loop, bit, reached, node)
        if names is None:
            return None
        blocks, size = names
        self.decided.append(bit)
        block, place = self.iterator(f"{loop.name}_block"), self.iterator(f"{loop.name}_place")
        first = ir.BinaryOp("*", ir.ID(block), ir.BinaryOp("*", number(2), size, node.coord), node.coord)
        loops = []
        for on, half in enumerate(done):
            if half is None:
                continue
            own: Any = ir.ID(place, node.coord)
            own = ir.BinaryOp("+", own, size, node.coord) if on else own
            value = ir.BinaryOp("+", first, own, node.coord)
            body = replaced(half, lambda part: size if same_tree(part, bit.mask) else part)
            loops.append(_for(place, loop.type, size, substituted(body, loop.name, value), node))
            place = self.iterator(f"{loop.name}_place") if half is not done[-1] else place
        body = loops[0] if len(loops) == 1 else ir.Compound(loops, node.coord)
        return _for(block, loop.type, blocks, body, node)

    def size(self, loop: _Loop, bit: Bit, reached: list[str], node: ir.For) -> tuple[Any, Any] | None:
        """How many blocks there are, and how long half of one is."""
        size, end = constant_value(bit.mask, self.symbols), constant_value(loop.end, self.symbols)
        if size is not None and (size <= 0 or size & (size - 1)):
            return None
        if size is not None and end is not None:
            return (number(end // size // 2), number(size)) if end >= 0 and end % (2 * size) == 0 else None
        entry = " && ".join(dict.fromkeys([*reached, self.entry(loop)]))
        half: Any = number(size) if size is not None else bit.mask
        if size is None and not isinstance(bit.mask, ir.ID):
            half = ir.ID(self.named(f"{loop.name}_half", loop.type, f"{entry} ? {_text(bit.mask)} : 0", bit.mask))
        wide, wide_half = self.wide(loop.end), self.wide(half)
        tests = [f"{wide} % {wide_half} == 0", f"{wide} / {wide_half} % 2 == 0"]
        if size is None:
            tests = [f"{wide_half} > 0", f"({wide_half} & ({wide_half} - 1)) == 0", *tests]
            self.distances.append((bit.mask, 1))
        if not self.fixed_sign(loop.end):
            tests.insert(0, f"{wide} >= 0")
        whole = f"{wide} / {wide_half} / 2"
        blocks = self.number(loop.name, f"{entry} ? {' && '.join(tests)} ? {whole} : -1 : 0", loop.end, bit.mask)
        return ir.ID(blocks), half

    def fixed_sign(self, node: Any) -> bool:
        ctype = self.fixed.type_of(node)
        return ctype is not None and ctype.signed

    # --- what is computed in front of the region ----------------------------------------------------------------------

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
                    found.append(f"{_text(start)} {op} {_text(end)}")
                case _:
                    return None
        return found

    def entry(self, loop: _Loop) -> str:
        """Whether a loop has iterations, as the source asks that."""
        start = loop.start if loop.type.signed else cast(loop.type.spelling, loop.start)
        return f"{_text(start)} {loop.op} {_text(loop.end)}"

    def is_known(self, node: Any) -> bool:
        made = {one.symbol.name for one in self.values}
        return (isinstance(node, ir.ID) and node.name in made) or self.fixed.type_of(node) is not None

    def wide(self, node: Any) -> str:
        """The text of an expression in 64 bits."""
        return str(CPrinter(reduce_parentheses=True).visit(cast(self.long_type, node)))

    def number(self, name: str, value: str, *read: Any) -> str:
        """Name a number of blocks."""
        ctype = self.symbols[self.long_type].type
        made = self.named(f"{name}_blocks", ctype, value, *read)
        self.required.append(made)
        return made

    def named(self, wish: str, ctype: CType, value: str, *read: Any) -> str:
        name = self.fresh(wish)
        reads = {one for node in read for one in names_of(node) if one in self.symbols}
        symbol = Symbol(name, "local", ctype, size=ctype.bits // 8)
        self.values.append(Hoisted(symbol, f"const {ctype.spelling} {name} = {value};", reads=frozenset(reads)))
        return name

    def iterator(self, wish: str) -> str:
        name = self.fresh(wish)
        self.iterators.append(name)
        return name

    def fresh(self, wish: str) -> str:
        names = (f"{wish}_{k}" if k > 1 else wish for k in count(1))
        name = next(name for name in names if name not in self.taken and name not in self.symbols)
        self.taken.add(name)
        return name


def _without_value(body: Any, decl: ir.Decl) -> Any:
    """A block without a declaration that it has."""
    kept = []
    for item in items_of(body):
        if isinstance(item, ir.DeclList) and decl in item.decls:
            others = [one for one in item.decls if one is not decl]
            item = changed(item, decls=others) if others else None
        if item is not None and item is not decl:
            kept.append(item)
    return ir.Compound(kept, body.coord)


def _name(node: Any) -> str | None:
    return node.name if isinstance(node, ir.ID) else None


def _text(node: Any) -> str:
    """An expression as an operand."""
    text = str(CPrinter(reduce_parentheses=True).visit(node))
    return text if isinstance(node, ir.ID | ir.Constant) else f"({text})"


def _factor(step: Any) -> Any:
    """A step as what blocks are long: shifts to the left by constants are products."""
    match step:
        case ir.BinaryOp(op="<<", left=left, right=right) if (places := value_of(right)) is not None and places < 31:
            return ir.BinaryOp("*", number(1 << places), left, step.coord)
    return step


def _step_of(node: Any, name: str) -> Any | None:
    """What a step adds to a variable."""
    match node:
        case ir.Assignment(op="+=", lvalue=ir.ID(name=own), rvalue=step) if own == name:
            return step
        case ir.Assignment(
            op="=", lvalue=ir.ID(name=own), rvalue=ir.BinaryOp(op="+", left=left, right=right)
        ) if own == name:
            for one, step in ((left, right), (right, left)):
                if isinstance(one, ir.ID) and one.name == name:
                    return step
    return None


def _without(node: Any, name: str) -> Any | None:
    """A sum without a variable that it has once; None if it is of another form."""
    match node:
        case ir.ID(name=own) if own == name:
            return number(0)
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            if mentions(left, name):
                rest = _without(left, name)
                if op == "+" and rest is not None and value_of(rest) == 0:
                    return right
                return _sum(op, rest, right, node)
            if op == "+" and mentions(right, name):
                rest = _without(right, name)
                return left if rest is not None and value_of(rest) == 0 else _sum("+", left, rest, node)
    return None


def _sum(op: str, left: Any, right: Any, node: Any) -> Any | None:
    return None if left is None or right is None else ir.BinaryOp(op, left, right, node.coord)


def _for(name: str, ctype: CType, end: Any, body: Any, loop: ir.For) -> ir.For:
    where = loop.coord
    typed = ir.TypeDecl(name, [], None, ir.IdentifierType(ctype.spelling.split(), where), where)
    init = ir.DeclList([ir.Decl(name, [], [], [], [], typed, number(0), None, where)], where)
    cond = ir.BinaryOp("<", ir.ID(name, where), end, where)
    return changed(loop, init=init, cond=cond, next=ir.UnaryOp("p++", ir.ID(name, where), where), stmt=body)
