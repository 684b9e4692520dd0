from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.c_expr import HELPERS
from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.emit.loop_work import add_work_guards
from scopt.astgen.emit.reparse import check_printed
from scopt.diagnostics import InternalError
from scopt.ir import expr as ex
from scopt.ir.nest import Block, Call, Compare, Const, Expr, For, If, LoopMark, LoopNest, Mod, Name
from scopt.ir.scop import Array, Scop
from scopt.options import Options
from tests.astgen.scops import (
    DOUBLE,
    INT,
    LONG,
    SIZE,
    TRACING,
    UNSIGNED,
    S,
    function,
    loops,
    make_scop,
    parse_statement,
    parse_trace,
    trace,
)
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARALLEL, SIMD = LoopMark(parallel=True), LoopMark(simd=True)
GEMM = S("S0[i, j, k] : 0 <= i < n and 0 <= j < n and 0 <= k < n", "C[i][j] += A[i][k] * B[k][j];")


def text(scop: Scop, nest: LoopNest) -> str:
    emitted = emit(scop, nest)
    check_printed(scop, nest, emitted)
    assert not any(line != line.rstrip() for line in emitted.text.splitlines())
    return emitted.text


def test_tiled_gemm() -> None:
    scop = make_scop(GEMM)
    rows = ("S0[i, j, k] -> [i]", "S0[i, j, k] -> [k]", "S0[i, j, k] -> [j]")
    nest = add_work_guards(scop, loops(scop, *rows, sizes=(32, 32, 32), marks={0: PARALLEL, 5: SIMD}))
    assert (
        text(scop, nest)
        == """\
#pragma omp parallel for if((double)n * n * n > 200000) schedule(static)
for (long it = 0; it < n; it += 32)
  for (long kt = 0; kt < n; kt += 32)
    for (long jt = 0; jt < n; jt += 32)
      for (long i = it; i < scopt_min(n, it + 32); i++)
        for (long k = kt; k < scopt_min(n, kt + 32); k++) {
          #pragma omp simd
          for (long j = jt; j < scopt_min(n, jt + 32); j++)
            C[i][j] += A[i][k] * B[k][j];
        }
"""
    )


def test_two_statements_and_a_guard() -> None:
    scop = make_scop(
        S("S0[i] : 0 <= i < n", "A[i] = 0;"), S("S1[i] : 0 <= i < n and i mod 2 = 0", "if (A[i]) { B[i] = i; }")
    )
    assert (
        text(scop, loops(scop, "S0[i] -> [i]; S1[i] -> [i]"))
        == """\
for (long i = 0; i < n; i++) {
  A[i] = 0;
  if (i % 2 == 0) {
    if (A[i]) {
      B[i] = (int)i;
    }
  }
}
"""
    )


def branch(*args: int) -> LoopNest:
    """if (n > 0) S0(args[0]) else if (n > -5) S0(args[1]) else two calls."""
    n = Name("n")
    last = Block((Call("S0", (Const(args[2]),)), Call("S0", (Const(args[3]),))))
    inner = If(Compare(n, ">", Const(-5)), Block((Call("S0", (Const(args[1]),)),)), last)
    return LoopNest(Block((If(Compare(n, ">", Const(0)), Block((Call("S0", (Const(args[0]),)),)), Block((inner,))),)))


def test_else_if_chains() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < 9", "f(i);"))
    assert (
        text(scop, branch(1, 2, 3, 4))
        == """\
if (n > 0) {
  f(1);
} else if (n + 5L > 0) {
  f(2);
} else {
  f(3);
  f(4);
}
"""
    )


def test_an_else_does_not_dangle() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "f(i);"))
    i, n = Name("i"), Name("n")
    even = If(Compare(Mod(i, 2, zero_test=True), "==", Const(0)), Block((Call("S0", (i,)),)))
    loop = For("i", Const(0), ex.plus(n, -1), 1, Block((even,)))
    nest = LoopNest(Block((If(Compare(n, ">", Const(3)), Block((loop,)), Block((Call("S0", (Const(0),)),))),)))
    assert (
        text(scop, nest)
        == """\
if (n > 3) {
  for (long i = 0; i < n; i++)
    if (i % 2 == 0)
      f((int)i);
} else {
  f(0);
}
"""
    )


