"""Loops that end on data: which run in lanes, that they compute the same, and that faults are seen."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.ending_loops import EndingLoop
from scopt.astgen.lower.lane_values import NoLanes
from scopt.astgen.passes.ending_statements import IN_LANES, LANE
from scopt.astgen.transformed_program import Program
from scopt.check.ended_strips import check_ended_strips, without_strips
from scopt.check.functions.ending_functions import check_ending
from scopt.check.functions.faults import Fault
from scopt.check.functions.workshop import Workshop
from scopt.diagnostics import InternalError
from scopt.ir.from_pycparser import parse_c
from scopt.ir.nest import Call, For, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import CType, Statement
from scopt.ir.walks import mapped
from scopt.options import Options
from scopt.pipeline import optimize
from tests.check.planted import program_of
from tests.sources import source_of

PARAMS = "int n, int m, const float a[restrict 900], const float b[restrict 900], float o[restrict 900]"
FRACTAL = """
for (i = 0; i < n; i++) {
  float c = a[i], z = 0; int k = 0;
  while (k < m && z * z < 4.0f) { z = z * z + c; k++; }
  o[i] = k;
}"""
ROOTS = """
for (i = 0; i < n; i++) {
  float x = a[i];
  for (int k = 0; k < 40; k++) {
    float d = (x * x - a[i]) / (2 * x + 1.0f);
    if (d != d) continue;
    x -= d;
    if (fabsf(d) < 1e-6f) break;
    else if (x < 0) { x = -x; }
  }
  o[i] = x;
}"""
LONG = """
for (i = 0; i < n; i++) {
  unsigned long s = (unsigned long)i + 7; unsigned v = 1; int k = 0;
  do { s = s & 1 ? 3 * s + 1 : s >> 1; v = v * 40503u + (unsigned)m; k++; } while (s != 1 && k < 300);
  o[i] = k + (float)(v >> 9);
}"""


def source(body: str) -> bytes:
    return b"#include <math.h>\n" + source_of(body, PARAMS)


def text(body: str) -> str:
    return optimize(source(body), Options(eager=True)).text.decode()


def in_lanes(body: str) -> bool:
    return "scopt_ending_0_0(" in text(body)


@pytest.mark.parametrize("body", [FRACTAL, ROOTS, LONG])
def test_iterations_are_lanes(body: str) -> None:
    made = text(body)
    assert re.search(r"scopt_ending_0_0\(scopt_min\(n - it, 64\), \w+_lanes", made)
    assert "for (long it = 0; it < n; it += 64)" in made


@pytest.mark.parametrize(
    "body",
    [
        FRACTAL.replace("k++", "k += 7 / (k + 1)"),  # a division that may fail
        FRACTAL.replace("k++", "o[k] = z; k++"),
        FRACTAL.replace("z * z + c", "sinf(z) + c"),
        FRACTAL.replace("float c", "volatile float c"),
        FRACTAL.replace("z * z < 4.0f", "z < b[k]"),  # cells that nothing says are there
        FRACTAL.replace("float c = a[i]", "static float c"),
        FRACTAL.replace("z * z < 4.0f", "z * z < 4.0"),  # two sizes of floating-point numbers
        "for (i = 0; i < n; i++) { unsigned v = (unsigned)a[i]; int k = 0; while (v) { v &= v - 1; k++; } o[i] = k; }",
        "for (i = 1; i < n; i++) { float z = o[i - 1]; while (z > 1) z = z * 0.5f; o[i] = z + 3; }",
    ],
)
def test_others_run_one_by_one(body: str) -> None:
    assert not in_lanes(body)


@pytest.mark.parametrize("compiler", ["gcc -O3 -march=native", "gcc -O1", "clang-19 -O2 -mavx2", "clang-19 -O2"])
@pytest.mark.parametrize("body", [FRACTAL, ROOTS, LONG])
def test_lanes_compute_the_same(body: str, compiler: str, tmp_path: Path) -> None:
    command, *flags = compiler.split()
    if shutil.which(command) is None or ("avx2" in compiler and "avx2" not in Path("/proc/cpuinfo").read_text()):
        pytest.skip(f"no {compiler}")
    name = re.search(r"void (\w+)\(", source(body).decode()).group(1)  # type: ignore[union-attr]
    main = f"""
