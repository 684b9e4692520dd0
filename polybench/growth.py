"""C with a SCoP of any number of statements, for measuring how scheduling time grows with it."""

from __future__ import annotations

# Statements of one nest; the sizes that are measured unless others are asked for.
STATEMENTS_A_NEST = 5
SIZES = (5, 10, 20, 50, 100, 150, 200)


def source_of_size(statements: int) -> str:
    """A C file with one region of `statements` statements (a positive multiple of `STATEMENTS_A_NEST`), five a nest.

    Nests of depth 2 and 3 take turns. Each writes five arrays of its own, its first statement from the last array of
    the nest before. The statements of a nest depend on each other in a cycle: depth 2 is a sweep (i, j), depth 3 a
    stencil (t, i, j) in place.
    Raises ValueError for another number of statements.
    """
    if statements <= 0 or statements % STATEMENTS_A_NEST:
        raise ValueError(
            f"the number of statements has to be a positive multiple of {STATEMENTS_A_NEST}, not {statements}"
        )
    count = statements // STATEMENTS_A_NEST
    arrays = ", ".join(
        [
            "double input[n][n]",
            *(f"double {_array(nest, k)}[n][n]" for nest in range(count) for k in range(STATEMENTS_A_NEST)),
        ]
    )
    lines = [f"void f(int n, int m, {arrays}) {{", "  int i, j, t;", "#pragma scop"]
    for nest in range(count):
        before = _array(nest - 1, STATEMENTS_A_NEST - 1) if nest else "input"
        lines += _stencil(nest, before) if nest % 2 else _sweep(nest, before)
    return "\n".join([*lines, "#pragma endscop", "}", ""])


def _array(nest: int, number: int) -> str:
    return f"a{nest}_{number}"


def _sweep(nest: int, before: str) -> list[str]:
    """Depth 2: each point needs its western neighbour, the row above in the array before, and the first array the row
    above in the last one."""
    own = [_array(nest, k) for k in range(STATEMENTS_A_NEST)]
    body = [f"{own[0]}[i][j] = {before}[i][j] + {own[0]}[i][j - 1] + {own[-1]}[i - 1][j];"]
    body += [
        f"{own[k]}[i][j] = {own[k - 1]}[i][j] + {own[k - 1]}[i - 1][j] + {own[k]}[i][j - 1];"
        for k in range(1, STATEMENTS_A_NEST)
    ]
    return ["  for (i = 1; i < n; i++)", "    for (j = 1; j < n; j++) {", *(f"      {line}" for line in body), "    }"]


def _stencil(nest: int, before: str) -> list[str]:
    """Depth 3: each array is updated from three neighbours in the array before; the first one, from the last array of
    the time step before."""
    own = [_array(nest, k) for k in range(STATEMENTS_A_NEST)]
    body = [f"{own[0]}[i][j] = {before}[i][j] + {own[-1]}[i][j - 1] + {own[-1]}[i][j] + {own[-1]}[i][j + 1];"]
    body += [
        f"{own[k]}[i][j] = {own[k - 1]}[i - 1][j] + {own[k - 1]}[i][j] + {own[k - 1]}[i][j + 1];"
        for k in range(1, STATEMENTS_A_NEST)
    ]
    loops = ["  for (t = 0; t < m; t++)", "    for (i = 1; i < n - 1; i++)", "      for (j = 1; j < n - 1; j++) {"]
    return [*loops, *(f"        {line}" for line in body), "      }"]
