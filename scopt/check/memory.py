"""What the declaration of a buffer means, read from its text: how many cells it has, and memory for just as many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.allocation import MALLOC, Allocation
from scopt.astgen.emit.c_expr import helper_name
from scopt.astgen.emit.c_read import Reader, Unreadable
from scopt.diagnostics import InternalError
from scopt.frontend.text.tokens import IDENTIFIER
from scopt.ir.ctypes import type_spelling
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.ir.nest import Const, Expr, Max
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Scop


class Allocated(Struct, frozen=True):
    """An array on the heap.

    element: C type of its cells. extents: how many cells each dimension has, outermost first, each at least one; of
    an array with a part for each thread the first one is None. threaded: it has one.
    """

    name: str
    element: str
    extents: tuple[Expr | None, ...]
    threaded: bool = False


def read_allocations(scop: Scop, needed: Sequence[Allocation]) -> tuple[Allocated, ...]:
    """All of a region's arrays, in the order of their declarations.

    scop: has these arrays. Raises InternalError as `read_allocation`, and unless each name, and the number of threads
    where there is need of it, is declared once.
    """
    found = tuple(read_allocation(scop, one) for one in needed)
    names = [one.name for one in found]
    if len(set(names)) != len(names):
        raise InternalError(f"{scop.location}: two buffers have the name '{max(names, key=names.count)}'")
    counted = [k for k, one in enumerate(needed) if len(_declarations(scop, one)) == 2]
    first = next((k for k, one in enumerate(found) if one.threaded), None)
    if len(counted) > 1 or (first is not None and (not counted or counted[0] > first)):
        raise InternalError(f"{scop.location}: the number of threads isn't declared once, before its use")
    return found


def read_allocation(scop: Scop, allocation: Allocation) -> Allocated:
    """The array that an allocation's text declares.

    scop: has the array. Raises InternalError where the text isn't a declaration of that array, with memory of just
    the size of its type.
    """
    try:
        *before, last = _declarations(scop, allocation)
        for one in before:
            _check_threads(scop, one)
        return _read(scop, allocation, last)
    except Unreadable as error:
        raise InternalError(
            f"{scop.location}: the allocation of '{allocation.name}' can't be read back: {error}"
        ) from error


def _read(scop: Scop, allocation: Allocation, declaration: ir.Decl) -> Allocated:
    name, array = allocation.name, scop.arrays.get(allocation.name)
    if (
        declaration.name != name
        or array is None
        or name in scop.reserved
        or declaration.storage
        or declaration.quals
        or declaration.bitsize
    ):
        raise Unreadable("it declares something else")
    if not isinstance(declaration.type, ir.PtrDecl) or declaration.type.quals:
        raise Unreadable("it declares no pointer")
    memory, threaded, asked = _asked(scop, declaration.init)
    if threaded and memory == MALLOC:
        raise Unreadable("memory for each thread from malloc")
    pointed, element = _shape(declaration.type.type)
    sizes, cell = _shape(asked)
    if element != cell or element != _spaced(array.type.spelling):
        raise Unreadable(f"cells of type '{element}' and '{cell}' where '{array.type.spelling}' are meant")
    if [*map(_text, pointed)] != [*map(_text, sizes if threaded else sizes[1:])]:
        raise Unreadable("the pointer's type isn't that of the memory's parts")
    reader = _reader(scop, allocation)
    extents = tuple(_extent(reader, size) for size in sizes)
    if len(extents) + threaded != array.rank:
        raise Unreadable(f"{len(extents) + threaded} dimensions where the array has {array.rank}")
    return Allocated(name, element, (None, *extents) if threaded else extents, threaded)


def _asked(scop: Scop, n: ir.Node | None) -> tuple[str, bool, ir.Node]:
    """The function that is called for memory, whether for each thread, and the type whose size is asked for."""
    match n:
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[bytes_])) if name in (
            MALLOC,
            f"scopt_rows_{_number(scop)}",
        ):
            match bytes_:
                case ir.UnaryOp(op="sizeof", expr=ir.Typename(quals=[], type=asked)):
                    return name, False, asked
                case ir.BinaryOp(
                    op="*",
                    left=ir.ID(name=many),
                    right=ir.UnaryOp(op="sizeof", expr=ir.Typename(quals=[], type=asked)),
                ):
                    if many == _threads(scop):
                        return name, True, asked
    raise Unreadable("its initializer doesn't ask for memory of a type's size")


def _extent(reader: Reader, n: ir.Node) -> Expr:
    """A dimension's value, which is positive whatever the parameters are: no other type exists."""
    value = reader.usable(n).value
    least = max(
        (one.value for one in (value.args if isinstance(value, Max) else (value,)) if isinstance(one, Const)), default=0
    )
    if least < 1:
        raise Unreadable("a dimension that may have no cells")
    return value


