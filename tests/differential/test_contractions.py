"""Random statements of the shape of contractions: transformed with register tiles, compiled, run at many sizes,
compared bit by bit."""

from __future__ import annotations

import itertools
import os
import platform
import re
import subprocess
from pathlib import Path
from string import Template

import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st
from msgspec import Struct

from scopt import pipeline
from scopt.options import Options
from tests.conftest import EVERYTHING, everyday

# Below, at and above multiples of register tiles, blocks and tiles.
SIZES = (0, 1, 7, 8, 23, 24, 25, 48, 50, 97, 131, 269)
FLAGS = ("-O1", "-ffp-contract=off", "-w")

PROGRAM = Template("""\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kernel(int n, int m, int p, $type alpha,
            $type A[n + 44][n + 44], $type B[n + 44][n + 44], $type C[n + 44][n + 44]) {
#pragma scop
$body
#pragma endscop
}

static void fill(int cells, $type *a, int seed) {
  for (int c = 0; c < cells; c++)
    a[c] = (($type)((c * 37 + seed * 11) % 101) - 50) / $scale + (c % 7 == seed ? 1 : 0);
}

int main(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    int n = atoi(argv[k]), cells = (n + 44) * (n + 44);
    $type *arrays[3];
    unsigned long hash = 5381;
    for (int a = 0; a < 3; a++) fill(cells, arrays[a] = malloc(cells * sizeof($type)), a + 1);
    kernel(n, n > 3 ? n - 3 : 0, n / 2, 0.75, (void *)arrays[0], (void *)arrays[1], (void *)arrays[2]);
    for (int a = 0; a < 3; a++) {
      unsigned char *bytes = (unsigned char *)arrays[a];
      for (size_t b = 0; b < cells * sizeof($type); b++) hash = hash * 33 + bytes[b];
      free(arrays[a]);
    }
    printf("%d %lu\\n", n, hash);
  }
}
""")

