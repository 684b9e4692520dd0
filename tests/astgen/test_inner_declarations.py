"""Where local arrays are declared: in the loop whose iterations have one each, or around all loops."""

from __future__ import annotations

import pytest

from scopt.astgen.emit.inner_declarations import copied_names, inner_declarations
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name
from scopt.options import Options
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, double *restrict x, double *restrict y, double *restrict z, double a[restrict n][n]"


@pytest.mark.parametrize(
    ("body", "around"),
    [
        # iterations wait for each other: a loop of one thread
        ("for (i = 1; i < n; i++) { double r[3]; r[0] = x[i - 1]; r[1] = y[i]; x[i] = r[0] * r[1]; }", "for (long i"),
        (
            "for (i = 1; i < n; i++) for (j = 1; j < n; j++) {"
            " double r[3]; r[0] = z[i - 1]; r[1] = x[j - 1]; z[i] = x[j] + r[0]; x[j] = r[0] * r[1]; }",
            "for (long j",
        ),
        # one of all iterations of the inner loop, and one of all loops
        (
            "for (i = 1; i < n; i++) { double r[3]; r[0] = z[i - 1]; for (j = 1; j < n; j++) {"
            " r[0] = r[0] * x[j - 1]; x[j] = r[0]; } z[i] = r[0]; }",
            "for (long i",
        ),
        ("double r[3]; r[0] = 0; for (i = 1; i < n; i++) { r[0] = r[0] * x[i - 1] + 1; x[i] = r[0]; }", "{"),
    ],
)
def test_where_an_array_is_declared(body: str, around: str) -> None:
    lines = optimize(source_of(body, PARAMS), Options()).text.decode().splitlines()
    (place,) = [number for number, line in enumerate(lines) if "double r[3];" in line and "for" not in line]
    assert lines[place - 1].strip().startswith(around)


def test_a_part_of_a_loop_that_does_not_use_the_array_does_not_name_it() -> None:
    """A loop of threads over two loops, from the same band as the one that declares the array."""
    body = "for (i = 0; i < n; i++) { double r[3]; r[0] = x[i]; y[i] = r[0]; } for (i = 0; i < n; i++) y[i] = 0;"
    scop = scop_of(body, PARAMS)
    uses = [one.name for one in scop.statements if any(access.array == "r" for access in one.accesses)]
    (other,) = (one.name for one in scop.statements if one.name not in uses)

    def loop(collapse: int, *names: str) -> For:
        called = Block(tuple(Call(name, (Name("i"),)) for name in names))
        return For("i", Const(0), Const(9), 1, called, LoopMark(parallel=True, private=("r",), collapse=collapse))

    nest = LoopNest(Block((loop(1, *uses), loop(2, other))))
    inner = inner_declarations(scop, nest)
    for one in nest.body.items:
        assert isinstance(one, For)
        assert copied_names(one, inner[id(one)]) == ()
    assert [[one.declaration is None for one in inner[id(loop)]] for loop in nest.body.items] == [[False], [True]]
