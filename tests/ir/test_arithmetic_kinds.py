"""Types that C computes in, by their spellings and the width of `long`."""

from __future__ import annotations

import pytest

from scopt.ir.ctypes import arithmetic_kind, literal_bits


@pytest.mark.parametrize(
    ("spelling", "long_type", "kind"),
    [
        ("long", "long", ("i", 64)),
        ("long", "long long", ("i", 32)),
        ("long unsigned int", "long", ("u", 64)),
        ("unsigned long", "long long", ("u", 32)),
        ("long long", "long", ("i", 64)),
        ("unsigned long long", "long long", ("u", 64)),
        ("unsigned", "long", ("u", 32)),
        ("double", "long", ("f", 64)),
        ("short", "long", None),
        ("size_t", "long", None),
        ("", "long", None),
    ],
)
def test_kinds(spelling: str, long_type: str, kind: tuple[str, int] | None) -> None:
    assert arithmetic_kind(spelling, long_type) == kind


def test_literals() -> None:
    assert literal_bits("", 5, "long") == literal_bits("ul", 5, "long long") == 32
    assert literal_bits("ul", 5, "long") == literal_bits("ull", 5, "long long") == 64
    assert literal_bits("", 1 << 32, "long") == 64
