"""Each field of the machine's model decides something, and each mechanism asks the model:
another machine, another choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import fields, replace

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.machine import DEFAULT, Cache, Machine
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.influence.scenarios import scenarios
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.simulation.static_cost import CostModel
from tests.sources import scop_of, source_of

SQUARES = (
    "int n, int m, double A[2000][2000], double B[2000][2000], double C[2000][2000], double x[2000], double y[2000]"
)
SMALL = SQUARES.replace("[2000][2000]", "[500][1000]")
PRODUCT = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
ACROSS = PRODUCT.replace("B[k][j]", "B[j][k]")
ROW_SUM = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[i] += A[i][j] * y[j];"
COLUMN_SUM = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[j] += A[i][j] * y[i];"
# A private variable: such rows aren't jammed, a loop walks along several of them side by side.
SIDE_BY_SIDE = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { s = A[i][j]; x[i] += s * y[j]; }"
RECURRENCE = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + B[i][j];"
DIVISIONS = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = B[i][j] / A[i][j-1];"
STENCIL = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) B[i][j] = A[i][j-1] + A[i][j+1] + A[i-1][j] + A[i+1][j];
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) A[i][j] = B[i][j-1] + B[i][j+1] + B[i-1][j] + B[i+1][j]; }"""
# Each column is subtracted from those after it: tiles come back to the rows of a few columns.
COLUMNS = """for (k = 0; k < n; k++) {
  for (i = 0; i < m; i++) B[i][k] = A[i][k] / (k + 2.0);
  for (j = k + 1; j < n; j++) {
    C[k][j] = 0.0;
    for (i = 0; i < m; i++) C[k][j] += B[i][k] * A[i][j];
    for (i = 0; i < m; i++) A[i][j] = A[i][j] - B[i][k] * C[k][j]; } }"""
WAVES = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i-1][j] * 0.5 * 1.5 * 0.75 + A[i][j-1];"
COPY = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[i][j] * 2.0;"


pytestmark = pytest.mark.usefixtures("no_rows_beside")


def bands(body: str, machine: Machine, params: str = SQUARES) -> MarkedSchedule:
    """What the band passes make of it."""
    scop, options = scop_of(body, params), Options(machine=machine)
    deps = dependences(scop)
    return apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, options, None).tree, options)


def tree(body: str, machine: Machine, params: str = SQUARES) -> str:
    """All sizes of tiles are in it."""
    return str(bands(body, machine, params).tree.get_root())


def text(body: str, machine: Machine, params: str = SQUARES) -> str:
    """What comes out; nothing may be refused."""
    result = optimize(source_of(body, params), Options(machine=machine))
    assert any(remark.kind == "passed" for remark in result.remarks), result.remarks
    return result.text


def found(body: str, machine: Machine, params: str = SQUARES) -> tuple[str, ...]:
    """Remarks on a region that nobody marked: whether it is worth its transformation."""
    source = b"\n".join(line for line in source_of(body, params).splitlines() if not line.startswith(b"#pragma"))
    result = optimize(source, Options(machine=machine, autodetect=True))
    return tuple(remark.id for remark in result.remarks)


# --- what each mechanism chooses --------------------------------------------------------------------------------------


def register_tile(machine: Machine) -> object:
    (tiling,) = bands(PRODUCT, machine).tilings.values()
    return tiling.rows, tiling.columns


def blocks(machine: Machine) -> object:
    (tiling,) = bands(PRODUCT, machine).tilings.values()
    return tiling.block, tiling.depth


def kernel(machine: Machine) -> object:
    """The text of a product, with its kernel and the function that packs across rows."""
    return text(ACROSS, machine)


def jam(machine: Machine) -> object:
    return max(mark.most for mark in bands(ROW_SUM, machine).marks.values())


def jam_chunk(machine: Machine) -> object:
    return tree(COLUMN_SUM, machine)


def strips(machine: Machine) -> object:
    return [strips.count for strips in bands(RECURRENCE, machine).strips.values()]


def strips_of_divisions(machine: Machine) -> object:
    return [strips.count for strips in bands(DIVISIONS, machine).strips.values()]


def copies_of_strips(machine: Machine) -> object:
    return text(RECURRENCE, machine)


def panels(machine: Machine) -> object:
    return [one.array for tile in bands(COLUMNS, machine).packed.values() for one in tile.panels]


def diamonds(machine: Machine) -> object:
    return tree(STENCIL, machine, SMALL)


def wavefronts(machine: Machine) -> object:
    return tree(WAVES, machine)


def rows_side_by_side(machine: Machine) -> object:
    """Of arrays large enough for each thread to have pages of its own."""
    return tree(SIDE_BY_SIDE, machine, SQUARES.replace("[2000]", "[20000]"))


def rows_apart(machine: Machine) -> object:
    """Rows whose addresses are a power of two apart compete for the sets of the first cache."""
    return tree(SIDE_BY_SIDE, machine, SQUARES.replace("A[2000][2000]", "A[2048][2048]"))


