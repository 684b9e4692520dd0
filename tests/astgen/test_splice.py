"""Replacing byte ranges of a file."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from scopt.astgen.splice import as_bytes, splice


def test_replacements_in_any_order() -> None:
    assert splice(b"0123456789", [(6, 8, b"ab"), (0, 1, b""), (3, 3, b"xyz")]) == b"12xyz345ab89"


def test_nothing_to_replace() -> None:
    assert splice(b"a\r\n\xff", []) == b"a\r\n\xff"


@pytest.mark.parametrize(
    "replacements", [[(0, 3, b""), (2, 4, b"")], [(0, 5, b""), (1, 2, b"")], [(1, 3, b"a"), (1, 3, b"b")]]
)
def test_overlaps_are_an_error(replacements: list[tuple[int, int, bytes]]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        splice(b"0123456789", replacements)


@pytest.mark.parametrize("replacement", [(-1, 2, b""), (3, 2, b""), (0, 11, b"")])
def test_ranges_outside_are_an_error(replacement: tuple[int, int, bytes]) -> None:
    with pytest.raises(ValueError, match="outside"):
        splice(b"0123456789", [replacement])


@given(
    st.binary(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), st.binary(max_size=5)), max_size=5),
)
def test_bytes_outside_stay(source: bytes, raw: list[tuple[int, int, bytes]]) -> None:
    replacements, position = [], 0
    for gap, length, text in raw:
        start = position + gap
        if start + length > len(source):
            break
        replacements.append((start, start + length, text))
        position = start + length
    result = splice(source, replacements)
    expected, position = b"", 0
    for start, end, text in replacements:
        expected += source[position:start] + text
        position = end
    assert result == expected + source[position:]


def test_whole_lines() -> None:
    text = "for (;;) {\n\n  x;\n}\n#pragma omp simd\n#if A\ny;\n"
    assert (
        as_bytes(text, indent="\t", newline="\r\n")
        == b"\tfor (;;) {\r\n\r\n\t  x;\r\n\t}\r\n\t#pragma omp simd\r\n#if A\r\n\ty;\r\n"
    )


def test_inside_a_line() -> None:
    assert as_bytes("a;\nb;\n", indent="  ", whole_lines=False) == b"a;\n  b;"
    assert as_bytes("#pragma omp simd\nb;\n", indent="  ", whole_lines=False) == b"\n  #pragma omp simd\n  b;"


def test_a_directive_at_the_end_inside_a_line_is_followed_by_a_newline() -> None:
    # What stands after it on the line would be taken for a part of it.
    assert (
        as_bytes("#if N == 3\na;\n#endif\n", whole_lines=False, newline="\r\n") == b"\r\n#if N == 3\r\na;\r\n#endif\r\n"
    )


def test_characters_are_bytes() -> None:
    assert as_bytes('s = "\xe9";') == b's = "\xe9";\n'
