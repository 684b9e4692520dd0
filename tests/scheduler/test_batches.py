"""Small problems of several loops, in arrays of their own, a lane each."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.machine import Machine
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.sources import source_of

# little work is enough
SOON = replace(Machine(), fork_nanoseconds=1)
PARAMS = "int n, unsigned (*restrict words)[8], unsigned (*restrict out)[2]"
# of each message two blocks, whose rounds wait for each other, with a table that each block computes anew
DIGESTS = """
for (int i = 0; i < n; i++) {
  unsigned a, b;
  out[FIRST + i][0] = 17;
  out[FIRST + i][1] = 4;
  for (int h = 0; h < 2; h++) {
    unsigned w[COUNT];
    for (int r = 0; r < 4; r++) w[r] = words[i][4 * h + r];
    for (int r = 4; r < COUNT; r++) w[r] = (w[r - 4] ^ (w[r - 3] << 3)) + (w[r - 1] >> 7) * 5u;
    a = out[FIRST + i][0];
    b = out[FIRST + i][1];
    for (int r = 0; r < COUNT; r++) {
      a += ((b << 5) ^ (b >> 2)) + w[r];
      b ^= ((a << 7) | (a >> 25)) + 3u * r;
    }
    out[FIRST + i][0] += a;
    out[FIRST + i][1] += b;
  }
}"""
DRIVER = """
#include <stdio.h>
KERNEL
int main(void) {
  static unsigned words[130][8], out[300][2];
  static const int sizes[] = {0, 1, 15, 16, 33, 130};
  for (int s = 0; s < 6; s++) {
    for (int k = 0; k < 130 * 8; k++) ((unsigned *)words)[k] = 2654435761u * (k + s);
    f(sizes[s], words, out);
    unsigned long hash = 5381;
    for (int k = 0; k < 600; k++) hash = hash * 33 + ((unsigned *)out)[k];
    printf("%lu\\n", hash);
  }
  return 0;
}
"""


def digests(count: int, first: str) -> bytes:
    return source_of(DIGESTS.replace("COUNT", str(count)).replace("FIRST + ", first), PARAMS)


@pytest.mark.parametrize("first", ["", "n + "], ids=["where they are", "behind so many others"])
def test_problems_of_several_loops_are_lanes(first: str, run_c: RunC) -> None:
    source = digests(16, first)
    made = optimize(source, Options(machine=SOON)).text
    assert b"w_all_rows[r][i - rowt] = (w_all_rows[r - 4][i - rowt] ^" in made
    assert b"out_rows[0][" in made
    flags = ("-O1", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    assert run_c(DRIVER.replace("KERNEL", made.decode()), *flags, "-fopenmp", name="after") == before


def test_problems_that_leave_the_first_cache_stay() -> None:
    assert b"w_all" not in optimize(digests(400, ""), Options(machine=SOON)).text


def test_pointers_into_a_problems_own_array(run_c: RunC) -> None:
    """``p = w + 2 * r`` is added up in 64 bits: such subscripts are the same in a row of the array's own."""
    pairs = "{ const unsigned *p = w + 2 * r; a += ((b << 5) ^ (b >> 2)) + p[0] * p[1]; }"
    body = DIGESTS.replace("a += ((b << 5) ^ (b >> 2)) + w[r];", pairs).replace("r = 0; r < COUNT", "r = 0; r < 8")
    source = source_of(body.replace("COUNT", "16").replace("FIRST + ", ""), PARAMS)
    made = optimize(source, Options(machine=SOON)).text
    assert b"w_all_rows[2 * r + 1][i - rowt]" in made
    flags = ("-O1", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    assert run_c(DRIVER.replace("KERNEL", made.decode()), *flags, "-fopenmp", name="after") == before
