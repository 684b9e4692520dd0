"""What regions take for granted about their parameters' values."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.frontend.model.assumptions import Assumptions
from scopt.ir.scop import CType, Parameter
from tests.sources import scop_of

LONGS = tuple(Parameter(name, name, CType("long", integer=True, bits=64)) for name in ("n", "m"))


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < N; i++) x[(size_t)(N - 1) * 3 + i] = y[i];",
        "for (long i = 0; i < N + 1; i++) for (long j = 0; j != i; j++) x[j] = y[(size_t)i];",
    ],
)
def test_what_no_type_holds_is_not_tested(body: str) -> None:
    """A parameter can't exceed 64 bits, whatever it is converted to."""
    scop = scop_of(body, "long N, double *restrict x, double *restrict y", "typedef unsigned long size_t;")
    assert scop.guard is None
    assert "18446744073709551616" not in str(scop.context)


def test_conditions_fit_in_64_bits() -> None:
    """A sum of two parameters may exceed 64 bits: nothing that C could test."""
    assumed = Assumptions()
    assert not assumed.add(isl.Set(f"[n, m] -> {{ : n + m >= {2**63} }}"), (), LONGS)
    assert assumed.values.plain_is_universe()
    assert assumed.add(isl.Set(f"[n, m] -> {{ : n + m >= {2**31} }}"), (), LONGS)
    assert assumed.values.is_equal(isl.Set(f"[n, m] -> {{ : n + m < {2**31} }}"))


@pytest.mark.parametrize(
    ("loops", "limited"),
    [
        ("for (long i = 0; i < m && i < n; i++) x[i] = y[i];", "n"),
        ("for (long i = 0; i < n; i++) x[i] = y[i];", ""),
        ("for (long i = l; i < n; i++) x[i] = y[i];", ""),
        ("for (long i = l; i < n; i++) x[i - l] = y[i - l];", "ln"),
        ("for (int i = 0; i < m; i++) for (long j = 0; j < n; j++) x[i] += y[j];", ""),
        ("for (int i = 0; i < m; i++) x[i] = n;", ""),
    ],
)
def test_values_that_sums_may_not_hold(loops: str, limited: str) -> None:
    """Only where neither endless loops nor endless arrays rule them out."""
    scop = scop_of(loops, "long l, long n, int m, double *restrict x, double *restrict y")
    allowed = scop.guard.parameters if scop.guard is not None else isl.Set("{ : }")
    for name in "lnm":
        large = isl.Set(f"[{name}] -> {{ : {name} = {2**56} }}")
        assert allowed.intersect(large).is_empty() == (name in limited)
