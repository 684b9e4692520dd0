"""Kernels, copies and mutants of their texts, for the tests of `scopt.check.functions`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.pair_kernel import PairKernel
from scopt.astgen.lower.transposing import Transposed
from scopt.ir.from_pycparser import parse_c
from scopt.ir.marked_schedule import Extremum, Operation
from scopt.ir.scop import CType

TYPES = {
    "double": CType("double", floating=True, bits=64),
    "float": CType("float", floating=True, bits=32),
    "int": CType("int", integer=True, bits=32),
    "unsigned int": CType("unsigned int", integer=True, signed=False, bits=32),
    "long": CType("long", integer=True, bits=64),
    "short": CType("short", integer=True, bits=16),
    "signed char": CType("signed char", integer=True, bits=8),
}
LINE = 512
# What each operator is taken for.
OTHERS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "&&": "||",
    "||": "&&",
    "=": "+=",
    "+=": "-=",
    "-=": "+=",
    "++": "--",
    "%": "/",
}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\b[A-Za-z_]\w*|\b\d\w*|\+\+|--|[-+*/<>=&|]=|&&|\|\||\S')
_INDEXED = re.compile(r"(row|column|scalar|[abcdxy])(\d)(_\d)?$")


def expression(text: str) -> ir.Node:
    return parse_c(f"void f(void) {{ value = {text}; }}").ext[0].body.block_items[0].rvalue


def kernel(
    op: str, text: str, ctype: str = "double", extremum: Extremum | None = None, rows: int = 8, blocks: int = 1
) -> Kernel:
    """The kernel of ``cell op text`` over operands called row0, column0, scalar0 and so on."""
    counts = [len(set(re.findall(rf"\b{kind}\d", text))) for kind in ("row", "column", "scalar")]
    operands = [(ir.ID("a"),) * count for count in counts]
    operation = Operation(op, expression(text), *operands, TYPES[ctype], extremum)
    return Kernel("scopt_tile_0_0", operation, rows, 3 * blocks * LINE // TYPES[ctype].bits, "long")


def paired(columns: int = 48, distance: int = 64, rows: int = 8) -> PairKernel:
    """The kernel of ``cell += row0 * column0`` over operands of 16 bits."""
    operands = ((ir.ID("a"),),) * 2
    operation = Operation("+=", expression("column0 * row0"), *operands, (), TYPES["int"], None, TYPES["short"])
    return PairKernel("scopt_tile_0_0", operation, rows, columns, "long", distance)


def transposed(
    text: str, ctype: str = "double", width: int = 24, lanes: int = 8, *, back: bool = False, narrow: str | None = None
) -> Transposed:
    """The copy of an operand, in which the array is called A. narrow: the type of its cells, if another one."""
    operand = expression(text)
    references, scalars = [], []

    def visit(n: ir.Node) -> None:
        if isinstance(n, ir.ArrayRef):
            references.append(n)
        elif isinstance(n, ir.ID):
            scalars.append(n)
        else:
            for child in n.parts:
                visit(child)

    visit(operand)
    (source,) = references
    name, types = "scopt_transpose_0_0", (TYPES[ctype], TYPES[narrow] if narrow else None)
    return Transposed(name, operand, source, 0, tuple(scalars), types[0], width, "long", lanes, back, types[1])


def mutants(text: str, first: int = 1) -> Iterator[tuple[str, str]]:
    """Texts with one fault each, and what it is: numbers one more or less, other operators, other operands of the same
    kind, lines too few or too many. first: the number of the text's first line.
    """
    for match in TOKEN.finditer(text):
        for other in _others(match.group()):
            made = text[: match.start()] + other + text[match.end() :]
            number = text.count("\n", 0, match.start()) + first
            column = match.start() - text.rfind("\n", 0, match.start())
            yield f"line {number}, column {column}: {match.group()} → {other}", made
    lines = text.splitlines(keepends=True)
    for k, line in enumerate(lines):
        if line.strip():
            yield f"line {k + first} dropped: {line.strip()}", "".join((*lines[:k], *lines[k + 1 :]))
            yield f"line {k + first} doubled: {line.strip()}", "".join((*lines[: k + 1], *lines[k:]))


def _others(token: str) -> Iterator[str]:
    if token[0].isdigit():
        digits = re.match(r"\d+", token)
        assert digits is not None
        value, suffix = int(digits.group()), token[digits.end() :]
        yield f"{value + 1}{suffix}"
        yield f"{value - 1}{suffix}" if value else f"-1{suffix}"
    elif token in OTHERS:
        yield OTHERS[token]
    elif (match := _INDEXED.match(token)) is not None:
        name, number, rest = match.groups()
        yield f"{name}{(int(number) + 1) % 8}{rest or ''}"
        if rest:
            yield f"{name}{number}_{(int(rest[1:]) + 1) % 3}"
    elif token in ("i", "j", "k", "n", "count", "rows", "length"):
        yield {"i": "j", "j": "i", "k": "i", "n": "k", "count": "length", "rows": "count", "length": "count"}[token]


def checked(check: Any, *arguments: Any) -> str:
    """What a check says is wrong; empty if nothing is."""
    from scopt.check.functions.faults import Fault

    try:
        check(*arguments)
    except Fault as fault:
        return str(fault)
    return ""
