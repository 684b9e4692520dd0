"""What pays: regions whose work nobody knows are no error."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import islpy as isl

from scopt.astgen.worth import _extent, _scaled, most_work
from scopt.ir.nest import Compare, Const, Exceeds, Name
from scopt.options import Options
from scopt.pipeline import optimize
from tests.sources import scop_of


def test_how_often_a_loop_runs_that_only_its_outer_one_bounds() -> None:
    machine = Options().machine
    assert most_work(scop_of("for (i = 2; i <= n; i++) for (j = n; j > i; j--) x[j - 2] -= x[j];"), machine) is None
    work = most_work(scop_of("for (i = 2; i <= 50; i++) for (j = 50; j > i; j--) x[j - 2] -= x[j];"), machine)
    assert work is not None
    assert work > 1000


def test_iterators_that_only_parameters_bound_have_no_extent() -> None:
    """A stride that depends on a parameter makes isl take the dimension for bounded."""
    space = (
        "[n] -> { S[b, i, m] : b mod 32 = 0 and b <= i <= b + 31 and i >= 0 and (n + m) mod 2 = 0 and 0 <= m <= n - 2 }"
    )
    scop = cast(Any, SimpleNamespace(statements=[SimpleNamespace(name="S", domain=isl.Set(space))]))
    assert [_extent(scop, "S", dimension) for dimension in range(3)] == [None, 32, None]


def test_vectors_make_original_loops_quicker_whatever_the_test_of_work_is_like() -> None:
    """A product of extents, and one of them alone, have to be worth a fork with all lanes."""
    product, single = Exceeds((Name("n"), Name("m")), 5000), Compare(Name("n"), ">", Const(5000))
    assert _scaled(product, 8) == Exceeds((Name("n"), Name("m")), 40000)
    assert _scaled(single, 8) == Compare(Name("n"), ">", Const(40000))
    assert _scaled(Compare(Name("n"), "==", Const(1)), 8) == Compare(Name("n"), "==", Const(1))


def test_the_work_of_the_source_is_asked_for_where_strips_run_other_statements() -> None:
    """Rows beside each other: their statements aren't those of the SCoP that the original loops are built from."""
    source = """void f(int m, int n, const float *in, float *out) {
  for (int c = 0; c < m; c++) {
    float z = 0;
    for (int i = 0; i < n; i++) { z = 0.5f * in[c * n + i] - 0.3f * z; out[c * n + i] = z; }
  }
}
"""
    result = optimize(source, Options(autodetect=True))
    assert [region.transformed for region in result.regions] == [True]
    assert "if ((double)m * n > " in result.text.decode()
