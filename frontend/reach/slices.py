"""Functions that run the part of a region which some cells of index arrays are found by, to see their values.

A slice (Weiser, "Program slicing", 1984) holds the loops and conditions around the statement that reads the cell, and
what their variables are computed from: it reads nothing that the region wouldn't, and evaluates nothing else. So the
arrays in it must be what they are all through the region.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.reach.code import Unbounded
from scopt.frontend.reach.listed_rows import ListedRows, listed_rows, up_to_value
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Symbol, limits_of, shape_of
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import rebuilt, used_names, walk

_BASES = {8: "char", 16: "short", 32: "int", 64: "long long"}
# Iterations that take about as long as looking at their values once.
_FEW = 16
# Cells that one core looks at in vectors in less time than it takes to start others, several times over (chosen).
_MANY = 1000000
_CANONICAL = ("<", "<=", ">", ">=")


class Slice(Struct, frozen=True):
    """A function's definition, less its name, and the names that it is called with: variables and arrays. short: it
    takes a small part of the region's time, since a loop around it, of more than a few iterations, is left at once.
    flat: one loop of vectors over the cells of many rows."""

    definition: str
    variables: tuple[str, ...]
    arrays: tuple[str, ...]
    short: bool = False
    flat: bool = False

    @property
    def loops(self) -> int:
        """How many loops it goes through: others are left at once."""
        return self.definition.count("for (") - self.definition.count("break;")

    def named(self, name: str) -> str:
        return self.definition.replace("NAME", name, 1)


class Slicer(Struct):
    """items: the region's statements. result: the type of results. type_of: of a variable, None if it is no number.
    symbols: what arrays are. frozen: whether an array stays as it is. needed: variables so far; declared: those that
    the slice declares itself; free: those that it used before it declared them. own: iterators of the loops around,
    which begin anew there, whatever other loops count with them. arrays: that it reads; rows: the sizes of their inner
    dimensions. empty: those that the region declares without a value. short, flat: see `Slice`."""

    items: tuple[Any, ...]
    result: str
    type_of: Callable[[str], CType | None]
    symbols: Mapping[str, Symbol]
    frozen: Callable[[str], bool]
    needed: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    arrays: dict[str, None] = field(default_factory=dict)
    free: set[str] = field(default_factory=set)
    own: frozenset[str] = frozenset()
    rows: dict[str, tuple[int, ...]] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)
    short: bool = False
    flat: bool = False

    def slice(self, node: Any, path: Sequence[Any], ctype: CType) -> Slice:
        """Of all values that an expression of a type has in the last statement of a path through the region: where that
        is reached the expression is evaluated in any case. Raises Unbounded."""
        *around, last = path
        heads = [part for one in around for part in _head(one)]
        self.needed |= {*used_names(node, *heads)}
        self.own = frozenset(own for one in around if isinstance(one, ir.For) and (own := _counted(one)[0]))
        size = -1
        while size != len(self.needed):
            size = len(self.needed)
            for kept in self.kept(self.items, path):
                self.needed |= {*used_names(kept.init if isinstance(kept, ir.Decl) else kept.rvalue)}
        if effects(last).changed & self.needed:
            raise Unbounded
        body = [*self.block(self.items, path, node, len(around) > 0)]
        own = _base(ctype)
        least, greatest = limits_of(ctype)
        end = f"{greatest}{'u' * (not ctype.signed)}{'ll' * (ctype.bits == 64)}"
        lines = [f"{own} low = {end}, high = {f'-{end} - 1' if ctype.signed else least};", *body]
        lines += ["*least = low <= high ? low : 0;", "*greatest = low <= high ? high : 0;"]
        lines.append("return low > high || *greatest >= 0;" if ctype.bits == 64 and not ctype.signed else "return 1;")
        variables = tuple(sorted(name for name in self.needed - self.declared - self.arrays.keys()))
        own_names = {"low", "high", "least", "greatest", "ordered", "behind"}
        if any(self.type_of(name) is None or name in self.empty for name in variables) or own_names & self.needed:
            raise Unbounded
        return Slice(self.text(lines, variables), variables, tuple(self.arrays), self.short, self.flat)

    def text(self, lines: Iterable[str], variables: Iterable[str]) -> str:
        parameters = [f"{_base(self.known_type(name))} {name}" for name in variables]
        parameters += [f"const void *{name}_cells" for name in self.arrays]
        head = (
            f"static int NAME({', '.join([*parameters, *(f'{self.result} *{end}' for end in ('least', 'greatest'))])})"
        )
        cells = []
        for name in self.arrays:
            cells.append(f"typedef {_base(self.symbols[name].type)} {name}_cell __attribute__((may_alias));")
            inner = "".join(f"[{size}]" for size in self.rows[name])
            cells.append(f"const {name}_cell {f'(*{name}){inner}' if inner else f'*{name}'} = {name}_cells;")
        return f"{head}\n{{\n{''.join(f'  {line}{chr(10)}' for line in (*cells, *lines))}}}\n"

    def known_type(self, name: str) -> CType:
        ctype = self.type_of(name)
        if ctype is None or ctype.spelling == "_Bool":
            raise Unbounded
        return ctype

    # --- statements ---------------------------------------------------------------------------------------------------

    def kept(self, items: Sequence[Any], path: Sequence[Any]) -> Iterator[Any]:
        """The assignments beside a path that give needed variables their values."""
        place = next(k for k, item in enumerate(items) if item is path[0])
        for item in items[:place]:
            for one in item.decls if isinstance(item, ir.DeclList) else (item,):
                if self.gives_value(one):
                    yield self.simple(one)
        if any(_changed(item) & self.needed - self.own for item in items[place + 1 :]):
            raise Unbounded  # the next iteration has other values
        inner = _body(path[0])
        if len(path) > 1 and inner is not None:
            yield from self.kept(inner, path[1:])

    def gives_value(self, item: Any) -> bool:
        """Whether a statement changes what is needed; a variable that is only declared gets its value behind that."""
        changed = _changed(item) & self.needed - self.own
        if changed and isinstance(item, ir.Decl) and item.init is None:
            self.empty.add(item.name)
            return False
        return bool(changed)

    def simple(self, item: Any) -> Any:
        """An assignment of a number, or a declaration with one. Raises Unbounded for others."""
        value = item.init if isinstance(item, ir.Decl) else item.rvalue if isinstance(item, ir.Assignment) else None
        plain = isinstance(item, ir.Decl) or (item.op == "=" and isinstance(item.lvalue, ir.ID)) if value else False
        if not plain or effects(value).changed:
            raise Unbounded
        return item

    def block(self, items: Sequence[Any], path: Sequence[Any], node: Any, outermost: bool) -> Iterator[str]:
        first, *rest = path
        place = next(k for k, item in enumerate(items) if item is first)
        for item in items[:place]:
            for one in item.decls if isinstance(item, ir.DeclList) else (item,):
                if self.gives_value(one):
                    yield self.assignment(self.simple(one))
                    outermost = False
        if not rest:
            seen = self.expression(node)
            yield f"low = {seen} < low ? {seen} : low;"
            yield f"high = {seen} > high ? {seen} : high;"
            return
        match first:
            case ir.Compound():
                yield from self.block(_body(first) or (), rest, node, outermost)
            case ir.If():
                holds = rest[0] is first.iftrue
                yield f"if ({'' if holds else '!('}{self.expression(first.cond)}{'' if holds else ')'}) {{"
                yield from self.inner(first, rest, node, False)
                yield "}"
            case ir.For():
                yield from self.loop(first, rest, node, outermost)
            case _:
                raise Unbounded

    def inner(self, statement: Any, rest: Sequence[Any], node: Any, outermost: bool) -> Iterator[str]:
        yield from (f"  {line}" for line in self.block(_body(statement) or (), rest, node, outermost))

    def loop(self, loop: ir.For, rest: Sequence[Any], node: Any, outermost: bool) -> Iterator[str]:
        own, start = _counted(loop)
        if not own:
            raise Unbounded
        if effects(loop.next).changed != {own} or own in effects(start, loop.cond, loop.stmt).changed:
            raise Unbounded
        rows = listed_rows(loop, own, rest) if self.canonical(loop, own) else None
        if rows is not None and (lines := self.rows_at_once(loop, rows, node, outermost)):
            yield from lines
            return
        first = self.expression(start)
        self.declare(own)
        head = f"{_base(self.known_type(own))} {own} = {first}"
        cond, step = self.expression(loop.cond), self.expression(loop.next)
        inside = [*self.inner(loop, rest, node, False)]
        counts = any(own in _words(line) for line in inside)
        nested = any("for (" in line for line in inside) and not any("break;" in line for line in inside)
        if outermost and counts and nested and self.canonical(loop, own):
            yield "#pragma omp parallel for reduction(min:low) reduction(max:high)"
        yield f"for ({head}; {cond}; {step}) {{"
        yield from inside
        if not counts:
            self.short = self.short or not is_few(loop.cond)
            yield "  break;"  # all iterations see the same
        yield "}"

    def rows_at_once(self, loop: ir.For, rows: ListedRows, node: Any, outermost: bool) -> list[str]:
        """The lines of a loop over all cells of rows behind each other, after a test that these are; none where what is
        seen depends on the row."""
        needed, declared, free = self.needed.copy(), self.declared.copy(), self.free.copy()
        arrays, sizes = self.arrays.copy(), self.rows.copy()
        own, start = _counted(loop)
        inner = rows.inner
        if (
            effects(inner.next).changed != {rows.cell}
            or rows.cell in effects(loop.init, inner.cond, inner.stmt).changed
        ):
            return []
        first, last = self.expression(start), self.expression(loop.cond.right)
        self.declare(own)
        begin, end = self.expression(rows.begin), self.expression(rows.end)
        self.declare(rows.cell)
        inside = [*self.block(_body(inner) or (), up_to_value(rows.rest, node, _certain), node, False)]
        words = {word for line in inside for word in _words(line)}
        if {own, "for"} & words or rows.names & words or rows.cell not in words:
            self.needed, self.declared, self.free, self.arrays, self.rows = needed, declared, free, arrays, sizes
            return []
        self.needed -= rows.names
        self.flat = True
        counted, cells = _base(self.known_type(own)), _base(self.known_type(rows.cell))
        threads = f" if(parallel: behind - {rows.array}[{first}] > {_MANY})"
        reduced = f"simd reduction(min:low) reduction(max:high){threads if outermost else ''}"
        return [
            "int ordered = 1;",
            f"for ({counted} {own} = {first}; {own} < {last}; {own}++)",
            f"  ordered &= {begin} <= {end};",
            "if (!ordered) return 0;",
            f"if ({first} < {last}) {{",
            f"  const {_base(self.symbols[rows.array].type)} behind = {rows.array}[{last}];",
            f"  #pragma omp {'parallel for ' if outermost else ''}{reduced}",
            f"  for ({cells} {rows.cell} = {rows.array}[{first}]; {rows.cell} < behind; {rows.cell}++) {{",
            *(f"    {line}" for line in inside),
            "  }",
            "}",
        ]

    def canonical(self, loop: ir.For, own: str) -> bool:
        """Whether OpenMP takes a loop: one comparison with something that stays, and a constant step."""
        cond = loop.cond
        return (
            isinstance(cond, ir.BinaryOp)
            and cond.op in _CANONICAL
            and isinstance(cond.left, ir.ID)
            and cond.left.name == own
            and own not in used_names(cond.right)
            and not any(isinstance(one, ir.ArrayRef) for one in walk(cond.right))
            and isinstance(loop.next, ir.UnaryOp)
        )

    def assignment(self, item: Any) -> str:
        own = item.name if isinstance(item, ir.Decl) else item.lvalue.name
        value = item.init if isinstance(item, ir.Decl) else item.rvalue
        text = self.expression(value)
        self.declare(own)
        return f"{_base(self.known_type(own))} {own} = {text};"

    def declare(self, own: str) -> None:
        if own in self.declared or own in self.free:
            raise Unbounded  # values from other places
        self.declared.add(own)

    # --- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: Any) -> str:
        """Text that doesn't need the program's types."""
        self.free |= {*used_names(node)} - self.declared
        inner = {id(one.name) for one in walk(node) if isinstance(one, ir.ArrayRef)}
        for one in walk(node):
            match one:
                case ir.ArrayRef() if id(one) not in inner:
                    self.cell(one)
                case ir.StructRef() | ir.FuncCall() | ir.UnaryOp(op="*" | "&" | "sizeof"):
                    raise Unbounded
        return str(CPrinter().visit(rebuilt(node, self.with_base_type)))

    def cell(self, node: ir.ArrayRef) -> None:
        """An element of an array of integers, whose inner dimensions are constants."""
        base: Any = node
        depth = 0
        while isinstance(base, ir.ArrayRef):
            base, depth = base.name, depth + 1
        symbol = self.symbols.get(base.name) if isinstance(base, ir.ID) else None
        if symbol is None or len(symbol.dims) != depth or not (symbol.type.integer and symbol.type.bits):
            raise Unbounded
        sizes = [constant_value(dim, self.symbols) for dim in symbol.dims[1:]]
        if None in sizes or not self.frozen(symbol.name):
            raise Unbounded
        self.arrays[symbol.name] = None
        self.rows[symbol.name] = tuple(size for size in sizes if size is not None)

    def with_base_type(self, node: Any) -> Any:
        if not isinstance(node, ir.Cast):
            return node
        shape = shape_of(node.to_type, self.symbols)
        if shape.layers or not shape.type.integer or shape.type.bits not in _BASES:
            raise Unbounded
        words = tuple(_base(shape.type).split())
        return ir.Cast(ir.Typename(None, (), None, ir.TypeDecl(None, (), None, ir.IdentifierType(words))), node.expr)


def path_to(items: Sequence[Any], node: Any) -> list[Any]:
    """The statements from the outermost around a node to the one that reads it in any case. Raises Unbounded."""
    for item in items:
        if not any(one is node for one in walk(item)):
            continue
        for part in _body(item) or ():
            if any(one is node for one in walk(part)):
                return [item, *path_to([part], node)]
        if isinstance(item, ir.DeclList):
            return path_to(item.decls, node)
        if not _certain(item, node):
            raise Unbounded
        return [item]
    raise Unbounded


def _certain(root: Any, node: Any) -> bool:
    """Whether a statement that is reached evaluates a node, before it changes anything."""
    if root is node:
        return True
    parts = root.parts
    match root:
        case ir.For():
            parts = [root.init, root.cond]
        case ir.TernaryOp():
            parts = [root.cond]
        case ir.BinaryOp(op="&&" | "||"):
            parts = [root.left]
        case ir.While() | ir.DoWhile() | ir.Switch():
            return False
    return any(one is not None and _certain(one, node) for one in parts)


def _changed(statement: Any) -> frozenset[str]:
    """Variables that have other values behind a statement: what it declares for itself doesn't live on."""
    found = effects(statement)
    return found.changed if isinstance(statement, (ir.Decl, ir.DeclList)) else found.changed - found.declared


