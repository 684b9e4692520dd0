"""Iterations at the ends of loops whose subscripts wrap around or are clamped there, beside the others."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from scopt.machine import Machine
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

# little work is enough for threads
SOON = replace(Machine(), fork_nanoseconds=1)
CLAMP = "static int clamp(int i, int n) { if (i < 0) return 0; return i < n ? i : n - 1; }\n"
HEAD = "void f(int n, float a[n][n], float b[n][n], float w[3][3])"
WINDOW = """for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float s = 0;
      for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
          s += a[ROW][COLUMN] * w[p + 1][q + 1];
      b[y][x] = s;
    }"""
CLAMPED = WINDOW.replace("ROW", "y + p < 0 ? 0 : y + p >= n ? n - 1 : y + p").replace(
    "COLUMN", "x + q < 0 ? 0 : x + q >= n ? n - 1 : x + q"
)
PERIODIC = WINDOW.replace("ROW", "(y + p + n) % n").replace("COLUMN", "(x + q + n) % n")
WITHOUT = PERIODIC.replace("s += a", "if (p != 0 || q != 0) s += a")
WIDE = "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) b[y][x] = a[y][(x + n - 2) % n] - a[y][(x + 2) % n];"
FLAT = """for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      int c = x + y * n, w = x == 0 ? c : c - 1, e = x == n - 1 ? c : c + 1;
      int u = y == 0 ? c + (n - 1) * n : c - n, d = y < n - 1 ? c + n : c;
      b[c] = a[c] - a[w] * 2 + a[e] * 3 - a[u] * 5 + a[d] * 7;
    }"""
CALLED = """for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      int u = clamp(y - 1, n), d = clamp(y + 1, n), w = clamp(x - 1, n), e = clamp(x + 1, n);
      b[y][x] = a[u][x] - a[d][x] * 2 + a[y][w] * 3 - a[d][e] * 5;
    }"""
MASKED = "for (int x = 0; x < 64; x++) b[0][x] = a[0][(x - 1) & 63] - a[0][(x + 2) & 63] * a[0][(x + 70) & 63];"
DOWN = WIDE.replace("x = 0; x < n; x++", "x = n - 1; x >= 0; x--")


def text_of(body: str) -> str:
    source = f"{CLAMP}{HEAD} {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return optimize(source.encode(), Options(machine=SOON, eager=True)).text.decode().partition("#pragma scop\n")[2]


@pytest.mark.parametrize("body", [CLAMPED, PERIODIC, WITHOUT, WIDE, DOWN, CALLED])
def test_the_interior_has_plain_subscripts(body: str) -> None:
    interior = re.search(r"for \(long x = [12]; x < n - [12]L; x\+\+\)(.*?b\[y\]\[x\].*?;)", text_of(body), re.DOTALL)
    interior = interior or re.search(r"for \(long x = n - 3; x >= 2; x--\)(.*?;)", text_of(body), re.DOTALL)
    assert interior is not None
    assert re.search(r"\[x - [12]\]", interior[1])
    assert re.search(r"\[x \+ [12]\]", interior[1])


@pytest.mark.parametrize(
    "body",
    [
        WINDOW.replace("ROW", "y").replace("COLUMN", "x + q < n / 2 ? 0 : x + q - n / 2"),
        PERIODIC.replace("p <= 1", "p <= n - 2"),
        WIDE.replace("2", "9"),
        WIDE.replace("n - 2", "4 * n - 2").replace("x + 2", "x + 4 * n"),
    ],
    ids=["in the middle", "a window of any length", "too many iterations", "around more than twice"],
)
def test_other_loops_stay_whole(body: str) -> None:
    assert not re.search(r"for \(long x = \w+; x < n - \w+;", text_of(body))


def test_masks_wrap_around() -> None:
    made = text_of(MASKED)
    assert "b[0][x] = a[0][x - 1] - a[0][x + 2] * a[0][x + 6];" in made
    assert "& 63" in text_of(MASKED.replace("x - 1", "x - 400"))


def test_all_cells_are_what_they_were(run_c: RunC) -> None:
    bodies = (CLAMPED, PERIODIC, WITHOUT, WIDE, DOWN, CALLED)
    functions = [
        HEAD.replace(" f(", f" f{k}(") + f" {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for k, body in enumerate(bodies)
    ]
    functions.append(functions[0].replace(HEAD.replace(" f(", " f0("), "void f6(int n, float *a, float *b, void *w)"))
    functions[-1] = functions[-1].replace(CLAMPED, FLAT)
    functions.append(functions[0].replace(" f0(", " f7(").replace(CLAMPED, f"if (n > 8) {{ {MASKED} }}"))
    calls = " ".join(f"f{k}(n, (void *)a, (void *)b, (void *)w); show(n * n, b);" for k in range(len(functions)))
    source = f"""#include <stdio.h>
{CLAMP}{"".join(functions)}
static void show(int n, const float *b) {{
  unsigned hash = 5381;
  for (int k = 0; k < 4 * n; k++) hash = hash * 33 + ((const unsigned char *)b)[k];
  printf("%u\\n", hash);
}}
int main(void) {{
  static float a[40 * 40], b[40 * 40], w[9];
  for (int k = 0; k < 1600; k++) a[k] = k % 17 / 3.0f;
  for (int k = 0; k < 9; k++) w[k] = k / 7.0f;
  for (int n = 2; n < 40; n += n < 9 ? 1 : 7) {{ {calls} }}
}}
"""
    made = optimize(source.encode(), Options(machine=SOON, eager=True)).text.decode()
    assert made.count("#pragma omp simd") >= len(functions)
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(source, *flags, name="before")
    assert run_c(made, *flags, "-fopenmp", "-fsanitize=address,undefined", name="after") == before