# From one array that isn't written, the column's operand may be read either way round.
ROWS = ("A[i][k]", "A[k][i]", "A[i + 1][k + 2]", "alpha * A[i][k]", "(A[i][k] - A[k][i])")
COLUMNS = ("B[k][j]", "B[j][k]", "B[k + 1][j]", "B[k][j] * 0.5", "A[k][j]", "A[j][k]")
UPDATES = (
    "C[{i}][{j}] += {row} * {column};",
    "C[{i}][{j}] -= {row} * {column};",
    "C[{i}][{j}] = {column} * {row} + C[{i}][{j}];",
    "C[{i}][{j}] = C[{i}][{j}] * {row} - {column};",
    "C[{i}][{j}] += {row} * {column} + A[j][k] * B[i][k];",
    "C[{i}][{j}] += alpha * {row} * {column};",
)
EXTREMA = (
    "C[{i}][{j}] = C[{i}][{j}] {op} {value} ? C[{i}][{j}] : {value};",
    "C[{i}][{j}] = {value} {op} C[{i}][{j}] ? C[{i}][{j}] : {value};",
    "C[{i}][{j}] = C[{i}][{j}] {op} {value} ? {value} : C[{i}][{j}];",
    "if ({value} {op} C[{i}][{j}]) C[{i}][{j}] = {value};",
)
COMPARISONS = ("<", "<=", ">", ">=")
TYPES = ("double", "double", "float", "unsigned int", "unsigned long")
SIGNED = ("int", "long")  # for extrema: products would overflow
I_RANGES = ("i = 0; i < n", "i = 2; i < m", "i = 1; i <= p")
J_RANGES = ("j = 0; j < n", "j = 0; j <= i", "j = i; j < n", "j = 3; j < m", "j = i + 1; j < n")
K_RANGES = ("k = 0; k < n", "k = 0; k < i", "k = i + 1; k < n", "k = p; k < n", "k = 0; k < 40", "k = i; k < m")
BEFORE = ("", "C[i][j] = 0;", "C[i][j] *= alpha;")
# The operands are cells that others of the statement's instances have updated.
IN_PLACE = (
    "for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) { C[i][k] *= 0.25;"
    " for (int j = k + 1; j < n; j++) C[i][j] -= C[i][k] * C[k][j]; }",
    "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < i; j++) for (int k = 0; k < j; k++) C[i][j] -= C[i][k] * C[j][k]; C[i][i] += 1; }",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " for (int k = i + 1; k < n; k++) C[i][j] += A[k][i] * C[k][j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += C[i][k] * B[k][j];",
    "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] -= C[i][k] * C[k][j];",
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { $type s = B[j][i];"
    " for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s * alpha; }",
    "for (int i = 0; i < n; i++) {"
    " for (int j = 0; j < i; j++)"
    " { $type s = C[i][j]; for (int k = 0; k < j; k++) s -= C[i][k] * C[k][j]; C[i][j] = s * 0.5; }"
    " for (int j = i; j < n; j++)"
    " { $type s = C[i][j]; for (int k = 0; k < i; k++) s -= C[i][k] * C[k][j]; C[i][j] = s; } }",
)


class Source(Struct, frozen=True):
    """body: of the function. type: of all elements."""

    body: str
    type: str

    @property
    def text(self) -> str:
        scale = "64" if self.type in ("double", "float") else "1"
        return PROGRAM.substitute(type=self.type, scale=scale, body=Template(self.body).substitute(type=self.type))


@st.composite
def sources(draw: st.DrawFn) -> Source:
    """One nest, or one that updates its operands."""
    kind = draw(st.sampled_from((*TYPES, *SIGNED)))
    if kind not in SIGNED and draw(st.integers(0, 4)) == 0:
        return Source(draw(st.sampled_from(IN_PLACE)), kind)
    i, j = draw(st.sampled_from((("i", "j"), ("i + 1", "j"), ("i", "j + 3"))))
    row, column = draw(st.sampled_from(ROWS)), draw(st.sampled_from(COLUMNS))
    if kind in SIGNED or draw(st.integers(0, 2)) == 0:
        value = f"{row} {draw(st.sampled_from('+-'))} {column}"
        update = draw(st.sampled_from(EXTREMA)).format(i=i, j=j, op=draw(st.sampled_from(COMPARISONS)), value=value)
    else:
        update = draw(st.sampled_from(UPDATES)).format(i=i, j=j, row=row, column=column)
    ranges = {name: draw(st.sampled_from(among)) for name, among in (("i", I_RANGES), ("j", J_RANGES), ("k", K_RANGES))}
    orders = [order for order in itertools.permutations("ijk") if _bounds_are_known(order, ranges)]
    order = draw(st.sampled_from(orders))
    loops = {name: f"for (int {ranges[name]}; {name}++)" for name in order}
    before = draw(st.sampled_from(BEFORE)) if order[2] == "k" else ""
    if before:
        return Source(f"{loops[order[0]]} {loops[order[1]]} {{ {before} {loops['k']} {update} }}", kind)
    return Source(f"{' '.join(loops[name] for name in order)} {update}", kind)


def _bounds_are_known(order: tuple[str, ...], ranges: dict[str, str]) -> bool:
    """Whether the loop over i is outside of those whose bounds it is in."""
    return all("i" not in ranges[name].replace("int", "") or order.index("i") < order.index(name) for name in "jk")


def outputs(source: str, cc: str, folder: Path, *flags: str, run: bool = True) -> str:
    path = folder / "program.c"
    path.write_text(source)
    command = [cc, *FLAGS, *flags, "-fopenmp", str(path), "-o", str(folder / "program"), "-lm"]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert compiled.returncode == 0, compiled.stderr
    if not run:
        return ""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    sizes = [str(size) for size in SIZES]
    return subprocess.run(
        [str(folder / "program"), *sizes], capture_output=True, text=True, timeout=60, check=True, env=environment
    ).stdout


@seed(20)
@settings(
    max_examples=3 if EVERYTHING else 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(source=sources())
def test_contractions_compute_the_same(source: Source, cc: str, tmp_path: Path) -> None:
    result = pipeline.optimize(source.text.encode(), Options(budget=60.0, eager=True), file="program.c")
    assert [remark.text() for remark in result.remarks if remark.kind == "missed"] == []
    assert outputs(result.text.decode(), cc, tmp_path) == outputs(source.text, cc, tmp_path)


# A cell is an extremum over all ways to cut what lies between its row and its column in two.
FOLDS = (
    "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++) {"
    " C[i][j] = C[i][j] >= C[i][j - 1] ? C[i][j] : C[i][j - 1];"
    " for (int k = i + 1; k < j; k++) C[i][j] = C[i][j] >= C[i][k] + C[k + 1][j] ? C[i][j] : C[i][k] + C[k + 1][j]; }",
    "for (int i = 1; i < n; i++) for (int j = i - 1; j >= 0; j--) { if (B[i][j] < C[i][j]) C[i][j] = B[i][j];"
    " for (int k = j + 1; k < i; k++) if (C[i][k] + C[k - 1][j] < C[i][j]) C[i][j] = C[i][k] + C[k - 1][j]; }",
    "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < n; j++) {"
    " C[i][j + 1] = C[i][j + 1] > C[i][j] ? C[i][j + 1] : C[i][j];"
    " for (int k = 0; k < 40; k++)"
    " C[i][j + 1] = A[i][k] + C[k + 2][j] > C[i][j + 1] ? A[i][k] + C[k + 2][j] : C[i][j + 1]; }",
    "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++) { C[i][j] += C[i][j - 1] - C[i + 1][j];"
    " for (int k = i + 1; k < j; k++) C[i][j] += C[i][k] * C[k][j]; }",
    # tiles of the source's own
    "for (int t = 3; t < m; t += 20) for (int s = 0; s < n; s += 16) for (int i = 0; i < n; i++)"
    " for (int k = s; k < (s + 16 < n ? s + 16 : n); k++) for (int j = t; j < t + 20 && j < m; j++)"
    " C[i][j] += A[i][k] * B[k][j];",
)


@pytest.mark.parametrize(
    ("number", "type"),
    [(0, "int"), (0, "double"), (1, "long"), (2, "int"), (2, "float"), (3, "unsigned int"), (4, "double")],
)
def test_contractions_below_a_band(number: int, type: str, cc: str, tmp_path: Path) -> None:
    source = Source(FOLDS[number], type).text
    result = pipeline.optimize(source.encode(), Options(budget=60.0, eager=True), file="program.c").text.decode()
    if number == 4 or (number in (0, 1, 3) and type not in ("float", "double")):
        assert "vector_size" in result
    assert outputs(result, cc, tmp_path) == outputs(source, cc, tmp_path)


SPECIAL = Template("""\
#include <stdio.h>
#include <string.h>

$functions
enum { N = 51 };
static $type a[3][N][N];
static void fill(void) {
  const $type values[] = {0, -0.0, 1, -1, __builtin_nan(""), -0.0, 0, -1};
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) a[m][i][j] = values[(i * 5 + j * 3 + i * j + m) % (m == 2 || i % 3 != j % 3 ? 8 : 2)];
}
static void show(void) {
  unsigned char bytes[sizeof a[2]];
  memcpy(bytes, a[2], sizeof bytes);
  for (unsigned b = 0; b < sizeof bytes; b++) printf("%02x", bytes[b]);
  puts("");
}
int main(void) {
$calls
}
""")
KERNEL = Template("""\
void kernel$number(int n, $type A[n][n], $type B[n][n], $type C[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) $update
#pragma endscop
}
""")


@pytest.mark.parametrize("op", everyday(("<", "<=", ">=", ">")))
def test_extrema_take_zeros_and_nans_as_the_source_does(op: str, cc: str, tmp_path: Path) -> None:
    kind = "float" if "<" in op else "double"
    updates = [form.format(i="i", j="j", op=op, value="A[i][k] + B[k][j]") for form in EXTREMA]
    functions = [KERNEL.substitute(number=k, type=kind, update=update) for k, update in enumerate(updates)]
    calls = [f"  fill(), kernel{number}(N, a[0], a[1], a[2]), show();" for number in range(len(updates))]
    source = SPECIAL.substitute(type=kind, functions="".join(functions), calls="\n".join(calls))
    result = pipeline.optimize(source.encode(), Options(eager=True), file="program.c").text.decode()
    for number, update in enumerate(updates):
        assert re.search(rf"typedef {kind} scopt_tile_{number}_0_v __attribute__\(\(vector_size", result), update
    expected = outputs(source, cc, tmp_path).splitlines()
    assert len(expected) == len(updates)
    for update, found, wanted in zip(updates, outputs(result, cc, tmp_path).splitlines(), expected, strict=True):
        assert found == wanted, update


# Both operands' rows lie along the steps.
ACROSS = (
    "C[i][j] += A[i][k] * B[j][k];",
    "C[i][j] -= alpha * A[i + 1][k + 2] * (2 - B[j][k]);",
    "C[i][j] += A[i][k] * B[j][k] + B[i][k] * A[j][k];",
)


@pytest.mark.parametrize(
    ("update", "type"),
    [
        *((update, "double") for update in ACROSS),
        (ACROSS[0], "unsigned int"),
        (ACROSS[1], "float"),
        (ACROSS[2], "unsigned long"),
    ],
)
def test_operands_are_turned(update: str, type: str, cc: str, tmp_path: Path) -> None:
    body = f"for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < m; k++) {update}"
    source = Source(body, type).text
    result = pipeline.optimize(source.encode(), Options(budget=60.0, eager=True), file="program.c").text.decode()
    assert result.count("scopt_transpose_0_") >= 4
    expected = outputs(source, cc, tmp_path)
    assert outputs(result, cc, tmp_path) == expected
    assert outputs(result, cc, tmp_path, "-march=native") == expected
    if platform.machine() == "x86_64" and (EVERYTHING or update == ACROSS[0]):
        outputs(result, cc, tmp_path, "-march=x86-64-v4", run=False)


def test_sub_matrices_from_parameters_on(cc: str, tmp_path: Path) -> None:
    body = (
        "for (int i = 0; i < n - p; i++) for (int j = 0; j < n; j++) { double s = 0;"
        " for (int k = 0; k < n - p; k++) s += A[p + i][k] * B[j][k + p]; C[i + p][j] = s; }"
    )
    source = Source(body, "double").text
    result = pipeline.optimize(source.encode(), Options(budget=60.0, eager=True), file="program.c")
    assert "schedule.simplified" not in [remark.id for remark in result.remarks]
    assert "scopt_transpose_0_1" in (text := result.text.decode())
    assert outputs(text, cc, tmp_path) == outputs(source, cc, tmp_path)


@pytest.mark.parametrize("body", IN_PLACE)
def test_updates_of_operands(body: str, cc: str, tmp_path: Path) -> None:
    source = Source(body, "double").text
    result = pipeline.optimize(source.encode(), Options(budget=60.0, eager=True), file="program.c")
    assert outputs(result.text.decode(), cc, tmp_path) == outputs(source, cc, tmp_path)


NARROW = Template("""\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void kernel(int n, int m, $row A[n][m], int16_t B[n][m], int32_t C[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++) C[i][j] += $value;
#pragma endscop
}

int main(int argc, char **argv) {
  static $row A[269 * 550];
  static int16_t B[269 * 550];
  static int32_t C[269 * 269];
  for (int k = 0; k < 269 * 550; k++) A[k] = k * 40503u >> 9, B[k] = k % 5 ? k * 30011u >> 3 : -32768;
  for (int k = 1; k < argc; k++) {
    int n = atoi(argv[k]);
    unsigned hash = 5381;
    kernel(n, 2 * n + n % 3, (void *)A, (void *)B, (void *)C);
    for (int c = 0; c < n * n; c++) hash = hash * 33 + C[c];
    printf("%d %u\\n", n, hash);
  }
}
""")


@pytest.mark.parametrize(("row", "value"), [("uint8_t", "(A[i][k] - 128) * B[j][k]"), ("int16_t", "B[j][k] * A[i][k]")])
def test_operands_of_16_bits_are_multiplied_in_pairs(row: str, value: str, cc: str, tmp_path: Path) -> None:
    """Products of the least numbers, whose sums wrap around; sums of signed numbers do, if the build says so."""
    source = NARROW.substitute(row=row, value=value)
    result = pipeline.optimize(source.encode(), Options(eager=True), file="program.c").text.decode()
    assert "_pairs" in result
    assert "short B_columns[" in result
    best = ("-march=native",) if platform.machine() == "x86_64" else ()
    assert outputs(result, cc, tmp_path, "-fwrapv", *best) == outputs(source, cc, tmp_path, "-fwrapv")
