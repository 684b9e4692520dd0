"""Vector loops that look narrow cells up: which run in strips, and that faults in these are seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.strip_texts import LOOKUP, PLACE
from scopt.astgen.transformed_program import Program
from scopt.check.strips_of_lookups import check_strips_of_lookups
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import Item, map_block
from tests.check.planted import assignment_fault, program_of
from tests.conftest import RunC
from tests.sources import optimize, source_of

PARAMS = (
    "int n, const unsigned short a[restrict 900][900], const unsigned short b[restrict 900][900], "
    "const unsigned char tone[restrict 4096], unsigned char o[restrict 900][900][2], unsigned char y[restrict 900][900]"
)
TONES = """
for (j = 0; j < n; j++)
  for (i = 0; i < n; i++) {
    int r = 3 * a[j][i] + b[j][i], g = a[j][i] - 5 * b[j][i];
    o[j][i][0] = tone[(430 * r + 120 * g) >> 8 & 4095];
    o[j][i][1] = (unsigned char)tone[(70 * r + 410 * g) >> 8 & 4095];
    y[j][i] = (unsigned char)((77 * o[j][i][0] + 150 * o[j][i][1] + 128) >> 8);
  }"""


CHANNELS = """
for (j = 0; j < n; j++)
  for (i = 0; i < n; i++) {
    int r = 3 * a[j][i] + b[j][i], g = a[j][i] - 5 * b[j][i];
    for (int k = 0; k < 2; k++) {
      int t = (m[k][0] * r + m[k][1] * g + 7 * (r - g) + 128) >> 8;
      o[j][i][k] = tone[t & 4095];
    }
  }"""
MATRIX = PARAMS.replace("tone[restrict 4096]", "*restrict tone").replace("int n", "int n, int m[2][2]")


def text(body: str, params: str = PARAMS) -> str:
    return optimize(source_of(body, params)).text.decode().partition("#pragma scop\n")[2]


def test_places_are_computed_in_vectors() -> None:
    made = text(TONES)
    assert "long place[256];" in made
    assert "o[j][i][0] = tone[place[i - it]];" in made
    assert "#pragma omp simd private(r, g)" in made


def test_channels_look_up_behind_the_places_of_all() -> None:
    made = text(CHANNELS, MATRIX)
    places = [made.index(f"{name}[i - it] = t & 4095;") for name in ("place", "place_2")]
    lookups = [made.index(f"o[j][i][{k}] = tone[{name}[i - it]];") for k, name in enumerate(("place", "place_2"))]
    assert places[0] < places[1] < lookups[0] < lookups[1]
    # what stands between two lookups reads what the first one stored
    assert "place[" not in text(CHANNELS.replace("m[k][1] * g", "o[j][i][0]"), MATRIX)
    assert "place[" not in text(CHANNELS.replace("o[j][i][k] = tone", "y[j][0] = tone"), MATRIX)


def test_results_stay(run_c: RunC) -> None:
    source = f"""#include <stdio.h>
void f({MATRIX}) {{
  int i, j;
#pragma scop{CHANNELS}
#pragma endscop
}}
static unsigned short a[900][900], b[900][900];
static unsigned char tone[4096], o[900][900][2], y[900][900];
int main(void) {{
  unsigned hash = 5381;
  int m[2][2] = {{ {{ 70, -31 }}, {{ -12, 95 }} }};
  for (int k = 0; k < 4096; k++) tone[k] = (unsigned char)(k * k >> 3);
  for (int k = 0; k < 810000; k++) a[0][k] = (unsigned short)(k * 7), b[0][k] = (unsigned short)(k * 13 >> 2);
  for (int n = 0; n <= 900; n += n < 3 ? 1 : 299) f(n, m, a, b, tone, o, y);
  for (int k = 0; k < 1620000; k++) hash = hash * 33 + o[0][0][k];
  printf("%u\\n", hash);
}}
"""
    made = optimize(source.encode()).text.decode()
    assert "place_2[256]" in made
    before = run_c(source, "-O1", "-w", name="before")
    assert run_c(made, "-O1", "-w", "-fopenmp", "-fsanitize=address,undefined", name="after") == before


@pytest.mark.parametrize(
    "body",
    [
        "for (j = 0; j < n; j++) for (i = 0; i < n; i++) y[j][i] = tone[a[j][i]];",  # nothing to compute
        TONES.replace("128) >> 8)", "r) >> 8)"),  # a variable would be handed on
        TONES.replace("70 * r", "o[j][i][0] * r"),  # a place waits for a lookup
        TONES.replace("i < n", "i < 40"),
    ],
)
def test_others_stay_one_loop(body: str) -> None:
    assert "place[" not in text(body)


def test_wide_cells_are_gathered() -> None:
    assert "place[" not in text(TONES, PARAMS.replace("unsigned char tone", "int tone"))


def _looked(change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[[Program], Program]:
    """A fault in the names of a loop in strips."""

    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and item.mark.looked:
            return (replace(item, mark=replace(item.mark, looked=change(item.mark.looked))),)
        return (item,)

    return lambda program: replace(program, nest=LoopNest(map_block(program.nest.body, visit)))


@pytest.mark.parametrize(
    "fault",
    [
        assignment_fault(
            PLACE, lambda body: ir.Assignment("=", body.lvalue, ir.BinaryOp("+", body.rvalue, ir.Constant("int", "1")))
        ),
        assignment_fault(LOOKUP, lambda body: ir.Assignment("=", body.rvalue, body.lvalue)),
        _looked(lambda names: (names[0], *names[:0:-1])),
        _looked(lambda names: names[:-1]),
        _looked(lambda names: ("i", *names[1:])),
        _looked(lambda names: ("y", *names[1:])),
    ],
)
def test_faults_are_refused(fault: Callable[[Program], Program]) -> None:
    for program, _ in (program_of(TONES, PARAMS), program_of(CHANNELS, MATRIX)):
        check_strips_of_lookups(program)
        with pytest.raises(InternalError, match="lookups"):
            check_strips_of_lookups(fault(program))
