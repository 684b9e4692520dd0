"""Vector loops that step: which keep their mark."""

from __future__ import annotations

import pytest

from scopt.astgen.passes.stepping import without_stepping_vectors
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name, Reduction
from scopt.options import Options
from tests.sources import optimize, scop_of, source_of

SCOP = scop_of("for (i = 0; i < n; i++) x[i] = 0;")


@pytest.mark.parametrize(
    ("step", "mark", "left"),
    [
        (1, LoopMark(simd=True), LoopMark(simd=True)),
        (2, LoopMark(simd=True), LoopMark()),
        (2, LoopMark(parallel=True, simd=True, private=("s",)), LoopMark(parallel=True, private=("s",))),
        # in order, one variable does for all iterations; lanes that put something together stay
        (2, LoopMark(simd=True, private=("s",)), LoopMark()),
        (2, LoopMark(simd=True, reductions=(Reduction("+", "s"),)), None),
    ],
)
def test_loops_that_step_are_no_vector_loops(step: int, mark: LoopMark, left: LoopMark | None) -> None:
    loop = For("i", Const(0), Name("n"), step, Block((Call("S0", (Name("i"),)),)), mark)
    (made,) = without_stepping_vectors(SCOP, LoopNest(Block((loop,))), Options().machine).body.items
    assert isinstance(made, For)
    assert made.mark == (mark if left is None else left)


@pytest.mark.parametrize(("last", "vectors"), [(2, False), (3, True), (4, False), (7, True), (8, True)])
def test_few_iterations_fill_no_vector(last: int, vectors: bool) -> None:
    loop = For("i", Const(0), Const(last), 1, Block((Call("S0", (Name("i"),)),)), LoopMark(simd=True))
    (made,) = without_stepping_vectors(SCOP, LoopNest(Block((loop,))), Options().machine).body.items
    assert isinstance(made, For)
    assert made.mark.simd is vectors


@pytest.mark.parametrize(
    ("table", "vectors"), [("unsigned char", False), ("short", False), ("int", True), ("float", True)]
)
def test_narrow_cells_are_looked_up_one_by_one(table: str, vectors: bool) -> None:
    params = f"int n, const unsigned char *a, const {table} *w, {table} *o"
    text = optimize(source_of("for (i = 0; i < n; i++) o[i] = w[a[i]];", params), Options()).text.decode()
    assert ("simd" in text) is vectors
    assert ("#pragma GCC unroll 4" in text) is not vectors


def test_cells_that_branches_look_up_are_no_vectors_of_private_variables() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) { t = a[i]; if (t != 0) if (w[1] != 0) o[i] ^= w[t]; }",
        "int n, const unsigned char *a, const unsigned char *w, unsigned char *o",
    )
    body = Block(tuple(Call(one.name, (Name("i"),)) for one in scop.statements))
    loop = For("i", Const(0), Name("n"), 1, body, LoopMark(simd=True, private=("t",)))
    (made,) = without_stepping_vectors(scop, LoopNest(Block((loop,))), Options().machine).body.items
    assert isinstance(made, For)
    assert made.mark == LoopMark()


@pytest.mark.parametrize(
    ("body", "vectors"),
    [
        ("if (p[i][0] > 1) v[i][0] = -v[i][0];", False),  # scattered under a mask
        ("{ v[i][0] = p[i][0]; if (v[i][0] > 1) v[i][0] = 1; v[i][1] = 0; v[i][2] = 0; }", True),  # written anyway
        ("if (p[i][0] > 1) y[i] = -y[i];", True),
    ],
)
def test_records_that_data_decide_to_store_are_no_vectors(body: str, vectors: bool) -> None:
    params = "int n, double p[n][3], double v[n][3], double *y"
    text = optimize(source_of(f"for (i = 0; i < n; i++) {body}", params), Options()).text.decode()
    assert ("simd" in text) is vectors


@pytest.mark.parametrize(
    ("second", "vectors"),
    [
        ("a[i][j + 1] = b[i][j + 2]; a[i + 1][j] = 0; a[i + 1][j + 1] = b[i][j];", True),
        ("a[i][j + 1] = b[i][j + 2];", True),
        ("a[i + 1][j] = b[i][j + 2];", False),  # every other cell of two rows
    ],
)
@pytest.mark.parametrize("width", ["m", "600"])
def test_steps_that_store_all_cells_up_to_the_next_are_vectors(second: str, width: str, vectors: bool) -> None:
    params = f"int n, int m, unsigned char a[n][{width}], unsigned char b[n][{width}]"
    loops = "for (i = 0; i < n - 1; i += 2) for (j = 0; j < m - 2; j += 2)"
    text = optimize(source_of(f"{loops} {{ a[i][j] = b[i][j]; {second} }}", params), Options()).text.decode()
    assert ("simd" in text) is vectors


@pytest.mark.parametrize(
    ("cell", "at", "vectors"),
    [
        ("rec[at[i]][{}]", "double rec[64][12]", False),
        ("rec[12 * at[i] + {}]", "double rec[768]", False),
        ("rec[{}][at[i]]", "double rec[12][64]", True),  # no neighbours: lanes do as well
        ("rec[{}][i]", "double rec[12][4000]", True),
    ],
)
def test_records_that_data_look_up_are_gathered_for_many_operations_only(cell: str, at: str, vectors: bool) -> None:
    params = f"int n, int *at, {at}, double *w, double *y, double *z"
    for work, asked in (("w[i] * {0}", vectors), ("sqrt(w[i] * {0} * {0} * w[i] * w[i] + w[i])", True)):
        body = " + ".join(work.format(cell.format(k)) for k in range(12))
        text = optimize(source_of(f"for (i = 0; i < n; i++) y[i] = {body};", params), Options()).text.decode()
        assert ("simd" in text) is asked
