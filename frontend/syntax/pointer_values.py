"""What functions do with pointers: what they assign to them, whether they hand them on, how they declare them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from scopt import ir
from scopt.ir.effects import assigns
from scopt.ir.walks import walk

# Functions whose result points to an object that nothing else points to.
ALLOCATING = frozenset(["malloc", "calloc", "aligned_alloc", "__builtin_malloc", "__builtin_calloc"])

# Functions that only follow the first of their arguments, and how many of these.
_KEEPING = {"memset": 1, "free": 1, "memcpy": 2, "memmove": 2}
# What stands right in these is a statement, or is asked for its truth: its value goes nowhere.
_AROUND_STATEMENTS = (ir.Compound, ir.If, ir.For, ir.While, ir.DoWhile)


def without_casts(node: Any) -> Any:
    while isinstance(node, ir.Cast):
        node = node.expr
    return node


def is_allocating(call: ir.FuncCall) -> bool:
    return isinstance(call.name, ir.ID) and call.name.name in ALLOCATING


@lru_cache(maxsize=1 << 12)
def hands_on(body: Any, name: str) -> bool:
    """Whether a function does more with a pointer than to set it, to ask whether there is one, to follow it, and to
    return it: others may have it then."""
    kept: set[int] = set()
    settings: list[Any] = []
    for node in walk(body):
        match node:
            case ir.UnaryOp(op="&", expr=one) if name in map(_name_of, _bases(one)):
                return True
            case ir.Return(expr=value):
                while isinstance(value, ir.Cast):
                    value = value.expr
                kept.add(id(value))
            case ir.Assignment(op="=", lvalue=ir.ID(name=own) as one) if own == name:
                kept.add(id(one))
                settings.append(node)
            case ir.ArrayRef(name=one):
                kept.add(id(one))
            case ir.UnaryOp(op="!" | "*", expr=one):
                kept.add(id(one))
            case ir.BinaryOp(op="==" | "!=", left=left, right=right):
                kept |= {id(left), id(right)}
        for part in node.parts if isinstance(node, _AROUND_STATEMENTS) else ():
            kept.add(id(part))
            match part:  # what such a call gives, the pointer itself, is left where it is a statement
                case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=given)) if called in _KEEPING:
                    kept.update(map(id, given[: _KEEPING[called]]))
    if any(id(node) not in kept for node in settings):
        return True  # `other = pointer = malloc(n)`
    return any(isinstance(node, ir.ID) and node.name == name and id(node) not in kept for node in walk(body))


def _bases(node: Any) -> Iterator[Any]:
    """An object whose address is taken, and what it is a part of, or is reached by."""
    while isinstance(node, ir.ArrayRef | ir.StructRef | ir.UnaryOp):
        node = node.expr if isinstance(node, ir.UnaryOp) else node.name
        yield node


def _name_of(node: Any) -> str:
    return node.name if isinstance(node, ir.ID) else ""


def parameters_of(function: ir.FuncDef) -> list[Any]:
    args = function.decl.type.args
    return [one for one in (args.params if args is not None else ()) if isinstance(one, ir.Decl)]


def declares(function: ir.FuncDef, name: str) -> bool:
    parameters = any(one.name == name for one in parameters_of(function))
    return parameters or any(isinstance(one, ir.Decl) and one.name == name for one in walk(function.body))


def pointer_types(ast: ir.FileAST) -> frozenset[str]:
    """Names of types at file scope that are pointers: ``typedef double **matrix;``."""
    found: set[str] = set()
    for node in ast.ext:
        if isinstance(node, ir.Typedef) and is_pointer(node, found):
            found.add(node.name)
    return frozenset(found)


def is_pointer(decl: Any, named: Collection[str]) -> bool:
    match decl.type:
        case ir.PtrDecl():
            return True
        case ir.TypeDecl(type=ir.IdentifierType(names=[name])):
            return name in named
    return False


def holds_pointers(declared: Any) -> bool:
    """Whether an array's elements are pointers, or may be behind a name of a type."""
    while isinstance(declared, ir.ArrayDecl):
        declared = declared.type
    return not isinstance(declared, ir.TypeDecl)


def values_of(body: Any, name: str) -> list[Any]:
    """All that is assigned to variables of this name; what isn't a plain assignment stands for itself, but for steps,
    which stay in the same memory."""
    found: list[Any] = []
    for node in walk(body):
        match node:
            case ir.Decl(init=value) if node.name == name and value is not None:
                found.append(value)
            case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
                found.append(value)
            case ir.Assignment(op="+=" | "-=", lvalue=ir.ID(name=own)) if own == name:
                continue
            case ir.UnaryOp(op="++" | "--" | "p++" | "p--", expr=ir.ID(name=own)) if own == name:
                continue
            case _ if assigns(node, name):
                found.append(node)
    return found