def _body(statement: Any) -> tuple[Any, ...] | None:
    match statement:
        case ir.Compound():
            return tuple(statement.block_items or ())
        case ir.If():
            return tuple(part for part in (statement.iftrue, statement.iffalse) if part is not None)
        case ir.For():
            return (statement.stmt,)
    return None


def _counted(loop: ir.For) -> tuple[str, Any]:
    """The variable that a loop's head gives its first value, and that value; no name if it does something else."""
    match loop.init:
        case ir.DeclList(decls=[ir.Decl(name=own, init=start)]) if start is not None:
            return own, start
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=start):
            return own, start
    return "", None


def _head(statement: Any) -> list[Any]:
    match statement:
        case ir.For():
            return [part for part in (statement.init, statement.cond, statement.next) if part is not None]
        case ir.If():
            return [statement.cond]
    return []


def is_few(condition: Any) -> bool:
    """Whether a loop has a few iterations, by its condition."""
    end = condition.right if isinstance(condition, ir.BinaryOp) else None
    return isinstance(end, ir.Constant) and end.value.isdecimal() and int(end.value) < _FEW


def _words(line: str) -> set[str]:
    return set("".join(c if c.isalnum() or c in "_$" else " " for c in line).split())


def _base(ctype: CType) -> str:
    if ctype.bits not in _BASES or not ctype.integer:
        raise Unbounded
    base = _BASES[ctype.bits]
    return f"unsigned {base}" if not ctype.signed else "signed char" if ctype.bits == 8 else base


def _suffix(ctype: CType) -> str:
    return "ll" if ctype.bits == 64 else ""