def pieces(machine: Machine) -> object:
    """Of a vector loop, whose tiles are the parallel ones."""
    return tree("for (t = 0; t < m; t++) for (i = 0; i < n; i++) A[t+1][i] = A[t][i] * 0.5;", machine)


def guard(machine: Machine) -> object:
    """The least work of a parallel loop."""
    return text(COPY, machine)


def guard_of_copies(machine: Machine) -> object:
    """The least work of a parallel loop whose threads have copies of an array."""
    source = "int h[256]; void f(int n, unsigned *q) {\n#pragma scop\nfor (int i = 0; i < n; i++) h[q[i] & 255] += 1;"
    return optimize(f"{source}\n#pragma endscop\n}}", Options(machine=machine)).text


def guard_of_register_tiles(machine: Machine) -> object:
    return text(PRODUCT, machine)


def worth(machine: Machine) -> object:
    return found("for (i = 0; i < 90; i++) for (j = 0; j < 90; j++) A[i][j] = B[i][j] * 2.0;", machine)


def scenario(machine: Machine) -> object:
    return scenarios(scop_of("for (i = 0; i < 40; i++) x[i] = 0;"), machine=machine)[0].choices[0].costs


def aligned_starts(machine: Machine) -> object:
    """Where vector loops over rows begin."""
    return text(STENCIL, machine)


def simulated(machine: Machine) -> object:
    scop = scop_of(COPY, SQUARES)
    return CostModel(scop, dependences(scop), Options(machine=machine, tile=False)).original


def cached(level: int, **changes: Any) -> tuple[Cache, ...]:
    """The default's caches, one of them changed. level: from 1."""
    return tuple(replace(c, **changes) if k == level else c for k, c in enumerate(DEFAULT.caches, start=1))


# Field, another value of it, and a choice that depends on it. One choice of each mechanism at least.
DECISIONS: tuple[tuple[str, Any, Callable[[Machine], object]], ...] = (
    ("cores", 64, guard_of_copies),
    ("cores", 1, diamonds),
    ("cores", 2, scenario),
    ("vector_bytes", 32, register_tile),
    ("vector_bytes", 32, strips),
    ("vector_bytes", 32, kernel),
    ("vector_bytes", 16, simulated),
    ("vector_registers", 16, register_tile),
    ("vector_registers", 8, jam),
    ("fma_per_cycle", 1, jam),
    ("fma_per_cycle", 1, guard_of_register_tiles),
    ("fma_latency", 6, jam),
    ("fma_latency", 6, strips),
    ("fma_latency", 3, strips),
    ("division_latency", 5, strips_of_divisions),
    ("gigahertz", 1.0, guard),
    ("gigahertz", 1.0, simulated),
    ("streams", 8, rows_side_by_side),
    ("page_bytes", 2 << 20, jam_chunk),
    ("page_bytes", 16 << 10, rows_side_by_side),
    ("page_bytes", 2 << 20, panels),
    ("tlb_entries", 1 << 14, panels),
    ("bandwidth", 60.0, diamonds),
    ("bandwidth", 1.0, simulated),
    ("fork_nanoseconds", 1000, guard),
    ("fork_nanoseconds", 1000, worth),
    ("fork_nanoseconds", 1_000, wavefronts),
    ("caches", cached(1, size=64 << 10), blocks),
    ("caches", cached(1, size=16 << 10), copies_of_strips),
    ("caches", cached(2, size=4 << 20), blocks),
    ("caches", cached(2, size=512 << 10), diamonds),
    ("caches", cached(2, size=256 << 10), strips),
)
OF_CACHES: tuple[tuple[str, tuple[Cache, ...], Callable[[Machine], object]], ...] = (
    ("size", cached(2, size=512 << 10), diamonds),
    ("associativity", cached(1, associativity=16), rows_apart),
    ("line", cached(1, line=128), pieces),
    ("line", cached(1, line=128), aligned_starts),
    ("line", cached(1, line=128), copies_of_strips),
    ("shared", cached(2, shared=2), blocks),
    ("shared", cached(1, shared=2), copies_of_strips),
)


@pytest.mark.parametrize(
    ("field", "value", "choice"),
    [pytest.param(*one, id=f"{one[0]}-{one[2].__name__}-{k}") for k, one in enumerate(DECISIONS)],
)
def test_a_field_decides(field: str, value: Any, choice: Callable[[Machine], object]) -> None:
    assert choice(replace(DEFAULT, **{field: value})) != choice(DEFAULT)


@pytest.mark.parametrize(
    ("caches", "choice"), [pytest.param(*one[1:], id=f"{one[0]}-{one[2].__name__}") for one in OF_CACHES]
)
def test_a_field_of_a_cache_decides(caches: tuple[Cache, ...], choice: Callable[[Machine], object]) -> None:
    assert choice(replace(DEFAULT, caches=caches)) != choice(DEFAULT)


def test_no_field_decides_nothing() -> None:
    assert {field for field, _, _ in DECISIONS} == {field.name for field in fields(Machine)}
    assert {field for field, _, _ in OF_CACHES} == {field.name for field in fields(Cache)}
