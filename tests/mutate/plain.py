"""Programs with held cells, private copies, reductions, and other loops."""

from __future__ import annotations

from scopt.options import Options
from tests.mutate.source import Operand, marked

PRODUCTS = marked(
    "products",
    (
        Operand("A", "n", "m"),
        Operand("B", "n", "m", value="(i % 13 - 3.1) / 7"),
        Operand("x", "m"),
        Operand("y", "n"),
        Operand("z", "n"),
    ),
    """
  for (int i = 0; i < n; i++) {
    z[i] = 0.0;
    y[i] = 0.0;
    for (int j = 0; j < m; j++) {
      z[i] = A[i][j] * x[j] + z[i];
      y[i] = B[i][j] * x[j] + y[i];
    }
    y[i] = 1.5 * z[i] + 1.2 * y[i];
  }""",
    ((1, 1), (3, 9), (37, 41), (75, 20)),
)

# Elements that share a result, in variables, one of them apart.
RECORDS = marked(
    "records",
    (Operand("v", "n", "3"), Operand("w", "n", "4")),
    """
  for (int i = 0; i < n; i++) {
    double s = 1.0 / (1.0 + v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    for (int k = 0; k < 3; k++) {
      v[i][k] *= s;
      w[i][k] = w[i][k] * w[i][3] + v[i][k];
    }
    w[i][3] = 1.0 - w[i][3];
  }""",
    ((1, 1), (7, 1), (61, 2)),
)

# Steps of a recurrence in each column: the first few are others.
ROUNDS = marked(
    "rounds",
    (
        Operand("x", "128", "n", type="unsigned", value="(unsigned)i * 2654435761u"),
        Operand("w", "128", type="unsigned", value="(unsigned)i * 40503u"),
        Operand("o", "n", type="unsigned"),
    ),
    """
  for (int i = 0; i < n; i++) {
    unsigned a = 7;
    for (int j = 16; j < 128; j++)
      x[j][i] = x[j - 16][i] + (x[j - 2][i] >> 3);
    for (int j = 0; j < 128; j++)
      a = (a << 5 | a >> 27) * w[j] + x[j][i];
    o[i] = a;
  }""",
    ((1, 1), (33, 9)),
)

# Enough to compute for vectors as long as a register.
POLYNOMIAL = marked(
    "polynomial",
    (Operand("x", "n"), Operand("y", "n")),
    """
  for (int i = 1; i < n; i++)
    y[i] = ((((x[i] * 0.3 + 0.1) * x[i] - 0.2) * x[i] + 0.3) * x[i] - 0.4) * x[i - 1];""",
    ((1, 1), (7, 1), (61, 2)),
)

TWICE = marked(
    "twice",
    (Operand("A", "n", "m"), Operand("x", "m"), Operand("y", "m"), Operand("t", "n")),
    """
  for (int i = 0; i < m; i++)
    y[i] = 0;
  for (int i = 0; i < n; i++) {
    t[i] = 0.0;
    for (int j = 0; j < m; j++)
      t[i] = t[i] + A[i][j] * x[j];
    for (int j = 0; j < m; j++)
      y[j] = y[j] + A[i][j] * t[i];
  }""",
    ((1, 1), (3, 9), (37, 41), (75, 150)),
)

SOLVED = marked(
    "solved",
    (Operand("L", "n", "n"), Operand("x", "n"), Operand("b", "n", value="-i")),
    """
  for (int i = 0; i < n; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / (1.0 + L[i][i]);
  }""",
    ((1, 1), (3, 9), (37, 41), (150, 150)),
)

FLOYD = marked(
    "floyd",
    (Operand("A", "n", "n", "int", "i * 31 % 97 + 1"),),
    """
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];""",
    ((1, 1), (9, 9), (70, 41)),
)

