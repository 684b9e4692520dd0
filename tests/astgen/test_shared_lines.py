"""Lines from afar that the rows of a strip read together."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.astgen.shared_lines import share_far_lines
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.marked_schedule import Strips
from scopt.options import Options


def shares(read: str, row: str = "i") -> bool:
    source = f"""void f(int n, int m, long p, double c[n][n], double e[n][n][n], double *g, int *at, double t[m][n]) {{
#pragma scop
for (int z = 0; z < n; z++)
  for (int i = 0; i < m; i++)
    for (int v = 0; v < n; v++)
      for (int u = 0; u < n; u++) t[i][v] += c[u][i] * {read};
#pragma endscop
}}"""
    options = Options()
    tu = parse(source.encode(), "in.c", options)
    scop = extract(tu, tu.regions[0], "scop0")
    (statement,) = scop.statements
    space = f"{statement.name}[{', '.join(statement.iterators)}]"
    lane = isl.UnionPwAff(f"{{ {space} -> [({row})] }}")
    return share_far_lines(scop, Strips((statement.name,), lane, 32, (), ()), options.machine)


@pytest.mark.parametrize("read", ["e[u][v][z]", "e[v][u][z]", "g[(u * v + v) * p + z]"])
def test_two_loops_from_line_to_line(read: str) -> None:
    assert shares(read)


@pytest.mark.parametrize(
    "read",
    [
        "e[z][v][u]",  # along lines
        "e[u][z][0]",  # so few that they stay in the first cache
        "e[u][v][i]",  # another one for each row
        "g[u * v + z]",
        "g[(at[u] * v) * p + z]",  # data may name the same ones again and again
    ],
)
def test_other_lines(read: str) -> None:
    assert not shares(read)


def test_rows_in_loops_inside() -> None:
    assert not shares("e[u][v][z]", "v")
