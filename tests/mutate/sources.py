"""The programs: small ones, a region each, that together take every step from a schedule to C text."""

from __future__ import annotations

from tests.mutate.contractions import CHOLESKY, FOLDING, GEMM, MAXPLUS, SYMM, SYRK, TRMM
from tests.mutate.guarded import GUARDED, SHIFTED, SMOOTHED
from tests.mutate.nested import ADI, FILTER, HEAT, JACOBI, LAYERS, LINE, PANELS, SEIDEL
from tests.mutate.plain import (
    AGAIN,
    ALIGNED,
    COLUMNS,
    CONDITIONS,
    FLOYD,
    HISTOGRAM,
    NEAREST,
    PRODUCTS,
    RECORDS,
    SCALARS,
    SMALL,
    SOLVED,
    STEPPED,
    STRIDES,
    SUMS,
    TWICE,
    WEIGHTS,
)

SOURCES = (
    GEMM,
    SYRK,
    TRMM,
    CHOLESKY,
    MAXPLUS,
    FOLDING,
    SYMM,
    ADI,
    FILTER,
    PANELS,
    HEAT,
    JACOBI,
    SEIDEL,
    LAYERS,
    LINE,
    PRODUCTS,
    RECORDS,
    TWICE,
    SOLVED,
    FLOYD,
    SCALARS,
    SUMS,
    COLUMNS,
    HISTOGRAM,
    WEIGHTS,
    STRIDES,
    STEPPED,
    NEAREST,
    AGAIN,
    ALIGNED,
    CONDITIONS,
    SMALL,
    GUARDED,
    SMOOTHED,
    SHIFTED,
)
