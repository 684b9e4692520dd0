"""Conditionals of the preprocessor inside of functions, decided for one build."""

import pytest

from scopt.frontend.text.decided_conditionals import with_decided_conditionals
from scopt.options import Options
from tests.sources import optimize

SOURCE = b"""\
#ifdef LONG
typedef long word;
#else
typedef int word;
#endif
#define PUT(a) a
word f(int n, word *x) {
  for (int i = 0; i < n; i++) {
#if defined(PUT) /* of two
  lines */
#ifdef BAD
    it's left out (
#elif 1
    x[i] = 2 * x[i];
#endif
#else
    /* none */ }
#endif
    PUT(
#ifdef LONG
    x[i] += 3;
#endif
    )
  }
#ifndef LONG
  return 1;
#endif
  return __LINE__;
}
"""


def decided(source: bytes, *flags: str) -> bytes:
    return with_decided_conditionals(source, "in.c", Options(cc="gcc", cpp_flags=flags))


def test_what_is_left_out_is_blank() -> None:
    result = decided(SOURCE)
    assert len(result) == len(SOURCE)
    assert result.count(b"\n") == SOURCE.count(b"\n")
    assert b"    x[i] = 2 * x[i];\n" in result
    assert b"  return 1;\n" in result
    assert not any(word in result for word in (b"BAD", b"left out", b"none", b"lines", b"#ifndef"))
    # outside of functions, and among what a macro is given, all is as it was
    assert result.count(b"#ifdef LONG\n") == 2
    assert b"return 1" not in decided(SOURCE, "-DLONG")


@pytest.mark.parametrize(
    "line",
    [
        b"#if __LINE__ > 3\n  n = 1;\n#endif",  # says something else where it stands elsewhere
        b"/* */ #if 1\n  n = 1;\n#endif",
        b"#if 1\n  n = 1;\n#error no\n#endif",
        b'#ifndef AGAIN\n#define AGAIN\n}\n#include "in.c"\nint h(int n) {\n#endif',
    ],
)
def test_what_cannot_be_decided_stays(line: bytes) -> None:
    source = b"int g(int n) {\n" + line + b"\n  return n;\n}\n"
    assert decided(source) == source


def test_pragmas_for_other_compilers() -> None:
    source = b"int f(int n) {\n#pragma ivdep\n  for (;;) ;\n#pragma GCC ivdep\n}\n"
    assert decided(source) == source.replace(b"#pragma ivdep", b"             ")


def test_loops_with_conditionals() -> None:
    source = SOURCE.replace(b"PUT(\n#ifdef LONG\n    x[i] += 3;\n#endif\n    )", b"")
    options = Options(cc="gcc", autodetect=True, eager=True)
    assert not any(region.transformed for region in optimize(source, options).regions)
    once = Options(cc="gcc", autodetect=True, eager=True, decide_conditionals=True)
    assert [region.transformed for region in optimize(source, once).regions] == [True]
    untouched = SOURCE.replace(b"x[i] = 2 * x[i]", b"g()")
    assert optimize(untouched, once).text == untouched
