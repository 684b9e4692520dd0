"""Strips in two forms: which may ask at their ends whether all of their iterations lie inside, and what is printed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.interiors import interior_of
from scopt.astgen.emit.reparse import check_printed
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name, Sum
from scopt.ir.scop import Scop
from tests.sources import scop_of

PARAMS = "int n, int m, const int d[restrict 99], double x[restrict 64], const double y[restrict 99]"
GIVES, ASKS = "k = j + d[i];", "if (k >= 0 && k < m) x[j] += y[k];"
ROW, J = Name("i"), Name("j")


def strip(body: str = GIVES + ASKS, params: str = PARAMS, last: int = 31) -> tuple[Scop, LoopNest, For]:
    """A loop over strips of one row."""
    scop = scop_of(f"for (i = 0; i < n; i++) for (j = 0; j < 64; j++) {{ {body} }}", params)
    calls = tuple(Call(one.name, (ROW, J)) for one in scop.statements)
    inner = For("j", Const(0), Const(last), 1, Block(calls), LoopMark(simd=True, private=("k",)))
    return scop, LoopNest(Block((For("i", Const(0), Sum(((1, Name("n")),), -1), 1, Block((inner,))),))), inner


def test_the_ends_are_asked() -> None:
    scop, nest, inner = strip()
    found = interior_of(scop, inner)
    assert found is not None
    assert [call.args[1] for call in found.ends] == [Const(0)] * 2 + [Const(31)] * 2
    emitted = emit(scop, nest)
    check_printed(scop, nest, emitted)
    assert emitted.text.count("if (k >= 0 && k < m)") == 1
    assert emitted.text.count("if (!(k >= 0 && k < m))") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = 31 + d[i];", "k = 30 + d[i];"),
        ("if (!(k >= 0 && k < m))", "if (!(k >= 0))"),
        ("scopt_inside = 0;", "scopt_inside = 1;"),
        ("int scopt_inside = 1;", "int scopt_inside = 0;"),
        ("  int k;\n", ""),
        ("if (scopt_inside) {", "if (!scopt_inside) {"),
        ("if (scopt_inside) {", "if (n) {"),
    ],
)
def test_other_questions_are_refused(old: str, new: str) -> None:
    scop, nest, _ = strip()
    emitted = emit(scop, nest)
    assert old in emitted.text
    with pytest.raises(InternalError):
        check_printed(scop, nest, replace(emitted, text=emitted.text.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("j + d[i]", "j * j + d[i]"),  # what holds at both ends need not hold between
        ("j + d[i]", "d[j]"),
        ("j + d[i]", "d[i]"),  # compilers take that out of the loop
        ("x[j] += y[k]", "d[j] += 1"),  # what the question is about may change
        ("k < m", "k != m"),
        ("k >= 0 && k < m", "k >= 0 || k < m"),
        ("x[j] += y[k];", "x[j] += y[k]; else x[j] = 0;"),
        ("const int d", "const unsigned d"),
        ("const int d", "const long d"),
        ("k >= 0", "k >= x[0]"),
    ],
)
def test_strips_that_stay_as_they_are(old: str, new: str) -> None:
    scop, _, inner = strip((GIVES + ASKS).replace(old, new), PARAMS.replace(old, new))
    assert interior_of(scop, inner) is None


def test_short_and_long_loops_stay_as_they_are() -> None:
    for last in (6, 64):
        scop, _, inner = strip(last=last)
        assert interior_of(scop, inner) is None
