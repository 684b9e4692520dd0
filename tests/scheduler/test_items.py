"""Items: small loops over arrays of their own stay as they are, and the arrays are declared in the loop over items."""

from __future__ import annotations

from scopt.options import Options
from scopt.scheduler.decisions.items import items_of
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, double P[restrict n][4][4], double F[restrict 4][4], double x[restrict n][4]"
ITEMS = """
for (t = 0; t < n; t++) {
  double G[4][4], H[4][4];
  for (i = 0; i < 4; i++)
    for (j = 0; j < 4; j++) {
      G[i][j] = 0;
      for (k = 0; k < 4; k++) G[i][j] += F[i][k] * P[t][k][j];
    }
  for (i = 0; i < 4; i++)
    for (j = 0; j < 4; j++) {
      H[i][j] = i == j;
      for (k = 0; k < 4; k++) H[i][j] += G[i][k] * F[j][k];
    }
  for (i = 0; i < 4; i++)
    for (j = 0; j < 4; j++) P[t][i][j] = H[i][j] - x[t][i] * H[0][j];
}"""
DRIVER = """
#include <stdio.h>
KERNEL
int main(void) {
  static double P[40][4][4], F[4][4], x[40][4];
  for (int n = 0; n < 40; n = 2 * n + 1) {
    for (int k = 0; k < 640; k++) P[0][0][k] = k % 13 / 7.0;
    for (int k = 0; k < 160; k++) x[0][k] = k % 5 / 3.0;
    for (int k = 0; k < 16; k++) F[0][k] = k % 3 / 2.0;
    f(n, P, F, x);
    for (int k = 0; k < 640; k++) printf("%a ", P[0][0][k]);
  }
}
"""


def test_small_loops_over_arrays_of_an_item_stay_as_they_are(run_c: RunC) -> None:
    source = source_of(ITEMS, PARAMS)
    text = optimize(source, Options()).text.decode()
    made = text.partition("#pragma scop\n")[2]
    assert "omp simd" not in made
    assert "G_0" not in made
    assert "G[i][j] += F[i][k] * P[t][k][j];" in made
    parallel = made.partition("#pragma omp parallel for ")[2]
    assert parallel.splitlines()[1].endswith("{")
    assert [line.strip() for line in parallel.splitlines()[2:4]] == ["double G[4][4];", "double H[4][4];"]
    assert made.count("double G[4][4];") == 2  # with threads, and without
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    forced = text.replace("n > ", "n + 999999 > ")
    assert run_c(DRIVER.replace("KERNEL", forced), *flags, "-fopenmp", name="after") == before


def test_items_have_small_loops_alone_and_more_than_straight_code() -> None:
    def names(body: str) -> set[str]:
        return set(items_of(scop_of(body, PARAMS)))

    assert names(ITEMS) == {"S0", "S1", "S2", "S3", "S4"}
    assert not names(ITEMS.replace("k < 4", "k < 2").replace("j < 4", "j < 2"))
    assert not names(ITEMS.replace("x[t][i] *", "x[t][i] * F[0][n - 1] *").replace("k = 0; k < 4", "k = 0; k < n"))