SCALARS = marked(
    "scalars",
    (Operand("A", "n", "m"), Operand("B", "n", "m", value="i % 5")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      t = A[i][j] * 2.0;
      w[0] = t + B[i][j];
      w[1] = t - B[i][j];
      if (i > 1 && (i + j) % 3 != 0)
        A[i][j] = w[0] * w[1];
      else
        A[i][j] = w[1];
    }""",
    ((1, 1), (3, 9), (37, 41), (75, 20)),
    before="  double t, w[2];",
)

SUMS = marked(
    "sums",
    (
        Operand("A", "n", "m", value="i % 16 * 0.25"),
        Operand("x", "m", value="i % 8 * 0.5"),
        Operand("y", "n", value="i % 4"),
        Operand("r", "4"),
    ),
    """
  s = 1.0;
  for (int i = 0; i < n; i++)
    s += y[i] * 0.5;
  r[1] = s;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      r[2] += A[i][j] * x[j];
  for (int i = 0; i < n; i++)
    r[0] = r[0] > y[i] ? r[0] : y[i];
  r[3] = s * 2.0;""",
    ((1, 1), (3, 9), (37, 41), (75, 150)),
    before="  double s = 0;",
    options=Options(reassociate=True),
)

COLUMNS = marked(
    "columns",
    (
        Operand("A", "n", "m", value="i % 16 * 0.25"),
        Operand("x", "m", value="i % 8 * 0.5"),
        Operand("y", "n", value="i % 4"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[j] += A[i][j] * y[i] * 0.25;""",
    ((1, 1), (3, 9), (37, 41), (75, 150)),
    options=Options(reassociate=True),
)

HISTOGRAM = marked(
    "histogram",
    (Operand("x", "n", type="int", value="(i * 7 + i / 5) % 64"), Operand("c", "1", type="unsigned", value="0")),
    """
  for (int i = 0; i < n; i++) {
    h[x[i]]++;
    c[0] += x[i] > 31;
  }""",
    ((1, 1), (9, 9), (3000, 41)),
    outside="int h[64];",
    after="  for (int i = 0; i < 64; i++)\n    c[0] = c[0] * 31u + h[i];",
)

