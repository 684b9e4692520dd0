"""Functions that choose between computed numbers, in innermost loops: vectors blend what they choose, and every bit is
the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds

BEFORE = """#include <math.h>
#include <stdio.h>
static double minmod(double a, double b) {
  if (a * b <= 0.0) return 0.0;
  if (a > 0.0) return a < b ? a : b;
  return a > b ? a : b;
}
static double face(double qm, double q0, double q1, double qp, double vel) {
  if (vel >= 0.0) return q0 + 0.5 * minmod(q0 - qm, q1 - q0);
  return q1 - 0.5 * minmod(q1 - q0, qp - q1);
}
static double leer(double a, double b) {
  double ab = a * b;
  if (ab <= 0.0) return 0.0;
  return 2.0 * ab / (a + b);
}
static float soft(float x, float t) {
  float y = fabsf(x) - t;
  if (y <= 0) return 0;
  y *= 0.5f;
  return x < 0 ? -y * t : y + t;
}
static double held(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static double far(double x) { return x < 0 ? exp(x) : 1 - exp(-x); }
static double sized(double x, int n) { return x < n ? x * 2 : x + 1; }
static double hidden(double x, double y) {
  double z = x;
  if (y > 0) { double x = y * 2; z = x + 1; }
  if (z < x) return z + x;
  return z - x * 2;
}
static double stepped(double x) { if (x < 0) { x = x + 1; } else { x -= 1; } return x > 0.5 ? x * x : x; }
static double a[4000], b[4000], u[4000], o[4000];
static float f[4000], g[4000];
"""
CASES = {
    "limiter": "for (int i = 1; i < n - 2; i++) o[i] = u[i] * face(a[i - 1], a[i], a[i + 1], a[i + 2], u[i]);",
    "in an expression": "for (int i = 1; i < n - 1; i++) { double s = 1 - leer(a[i] - a[i - 1], a[i + 1] - a[i]) / 2;"
    " o[i] = s * b[i]; }",
    "floats": "for (int i = 0; i < n; i++) g[i] = soft(f[i], 0.25f) + 1;",
    "changes what it is given": "for (int i = 0; i < n; i++) b[i] = stepped(a[i]);",
}
STAY = {
    "there already": "for (int i = 0; i < n; i++) o[i] = held(a[i]);",
    "no instruction": "for (int i = 0; i < n; i++) o[i] = far(a[i]);",
    "of other types": "for (int i = 0; i < n; i++) o[i] = sized(a[i], i);",
    "names that mean two things": "for (int i = 0; i < n; i++) o[i] = hidden(a[i], b[i]);",
    "not in each iteration": "for (int i = 0; i < n; i++) o[i] = b[i] > 0 ? leer(a[i], b[i]) : 0;",
}
AFTER = """int main(void) {
  for (int n = 0; n < 4000; n += 333) {
    for (int i = 0; i < 4000; i++) {
      a[i] = sin(i * 1.7) * (i % 7 - 3); b[i] = i % 5 - 2.0; u[i] = i % 3 ? -0.0 : cos(i); f[i] = a[i]; o[i] = g[i] = i;
    }
    CALLS
    double s = 0;
    for (int i = 0; i < 4000; i++) s = s * 0.99 + o[i] + b[i] + 3 * g[i];
    printf("%a\\n", s);
  }
}
"""


def source_of(bodies: dict[str, str]) -> str:
    functions = (f"static void run{k}(int n) {{\n{body}\n}}\n" for k, body in enumerate(bodies.values()))
    calls = " ".join(f"run{k}(n);" for k in range(len(bodies)))
    return BEFORE + "".join(functions) + AFTER.replace("CALLS", calls)


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    source = source_of(CASES)
    result = optimize(source.encode(), Options(autodetect=True, eager=True), file=str(tmp_path / "in.c"))
    text = result.text.decode()
    assert all(f"{name} = scopt_pick" in text for name in ("face_2", "minmod_2", "leer_2", "soft_2"))
    assert "b[i] = scopt_pickd(x_2 < 0" in text
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


@pytest.mark.parametrize("body", STAY.values(), ids=STAY)
def test_others_stay_calls(body: str) -> None:
    text = optimize(source_of({"one": body}).encode(), Options(autodetect=True, eager=True), file="in.c").text.decode()
    assert not any(f"{one}_2" in text for one in ("held", "far", "sized", "leer"))
