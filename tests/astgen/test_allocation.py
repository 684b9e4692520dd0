"""The library's header beside what a file has for itself."""

from __future__ import annotations

from scopt.astgen.allocation import INCLUDE, beside_macros


def test_macros_like_functions_wait() -> None:
    assert beside_macros(INCLUDE, ["abs", "max"]).split("\n") == [
        '#pragma push_macro("abs")',
        "#undef abs",
        INCLUDE,
        '#pragma pop_macro("abs")',
    ]
    assert beside_macros(INCLUDE, ["max"]) == INCLUDE
    assert beside_macros("int abs;", ["abs"]) == "int abs;"