def _reader(scop: Scop, allocation: Allocation) -> Reader:
    """Reads calls of those helpers that will be defined for the allocation's sake."""
    helpers = {helper_name(helper, scop.reserved): helper for helper in allocation.helpers}
    return replace(Reader.of(scop), helpers=helpers)


# --- the text ---------------------------------------------------------------------------------------------------------


def _declarations(scop: Scop, allocation: Allocation) -> list[ir.Decl]:
    """What the text declares: the array, and before it perhaps the number of threads.
    Raises Unreadable for any other text."""
    words = set(IDENTIFIER.findall(allocation.declaration))
    types = "".join(f"typedef int {word};\n" for word in sorted(words & scop.typedefs))
    try:
        tree = parse_c(f"{types}void memory(void) {{\n{allocation.declaration}\n}}")
    except CSyntaxError as error:
        raise Unreadable(str(error)) from error
    functions = [one for one in tree.ext if not isinstance(one, ir.Typedef)]
    items: list[Any] = (
        functions[0].body.block_items or [] if len(functions) == 1 and isinstance(functions[0], ir.FuncDef) else []
    )
    if not 1 <= len(items) <= 2 or not all(isinstance(item, ir.Decl) for item in items):
        raise Unreadable("it isn't a declaration")
    return items


def _check_threads(scop: Scop, n: ir.Decl) -> None:
    """``const int scopt_threads_0 = scopt_threads_0_most();``"""
    name = _threads(scop)
    match n:
        case ir.Decl(
            name=declared,
            quals=["const"],
            storage=[],
            type=ir.TypeDecl(type=ir.IdentifierType(names=["int"])),
            init=init,
        ):
            match init:
                case ir.FuncCall(name=ir.ID(name=called), args=None) if declared == name and called == f"{name}_most":
                    if name not in scop.reserved:
                        return
    raise Unreadable("what it declares first isn't the number of threads")


def _shape(n: ir.Node) -> tuple[list[ir.Node], str]:
    """The dimensions of an array type, outermost first, and the type of its cells."""
    dimensions = []
    while isinstance(n, ir.ArrayDecl):
        if n.dim is None or n.dim_quals:
            raise Unreadable("a dimension without a length")
        dimensions.append(n.dim)
        n = n.type
    return dimensions, _spaced(_element(n))


def _element(n: ir.Node) -> str:
    match n:
        case ir.PtrDecl(type=pointed, quals=[]):
            return f"{_element(pointed)} *"
        case ir.TypeDecl(type=ir.Struct(name=str(name), decls=None), quals=[]):
            return f"struct {name}"
        case ir.TypeDecl(type=ir.Union(name=str(name), decls=None), quals=[]):
            return f"union {name}"
        case ir.TypeDecl(quals=[]) if spelling := type_spelling(n):
            return spelling
    raise Unreadable("cells of another type")


def _spaced(spelling: str) -> str:
    return " ".join(spelling.replace("*", " * ").split())


def _text(n: ir.Node) -> str:
    return str(CPrinter().visit(n))


def _number(scop: Scop) -> str:
    return scop.name.removeprefix("scop")


def _threads(scop: Scop) -> str:
    return f"scopt_threads_{_number(scop)}"
