from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.emit.reparse import check_printed
from scopt.diagnostics import InternalError
from scopt.ir import expr as ex
from scopt.ir.nest import Block, Call, Compare, Const, Exceeds, For, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import items
from scopt.ir.scop import Array, Scop
from tests.astgen.scops import DOUBLE, INT, LONG, SIZE, S, loops, make_scop, parse_statement

PRIVATE = LoopMark(parallel=True, private=("t",))
N, M = Name("n"), Name("m")
WORK = Exceeds((N, ex.add(N, M)), 100)


def example() -> tuple[Scop, LoopNest, Emitted]:
    """A nest with everything: tiles, guards, pragmas, a declaration, two statements."""
    scop = make_scop(
        S("S0[i, j] : 0 <= i < n + m and 0 <= j < n", "A[i][j] = t + (B[i - j] + i) * 2;"),
        S("S1[i] : 0 <= i < n + m and i mod 2 = 0", "f(&C[i], u);"),
        parameters={"n": INT, "m": INT},
        arrays=(Array("t", "t", DOUBLE, private=True, local=True, declaration=parse_statement("double t = 0;")),),
    )
    rows = ("S0[i, j] -> [i]; S1[i] -> [i]", "S0[i, j] -> [j]; S1[i] -> [0]")
    nest = loops(scop, *rows, sizes=(8, 8), marks={0: PRIVATE, 3: LoopMark(simd=True)})
    (outer,) = nest.body.items
    assert isinstance(outer, For)
    nest = LoopNest(Block((replace(outer, work=WORK),)))
    return scop, nest, emit(scop, nest)


EXPECTED = """\
{
  double t;
  #pragma omp parallel for if((double)n * ((long)m + n) > 100) private(t) schedule(static)
  for (long it = 0; it < (long)m + n; it += 8)
"""


def test_the_example_is_as_it_should_be() -> None:
    scop, nest, emitted = example()
    assert emitted.text.startswith(EXPECTED)
    check_printed(scop, nest, emitted)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("double t;", "float t;"),
        ("  double t;\n", ""),
        ("omp parallel for ", "omp for "),
        ("omp parallel for ", "omp parallel for collapse(2) "),
        ("> 100", "> 101"),
        ("if((double)n * ((long)m + n) > 100) ", ""),
        ("(double)n * ((long)m + n)", "(double)n * n"),
        ("((long)m + n)", "(m + n)"),
        ("private(t) ", ""),
        ("private(t)", "private(t, u)"),
        ("private(t)", "firstprivate(t)"),
        ("schedule(static)", "schedule(static) nowait"),
        ("schedule(static)", "schedule(runtime)"),
        ("  #pragma omp simd\n", ""),
        ("long it = 0", "int it = 0"),
        ("long it = 0", "long it = 1"),
        ("it < (long)m + n", "it < m + n"),
        ("it < (long)m + n", "it <= (long)m + n"),
        ("it < (long)m + n", "jt < (long)m + n"),
        ("it += 8", "it += 4"),
        ("i = it", "i = jt"),
        ("it + 8", "it + 7"),
        ("j++", "j--"),
        ("j++", "i++"),
        ("scopt_min(", "scopt_max("),
        ("% 2 == 0", "% 2 == 1"),
        ("A[i][j]", "A[j][i]"),
        ("A[i][j]", "D[i][j]"),
        ("B[i - j]", "B[i + j]"),
        ("B[i - j]", "B[(int)i - j]"),
        ("(B[i - j] + (int)i) * 2", "B[i - j] + (int)i * 2"),
        ("t + (B[i - j] + (int)i) * 2", "(B[i - j] + (int)i) * 2 + t"),
        ("(int)i", "i"),
        ("(int)i", "(long)i"),
        ("(int)i", "(int)j"),
        ("* 2;", "* 2.0;"),
        ("A[i][j] =", "A[i][j] +="),
        ("f(&C[i], u)", "f(C[i], u)"),
        ("f(&C[i], u)", "f(&C[i])"),
        ("f(&C[i], u)", "f(&C[i], i)"),
        ("f(&C[i], u);", "f(&C[i], u); f(&C[i], u);"),
        ("f(&C[i], u);", ";"),
        ("f(&C[i], u);", "f(&C[i], u"),
    ],
)
def test_every_change_is_seen(old: str, new: str) -> None:
    scop, nest, emitted = example()
    assert old in emitted.text
    with pytest.raises(InternalError, match=r"the printed C is not the loop nest"):
        check_printed(scop, nest, replace(emitted, text=emitted.text.replace(old, new, 1)))


