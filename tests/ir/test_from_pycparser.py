"""Constants as they are read: what tells their types, and that nobody takes an octal number for a decimal one."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.ir.from_pycparser import parse_c


@pytest.mark.parametrize(
    ("text", "value", "spelling"),
    [
        ("0", "0", "int"),
        ("010", "8", "int"),
        ("010u", "8u", "unsigned int"),
        ("0777l", "511l", "long int"),
        ("017777777777", "2147483647", "int"),
        ("037777777777", "0xffffffff", "unsigned int"),
        ("2147483647", "2147483647", "int"),
        ("2147483648", "2147483648", "long int"),
        ("0x7fffffff", "0x7fffffff", "int"),
        ("0x80000000", "0x80000000", "unsigned int"),
        ("0x100000000", "0x100000000", "long int"),
        ("0xffffffffffffffff", "0xffffffffffffffff", "unsigned long int"),
        ("0b101", "0b101", "int"),
        ("01.5", "01.5", "double"),
        ("'a'", "'a'", "char"),
        ("'ab'", "'ab'", "int"),
        ("L'a'", "L'a'", "wide"),
        ("u'a'", "u'a'", "wide"),
    ],
)
def test_constants(text: str, value: str, spelling: str) -> None:
    constant = parse_c(f"double v = {text};").ext[0].init
    assert isinstance(constant, ir.Constant)
    assert (constant.value, constant.type) == (value, spelling)