@pytest.mark.parametrize(
    ("element", "value", "last", "spelling"),
    [
        ("unsigned char", "a[i] ^ i", "n - 1", "int"),
        ("short", "i % 3 == 0 ? 1 : a[i]", "2 * n / 3", "int"),
        ("unsigned char", "a[i] ^ i", "n", "long"),
        ("unsigned char", "a[i] ^ 3", "n - 1", "long"),
        ("float", "a[i] * i", "n - 1", "long"),
        ("float", "a[i] * (i % 5)", "n - 1", "int"),
        ("float", "a[i] * (i % 5)", "n", "long"),
    ],
)
def test_narrow_cells_beside_an_iterators_value(element: str, value: str, last: str, spelling: str) -> None:
    loop = f"for (int i = 0; i <= {last}; i++) a[i] = {value};"
    made = optimize(f"void f(int n, {element} *a) {{ {loop} }}", Options(autodetect=True, eager=True))
    assert f"for ({spelling} i = 0;".encode() in made.text


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (PARALLEL, "#pragma omp parallel for schedule(static)"),
        (SIMD, "#pragma omp simd"),
        (LoopMark(parallel=True, simd=True), "#pragma omp parallel for simd schedule(static)"),
        (LoopMark(parallel=True, private=("s", "t")), "#pragma omp parallel for private(s, u) schedule(static)"),
        (LoopMark(simd=True, private=("t",)), "#pragma omp simd private(u)"),
    ],
)
def test_pragmas(mark: LoopMark, expected: str) -> None:
    arrays = (Array("s", "s", DOUBLE), Array("t", "u", DOUBLE))
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = 0;"), arrays=arrays)
    nest = loops(scop, "S0[i] -> [i]", marks={0: mark})
    assert text(scop, nest).splitlines()[0] == expected
    without = emit(scop, nest, openmp=False)
    assert without.text == "for (long i = 0; i < n; i++)\n  A[i] = 0;\n"
    check_printed(scop, nest, without, openmp=False)


@pytest.mark.parametrize(("sizes", "clause"), [((), "schedule(dynamic, 8)"), ((8, 8), "schedule(dynamic)")])
def test_triangles_are_balanced(sizes: Sequence[int], clause: str) -> None:
    scop = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j <= i", "A[i][j] = 0;"))
    nest = loops(scop, "S0[i, j] -> [i]", "S0[i, j] -> [j]", sizes=sizes, marks={0: PARALLEL})
    assert text(scop, nest).splitlines()[0] == f"#pragma omp parallel for {clause}"


def test_tiles_that_take_longest_run_first() -> None:
    growing = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j <= i", "A[i][j] = 0;"))
    rows = "S0[i, j] -> [i]", "S0[i, j] -> [j]"
    nest = loops(growing, *rows, sizes=(8, 8), marks={0: PARALLEL})
    printed = text(growing, nest)
    assert printed.splitlines()[1] == "for (long it = 8 * scopt_floord(n - 1L, 8); it >= 0; it -= 8)"
    assert emit(growing, nest, openmp=False).text.startswith("for (long it = 0; it < n; it += 8)")
    check_printed(growing, nest, emit(growing, nest, openmp=False), openmp=False)
    for wrong in (("n - 1L", "n"), ("it >= 0", "it >= 8"), ("it -= 8", "it -= 4")):
        with pytest.raises(InternalError, match=" of 'it' is "):
            check_printed(growing, nest, replace(emit(growing, nest), text=printed.replace(*wrong, 1)))
    shrinking = make_scop(S("S0[i, j] : 0 <= i < n and i <= j < n", "A[i][j] = 0;"))
    assert "it += 8" in text(shrinking, loops(shrinking, *rows, sizes=(8, 8), marks={0: PARALLEL}))
    serial = loops(growing, *rows, sizes=(8, 8))
    assert "it += 8" in text(growing, serial)
    backwards = emit(growing, nest).text.replace("#pragma omp parallel for schedule(dynamic)\n", "")
    with pytest.raises(InternalError, match="order of the iterations of 'it'"):
        check_printed(growing, serial, replace(emit(growing, serial), text=backwards))


def test_threads_copy_the_variables_that_they_only_read() -> None:
    arrays = (Array("s", "s", DOUBLE), Array("f", "f", DOUBLE), Array("t", "t", DOUBLE))
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = s + f * t;"), arrays=arrays)
    scop = replace(scop, by_value=frozenset({"A", "f", "i", "n", "other", "s", "t"}))
    parallel = {0: LoopMark(parallel=True, private=("t",))}
    only = loops(scop, "S0[i] -> [i]", marks=parallel)
    assert text(scop, only).startswith(
        "#pragma omp parallel for private(t) firstprivate(A, f, n, s) schedule(static)\n"
    )
    written = replace(
        scop_of("for (i = 0; i < n; i++) { x[i] = y[i] * 2; s = x[i]; }"), by_value=frozenset({"i", "n", "s", "x", "y"})
    )
    inner = For(
        "i",
        Const(0),
        Name("n"),
        1,
        Block((Call("S0", (Name("i"),)), Call("S1", (Name("i"),)))),
        LoopMark(parallel=True),
    )
    nest = LoopNest(Block((inner,)))
    printed = emit(written, nest)
    assert "firstprivate(n, x, y)" in printed.text
    for wrong in ("n, s, x, y", "i, n, x, y", "n, u, x, y"):
        with pytest.raises(InternalError, match="firstprivate list"):
            check_printed(written, nest, replace(printed, text=printed.text.replace("n, x, y", wrong)))
    assert "firstprivate" not in text(replace(scop, by_value=frozenset()), only)
    assert "firstprivate" not in text(scop, loops(scop, "S0[i] -> [i]", marks={0: LoopMark(simd=True)}))


