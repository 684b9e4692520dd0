"""Macros with the names of words that scopt writes: there are no directives of OpenMP then, or nothing is changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scopt.clause_words import WORDS
from scopt.options import Options
from tests.sources import optimize

GOLDEN = Path(__file__).parent.parent / "golden/expected"
BODY = """
void scale(int n, double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = B[i][j] * n;
#pragma endscop
}
"""


@pytest.mark.parametrize("macro", ["private", "private static", "schedule(x)", "for for", "simd 8"])
def test_no_directives_where_a_macro_would_change_them(macro: str) -> None:
    result = optimize(f"#define {macro}\n{BODY}", Options(), file="in.c")
    assert result.regions[0].transformed
    assert b"#pragma omp" not in result.text
    assert "pragma.macro" in [remark.id for remark in result.remarks]


@pytest.mark.parametrize("macro", ["max(a, b) ((a) > (b) ? (a) : (b))", "static(x) x", "privates", "N 300"])
def test_other_macros_are_in_no_ones_way(macro: str) -> None:
    result = optimize(f"#define {macro}\n{BODY}", Options(), file="in.c")
    assert b"#pragma omp parallel for" in result.text
    assert "pragma.macro" not in [remark.id for remark in result.remarks]


def test_a_size_with_such_a_name() -> None:
    result = optimize("#define dynamic 300\n" + BODY.replace("i < n", "i < dynamic"), Options(), file="in.c")
    assert result.regions[0].transformed
    assert b"#pragma omp" not in result.text


def test_without_static_there_would_be_functions_for_all_files() -> None:
    for options in (Options(), Options(parallel=False), Options(cpp_flags=("-Dstatic=",))):
        result = optimize(BODY if options.cpp_flags else f"#define static\n{BODY}", options, file="in.c")
        assert not result.regions[0].transformed
        assert [remark.id for remark in result.remarks] == ["region.static-macro"]


def test_who_wants_no_directives_is_told_nothing() -> None:
    result = optimize(f"#define private\n{BODY}", Options(parallel=False, simd=False), file="in.c")
    assert "pragma.macro" not in [remark.id for remark in result.remarks]


def test_all_words_of_directives_are_known() -> None:
    """What stands in parentheses of `if` and behind a colon is the user's."""
    lines = {line for file in GOLDEN.glob("*.c") for line in re.findall(r"#pragma (omp .*)", file.read_text("latin-1"))}
    names = {
        word
        for line in lines
        for word in re.findall(r"\b([a-z]+)\(", re.sub(r"if\(.*?\)(?= schedule| private|$)", "if()", line))
    }
    plain = {word for line in lines for word in re.split(r" \w+\(", line)[0].split()}
    kinds = {kind for line in lines for kind in re.findall(r"schedule\((\w+)", line)}
    assert {"parallel", "simd", "schedule", "dynamic"} <= names | plain | kinds <= WORDS