def test_layout_does_not_matter() -> None:
    scop, nest, emitted = example()
    text = emitted.text.replace("+ n;", "  +\n n ;").replace("(double)n", "( double ) n")
    check_printed(scop, nest, replace(emitted, text=text))


def test_an_iterator_that_hides_a_variable_is_seen() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = u;"))
    nest = loops(scop, "S0[i] -> [i]")
    (loop,) = nest.body.items
    assert isinstance(loop, For)
    hiding = LoopNest(Block((replace(loop, iterator="u", body=Block((Call("S0", (Name("u"),)),))),)))
    with pytest.raises(InternalError, match="hides 'u'"):
        check_printed(scop, hiding, emit(scop, hiding))


def test_an_iterator_that_hides_an_array_is_seen() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = 0;"))
    (loop,) = loops(scop, "S0[i] -> [i]").body.items
    assert isinstance(loop, For)
    hiding = LoopNest(Block((replace(loop, iterator="A", body=Block((Call("S0", (Name("A"),)),))),)))
    with pytest.raises(InternalError, match="hides 'A'"):
        check_printed(scop, hiding, emit(scop, hiding))


def test_an_iterator_that_hides_an_outer_one_is_seen() -> None:
    scop = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < n", "A[i][j] = 0;"))
    nest = loops(scop, "S0[i, j] -> [i]", "S0[i, j] -> [j]")
    outer, inner = (item for item in items(nest.body) if isinstance(item, For))
    hiding = LoopNest(
        Block(
            (
                replace(
                    outer,
                    body=Block((replace(inner, iterator="i", body=Block((Call("S0", (Name("i"), Name("i"))),))),)),
                ),
            )
        )
    )
    with pytest.raises(InternalError, match="hides another name"):
        check_printed(scop, hiding, emit(scop, hiding))


def test_typedefs_of_the_file_are_types() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = (real)i / (real)2;"), typedefs=("real",))
    nest = loops(scop, "S0[i] -> [i]")
    check_printed(scop, nest, emit(scop, nest))


def test_unsigned_parameters_read_back() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n - 1", "A[i + 1] = i;", SIZE), parameters={"n": SIZE}, typedefs=("size_t",))
    nest = loops(scop, "S0[i] -> [i]")
    emitted = emit(scop, nest)
    assert emitted.text == "for (long i = 0; i < (long)n - 1; i++)\n  A[(size_t)i + 1] = (size_t)i;\n"
    check_printed(scop, nest, emitted)


def test_an_unsigned_parameter_as_the_value_of_a_wide_iterator_reads_back() -> None:
    """The cast to the iterator's type is the one that the parameter needs."""
    statement = S("S0[i, j] : 0 <= i < 9 and j = n", "A[i] = g(j);", LONG)
    scop = make_scop(statement, parameters={"n": SIZE}, typedefs=("size_t",))
    nest = loops(scop, "S0[i, j] -> [i]")
    emitted = emit(scop, nest)
    assert "g(((long)n))" in emitted.text
    check_printed(scop, nest, emitted)
    for other in ("n", "(int)n", "(long)m", "(long)(n + n)"):
        with pytest.raises(InternalError, match=r"the printed C is not the loop nest"):
            check_printed(scop, nest, replace(emitted, text=emitted.text.replace("(long)n", other)))


def test_the_guard_of_a_parallel_vector_loop_is_for_the_threads_only() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n", "A[i] = 0;"))
    (loop,) = loops(scop, "S0[i] -> [i]", marks={0: LoopMark(parallel=True, simd=True)}).body.items
    assert isinstance(loop, For)
    nest = LoopNest(Block((replace(loop, work=Compare(N, ">", Const(9))),)))
    emitted = emit(scop, nest)
    assert "if(parallel: n > 9)" in emitted.text
    check_printed(scop, nest, emitted)
    with pytest.raises(InternalError):
        check_printed(scop, nest, replace(emitted, text=emitted.text.replace("parallel: ", "")))
