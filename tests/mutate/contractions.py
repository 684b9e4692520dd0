"""Programs that become register tiles: whole and partial ones, triangles,
extrema, operands across rows, scalars that get rows."""

from __future__ import annotations

from tests.mutate.source import Operand, marked

GEMM = marked(
    "gemm",
    (
        Operand("A", "n", "m"),
        Operand("B", "n", "n", value="(i % 13 - 3.1) / 7"),
        Operand("C", "n", "m", value="(5 * i) % 17 - 4.7"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        A[i][j] += B[i][k] * C[k][j];""",
    ((1, 1), (5, 26), (40, 48), (133, 25), (264, 50)),
)

SYRK = marked(
    "syrk",
    (Operand("A", "n", "m"), Operand("C", "n", "n", value="(5 * i) % 17 - 4.7")),
    """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= 1.2;
    for (int k = 0; k < m; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += 1.5 * A[i][k] * A[j][k];
  }""",
    ((1, 3), (9, 5), (50, 7), (137, 30), (40, 270)),
)

TRMM = marked(
    "trmm",
    (Operand("A", "n", "n"), Operand("B", "n", "m", value="(5 * i) % 17 - 4.7")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = 0.5 * B[i][j];
    }""",
    ((1, 3), (9, 5), (50, 49), (137, 30)),
)

CHOLESKY = marked(
    "cholesky",
    (Operand("A", "n", "n", value="i % (n + 1) ? (i % 7) / 64. : n + 1"),),
    """
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = A[i][i] * 0.5;
  }""",
    ((1, 3), (9, 5), (50, 7), (137, 30)),
)

MAXPLUS = marked(
    "maxplus",
    (
        Operand("A", "n", "m", "int", "(7 * i) % 101"),
        Operand("B", "n", "n", "int", "(5 * i) % 43"),
        Operand("C", "n", "m", "int", "(3 * i) % 71 - 9"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        A[i][j] = A[i][j] >= B[i][k] + C[k][j] ? A[i][j] : B[i][k] + C[k][j];""",
    ((1, 1), (5, 26), (40, 48), (133, 49), (264, 50)),
)

FOLDING = marked(
    "folding",
    (Operand("T", "n", "n", "int", "0"), Operand("s", "n", type="char", value="(i * i + 1) % 4")),
    """
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      if (j - 1 >= 0)
        T[i][j] = T[i][j] >= T[i][j - 1] ? T[i][j] : T[i][j - 1];
      if (i + 1 < n)
        T[i][j] = T[i][j] >= T[i + 1][j] ? T[i][j] : T[i + 1][j];
      if (j - 1 >= 0 && i + 1 < n) {
        if (i < j - 1)
          T[i][j] = T[i][j] >= T[i + 1][j - 1] + (s[i] + s[j] == 3) ? T[i][j] : T[i + 1][j - 1] + (s[i] + s[j] == 3);
        else
          T[i][j] = T[i][j] >= T[i + 1][j - 1] ? T[i][j] : T[i + 1][j - 1];
      }
      for (int k = i + 1; k < j; k++)
        T[i][j] = T[i][j] >= T[i][k] + T[k + 1][j] ? T[i][j] : T[i][k] + T[k + 1][j];
    }""",
    ((1, 1), (7, 1), (40, 1), (133, 1)),
)

SYMM = marked(
    "symm",
    (
        Operand("A", "n", "n"),
        Operand("B", "n", "m", value="(i % 13 - 3.1) / 7"),
        Operand("C", "n", "m", value="(5 * i) % 17 - 4.7"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      t = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += 1.5 * B[i][j] * A[i][k];
        t += B[k][j] * A[i][k];
      }
      C[i][j] = 1.2 * C[i][j] + 1.5 * B[i][j] * A[i][i] + 1.5 * t;
    }""",
    ((1, 3), (9, 5), (50, 26), (137, 30)),
    before="  double t;",
)
