"""What copying operands into packed memory costs, as far as it decides about register tiles."""

from __future__ import annotations

from scopt.options import Options
from tests.sources import optimize, source_of

SUMS = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { c[i][j] = 0;
  for (k = 0; k < l; k++) c[i][j] += a[i][k] * b[j][k]; }"""


def _has_tiles(size: int, cells: str, operands: str) -> bool:
    """Whether products of matrices of so many rows and columns run in register tiles."""
    shape = f"[{size}][{size}]"
    params = f"int n, int m, int l, {cells} c{shape}, {operands} a{shape}, {operands} b{shape}"
    return "scopt_tile_" in optimize(source_of(SUMS, params), Options()).text.decode()


def test_narrow_operands_are_turned_one_by_one() -> None:
    """That takes as long as it saves where matrices are small."""
    assert not _has_tiles(170, "int", "unsigned short")
    assert _has_tiles(900, "int", "unsigned short")
    assert _has_tiles(170, "int", "short")  # multiplied in pairs
    assert _has_tiles(170, "int", "int")
