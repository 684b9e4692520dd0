"""Statements that vector instructions have no form of: products of complex numbers."""

from __future__ import annotations

import pytest

from scopt.machine.vector_forms import multiplies_complex, takes_vectors
from tests.sources import scop_of

PARAMS = "int n, double _Complex z[99], float _Complex c, double x[99]"


@pytest.mark.parametrize(
    ("body", "products"),
    [
        ("z[i] = z[i] + x[i] * z[i + 1];", False),
        ("z[i] = z[i] / x[i] - c;", False),
        ("x[i] = creal(z[i]) * cimag(z[i]);", False),
        ("z[i] = z[i] * z[i] + c;", True),
        ("z[i] *= conj(c);", True),
        ("z[i] = 1.0 / z[i];", True),
        ("z[i] = 1.0iF * z[i];", True),
        ("z[i] = (double _Complex)x[i] * (z[i] + 1);", True),
    ],
)
def test_products_of_complex_numbers_have_none(body: str, products: bool) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {body}", PARAMS)
    (statement,) = scop.statements
    assert multiplies_complex(scop, statement) is products
    assert takes_vectors(scop, statement) is not products


def test_functions_of_complex_numbers_are_calls() -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = cabs(z[i]);", PARAMS)
    assert not takes_vectors(scop, scop.statements[0])
