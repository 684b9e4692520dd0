"""A region's statements in the form that extraction takes apart, where C has several ways to say the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.continues import without_continue
from scopt.frontend.normalize.counting_loops import Variables, counted
from scopt.frontend.normalize.heads import Head, with_plain_head
from scopt.frontend.normalize.induction_variables import Pointers, Sequels
from scopt.frontend.normalize.inductions import Inductions
from scopt.frontend.normalize.last_values import with_last_values
from scopt.frontend.normalize.once import is_short_block
from scopt.frontend.normalize.opaque import LOOPS, scalar_iterators
from scopt.frontend.normalize.own_iterators import (
    assigned_elsewhere,
    iterators_beside,
    used_elsewhere,
    with_own_iterator,
)
from scopt.frontend.normalize.pointer_loops import Counting, counting
from scopt.frontend.normalize.remainders import Remainders
from scopt.frontend.normalize.tree_rewriting import mentions, names_of
from scopt.frontend.normalize.unit_steps import with_unit_steps
from scopt.frontend.normalize.wrap_around import WrapAround
from scopt.frontend.syntax.liveness import may_be_read_after, may_be_read_behind
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, facts_of, symbol_of, taken_in
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, mapped, same_items, walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.unit import Region, TranslationUnit

_INT_BITS = 32


def normalized(tu: TranslationUnit, region: Region, symbols: Mapping[str, Symbol]) -> tuple[tuple[Any, ...], bool]:
    """The statements of a region, rewritten; and whether values that iterations hand on are computed anew in them.
    symbols: what names mean where it begins."""
    declared: dict[str, list[Any]] = {}
    for node in walk(*region.items):
        if isinstance(node, ir.Decl):
            declared.setdefault(node.name, []).append(node)
    rewriter = _Rewriter(tu, region, symbols, declared, iterators_beside(region.items, declared))
    statements = rewriter.statements(region.items, straight_before(tu, region))
    elsewhere = used_elsewhere(statements)

    def own(loop: ir.For) -> ir.For:
        name = loop_iterator(loop) or ""
        ctype = None if name in elsewhere else rewriter.type_of_own(name, statements)
        return loop if ctype is None else with_own_iterator(loop, ctype)

    items = scalar_iterators(statements, own)
    if not region.pragmas.used:
        items = rewriter.counting_by_one(items)
    return items, bool(rewriter.anew)


class _Rewriter(Struct, frozen=True, eq=False):
    """declared: the declarations in the region, by name. beside: names of iterators as `iterators_beside` has them.
    sequels: as in `Inductions`. anew: the loops whose iterations compute anew what others have handed on."""

    tu: TranslationUnit
    region: Region
    symbols: Mapping[str, Symbol]
    declared: Mapping[str, Sequence[Any]]
    beside: Set[str] = frozenset()
    sequels: Sequels = field(default_factory=Sequels)
    anew: list[Any] = field(default_factory=list)

    def statements(self, items: Iterable[Any], outside: Sequence[Any] = ()) -> list[Any]:
        """The items of a block, rewritten from the inside out.
        outside: what stands in front of them in the same block."""
        done: list[Any] = []
        for item in map(self.inside, items):
            made = self.loop(item, done, outside) if isinstance(item, LOOPS) else [item]
            asked = self.region.pragmas.used or (done and isinstance(done[-1], ir.Pragma))
            done.extend(made if asked else [self.apart(one, item) for one in made])
        return done

    def apart(self, made: Any, loop: Any) -> Any:
        """A statement in a loop's place, where iterations may compute anew what was handed on to them."""
        found = self.wrap_around(loop).apart(made)
        if found is not made:
            self.anew.append(found)
        return found

    def wrap_around(self, loop: Any) -> WrapAround:
        def is_iterator(one: ir.For) -> bool:
            name = loop_iterator(one) or ""
            declared = isinstance(one.init, ir.DeclList)
            ctype = self.declared_type(one.init.decls[0]) if declared else self.type_of(name)
            if ctype is None or not ctype.signed or not (declared or not self.used_after(loop, name)):
                return False
            start = names_of(one.init.decls[0].init if declared else one.init.rvalue)
            types = [self.type_of(other) for other in start if not self.is_constant(other)]
            return all(other is not None and other.spelling == ctype.spelling for other in types)

        used_after, defined = partial(self.used_after, loop), frozenset(self.tu.functions)
        return WrapAround(self.symbol, is_iterator, self.is_integer, used_after, self.fresh, defined)

    def inside(self, node: Any) -> Any:
        """A statement with what lies in it rewritten."""
        if isinstance(node, ir.DoWhile) and is_short_block(node):
            node = node.stmt if isinstance(node.stmt, ir.Compound) else ir.Compound([node.stmt], node.coord)
        if isinstance(node, ir.Compound):
            made = self.statements(node.block_items or ())
            return node if same_items(made, node.block_items or ()) else changed(node, block_items=made)

        def part(child: Any) -> Any:
            if not (isinstance(child, LOOPS) and isinstance(node, (*LOOPS, ir.If))):
                return self.inside(child)
            # There is room for what stands around a loop in another form.
            made = self.statements([child])
            return made[0] if len(made) == 1 else ir.Compound(made, child.coord)

        return mapped(node, part)

    def loop(self, loop: Any, before: list[Any], outside: Sequence[Any]) -> list[Any]:
        """What stands in a loop's place."""
        original = loop
        loop, head = with_plain_head(loop) if isinstance(loop, ir.For) else (loop, Head())
        before.extend(head.before)
        counter = counting(loop, [*outside, *before], self.inductions.pointers, self.is_integer, self.fresh)
        made = (
            self.counter(counter, head, loop, before, outside)
            if counter is not None
            else self.counted(head, loop, before, outside)
        )
        # Without another form it needs variables that only its head declares.
        if made is None:
            return [self.own(original, original)]
        behind = list[Any]()
        for place, one in enumerate(made):
            if isinstance(one, ir.For):
                one, last = with_last_values(one, [*outside, *before], self.type_of)
                behind += last
                made[place] = self.remainders.split(one, original)
        return [*(self.own(one, original) for one in made), *behind]

    def own(self, made: Any, loop: Any) -> Any:
        """A loop with an iterator of its own, if the variable is used for something else, too."""
        both = isinstance(made, ir.For) and isinstance(loop, ir.For) and isinstance(made.init, ir.Assignment)
        name = loop_iterator(made) if both else None
        ctype = self.type_of(name) if name is not None and loop_iterator(loop) == name else None
        if name is None or ctype is None or not assigned_elsewhere(self.region.items, name):
            return made
        return made if self.used_after(loop, name) else with_own_iterator(made, ctype)

    def counter(
        self, counter: Counting, head: Head, loop: Any, before: list[Any], outside: Sequence[Any]
    ) -> list[Any] | None:
        """A loop over pointers as one that counts; what was only there to set its end is left out."""
        before.extend(counter.before)
        made = self.inductions.closed(
            counter.loop, Head(declared=(*counter.declared, *head.declared)), loop, before, outside
        )
        if made is not None and counter.end in before and isinstance(counter.end, ir.Assignment):
            end = counter.end.lvalue.name
            if self.uses(end) == mentions(self.origin(loop), end) + 1 and not self.used_after(loop, end):
                before.remove(counter.end)
        return made

    def counted(self, head: Head, loop: Any, before: list[Any], outside: Sequence[Any]) -> list[Any] | None:
        """Any other loop, and what has to follow it."""
        done: list[Any] = []
        for one in counted(loop, before, outside, self.known) or [loop]:
            if not isinstance(one, ir.For):
                done.append(one)
                continue
            closed = self.inductions.closed(without_continue(one), head, loop, before, outside)
            if closed is None:
                return None
            done += closed
        return done

    @property
    def known(self) -> Variables:
        return Variables(self.type_of, self.is_constant, self.used_after, self.uses, self.fresh, self.sequels.carry)

    @property
    def remainders(self) -> Remainders:
        return Remainders(
            self.type_of, self.declared_type, self.is_constant, self.is_signed, self.used_after, self.fresh
        )

    @property
    def inductions(self) -> Inductions:
        kinds = Pointers(
            self.pointee, self.declared_pointee, self.declared_type, self.is_constant, self.is_signed, self.tu.long_type
        )
        return Inductions(self.known, kinds, self.sequels)

    # --- variables ----------------------------------------------------------------------------------------------------

    def type_of(self, name: str) -> CType | None:
        symbol = self.symbol(name)
        if symbol is None or symbol.static or symbol.address_taken or symbol.kind not in ("local", "parameter"):
            return None
        if symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic:
            return None
        return symbol.type if symbol.type.integer and symbol.type.bits >= _INT_BITS else None

    def type_of_own(self, name: str, items: Sequence[Any]) -> CType | None:
        """The type of an integer that nobody reads behind the region, which may declare it."""
        found = [self.declared_type(one) for one in walk(*items) if isinstance(one, ir.Decl) and one.name == name]
        if name in self.symbols:
            live = may_be_read_after(facts_of(self.tu, self.region.function), self.region, name)
            found.append(None if live else self.type_of(name))
        spellings = {None if ctype is None else ctype.spelling for ctype in found}
        return found[0] if len(spellings) == 1 else None

    def counting_by_one(self, items: Sequence[Any]) -> tuple[Any, ...]:
        """The statements with loops around others stepping by one."""

        def kept(name: str) -> CType | None:
            return None if name in effects(*items).changed or name in self.declared else self.type_of(name)

        def fresh(name: str) -> str:
            taken = {getattr(node, "name", None) for node in walk(*items) if isinstance(node, (ir.ID, ir.Decl))}
            return next(made for k in count(2) if (made := f"{name}_{k}") not in self.tu.reserved | taken)

        return tuple(with_unit_steps(item, self.declared_type, kept, fresh) for item in items)

    def declared_type(self, decl: Any) -> CType | None:
        """`type_of` of a variable that a loop declares."""
        symbol = symbol_of(decl, self.symbols)
        if (
            decl.name in taken_in(facts_of(self.tu, self.region.function), {})
            or symbol.static
            or symbol.dims
            or symbol.pointer
        ):
            return None
        plain = (
            symbol.type.integer and symbol.type.bits >= _INT_BITS and not (symbol.type.volatile or symbol.type.atomic)
        )
        return symbol.type if plain else None

    def pointee(self, name: str) -> Any:
        """The type of what a pointer's or an array's elements are;
        None if it isn't one with elements, or has another name too."""
        symbol = self.symbol(name)
        return _pointee(symbol) if symbol is not None else None

    def declared_pointee(self, decl: Any) -> Any:
        """The same of a pointer that a loop declares."""
        taken = decl.name in taken_in(facts_of(self.tu, self.region.function), {})
        return None if taken else _pointee(symbol_of(decl, self.symbols))

    def is_integer(self, name: str) -> bool:
        return self.is_constant(name) or self.type_of(name) is not None

    def is_constant(self, name: str) -> bool:
        return name in self.region.symbolic and name not in self.region.types

    def is_signed(self, name: str) -> bool:
        """Whether a name is that of a signed integer, whatever it means where."""
        meanings = [symbol_of(node, self.symbols) for node in self.declared.get(name, ())]
        meanings += [self.symbols[name]] if name in self.symbols else []
        plain = [one.type.integer and one.type.signed and not one.dims and not one.pointer for one in meanings]
        return all(plain) if plain else self.is_constant(name)

    def symbol(self, name: str) -> Symbol | None:
        """What a name means in the whole region; None if it means several things: iterators of loops beside each other
        that are of one type are as good as one."""
        declared = self.declared.get(name, ())
        if not declared:
            return self.symbols.get(name)
        if name in self.symbols or name in taken_in(facts_of(self.tu, self.region.function), {}):
            return None
        first, *others = (symbol_of(one, self.symbols) for one in declared)
        kinds = {(one.type, bool(one.dims), one.pointer, one.static) for one in (first, *others)}
        if others and (name not in self.beside or kinds != {(first.type, False, False, False)}):
            return None
        return first

    def uses(self, name: str) -> int:
        return sum(mentions(item, name) for item in self.region.items)

    def fresh(self, name: str) -> str:
        return next(candidate for k in count(2) if (candidate := f"{name}_{k}") not in self.tu.reserved)

    def used_after(self, loop: Any, name: str) -> bool:
        """Whether anything executed after a loop may read the value that it leaves in a variable."""
        return may_be_read_behind(facts_of(self.tu, self.region.function), self.origin(loop), name)

    def origin(self, loop: Any) -> Any:
        return facts_of(self.tu, self.region.function).origin(loop)


def _pointee(symbol: Symbol) -> Any:
    if (
        len(symbol.dims) != 1
        or symbol.pointer_depth > 1
        or symbol.type.volatile
        or symbol.type.atomic
        or symbol.thread_local
    ):
        return None
    if symbol.pointer and (symbol.address_taken or symbol.static or symbol.kind not in ("local", "parameter")):
        return None
    return symbol.type.spelling, symbol.type.bits, symbol.size, symbol.struct


def straight_before(tu: TranslationUnit, region: Region) -> Sequence[Any]:
    """The statements in front of a region, in its block, that are executed one after the other, and then the region."""
    items = (region.parent.block_items or ())[: region.first]
    facts = facts_of(tu, region.function)
    if facts.hidden_jumps:
        return ()
    entered = [k for k, item in enumerate(items) if item in facts.entered]
    return items[entered[-1] + 1 :] if entered else items
