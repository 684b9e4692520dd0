"""Programs that become strips, panels, and tiles of stencils."""

from __future__ import annotations

from msgspec.structs import replace

from scopt.machine import Machine
from scopt.options import Options
from tests.mutate.source import Operand, marked

ADI = marked(
    "adi",
    (Operand("u", "n", "n"), Operand("v", "n", "n"), Operand("p", "n", "n"), Operand("q", "n", "n")),
    """
  for (int t = 1; t <= m; t++) {
    for (int i = 1; i < n - 1; i++) {
      v[0][i] = 1.0;
      p[i][0] = 0.0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -0.3 / (0.2 * p[i][j - 1] + 1.7);
        q[i][j] = (-0.1 * u[j][i - 1] + 1.2 * u[j][i] - 0.7 * u[j][i + 1] - 0.2 * q[i][j - 1])
          / (0.2 * p[i][j - 1] + 1.7);
      }
      v[n - 1][i] = 1.0;
      for (int j = n - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {
      u[i][0] = 1.0;
      p[i][0] = 0.0;
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; j++) {
        p[i][j] = -0.4 / (0.2 * p[i][j - 1] + 1.7);
        q[i][j] = (-0.1 * v[i - 1][j] + 1.2 * v[i][j] - 0.7 * v[i + 1][j] - 0.2 * q[i][j - 1])
          / (0.2 * p[i][j - 1] + 1.7);
      }
      u[i][n - 1] = 1.0;
      for (int j = n - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }""",
    ((2, 1), (3, 2), (9, 2), (37, 1), (75, 3)),
)

FILTER = marked(
    "filter",
    (Operand("x", "n", "m"), Operand("y", "n", "m", value="0"), Operand("z", "n", "m", value="0")),
    """
  for (int i = 0; i < n; i++) {
    a = 0.0;
    b = 0.0;
    for (int j = 0; j < m; j++) {
      y[i][j] = 0.3 * x[i][j] + 0.7 * (1.25 * a) - 0.1 * b;
      b = a;
      a = y[i][j];
    }
  }
  for (int i = 0; i < n; i++) {
    a = 0.0;
    for (int j = m - 1; j >= 0; j--) {
      z[i][j] = y[i][j] - 0.5 * a;
      a = z[i][j];
    }
  }""",
    ((1, 1), (3, 9), (37, 41), (75, 20)),
    before="  double a, b;",
)

PANELS = marked(
    "panels",
    (Operand("A", "m", "n"), Operand("Q", "m", "n", value="0"), Operand("R", "n", "n", value="0")),
    """
  for (int k = 0; k < n; k++) {
    s = 0.0;
    for (int i = 0; i < m; i++)
      s += A[i][k] * A[i][k];
    R[k][k] = s + 0.5;
    for (int i = 0; i < m; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < m; i++)
        R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < m; i++)
        A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }""",
    ((1, 1), (3, 9), (33, 20), (75, 37)),
    before="  double s;",
)

HEAT = marked(
    "heat",
    (Operand("A", "n * n", "n"), Operand("B", "n * n", "n", value="0.25")),
    """
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k])
            + 0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k])
            + 0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2.0 * b[i][j][k] + b[i - 1][j][k])
            + 0.125 * (b[i][j + 1][k] - 2.0 * b[i][j][k] + b[i][j - 1][k])
            + 0.125 * (b[i][j][k + 1] - 2.0 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
  }""",
    ((2, 1), (3, 1), (9, 3), (21, 9), (37, 4)),
    before="  double (*a)[n][n] = (void *)A, (*b)[n][n] = (void *)B;",
)

JACOBI = marked(
    "jacobi",
    (Operand("A", "n", "n"), Operand("B", "n", "n", value="0.25")),
    """
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }""",
    ((3, 1), (9, 3), (50, 70), (150, 40)),
)

SEIDEL = marked(
    "seidel",
    (Operand("A", "n", "n"),),
    """
  for (int t = 0; t < m; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i][j - 1] + A[i][j]
          + A[i][j + 1] + A[i + 1][j] + A[i + 1][j + 1]) / 7.0;""",
    ((3, 1), (9, 3), (50, 40), (90, 20)),
)

# Rows beside each other in tiles on diagonals, whose values are handed on.
SWEEP = marked(
    "sweep",
    (Operand("A", "n", "m"), Operand("x", "m")),
    """
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      A[i][j] = A[i - 1][j] * 0.25 + A[i][j - 1] * x[j];""",
    ((1, 1), (9, 9), (37, 41), (40, 75)),
    options=Options(tile_sizes=(16, 24)),
)

LINE = marked(
    "line",
    (Operand("A", "n"), Operand("B", "n", value="0.25")),
    """
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }""",
    ((3, 1), (9, 3), (900, 70), (3000, 40)),
)

