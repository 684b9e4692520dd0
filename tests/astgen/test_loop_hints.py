"""Which loops gcc is asked to unroll, or to keep, and that such a line is read as what it is."""

from __future__ import annotations

import pytest

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.loop_hints import HINT, KEPT, NOT_UNROLLED, UNROLLED, leaves_roots
from scopt.ir.expr import plus
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name
from scopt.options import Options
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int *restrict a, int *restrict b, unsigned *restrict u, double *restrict x, int c[1000]"


def printed(body: str) -> str:
    return optimize(source_of(body, PARAMS), Options()).text.decode()


@pytest.mark.parametrize(
    "body",
    [
        "k = 0; for (i = 0; i < n; i++) { k += a[i]; b[i] = k; }",
        "for (i = 1; i < n; i++) u[i] = u[i] > u[i - 1] ? u[i] : u[i - 1];",
        "for (i = 1; i < n; i++) for (j = 1; j < 999; j++) c[j] += c[j - 1] + c[j + 1];",
    ],
)
def test_integers_that_are_handed_on(body: str) -> None:
    assert f"{UNROLLED}\n" in printed(body)


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 1; i < n; i++) x[i] += x[i - 1];",
        "for (i = 0; i < n; i++) b[i] = b[i] + a[i];",
        "for (j = 0; j < 1000; j++) { k = 0; for (i = 1; i < n; i++) k += a[i] * b[i + j]; c[j] = k; }",
        "k = 0; for (i = 0; i < n; i++) { if (a[i] > 7) k += a[i]; b[i] = k; }",
        "for (i = 1; i < n; i++) for (j = 1; j < 17; j++) c[j] += c[j - 1];",
    ],
)
def test_others(body: str) -> None:
    assert UNROLLED not in printed(body)


LEVELS = (
    "for (i = 0; i < n; i++) for (j = 0; j < 999; j++) c[j] = 2 * a[i];"
    " for (i = 0; i < n; i++) b[i] = 2 * a[i];"
    " for (k = 0; k < %s; k++) { int q = %s, m = n >> k; for (i = 0; i < m; i++) a[i] = %s; }"
)


@pytest.mark.parametrize(
    ("levels", "number", "value", "asked"),
    [
        ("3", "6 - 2 * k", "a[i] / q", True),
        ("3", "6 - 2 * k", "a[i] * q", False),
        ("3", "c[k]", "a[i] / q", False),  # no number
        ("5", "12 - 2 * k", "a[i] / q", False),  # more than the directive asks for
    ],
)
def test_levels_with_divisors_of_their_own(levels: str, number: str, value: str, asked: bool) -> None:
    text = printed(LEVELS % (levels, number, value))
    assert "q = " in text
    assert (f"{UNROLLED}\n" in text) == asked, text


SUMS = "for (i = 0; i < n; i++) { k = 0; for (j = 0; j < %d; j++) { %s; } b[i] = k; }"
ROWS = "int n, int m, const signed char a[restrict n][m], const short c[restrict n][16], int *restrict b"


@pytest.mark.parametrize(
    ("steps", "sums", "kept"),
    [
        (16, "int d = a[i][j] - c[3][j]; k += d < 0 ? -d : d", 2),
        (16, "k += c[i][j] * c[i][j]", 0),  # neighbours, of which gcc puts vectors together
        (24, "k += a[i][j] * a[i][j]", 0),  # gcc doesn't write it out
        (16, "k += j > 3 && a[i][j] > 3", 0),
    ],
)
def test_small_sums_that_gcc_would_write_out(steps: int, sums: str, kept: int) -> None:
    text = optimize(source_of(SUMS % (steps, sums), ROWS), Options()).text.decode()
    assert text.count(KEPT[1]) == kept


BLOCKS = "for (i = 0; i < n; i++) { k = 0; for (int y = 0; y < m; y++) for (j = 0; j < 8; j++) { %s; } b[i] = k; }"
BYTES = "int n, int m, const unsigned char a[restrict n][m], const unsigned char c[restrict n][m], int *restrict b"


