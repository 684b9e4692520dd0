"""Pointers that are chosen: ``const T *up = y > 0 ? row - w : row;`` is ``row + (y > 0 ? -w : 0)``, an offset that is
chosen; of ``T *q = c == 0 ? u : v;``, what it leads to is chosen where it is used: ``x = q[i];`` is ``x = c == 0 ? u[i]
: v[i];``, and ``q[i] = x;`` is ``if (c == 0) u[i] = x; else v[i] = x;``. An array of pointers that a list gives its
values, ``T *f[2] = {u, v};``, is a choice by the subscript.

What then stands for the pointer are arrays, by their names. A condition on data is a variable of its own: what is read
there may be written before the pointer is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.model.local_pointers import LocalPointers
from scopt.frontend.model.pointer_choices import (
    BODIES,
    Choice,
    NoChoiceError,
    Uses,
    conditions_of,
    each,
    number_of,
    parts_of,
    pointers_of,
    setting_of,
    subscripts_of,
)
from scopt.frontend.model.pointers import PointerSums
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import cast, mentions, number, value_of
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.frontend.syntax.structs import Typed
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.effects import bases, effects, targets
from scopt.ir.walks import changed, mapped, rebuilt, replaced, same_tree, walk

# Pointers that one may be, and statements that a pointer's choices may become.
_CHOICES, _STATEMENTS = 4, 6


def with_chosen_pointers(
    items: tuple[Any, ...],
    pointers: LocalPointers,
    types: ExpressionTypes,
    reserved: Collection[str],
    functions: Collection[str],
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """The statements of a region, in which each name has one meaning, in that form, and the new variables. functions:
    those that only compute a value from values."""
    if not any(_chooses(node, pointers.symbols) for node in walk(*items)):
        return items, {}
    chooser = _Chooser(pointers, types, frozenset(reserved), frozenset(functions))
    root, done = ir.Compound(items), set[Any]()
    while (found := chooser.first(root, done)) is not None:
        done.add(found[1])
        try:
            root = chooser.without(root, *found)
        except NoChoiceError:
            continue
    return tuple(root.block_items), chooser.made


def _chooses(node: Any, symbols: Mapping[str, Symbol]) -> bool:
    """Whether a statement sets a pointer to one of several, or lists pointers."""
    found = setting_of(node)
    symbol = symbols.get(found[0]) if found is not None else None
    if found is None or symbol is None or symbol.kind != "local":
        return False
    if isinstance(found[1], ir.InitList):
        return not symbol.pointer and symbol.pointer_depth == 1 and len(symbol.dims) == 1
    return symbol.pointer and symbol.pointer_depth == 1 and len(symbol.dims) >= 1 and _is_choice(found[1])


def _is_choice(node: Any) -> bool:
    while isinstance(node, ir.BinaryOp) and node.op in ("+", "-"):
        node = node.left
    return isinstance(node, ir.TernaryOp)


class _Chooser(Struct, frozen=True, eq=False):
    """made: new variables."""

    pointers: LocalPointers
    types: ExpressionTypes
    reserved: frozenset[str]
    functions: frozenset[str]
    made: dict[str, Symbol] = field(default_factory=dict)

    @property
    def sums(self) -> PointerSums:
        return self.pointers.sums

    def first(self, root: ir.Compound, done: Collection[Any]) -> tuple[str, Any, tuple[Any, ...]] | None:
        """The first pointer that is one of several: its name, the statement that sets it, and those behind, in the
        same block. done: statements that have been looked at."""
        for block in walk(root):
            items = (block.block_items or ()) if isinstance(block, ir.Compound) else ()
            for position, item in enumerate(items):
                for one in item.decls if isinstance(item, ir.DeclList) else (item,):
                    if one not in done and _chooses(one, self.symbols) and (found := setting_of(one)) is not None:
                        return found[0], one, tuple(items[position + 1 :])
        return None

    def without(self, root: ir.Compound, name: str, setting: Any, later: tuple[Any, ...]) -> ir.Compound:
        """The statements without a choice of pointers. Raises NoChoiceError."""
        _, value = setting_of(setting) or ("", None)
        if isinstance(value, ir.InitList):
            return self.without_list(root, name, setting, later)
        choice = self.choice(value)
        offset = self.offset(choice)
        if offset is not None:
            key = "init" if isinstance(setting, ir.Decl) else "rvalue"
            made = changed(setting, **{key: offset})
            whole: ir.Compound = replaced(root, lambda node: made if node is setting else node)
            return whole
        if not self.pointers.is_set_once(root, setting, later):
            raise NoChoiceError
        self.require_type(name, choice)
        before, choice = self.kept(name, choice)
        place = ir.ExprList(list(parts_of(choice)))
        if not self.pointers.stays(place, root, later, name):
            raise NoChoiceError
        writing = [node for node in targets(root) if name in bases(node)]
        if len(writing) * number_of(choice) > _STATEMENTS:
            raise NoChoiceError
        return Uses(name, setting, choice, tuple(before), self.sums).put_in(root)

    def choice(self, node: Any) -> Any:
        """A pointer's value with choices outside of sums."""
        match node:
            case ir.TernaryOp():
                return Choice(node.cond, self.choice(node.iftrue), self.choice(node.iffalse))
            case ir.BinaryOp(op="+" | "-"):
                inner = self.choice(node.left)
                return each(inner, lambda one: changed(node, left=one)) if isinstance(inner, Choice) else node
        return node

    def offset(self, choice: Any) -> Any:
        """A sum of one array and an offset that is chosen, if it is always the same array."""
        found: list[tuple[Any, Any]] = []

        def chosen(one: Any) -> Any:
            if isinstance(one, Choice):
                return ir.TernaryOp(one.cond, chosen(one.then), chosen(one.otherwise))
            parts = self.sums.base_and_offset(one)
            found.append(parts if parts is not None else (None, None))
            amount = found[-1][1]
            return cast(self.sums.long_type, amount) if amount is not None else number(0)

        amount = chosen(choice)
        same = all(base is not None and same_tree(base, found[0][0]) for base, _ in found)
        return ir.BinaryOp("+", found[0][0], amount) if same else None

    def require_type(self, name: str, choice: Any) -> None:
        wanted = self.types.pointer(ir.ID(name))
        for one in pointers_of(choice):
            found: Typed | None = self.types.pointer(one)
            if wanted is None or found is None or not self.types.lead_to_the_same(wanted, found):
                raise NoChoiceError
            base = one.expr if isinstance(one, ir.UnaryOp) else one
            if not all(map(self.pointers.is_arithmetic, subscripts_of(base))):
                raise NoChoiceError

    def kept(self, name: str, choice: Choice) -> tuple[list[Any], Choice]:
        """Statements that keep the value of a condition that isn't one of numbers in variables alone, and the choice by
        it."""
        if all(self.pointers.is_arithmetic(one) for one in conditions_of(choice)):
            return [], choice
        done = effects(choice.cond)
        pure = done.called <= self.functions and not (done.written or done.opaque or done.unnamed)
        inner = [*conditions_of(choice.then), *conditions_of(choice.otherwise)]
        if not pure or not all(map(self.pointers.is_arithmetic, inner)):
            raise NoChoiceError
        holds = self.fresh(f"{name}_is")
        decl = ir.Decl(holds, [], [], [], [], ir.TypeDecl(holds, [], None, ir.IdentifierType(["int"])), None, None)
        self.symbols[holds] = self.made[holds] = symbol_of(decl, self.symbols)
        truth = ir.BinaryOp("!=", choice.cond, number(0), choice.cond.coord)
        before = [decl, ir.Assignment("=", ir.ID(holds), truth, choice.cond.coord)]
        return before, Choice(ir.ID(holds), choice.then, choice.otherwise)

    # --- arrays of pointers -------------------------------------------------------------------------------------------

    def without_list(self, root: ir.Compound, name: str, setting: ir.Decl, later: tuple[Any, ...]) -> ir.Compound:
        """The statements without an array of pointers: each ``f[k]`` is a pointer that is chosen by its subscript."""
        values = list(setting.init.exprs)
        uses = [node for node in walk(root) if isinstance(node, ir.ArrayRef) and _names(node.name, name)]
        listed = any(isinstance(one, (ir.InitList, ir.NamedInitializer, ir.Constant)) for one in values)
        if not 0 < len(values) <= _CHOICES or listed or len(uses) != sum(mentions(one, name) for one in later):
            raise NoChoiceError
        plain = len(uses) == mentions(root, name) and all(self.pointers.is_arithmetic(node.subscript) for node in uses)
        plain = plain and all(self.pointers.is_arithmetic(part) for one in values for part in subscripts_of(one))
        written = any(node is one for node in targets(root) for one in uses)
        if not plain or written or not self.pointers.stays(ir.ExprList(values), root, later, name):
            raise NoChoiceError
        made: ir.Compound = self.put_list(root, setting, values)
        return made

    def put_list(self, root: Any, setting: ir.Decl, values: list[Any]) -> Any:
        name = setting.name

        def chosen(subscript: Any) -> Any:
            if isinstance(subscript, ir.Constant):
                k = value_of(subscript)
                if k is None or k >= len(values):
                    raise NoChoiceError
                return values[k]
            made = values[-1]
            for k in reversed(range(len(values) - 1)):
                made = ir.TernaryOp(ir.BinaryOp("==", subscript, number(k)), values[k], made)
            return made

        def statement(node: Any) -> Any:
            """A statement behind declarations of the pointers that it follows."""
            if node is setting:
                return ir.EmptyStatement()
            if isinstance(node, ir.DeclList):
                return mapped(node, statement)
            if node is None or (not mentions(node, str(name)) and not isinstance(node, ir.Compound)):
                return node
            match node:
                case ir.If() | ir.For() | ir.While() | ir.DoWhile() | ir.Switch():
                    if any(mentions(one, str(name)) for role, one in node.children() if role not in BODIES):
                        raise NoChoiceError
                    return mapped(node, statement)
                case ir.Compound() | ir.Label() | ir.Case() | ir.Default():
                    return mapped(node, statement)
                case ir.Decl():
                    return replaced(node, direct)
            declared: list[Any] = []

            def pointer(one: Any) -> Any:
                if not isinstance(one, ir.ArrayRef) or not _names(one.name, str(name)):
                    return one
                if isinstance(one.subscript, ir.Constant):
                    return chosen(one.subscript)
                for decl in declared:
                    if same_tree(decl.init, chosen(one.subscript)):
                        return ir.ID(decl.name)
                made = self.fresh(f"{name}_at")
                declared.append(renamed_declaration(changed(setting, type=setting.type.type, init=None), made))
                self.symbols[made] = self.made[made] = symbol_of(declared[-1], self.symbols)
                declared[-1] = changed(declared[-1], init=chosen(one.subscript))
                return ir.ID(made)

            put = rebuilt(replaced(node, pointer), self.sums.subscripted)
            return ir.Compound([*declared, put], node.coord) if declared else put

        def direct(one: Any) -> Any:
            return chosen(one.subscript) if isinstance(one, ir.ArrayRef) and _names(one.name, str(name)) else one

        return statement(root)

    def fresh(self, wish: str) -> str:
        taken = self.reserved | self.symbols.keys()
        return next(one for k in count(1) if (one := wish if k == 1 else f"{wish}_{k}") not in taken)

    @property
    def symbols(self) -> dict[str, Symbol]:
        symbols: dict[str, Symbol] = self.sums.symbols  # type: ignore[assignment]
        return symbols


def _names(node: Any, name: str) -> bool:
    return isinstance(node, ir.ID) and bool(node.name == name)