# Two loops of threads that are shared out together, and two that can't be.
LAYERS = marked(
    "layers",
    (Operand("A", "n * m", "n"), Operand("B", "n * m", "n", value="0.25"), Operand("C", "n * n", "m", value="0.5")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        a[i][j][k] = b[i][j][k] * 0.5 + a[i][j][k];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < m; k++)
        c[i][j][k] = c[i][j][k] * 0.75;""",
    ((1, 1), (3, 2), (9, 5), (21, 30)),
    before="  double (*a)[m][n] = (void *)A, (*b)[m][n] = (void *)B, (*c)[n][m] = (void *)C;",
)

WORK = marked(
    "work",
    (Operand("u", "n", "m"), Operand("b", "n", value="i % 5 + 2.5"), Operand("p", "n"), Operand("q", "n")),
    """
  for (int j = 0; j < m; j++) {
    p[0] = 0.5 / b[0];
    q[0] = u[0][j] / b[0];
    for (int i = 1; i < n; i++) {
      double w = b[i] - 0.25 * p[i - 1];
      p[i] = 0.5 / w;
      q[i] = (u[i][j] - 0.25 * q[i - 1]) / w;
    }
    for (int i = n - 2; i >= 0; i--)
      u[i][j] = q[i] - p[i] * u[i + 1][j];
  }""",
    ((2, 1), (3, 2), (9, 0), (37, 33), (75, 70)),
    options=Options(machine=replace(Machine(), fork_nanoseconds=1)),
)

# Candidates of each row in an array that all rows share; data say which one is taken.
CANDIDATES = marked(
    "candidates",
    (
        Operand("x", "n", "m", type="int", value="i * 7 % 11 + 1"),
        Operand("y", "n", "m", type="int", value="0"),
        Operand("c", "3", "80", type="int", value="i"),
    ),
    """
  for (int i = 0; i < n; i++) {
    int at = 0;
    for (int j = 0; j < m; j++) {
      c[0][j] = x[i][j];
      c[1][j] = x[i][j] ^ i;
      c[2][j] = x[i][j] & 3;
    }
    for (int k = 1; k < 3; k++)
      if (c[k][0] < c[at][0])
        at = k;
    for (int j = 0; j < m; j++)
      y[i][j] = c[at][j];
  }""",
    ((2, 1), (3, 2), (9, 0), (37, 33), (75, 70)),
    options=Options(machine=replace(Machine(), fork_nanoseconds=1)),
)

# Two rows of a dynamic program, one of which is copied over the other; what they add up to is collected.
ROWS = marked(
    "rows",
    (
        Operand("a", "n", type="int", value="i * 7 % 5"),
        Operand("b", "m + 1", type="int", value="i * 3 % 4"),
        Operand("row", "m + 1", type="int", value="i"),
        Operand("next", "m + 1", type="int", value="9"),
        Operand("best", "1", type="int", value="0"),
    ),
    """
  int peak = 0;
  for (int i = 0; i < n; i++) {
    next[0] = i + 1;
    for (int j = 1; j <= m; j++) {
      int cost = row[j - 1] + (a[i] != b[j]);
      if (row[j] + 1 < cost)
        cost = row[j] + 1;
      if (next[j - 1] + 1 < cost)
        cost = next[j - 1] + 1;
      next[j] = cost;
      if (cost > peak)
        peak = cost;
    }
    for (int j = 0; j <= m; j++)
      row[j] = next[j];
  }
  best[0] = peak;""",
    ((1, 1), (5, 9), (97, 141)),
)

# The best of an alignment in one row, with its place; scores in a table.
ALIGNMENT = marked(
    "alignment",
    (
        Operand("row", "m + 1", type="int", value="0"),
        Operand("a", "n", type="unsigned char", value="i * 7 % 13"),
        Operand("b", "m", type="unsigned char", value="i * 11 % 5"),
        Operand("score", "13", "5", type="int", value="i * 31 % 9 - 4"),
        Operand("found", "3", type="int", value="0"),
    ),
    """
  int best = 0, at = 0;
  for (int i = 0; i < n; i++) {
    int before = 0;
    for (int j = 1; j <= m; j++) {
      int here = before + score[a[i]][b[j - 1]];
      before = row[j];
      here = here > row[j] - 3 ? here : row[j] - 3;
      here = here > row[j - 1] - 3 ? here : row[j - 1] - 3;
      here = here > 0 ? here : 0;
      row[j] = here;
      if (here > best) {
        best = here;
        at = j;
      }
    }
  }
  found[0] = best;
  found[1] = at;""",
    ((1, 1), (5, 9), (97, 141)),
)

# Rows that data pick, and look up in.
PICKED = marked(
    "picked",
    (
        Operand("q", "n", type="int", value="i * 7 % 13"),
        Operand("a", "m", type="unsigned char", value="i * 11 % 40"),
        Operand("cost", "13", "40", type="signed char", value="i * 31 % 100"),
        Operand("o", "n", type="int", value="0"),
    ),
    """
  for (int i = 0; i < n; i++) {
    int row = q[i], s = 0;
    for (int j = 0; j < m; j++)
      s += cost[row][a[j]] * (j + 1);
    o[i] = s;
  }""",
    ((1, 1), (9, 3), (50, 300)),
)
