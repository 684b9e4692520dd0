"""Which statements vector instructions have a form of.

Products of two complex numbers, and quotients by one, have none: C (annex G) wants infinite results that the formula of
four products has no number for, so that compilers test for that, and call a function (measured: gcc and clang make no
vectors of ``z = z * z + c``, but of sums, and of products with real numbers).
"""

from __future__ import annotations

from scopt import ir
from scopt.ir.ctypes import is_complex
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.machine.costs import has_loop
from scopt.machine.math_calls import CALLED, COMPLEX_CALLED, CONJUGATES

_COMPLEX = "_Complex"


def takes_vectors(scop: Scop, statement: Statement) -> bool:
    """Whether vector instructions may do several instances of a statement at once: none does a loop of its own, nor
    what the mathematical library computes in a call (compilers have vector forms of these for less exact results), nor
    multiplies complex numbers."""
    called = (node.name for node in walk(statement.body) if isinstance(node, ir.FuncCall))
    calls = any(isinstance(name, ir.ID) and name.name in CALLED | COMPLEX_CALLED for name in called)
    return not calls and not has_loop(statement.body) and not multiplies_complex(scop, statement)


def multiplies_complex(scop: Scop, statement: Statement) -> bool:
    """Whether a statement has a product of two complex numbers, or a quotient by one."""
    cells = _complex_cells(scop, statement)
    return any(_multiplies(node, cells) for node in walk(statement.body))


def calls_functions_of_complex(scop: Scop, statement: Statement) -> bool:
    """Whether a statement calls functions of complex numbers: a quotient by one is such a call, too."""
    cells = _complex_cells(scop, statement)
    for node in walk(statement.body):
        match node:
            case ir.FuncCall(name=ir.ID(name=name)) if name in COMPLEX_CALLED:
                return True
            case ir.BinaryOp(op="/", right=ir.Node() as divisor) | ir.Assignment(op="/=", rvalue=ir.Node() as divisor):
                if _is_complex(divisor, cells):
                    return True
    return False


def _complex_cells(scop: Scop, statement: Statement) -> set[int]:
    """By `id`, the references to complex numbers."""
    return {id(one.node) for one in statement.accesses if is_complex(scop.arrays[one.array].type)}


def _multiplies(node: ir.Node, cells: set[int]) -> bool:
    match node:
        case (
            ir.BinaryOp(op="*", left=ir.Node() as left, right=ir.Node() as right)
            | ir.Assignment(op="*=", lvalue=ir.Node() as left, rvalue=ir.Node() as right)
        ):
            return _is_complex(left, cells) and _is_complex(right, cells)
        case ir.BinaryOp(op="/", right=ir.Node() as divisor) | ir.Assignment(op="/=", rvalue=ir.Node() as divisor):
            return _is_complex(divisor, cells)
    return False


def _is_complex(node: ir.Node, cells: set[int]) -> bool:
    """Whether the value of a part of a statement is a complex number. cells: the accesses that are."""
    if id(node) in cells:
        return True
    match node:
        case ir.Constant(type=kind):
            return _COMPLEX in kind
        case ir.Cast(to_type=ir.Node() as kind):
            return any(isinstance(one, ir.IdentifierType) and _COMPLEX in one.names for one in walk(kind))
        case ir.FuncCall(name=ir.ID(name=name)):
            return name in COMPLEX_CALLED | CONJUGATES and not name.startswith(("cabs", "carg"))
        case ir.ArrayRef() | ir.StructRef():
            return False
    return any(_is_complex(part, cells) for part in node.parts)