HINT = "#ifdef __clang__\n#pragma clang loop unroll(disable)\n#endif\n"


@pytest.mark.parametrize(
    ("upper", "mark", "hinted"),
    [
        (Const(7), SIMD, True),
        (Const(7), LoopMark(parallel=True, simd=True), False),
        (Const(7), PARALLEL, False),
        (Const(1000), SIMD, False),
        (Name("n"), SIMD, False),
    ],
)
def test_clang_keeps_short_vector_loops(upper: Expr, mark: LoopMark, hinted: bool) -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = i;"))
    nest = LoopNest(Block((For("i", Const(0), upper, 1, Block((Call("S0", (Name("i"),)),)), mark),)))
    printed = text(scop, nest)
    assert (f"\n{HINT}for (" in printed) is hinted
    assert printed.count("clang") == (2 if hinted else 0)


def test_clang_may_unroll_what_fills_locals() -> None:
    body = """for (i = 0; i < n; i++) { double v[4]; for (j = 0; j < 4; j++) v[j] = A[i][j];
      for (k = 0; k < 2; k++) y[(int)x[i]] += v[k] * v[k + 2]; }"""
    hinted = body.replace("double v[4];", "").replace("v[", "w[")
    params = "int n, double A[100][4], double *x, double *y, double w[4]"
    printed = [optimize(source_of(one, params), Options(eager=True)).text.decode() for one in (body, hinted)]
    assert [HINT.split(chr(10))[1] in one for one in printed] == [False, True]


def test_a_pointer_has_no_private_copy() -> None:
    scop = make_scop(
        S("S0[i] : 0 <= i < n", "A[i] = 0;"), arrays=(Array("p", "p", DOUBLE, (None,), (None,), pointer=True),)
    )
    with pytest.raises(InternalError, match="private copy"):
        emit(scop, loops(scop, "S0[i] -> [i]", marks={0: LoopMark(parallel=True, private=("p",))}))


def test_locals_are_declared_in_a_block() -> None:
    declaration = parse_statement("double t = 0.5;")
    scop = make_scop(
        S("S0[i] : 0 <= i < n", "t = A[i];"),
        arrays=(Array("t", "t", DOUBLE, local=True, private=True, declaration=declaration),),
    )
    nest = loops(scop, "S0[i] -> [i]", marks={0: LoopMark(parallel=True, private=("t",))})
    assert (
        text(scop, nest)
        == """\
{
  double t;
  #pragma omp parallel for private(t) schedule(static)
  for (long i = 0; i < n; i++)
    t = A[i];
}
"""
    )


def test_another_long_type() -> None:
    scop = replace(
        make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < n", "A[i][j] = i;")), long_type="long long", long_suffix="LL"
    )
    assert (
        text(scop, loops(scop, "S0[i, j] -> [i + j]", "S0[i, j] -> [j]"))
        == """\
for (long long is = 0; is < 2LL * n - 1; is++)
  for (long long j = scopt_max(0, is - n + 1); j < scopt_min(n, is + 1); j++)
    A[is - j][j] = (int)(is - j);
"""
    )


def test_helpers_are_named_and_defined_once() -> None:
    scop = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < n", "A[i][j] = 0;"), reserved=("scopt_max",))
    emitted = emit(scop, loops(scop, "S0[i, j] -> [i + j]", "S0[i, j] -> [j]"))
    assert emitted.helpers == ("scopt_min", "scopt_max")
    assert "scopt_max_(" in emitted.text
    definitions = helper_definitions(emitted.helpers, "long", scop.reserved)
    assert [line.split("(")[0] for line in definitions.splitlines()] == [
        "static inline long scopt_min",
        "static inline long scopt_max_",
    ]
    assert emit(scop, loops(scop, "S0[i, j] -> [i]", "S0[i, j] -> [j]")).helpers == ()


