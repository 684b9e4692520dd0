"""Parts of sums in variables of narrower types: where they are enough, and that nobody takes them elsewhere."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.held_check import check_held
from scopt.astgen.passes.narrow_parts import hold_cells_and_parts
from scopt.diagnostics import InternalError
from scopt.ir.expr import plus
from scopt.ir.nest import Block, Call, Const, For, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Scop
from tests.sources import scop_of

PARAMS = "int n, long m, float *x, double *y, unsigned char *b, long *r, int *w"
SIGN = "static int sign(float d) { return (d > 0) - (d < 0); }\nstatic int far(int d) { return d * d; }"


def made(statement: str, end: str = "n") -> tuple[Scop, LoopNest]:
    """The SCoP and the nest of a loop along rows."""
    body = f"long c = 0;\nfor (i = 0; i < n; i++) for (j = 0; j < {end}; j++) {statement}\nr[0] = c;"
    scop = scop_of(body, PARAMS, SIGN)
    name = next(one.name for one in scop.statements if len(one.iterators) == 2)
    call = Call(name, (Name("i"), Name("j")))
    inner = For("j", Const(0), plus(Name(end), -1), 1, Block((call,)))
    return scop, LoopNest(Block((For("i", Const(0), plus(Name("n"), -1), 1, Block((inner,))),)))


@pytest.mark.parametrize(
    ("statement", "end", "part"),
    [
        ("if (x[i] == x[j]) c++;", "n", "int c_0 = 0;"),
        ("c += sign(x[i] - x[j]) * sign(x[j]);", "n", "int c_0 = 0;"),
        ("c -= x[j] > 3 ? 1 : 0;", "n", "int c_0 = 0;"),
        ("r[i] += x[i] == x[j];", "n", "int r_0 = 0;"),
        ("if (x[i] == x[j]) c++;", "m", ""),  # who knows how often
        ("if (x[i] == x[j]) c += 2;", "n", ""),
        ("c += far(w[j]);", "n", ""),
        ("c += b[j];", "n", ""),
        ("if (y[i] == y[j]) c++;", "n", ""),  # as many lanes as the sum
        ("if (x[j] > c) c++;", "n", ""),
    ],
)
def test_parts_of_sums(statement: str, end: str, part: str) -> None:
    scop, nest = made(statement, end)
    held = hold_cells_and_parts(scop, nest)
    check_held(scop, held)
    text = emit(scop, held).text
    assert ("int c_0 = 0;" in text or "int r_0 = 0;" in text) is bool(part)
    assert part in text


@pytest.mark.parametrize("wrong", ["int c_0 = 1;", "long c_0 = 0;", "short c_0 = 0;", "int c_0 = c;"])
def test_what_is_printed_is_read(wrong: str) -> None:
    scop, nest = made("if (x[i] == x[j]) c++;")
    held = hold_cells_and_parts(scop, nest)
    printed = emit(scop, held)
    check_printed(scop, held, printed)
    for text in (printed.text.replace("int c_0 = 0;", wrong), printed.text.replace("c += c_0;", "c = c_0;")):
        assert text != printed.text
        with pytest.raises(InternalError):
            check_printed(scop, held, replace(printed, text=text))


def test_an_int_has_to_be_enough() -> None:
    scop, nest = made("c += sign(x[j]);")
    held = hold_cells_and_parts(scop, nest)
    check_held(scop, held)
    for wrong in ({"sign": (-2, 1)}, {}):
        with pytest.raises(InternalError, match="may not hold"):
            check_held(replace(scop, returns=wrong), held)


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("if (b[j] != b[i]) q++;", 8192),
        ("q -= b[j] == 7 ? 1 : 0;", 8192),
        ("t = b[j]; if (t < 3 && t >= 1) q += t * t;", 4096),  # four at most
        ("t = b[j]; q += (t < 6) & (t > 2) ? t * t : 0;", 1024),
        ("t = b[j]; if (t < 6 || t == 9) q += t * t;", 0),  # any byte, as far as is known
        ("t = b[j]; if (t < 3) q += 5 * t; q += t;", 0),
        ("if (x[j] > 3) q++;", 0),  # no more lanes than ints have
        ("if (b[j] != b[i]) q++; if (q > 9) p++;", 0),
        ("if (b[2 * j] != b[i]) q++;", 0),
    ],
)
def test_sums_of_narrow_cells_in_blocks(body: str, block: int) -> None:
    loops = f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ {body} }}"
    scop = scop_of(f"int q = 0, p = 0;\n{loops}\nw[0] = q + p;", PARAMS)
    those = [one.name for one in scop.statements if len(one.iterators) == 2]
    inner = For("j", Const(0), plus(Name("n"), -1), 1, Block(tuple(Call(one, (Name("i"), Name("j"))) for one in those)))
    nest = LoopNest(Block((For("i", Const(0), plus(Name("n"), -1), 1, Block((inner,))),)))
    held = hold_cells_and_parts(scop, nest)
    check_held(scop, held)
    printed = emit(scop, held)
    check_printed(scop, held, printed)
    assert ("short q_0 = 0;" in printed.text) is bool(block)
    assert (f"jt += {block})" in printed.text) is bool(block)
    if block:
        longer = LoopNest(map_block(held.body, lambda one: (_twice_as_long(one),)))
        with pytest.raises(InternalError, match="may not hold"):
            check_held(scop, longer)


def _twice_as_long(item: Item) -> Item:
    """A loop over blocks, with the loop inside going beyond what a short holds."""
    if isinstance(item, For) and isinstance(item.upper, Min):
        return replace(item, upper=Min((item.upper.args[0], plus(item.upper.args[1], 1 << 15))))
    return item
