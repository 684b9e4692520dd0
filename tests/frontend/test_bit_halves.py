"""Bodies where one bit of the iterator is known."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.frontend.normalize.bit_halves import Bit, bits_of, does_something
from scopt.frontend.region.parse import parse
from scopt.ir.printing import CPrinter
from scopt.options import Options


def statement(text: str) -> ir.Node:
    source = f"int g(void); void f(int i, int h, int s, int *x) {{\n#pragma scop\n{text}\n#pragma endscop\n}}"
    return parse(source.encode(), "in.c", Options()).regions[0].items[0]


@pytest.mark.parametrize(
    ("text", "off", "on"),
    [
        ("if (i & h) x[i] = x[i ^ h];", ";", "x[i] = x[i - h];"),
        ("if (!(i & h)) x[i | h] = x[i];", "x[i + h] = x[i];", ";"),
        ("if ((i & h) == h) x[i] = x[i & ~h];", ";", "x[i] = x[i - h];"),
        ("if ((i ^ h) > i) x[i] = x[i ^ h]; else x[i] = 1;", "x[i] = x[i + h];", "x[i] = 1;"),
        ("x[i] = i < (h ^ i) ? x[i ^ h] : 2;", "x[i] = x[i + h];", "x[i] = 2;"),
        ("if ((i & h) != 0 && x[i] > 0) x[i ^ h] = 0;", ";", "if (x[i] > 0) x[i - h] = 0;"),
        # what stands in front of the bit is evaluated all the same
        ("if (g() && i & h) x[i ^ h] = 0;", "if (g() && 0) x[i + h] = 0;", "if (g() != 0) x[i - h] = 0;"),
        ("if (g() || i & h) x[i ^ h] = 0;", "if (g() != 0) x[i + h] = 0;", "if (g() || h) x[i - h] = 0;"),
        ("x[i] = (i & h) + x[i ^ h];", "x[i] = 0 + x[i + h];", "x[i] = h + x[i - h];"),
    ],
)
def test_halves(text: str, off: str, on: str) -> None:
    (bit,) = bits_of("i", statement(text))
    for wanted, value in ((off, False), (on, True)):
        made = CPrinter(reduce_parentheses=True).visit(bit.half(statement(text), on=value))
        assert " ".join(made.replace(";", "").split()) == " ".join(wanted.replace(";", "").split())


def test_shifted_bits() -> None:
    (bit,) = bits_of("i", statement("if (i >> s & 1) x[i] = x[i - (1 << s)];"))
    assert bit.decided(statement("(i >> s) % 2 == 1;"), on=True)
    assert bit.decided(statement("i >> h & 1;"), on=True) is None


def test_what_does_nothing() -> None:
    bit = Bit("i", ir.ID("h"))
    body = statement("{ int t = x[i]; if (i & h) { x[i] = t; } }")
    assert does_something(bit.half(body, on=True))
    assert not does_something(bit.half(body, on=False))
