"""Rows of characters in loops that nobody marked: what is written may be the pointers to rows."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

LAYOUTS = {
    "apart": "from[i] = cells + i * N; to[i] = cells + (N + i) * N;",
    "the same": "from[i] = to[i] = cells + i * N;",
    "shifted": "from[i] = cells + i * N; to[i] = cells + i * N + 1;",
    # what is written is what was there
    "over the pointers": "to[i] = (unsigned char *)from + i * M; from[i] = (unsigned char *)kept + i * M; ",
}
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 64
#define M 32
static unsigned char cells[4 * N * N];
static unsigned char *kept[N * N], *from[N * N];
void work(int n, int m, unsigned char **a, unsigned char *const *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = b[i][j];
}
int main(int argc, char **argv)
{
    unsigned char **to = malloc(N * sizeof *to);
    for (int i = 0; i < 4 * N * N; i++) cells[i] = i * 37 % 251;
    for (int i = 0; i < N; i++) { LAYOUT }
    memcpy(kept, from, sizeof kept);
    work(N, M, to, from);
    unsigned sum = 0;
    for (int i = 0; i < 4 * N * N; i++) sum = sum * 33 + cells[i];
    printf("%u\\n", sum);
}
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, run_c: RunC) -> None:
    flags = (f"-DLAYOUT={LAYOUTS[layout]}",)
    result = optimize(PROGRAM.encode(), Options(autodetect=True, eager=True, cpp_flags=("-DLAYOUT=;",)), file="x.c")
    assert any(region.function == "work" and region.transformed for region in result.regions)
    asked = '  if (all == 4) printf("apart %d\\n", apart);\n  return apart;\n'
    text = result.text.decode().replace("  return apart;\n", asked)
    said, result_line = run_c(text, *flags, "-O1", "-fopenmp", "-w", name="ours").split("\n")[:2]
    assert said == f"apart {int(layout == 'apart')}"
    assert result_line == run_c(PROGRAM, *flags, "-O1", "-w", name="theirs").strip()