def test_helpers_compute_what_they_say(run_c: RunC) -> None:
    source = (
        helper_definitions(HELPERS, "long", frozenset())
        + """
#include <stdio.h>
int main(void)
{
  for (long n = -9; n <= 9; n++)
    printf("%ld %ld %ld %ld ", scopt_floord(n, 4), scopt_mod(n, 4), scopt_min(n, 2), scopt_max(2, n));
  return 0;
}
"""
    )
    numbers = [int(word) for word in run_c(source, "-Wall", "-Wextra", "-Werror").split()]
    assert numbers == [value for n in range(-9, 10) for value in (n // 4, n % 4, min(n, 2), max(n, 2))]


SANITIZED = ("-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover")
TRACED = [
    (S("S0[i, j] : 0 <= i < n and 0 <= j < n"), ("S0[i, j] -> [i]", "S0[i, j] -> [j]"), (3, 2)),
    (S("S0[t, i] : 0 <= t < n and 1 <= i < n - 1"), ("S0[t, i] -> [t]", "S0[t, i] -> [t + i]"), (4, 4)),
    (S("S0[i, j] : 0 <= i < n and i <= j < n"), ("S0[i, j] -> [-i]", "S0[i, j] -> [-j]"), ()),
    (S("S0[i, j] : 0 <= i < n and 0 <= j < n and (i + j) mod 3 = 0"), ("S0[i, j] -> [j]", "S0[i, j] -> [2i]"), ()),
    (S("S0[i] : 0 <= i < n and i mod 4 = 3"), ("S0[i] -> [-2i]",), ()),
]


@pytest.mark.parametrize("type", [INT, UNSIGNED, LONG, SIZE], ids=lambda t: t.spelling)
def test_printed_loops_run_like_the_nest(run_c: RunC, type) -> None:  # type: ignore[no-untyped-def]
    source, calls, expected = TRACING, [], []
    for number, (statement, rows, sizes) in enumerate(TRACED):
        scop = make_scop(statement, parameters={"n": type}, reserved=("trace",))
        nest = loops(scop, *rows, sizes=sizes)
        body = function(scop, nest, f"region{number}")
        definitions, _, rest = body.partition("\nvoid")
        source += "".join(f"{line}\n" for line in definitions.splitlines() if line not in source) + f"void{rest}"
        for n in (0, 1, 9):
            calls.append(f"region{number}({n});")
            expected += trace(nest, {"n": n})
    printed = run_c(f"{source}int main(void)\n{{\n{''.join(calls)}\n}}\n", *SANITIZED)
    assert parse_trace(printed) == expected


@pytest.mark.parametrize(
    ("domain", "row", "value"),
    [
        ("S0[i] : n - 1 <= i <= n", "S0[i] -> [-i]", "INT_MIN + 1"),
        ("S0[i] : n - 2 <= i < n", "S0[i] -> [i + n]", "INT_MAX"),
        ("S0[i] : n - 2 <= i < n", "S0[i] -> [3i]", "INT_MIN + 2"),
        ("S0[i] : n - 3 <= i <= n - 2 and n + i > 5", "S0[i] -> [i]", "INT_MAX"),
    ],
)
def test_no_index_arithmetic_overflows(run_c: RunC, domain: str, row: str, value: str) -> None:
    scop = make_scop(S(domain), reserved=("trace",))
    nest = loops(scop, row)
    extreme = {"INT_MAX": 2**31 - 1, "INT_MIN + 1": 1 - 2**31, "INT_MIN + 2": 2 - 2**31}[value]
    printed = run_c(f"{TRACING}{function(scop, nest)}int main(void)\n{{\n  region({value});\n}}\n", *SANITIZED)
    assert parse_trace(printed) == trace(nest, {"n": extreme})


GEMM_PROGRAM = """
#include <stdio.h>
#include <string.h>
enum {{ n = 70 }};
static double A[n][n], B[n][n], C[n][n], D[n][n];
{helpers}
int main(void)
{{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = (i * j % 7) / 3.0, B[i][j] = (i - j) / 7.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  memcpy(D, C, sizeof C);
  memset(C, 0, sizeof C);
{text}
  puts(memcmp(C, D, sizeof C) ? "different" : "same");
}}
"""


WARNINGS = ("-O1", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror")


@pytest.mark.parametrize("flags", [("-O2", "-fopenmp"), ("-O3", "-fopenmp", "-ffp-contract=off"), WARNINGS])
def test_parallel_gemm_gives_the_same_bits(run_c: RunC, flags: Sequence[str]) -> None:
    scop = make_scop(GEMM)
    rows = ("S0[i, j, k] -> [i]", "S0[i, j, k] -> [k]", "S0[i, j, k] -> [j]")
    nest = add_work_guards(scop, loops(scop, *rows, sizes=(16, 8, 16), marks={0: PARALLEL, 5: SIMD}))
    emitted = emit(scop, nest)
    program = GEMM_PROGRAM.format(
        text=indent(emitted.text, "  "), helpers=helper_definitions(emitted.helpers, "long", scop.reserved)
    )
    assert run_c(program, *flags) == "same\n"
