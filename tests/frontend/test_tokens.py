"""Raw tokens: comments, strings, directives and continuations."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from scopt.frontend.text.tokens import directive_words, is_line_directive, scan


def texts(source: bytes) -> list[tuple[str, str]]:
    return [(t.kind, t.text) for t in scan(source).tokens]


def test_words_numbers_and_operators() -> None:
    assert texts(b"a->b <<= 0x1fu + 1.5e-3;") == [
        ("word", "a"),
        ("punct", "->"),
        ("word", "b"),
        ("punct", "<<="),
        ("number", "0x1fu"),
        ("punct", "+"),
        ("number", "1.5e-3"),
        ("punct", ";"),
    ]


def test_strings_hide_comments_and_comments_hide_strings() -> None:
    assert texts(b'"/* no */" // "no\n/* \' */ \'"\'') == [
        ("string", '"/* no */"'),
        ("comment", '// "no'),
        ("comment", "/* ' */"),
        ("string", "'\"'"),
    ]


@pytest.mark.parametrize(
    ("source", "directive"),
    [
        (b"# pragma scop\nx", "# pragma scop"),
        (b"#pragma \\\n scop\nx", "#pragma \\\n scop"),
        (b"#pragma \\\r\n scop\r\nx", "#pragma \\\r\n scop"),
        (b"/* a\n */ #define A /* b\n c */ 1\nx", "#define A /* b\n c */ 1"),
        (b"#error don't\nx", "#error don't"),
        (b"%:define A\nx", "%:define A"),
    ],
)
def test_a_directive_is_one_logical_line(source: bytes, directive: str) -> None:
    kinds = texts(source)
    assert ("directive", directive) in kinds
    assert kinds[-1] == ("word", "x")


def test_a_hash_inside_a_line_is_no_directive() -> None:
    assert all(kind != "directive" for kind, _ in texts(b"int a; # pragma scop"))


def test_directive_words() -> None:
    assert directive_words("#  pragma \\\r\n scop // x") == ["pragma", "scop"]
    assert directive_words('#include "a b.h"') == ["include", '"a b.h"']


def test_lines_and_columns() -> None:
    raw = scan(b"ab\r\n\tc\nlast")
    offset = raw.text.index("c")
    assert (raw.line(offset), raw.column(offset)) == (2, 2)
    assert raw.text[raw.line_start(offset) : raw.line_end(offset)] == "\tc\n"
    assert raw.line_end(len(raw.text) - 1) == len(raw.text)


@given(st.binary(max_size=60))
def test_any_bytes_are_cut_without_loss(source: bytes) -> None:
    raw = scan(source)
    position = 0
    for token in raw.tokens:
        assert token.start >= position
        assert raw.text[token.start : token.end] == token.text
        between = raw.text[position : token.start]
        assert not between.replace("\\\n", "").replace("\\\r\n", "").strip(" \t\n\r\f\v")
        position = token.end


def test_numbers_and_names_say_no_line() -> None:
    tokens = scan(b"line = 3;\n# 7\n#line 5\n#pragma line\n").tokens
    assert [token.text for token in tokens if is_line_directive(token)] == ["# 7", "#line 5"]