WEIGHTS = marked(
    "weights",
    (
        Operand("x", "n", "m", "int", "i * i % 61"),
        Operand("y", "n", "m", "unsigned", "i * 3u"),
        Operand("z", "m", type="unsigned", value="i"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      z[j] += y[i][j] * x[i][j];
      s ^= y[i][j] + i;
    }""",
    ((1, 1), (3, 9), (37, 41), (75, 150)),
    before="  unsigned s = 7;",
    after="  z[0] += s;",
)

STRIDES = marked(
    "strides",
    (Operand("A", "2 * n + 3", "m + 3"), Operand("x", "3 * n + 2 * m + 9")),
    """
  for (int i = n; i >= 0; i -= 3)
    for (int j = 1; j < m; j += 2) {
      if ((i + j) % 4 == 1)
        A[i + 1][j] = A[i][j - 1] * 0.5 + x[i + 2 * j];
      A[i][j + 1] += x[(i + j) / 3];
    }""",
    ((1, 1), (4, 9), (37, 41), (40, 60)),
)

STEPPED = marked(
    "stepped",
    (Operand("A", "n + 1", "m + 2"), Operand("x", "m + 2")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j += 2)
      A[i][j] = A[i][j] * 0.5 + x[j] * x[j + 1];""",
    ((1, 1), (4, 9), (37, 41)),
)

# A loop in order, whose iterations hand cells on in variables.
HANDED = marked(
    "handed",
    (Operand("x", "m + 2"), Operand("y", "m + 2")),
    """
  for (int j = 1; j < m; j++) {
    x[j] = y[j - 1] * 0.5 - x[j - 1] * 0.25;
    y[j] = x[j] * 0.5 + y[j];
  }""",
    ((1, 1), (1, 2), (4, 9), (37, 41)),
)

# Rows side by side, with cells of their own beside what is the same for all, and a choice.
NEAREST = marked(
    "nearest",
    (Operand("A", "n + 1", "3"), Operand("B", "m + 1", "2"), Operand("x", "n + 1"), Operand("y", "n + 1")),
    """
  for (int i = 0; i < n; i++) {
    double best = 100.0, sum = 0.0;
    int at = -1;
    for (int j = 0; j < m; j++) {
      double d = (A[i][0] - B[j][0]) * (A[i][1] - B[j][1]) * 0.5 + A[i][2];
      sum += d * 0.25;
      if (d < best) {
        best = d;
        at = j;
      }
    }
    x[i] = best * sum;
    y[i] = at;
  }""",
    ((1, 1), (5, 9), (37, 41), (64, 20)),
)

# A short parallel loop in a loop that runs in order.
AGAIN = marked(
    "again",
    (Operand("x", "m + 1"), Operand("y", "n + 1")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[j] = x[j] * y[i] * 0.5 + x[0];""",
    ((1, 1), (5, 9), (37, 41)),
    options=Options(tile=False, scheduler="identity"),
)

# Conditions in vector loops: both sides of one are evaluated, an extremum of what another one lets through is masked.
CONDITIONS = marked(
    "conditions",
    (
        Operand("u", "n", type="int", value="i * 7 % 5"),
        Operand("x", "n", type="int", value="i * 13 % 29"),
        Operand("d", "n", type="int", value="i % 3"),
        Operand("o", "n", type="int", value="0"),
        Operand("v", "n", type="int", value="1"),
        Operand("t", "n", type="unsigned char", value="(i * 37 + 11) % 256"),
        Operand("w", "n", "n", type="unsigned char", value="0"),
        Operand("z", "n", "n", type="int", value="1"),
    ),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int k = 3 * x[j] + 5 * u[i] + j;
      w[i][j] = t[(k * 7 + 2) % n];
      z[i][j] = w[i][j] * 3 + x[j];
    }
  for (int i = 0; i < n; i++)
    o[i] = (u[i] == 3 || (u[i] == 2 && x[i])) + x[i];
  for (int i = 0; i < n; i++)
    v[i] = u[i] == 1 ? 5 : u[i] == 2 ? x[i] : u[i] == 4 ? 9 : 0;
  for (int i = 0; i < n; i++) {
    d[i] = 1;
    for (int j = 0; j < i; j++)
      if (x[j] < x[i] && d[j] + 1 > d[i])
        d[i] = d[j] + 1;
  }""",
    ((1, 1), (5, 9), (97, 41)),
)

# A dynamic program along diagonals: two tables, ways that write one cell, and a scalar that a lane has of its own.
ALIGNED = marked(
    "aligned",
    (Operand("A", "n + 1", "m + 1"), Operand("B", "n + 1", "m + 1"), Operand("x", "n + 1"), Operand("y", "m + 1")),
    """
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      double d = x[i - 1] - y[j - 1] * A[i - 1][j - 1];
      if (A[i - 1][j] < A[i][j - 1])
        A[i][j] = A[i - 1][j] * 0.75 + d * d;
      else if (d < 0.25)
        A[i][j] = A[i][j - 1] * 0.5 + d;
      else
        A[i][j] = A[i - 1][j - 1] * 0.25 - d;
      B[i][j] = B[i][j - 1] * 0.5;
      if (A[i][j] > B[i - 1][j])
        B[i][j] = B[i - 1][j] * 0.5 + 1.0;
    }""",
    ((1, 1), (64, 70), (140, 330)),
)

# A search for the largest product, and for its place.
SEARCH = marked(
    "search",
    (Operand("x", "n"), Operand("y", "n"), Operand("o", "2", type="int", value="0")),
    """
  for (int i = 0; i < n; i++) {
    d = x[i] * y[n - 1 - i];
    if (d > top) {
      top = d;
      at = i;
    }
    if (y[i] < least)
      least = y[i];
  }""",
    ((1, 1), (70, 2), (900, 3)),
    before="  double top = -1.0, least = 9.0, d;\n  int at = -1;",
    after="  o[0] = at;\n  o[1] = (int)(least * 1000 + top * 100);",
)

# The largest difference of a sweep, which lanes look for.
PEAKS = marked(
    "peaks",
    (Operand("x", "n + 1"), Operand("y", "n"), Operand("o", "1", type="int", value="0")),
    """
  for (int i = 0; i < n; i++) {
    y[i] = 0.5 * (x[i] + x[i + 1]);
    d = fabs(y[i] - x[i]);
    if (d > top)
      top = d;
  }""",
    ((1, 1), (70, 2), (900, 3)),
    before="  double top = 0.0, d;",
    after="  o[0] = (int)(top * 1000);",
    outside="#include <math.h>",
)

CORRELATION = marked(
    "correlation",
    (
        Operand("x", "n + 130", type="short", value="i * 31 % 97"),
        Operand("y", "130", type="short", value="i * 7 % 61"),
        Operand("r", "n", type="int", value="0"),
    ),
    """
  for (int i = 0; i < n; i++) {
    s = 0;
    for (int j = 0; j < 130; j++)
      s += x[i + j] * y[j];
    r[i] = s;
  }""",
    ((1, 1), (9, 1), (300, 1)),
    before="  int s;",
)

DISTANCES = marked(
    "distances",
    (
        Operand("a", "n", "m + 16", "signed char", "i * 31 % 97 - 40"),
        Operand("c", "16", type="short", value="i * 7 % 61"),
        Operand("r", "n", type="int", value="0"),
    ),
    """
  for (int i = 0; i < n; i++) {
    s = 0;
    for (int j = 0; j < 16; j++) {
      int d = a[i][j] - c[j];
      s += d < 0 ? -d : d;
    }
    r[i] = s;
  }""",
    ((1, 1), (9, 3), (70, 41)),
    before="  int s;",
)

# Rows of floating-point numbers that are summed up as lanes.
LANES = marked(
    "lanes",
    (Operand("A", "n", "m + 3"), Operand("x", "m"), Operand("y", "n")),
    """
  for (int i = 0; i < n; i++) {
    double s = y[i], t = 0.0;
    for (int j = 0; j < m; j++) {
      double d = A[i][j] - x[j];
      s += d * d;
      t -= A[i][j + 3] * x[j];
    }
    y[i] = s * t;
  }""",
    ((1, 1), (9, 3), (17, 40), (70, 41)),
)

# Sums of squares along columns, as lanes.
DEVIATIONS = marked(
    "deviations",
    (Operand("A", "m", "n + 1"), Operand("x", "m"), Operand("y", "n + 1")),
    """
  for (int i = 0; i < n; i++) {
    double s = y[i];
    for (int j = 0; j < m; j++) {
      double d = A[j][i] - x[j];
      s += d * d;
    }
    y[i] = s;
  }""",
    ((1, 1), (9, 3), (70, 41)),
)

WINDOWS = marked(
    "windows",
    (
        Operand("x", "m * n * n", type="float"),
        Operand("y", "2 * m * n * n", type="float"),
        Operand("w", "12 * m", type="float"),
    ),
    """
  for (int k = 0; k < m; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float a = x[(k * n + i) * n + j];
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 4; q++) {
            int at = 2 * j + q - 1;
            if (at < 0 || at >= 2 * n || i + p < 1 || i + p > n)
              continue;
            y[(k * n + i + p - 1) * 2 * n + at] += a * w[(k * 3 + p) * 4 + q];
          }
      }""",
    ((1, 1), (2, 3), (11, 2)),
)

NARROW = marked(
    "narrow",
    (
        Operand("x", "n + 2", type="unsigned char", value="7 * i"),
        Operand("y", "n + 2", type="unsigned char", value="i * i"),
        Operand("w", "3", type="int", value="3 * i - 4"),
    ),
    """
  for (int i = 0; i < n; i++) {
    int t = 8;
    for (int k = 0; k < 3; k++)
      t += w[k] * x[i + k];
    t = t / 16;
    y[i] = t < 0 ? 0 : t;
  }""",
    ((1, 1), (3, 77), (2, 1000)),
)

SMALL = marked(
    "small",
    (Operand("x", "20"), Operand("c", "1", value="0")),
    """
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++)
      for (int j = 0; j < 12; j++)
        S[i][j] = S[i][j] * 0.5 + S[k][j] * x[i];""",
    ((1, 1), (5, 2), (20, 3)),
    options=Options(scheduler="identity", tile=False),
    outside="double S[20][12];",
    before="  for (int i = 0; i < 240; i++)\n    S[i / 12][i % 12] = i % 7;",
    after="  for (int i = 0; i < 240; i++)\n    c[0] = c[0] * 0.9 + S[i / 12][i % 12];",
)

CHOSEN = marked(
    "chosen",
    (Operand("c", "1", value="0"),),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 600; j++)
      Q[i][j] = S[i > 0 ? i - 1 : 0][j];
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < 600; j++)
        Q[i][j] += S[k][j + shift[i][k]];""",
    ((1, 1), (5, 2), (20, 3)),
    outside="double S[20][640], Q[20][640];\nint shift[20][20];",
    before="  for (int i = 0; i < 12800; i++)\n    S[i / 640][i % 640] = i % 7, shift[i % 20][i / 640] = i % 31;",
    after="  for (int i = 0; i < 12000; i++)\n    c[0] = c[0] * 0.9 + Q[i / 600][i % 600];",
)

ENDING = marked(
    "ending",
    (Operand("x", "900"), Operand("y", "900")),
    """
  for (int i = 0; i < n; i++) {
    double z = x[i], c = 0.5 * x[i];
    int k = 0;
    while (k < m && z * z < 4.0) {
      z = z * z + c;
      k++;
    }
    y[i] = z + k;
  }""",
    ((1, 1), (70, 9), (900, 30)),
)

# Lanes divide by nothing.
DIVIDED = marked(
    "divided",
    (Operand("x", "900"),),
    """
  for (int i = 0; i < n; i++) {
    int k = 1;
    while (k * k < m)
      k += m / k;
    x[i] += k;
  }""",
    ((1, 1), (70, 9), (900, 30)),
)

# The block of a row that differs least from others.
BLOCKS = marked(
    "blocks",
    (
        Operand("a", "n + 8", "m + 8", type="unsigned char", value="i * 11 % 251"),
        Operand("b", "n + 8", "m + 8", type="unsigned char", value="i * i"),
        Operand("o", "n", type="int"),
    ),
    """
  for (int i = 0; i < n; i++) {
    int least = 1 << 30;
    for (int j = 0; j < m; j++) {
      int s = 0;
      for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
          int d = a[i + y][j + x] - b[i + y][x];
          s += d < 0 ? -d : d;
        }
      if (s < least)
        least = s;
    }
    o[i] = least;
  }""",
    ((1, 1), (9, 3), (5, 30)),
)

# Records of three, and a cell for each pair of them.
FETCHED = marked(
    "fetched",
    (Operand("y", "n", "m"), Operand("c", "n", "m + 2"), Operand("o", "n", "3 * m")),
    """
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double w = 1.5 * y[i][j], u = c[i][j & ~1] - 0.5, v = c[i][(j & ~1) + 1] - 0.25;
      o[i][3 * j] = w + 2.5 * v;
      o[i][3 * j + 1] = w - 0.5 * u - 1.25 * v;
      o[i][3 * j + 2] = w + 3.5 * u;
    }""",
    ((1, 1), (9, 3), (5, 300)),
)

# Places in a table that an iteration computes.
PLACED = marked(
    "placed",
    (Operand("x", "n"), Operand("y", "n"), Operand("t", "100")),
    """
  for (int i = 0; i < n; i++) {
    double p = ((x[i] - 0.5) * m + 2.0) * 1.5 - 1.0;
    int k = (int)p;
    if (k < 0) k = 0;
    if (k > 98) k = 98;
    double w = p - k;
    y[i] += t[k] + w * (t[k + 1] - t[k]);
  }""",
    ((1, 1), (70, 9), (900, 30)),
)

# Dot products of bytes.
BYTES = marked(
    "bytes",
    (
        Operand("x", "m", type="signed char", value="(signed char)(37 * i % 256 - 128)"),
        Operand("w", "n", "m", type="signed char", value="(signed char)(91 * i % 256 - 128)"),
        Operand("y", "n"),
    ),
    """
  for (int i = 0; i < n; i++) {
    int s = 3;
    for (int j = 0; j < m; j++)
      s += x[j] * w[i][j];
    y[i] = 0.25 * s;
  }""",
    ((1, 1), (3, 40), (70, 33)),
)

# Lanes that update several numbers below a condition, each with what the one before has given.
ESCAPES = marked(
    "escapes",
    (Operand("x", "n", value="(i % 13 - 6.1) / 4"), Operand("y", "n"), Operand("c", "n", type="int", value="i")),
    """
  for (int i = 0; i < n; i++) {
    double a = 0.0, b = 0.0;
    int steps = 0;
    for (int k = 0; k < m; k++) {
      double r = a * a + b * b;
      if (r < 4.0 + x[i]) {
        b = 2.0 * a * b + x[i];
        a = a - b * 0.5 + 0.1;
        steps++;
      }
    }
    y[i] = a + b;
    c[i] = steps;
  }""",
    ((1, 1), (77, 5), (40, 60)),
)
