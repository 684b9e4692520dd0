"""Absolute differences of the bytes of two blocks, by a function that has an instruction for them."""

from __future__ import annotations

import re
from itertools import product

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.c_expr import DISTANCES, helper_name
from scopt.astgen.emit.distance_texts import distance_text
from scopt.astgen.transformed_program import Program
from scopt.check import compared_blocks
from scopt.diagnostics import InternalError
from scopt.ir.scop import Dependences
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

HEAD = "int n, int m, unsigned char a[n][m], unsigned char b[n][m], int *best"
AROUND = "for (int i = 0; i < n - 16; i++) { int most = 0; for (int j = 7; j < m - 64; j++)"
TAKEN = (
    "int s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) s += abs(a[i + y][j + x] - b[i + y][x + 3]);",
    "unsigned s = 3; for (int y = 1; y < 14; y += 3) for (int x = 2; x < 26; x++)"
    " { int d = a[i + y][j + x] - b[y][x]; s += d > 0 ? d : -d; }",
    "int s = i; for (int y = 0; y < 7; y++) for (int x = 0; x < 16; x++) s += abs(b[i + y][j + x] - a[i][j + x]);",
    "int s = 0; for (int y = 0; y < 4; y++) for (int x = 0; x < 64; x++) s += abs(a[i + y][j + x] - b[i + 2 * y][x]);",
)
LEFT = (
    # columns apart, one row, no bytes of both, differences with a sign, one that is handed on
    "int s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) s += abs(a[i + y][2 * x] - b[i + y][j + x]);",
    "int s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) s += abs(a[i + y][j + x] - best[x]);",
    "int s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) s += a[i + y][j + x] - b[i + y][j + x];",
    "int s = 0, d = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++)"
    " { d = a[i + y][j + x] - b[i + y][j + x]; s += d < 0 ? -d : d; } s += d;",
    "int s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++)"
    " { unsigned d = a[i + y][j + x] - b[i + y][j + x]; s += d < 0 ? -d : d; }",
)


def _source(body: str, k: int) -> str:
    inside = f"{AROUND} {{ {body} if ((int)s > most) most = s; }} best[64 * i] = most; }}"
    return f"static void f{k}({HEAD}) {{\n#pragma scop\n{inside}\n#pragma endscop\n}}\n"


def test_blocks_have_the_distances_that_they_had(run_c: RunC) -> None:
    bodies = (*TAKEN, *LEFT)
    source = f"""#include <stdio.h>
#include <stdlib.h>
static unsigned char a[3000], b[3000];
static int best[3000];
{"".join(_source(body, k) for k, body in enumerate(bodies))}
static void show(int k) {{
  unsigned hash = 5381;
  for (int q = 0; q < 3000; q++) {{ hash = hash * 33 + (unsigned)best[q]; best[q] = q; }}
  printf("%d %u\\n", k, hash);
}}
int main(void) {{
  for (int k = 0; k < 3000; k++) {{ a[k] = k * k % 251 + k % 5; b[k] = 255 - k % 19 * (k % 13); best[k] = k; }}
  {"".join(f"f{k}(30, 91, (void *)a, (void *)b, best); show({k});" for k in range(len(bodies)))}
}}
"""
    made = optimize(source.encode(), Options(eager=True)).text.decode()
    taken = [bool(re.search(r"scopt_distance_\d+\(\d", part)) for part in made.split("static void f")[1:]]
    assert taken == [True] * len(TAKEN) + [False] * len(LEFT)
    before = run_c(source, "-O1", "-w", name="before")
    for flags in (("-O2", "-march=native"), ("-O1", "-fsanitize=address,undefined"), ("-O2", "-U__SSE2__")):
        assert run_c(made, *flags, "-w", "-fopenmp", name="after") == before


def test_each_function_adds_up_all_bytes(run_c: RunC) -> None:
    texts = "".join("".join(distance_text(k, name, "long")) for k, name in DISTANCES.items())
    calls = "".join(
        f"test({rows}, {columns}, {name}({rows}, a + 3, a + 3 + {step}, b + 900, b + 900 - {columns}));"
        for (columns, name), rows, step in product(DISTANCES.items(), (1, 2, 3, 8), (64, 99))
    )
    source = f"""#include <stdio.h>
#include <stdlib.h>
{texts}
static unsigned char a[2000], b[2000];
static int step;
static void test(long rows, int columns, long found) {{
  long one = 0, other = 0;
  for (int y = 0; y < rows; y++) for (int x = 0; x < columns; x++) {{
    one += abs(a[3 + 64 * y + x] - b[900 - columns * y + x]);
    other += abs(a[3 + 99 * y + x] - b[900 - columns * y + x]);
  }}
  if (found != (step++ % 2 ? other : one)) printf("%ld %d %ld\\n", rows, columns, found);
}}
int main(void) {{
  for (int k = 0; k < 2000; k++) {{ a[k] = k % 7 ? k * k % 256 : 255; b[k] = k % 3 ? k * 7 : 0; }}
  {calls}
  puts("end");
}}
"""
    for flags in (("-O2",), ("-O3", "-march=native"), ("-O1", "-fsanitize=address,undefined"), ("-O1", "-U__SSE2__")):
        assert run_c(source, *flags, "-w", name="functions") == "end\n"


def test_calls_that_stand_for_other_loops_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right, seen = compared_blocks.check_compared_blocks, list[tuple[Program, Dependences]]()

    def noted(program: Program, deps: Dependences) -> None:
        seen.append((program, deps))
        right(program, deps)

    monkeypatch.setattr("scopt.check.program.check_compared_blocks", noted)
    optimize(f"#include <stdlib.h>\n{_source(TAKEN[0], 0)}".encode(), Options(eager=True))
    program, deps = next(one for one in seen if one[0].distances)
    for change in ({"rows": 7}, {"columns": 16}, {"step": 2}, {"row": 3, "column": 2}):
        wrong = {name: replace(one, **change) for name, one in program.distances.items()}
        with pytest.raises(InternalError):
            right(replace(program, distances=wrong), deps)


def test_names_are_those_of_no_other_function() -> None:
    assert helper_name(DISTANCES[8], frozenset({DISTANCES[8]})) == f"{DISTANCES[8]}_"