@pytest.mark.parametrize(
    ("sums", "kept"),
    [
        ("int d = a[y][i + j] - c[y][j]; k += d < 0 ? -d : d", 2),
        ("k += abs(a[y][i + j] - c[y][j])", 2),
        ("k += a[y][i + j] * c[y][j]", 0),  # which gcc has vectors for once both loops are written out
        ("int d = a[y][i + j] - c[y][j]; k += d < 1 ? -d : d", 0),
    ],
)
def test_sums_over_two_loops_are_kept_where_they_are_distances_of_bytes(sums: str, kept: int) -> None:
    text = optimize(source_of(BLOCKS % sums, BYTES), Options()).text.decode()
    assert text.count(KEPT[1]) == kept


SEARCH = """for (i = 0; i < n; i++) {
    int sum = 0;
    for (int y = 0; y < m; y++) {
        for (int x = 0; x < %d; x++) sum += %s;
        if (sum >= b[i]) %s;
    }
    b[i] = sum;
}"""


@pytest.mark.parametrize(
    ("steps", "adds", "jump", "kept"),
    [
        (16, "abs(a[y][x] - c[i][x])", "break", 2),
        (8, "c[y][i + x] * c[i][x]", "break", 2),
        (12, "abs(a[y][x] - c[i][x])", "break", 0),
        (16, "a[y][2 * x]", "break", 0),
        (16, "a[y][x] > 3 && c[i][x] > 3", "break", 0),
        (16, "abs(a[y][x] - c[i][x])", "sum--", 0),  # compilers may take the loop around
    ],
)
def test_small_sums_in_loops_that_end_early(steps: int, adds: str, jump: str, kept: int) -> None:
    text = optimize(source_of(SEARCH % (steps, adds, jump), ROWS), Options()).text.decode()
    assert text.count(KEPT[1]) == kept


def test_sums_in_buffers_are_none_of_an_arrays() -> None:
    body = (
        "for (i = 0; i < n; i++) { float all = 0; for (j = 0; j < 16; j++) { float most = 0; for (k = 0; k < n; k++)"
        " most = z[k][i] * j > most ? z[k][i] * j : most; all += 1 / (1 + most); } y[i] = all; }"
    )
    text = optimize(source_of(body, "int n, float z[restrict n][n], float *restrict y"), Options()).text.decode()
    assert "all_rows" in text  # strips, whose parts in pieces of eight have a loop of sixteen iterations


def test_the_line_is_about_a_loop() -> None:
    assert HINT.sub("", f"  {UNROLLED}\n  for (;;)\n") == "  for (;;)\n"
    assert UNROLLED in HINT.sub("", f"  {UNROLLED}\n  k = 0;\n")


@pytest.mark.parametrize(("statement", "left"), [("x[i] = sqrt(z[i])", True), ("x[i] = 2 * z[i]", False)])
def test_roots_at_the_end_of_a_strip(statement: str, left: bool) -> None:
    """Where the sums are unrolled, clang may find no vectors any more in what follows them: 32 iterations stay."""
    params, first = "int n, double *restrict x, double *restrict z", Name("rowt")
    scop = scop_of(f"for (i = 0; i < n; i++) {statement};", params, "double sqrt(double);")
    inner = For("i", first, plus(first, 31), 1, Block((Call("S0", (Name("i"),)),)), LoopMark(simd=True))
    assert leaves_roots(scop, inner) == left
    strips = For("rowt", Const(0), plus(Name("n"), -32), 32, Block((inner,)))
    assert (NOT_UNROLLED[1] in emit(scop, LoopNest(Block((strips,)))).text) == left


@pytest.mark.parametrize(
    ("length", "ctype", "width", "vectors"),
    [(16, "double", 8, 2), (8, "double", 8, 1), (16, "float", 16, 1), (12, "double", 0, 0), (8, "float", 0, 0)],
)
def test_one_or_two_vectors_are_taken_at_once(length: int, ctype: str, width: int, vectors: int) -> None:
    first = Name("rowt")
    scop = scop_of("for (i = 0; i < n; i++) x[i] = 2 * z[i];", f"int n, {ctype} *restrict x, {ctype} *restrict z")
    inner = For("i", first, plus(first, length - 1), 1, Block((Call("S0", (Name("i"),)),)), LoopMark(simd=True))
    strips = For("rowt", Const(0), plus(Name("n"), -length), length, Block((inner,)))
    printed = emit(scop, LoopNest(Block((strips,)))).text
    at_once = f" vectorize_width({width}) interleave_count({vectors})" if width else ""
    assert f"unroll(disable){at_once}\n" in printed
    assert "clang" not in HINT.sub("", printed)