#include <stdio.h>
int main(void) {{
  static float a[900], b[900], o[900];
  for (int i = 0; i < 900; i++) a[i] = (i * 37 % 900 - 600) / 256.0f;
  for (int n = 1; n < 900; n = 3 * n + 2) {{
    {name}(n, 50, a, b, o);
    for (int i = 0; i < n; i++) printf("%a ", o[i]);
  }}
}}
"""
    printed = []
    for k, one in enumerate((source(body).decode(), text(body))):
        (tmp_path / f"{k}.c").write_text(one + main)
        files = ["-w", str(tmp_path / f"{k}.c"), "-o", str(tmp_path / f"{k}"), "-lm"]
        subprocess.run([command, *flags, "-ffp-contract=off", *files], check=True)
        printed.append(subprocess.run([str(tmp_path / f"{k}")], check=True, capture_output=True).stdout)
    assert printed[0] == printed[1]


# --- faults -----------------------------------------------------------------------------------------------------------

FLOAT, INT = CType("float", floating=True, bits=32), CType("int", integer=True, bits=32)


def ending() -> EndingLoop:
    loop = """for (state1 = 0; state1 < all0; state1++) {
        float own0 = state0 * state0 - given0;
        if (own0 > 4.0f || own0 < -2) break;
        state0 = own0 < 0 ? -own0 : 0.5f * own0;
    }"""
    body = parse_c(f"void f(void) {{ {loop} }}").ext[-1].body.block_items[0]
    return EndingLoop("lanes", body, (FLOAT, INT), (FLOAT,), (INT,), (FLOAT,), 32, "long")


def test_the_function_does_what_the_loop_does() -> None:
    check_ending(Workshop(), ending(), ending().text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("state0[i] = state0[0]", "state0[i] = state0[1]"),
        ("given0 + i)", "state0 + i)"),
        ("on_0 | on_1", "on_0 | on_0"),
        ("on_0 & ", ""),
        ("m0_0 & ~", "m0_0 & "),
        (" | ((lanes_i)(own0_0 <", " & ((lanes_i)(own0_0 <"),
        ("state1_0 - ", "state1_0 + "),
        ("own0_1 = ((state0_1 * state0_1)", "own0_1 = ((state0_1 * state0_0)"),
        ("own0_0 > c", "own0_0 >= c"),
        ("~(lanes_i){0}", "(lanes_i){0}"),
        ("i += 2 * lanes_lanes", "i += lanes_lanes"),
        ("#define lanes_lanes 8", "#define lanes_lanes 4"),
        ("state0_at - given0_at", "state0_at + given0_at"),
        ("[3])", "[2])"),
    ],
)
def test_faults_in_the_function_are_seen(old: str, new: str) -> None:
    assert old in ending().text
    with pytest.raises((Fault, StopIteration)):
        check_ending(Workshop(), ending(), ending().text.replace(old, new, 1))


def test_long_has_as_many_bits_as_the_target_says() -> None:
    """Where `long` has 32 bits, lanes of 32 bits can hold it, and where it has 64, they can't."""
    loop = "while (state0 > given0) state0 = (long)state0 - 1l;"
    body = parse_c(f"void f(void) {{ {loop} }}").ext[-1].body.block_items[0]
    short = EndingLoop("lanes", body, (INT,), (INT,), (), (), 32, "long long")
    check_ending(Workshop(), short, short.text)
    with pytest.raises(NoLanes):
        _ = replace(short, long_type="long").text
    with pytest.raises(Fault):
        check_ending(Workshop(), replace(short, long_type="long"), short.text.replace("long long count", "long count"))


def _body(suffix: str, change: Callable[[ir.Node], ir.Node]) -> Callable[[Program], Program]:
    """A fault in the first statement that strips have."""

    def make(program: Program) -> Program:
        name = next(one.name for one in program.scop.statements if suffix in one.name)

        def changed(one: Statement) -> Statement:
            return replace(one, body=change(one.body)) if one.name == name else one

        return replace(program, scop=replace(program.scop, statements=tuple(map(changed, program.scop.statements))))

    return make


def _nest(change: Callable[[Item], Item]) -> Callable[[Program], Program]:
    return lambda program: replace(program, nest=LoopNest(map_block(program.nest.body, lambda item: (change(item),))))


def _swapped(node: ir.Node) -> ir.Node:
    """Other names of buffers."""
    names = {"z_lanes": "c_lanes", "c_lanes": "z_lanes"}

    def inner(one: ir.Node) -> ir.Node:
        return ir.ID(names.get(one.name, one.name)) if isinstance(one, ir.ID) else mapped(one, inner)

    return inner(node)


def _longer(item: Item) -> Item:
    return replace(item, step=item.step * 2) if isinstance(item, For) and item.step > 1 else item


def _earlier(item: Item) -> Item:
    if isinstance(item, Call) and item.statement.endswith(LANE):
        return replace(item, args=(*item.args[:-1], item.args[0]))
    return item


def _shorter(item: Item) -> Item:
    if isinstance(item, Call) and item.statement.endswith(IN_LANES):
        return replace(item, args=(*item.args[:-1], item.args[0]))
    return item


@pytest.mark.parametrize(
    "fault", [_body(LANE, _swapped), _body(IN_LANES, _swapped), _nest(_longer), _nest(_earlier), _nest(_shorter)]
)
def test_faults_in_strips_are_seen(fault: Callable[[Program], Program]) -> None:
    program, _ = program_of(FRACTAL, PARAMS)
    check(program)
    wrong = fault(program)
    with pytest.raises(InternalError):
        check(wrong)


def check(program: Program) -> None:
    check_ended_strips(program)
    without_strips(program, program.nest)


def test_cells_that_the_loop_reads_are_loaded_before() -> None:
    assert "i_given_lanes[i - it] = a[i];" in text(ROOTS)
