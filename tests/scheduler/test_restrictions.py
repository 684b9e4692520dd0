"""What users fix restricts what becomes of bands, and switches nothing off in silence: tile sizes, pragmas, influence
trees and schedule files, each with register tiles, vector loops, jammed rows, strips of rows and panels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from scopt import optimize
from scopt.options import Options
from scopt.tell.results import Result
from tests.conftest import but_for
from tests.fuzz.harness import without_thresholds

pytestmark = pytest.mark.usefixtures("no_rows_beside")

RunC = Callable[..., str]


class Program(Struct, frozen=True):
    """loops: the region. arrays: of doubles, with their extents. has: what its text has if the mechanism is there.
    parallel, vector: iterators that pragmas may name, and keep the mechanism. innermost: by statement and iterator,
    what an influence tree asks for to keep it. order: as a schedule file's bands."""

    loops: str
    arrays: tuple[str, ...]
    has: str
    parallel: str
    vector: str
    iterators: tuple[str, ...]
    order: tuple[str, ...]


GEMM = Program(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];",
    ("A[n][n]", "B[n][n]", "C[n][n]"),
    "scopt_tile_",
    "i",
    "j",
    ("i", "j", "k"),
    ("i", "k", "j"),
)
COPY = Program(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 2 * B[i][j];",
    ("A[n][n]", "B[n][n]"),
    "omp simd",
    "i",
    "j",
    ("i", "j"),
    ("i", "j"),
)
COLUMN_SUMS = Program(
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[j] += A[i][j] * x[i];",
    ("A[n][n]", "x[n]", "y[n]"),
    "A[i + 7][j]",
    "j",
    "j",
    ("i", "j"),
    ("i", "j"),
)
RECURRENCE = Program(
    "for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = B[i][j] / (A[i][j - 1] * 0.5 + 2.0);",
    ("A[n][n]", "B[n][n]"),
    "A_rows",
    "i",
    "i",
    ("i", "j"),
    ("i", "j"),
)
MECHANISMS = {"register tiles": GEMM, "vectors": COPY, "jammed rows": COLUMN_SUMS, "strips": RECURRENCE}
N = 61


def source_of(program: Program, pragma: str = "") -> str:
    parameters = ", ".join(["int n", *(f"double {array}" for array in program.arrays)])
    return f"void f({parameters}) {{\n{pragma}\n#pragma scop\n{program.loops}\n#pragma endscop\n}}\n"


def optimized(program: Program, pragma: str = "", **options: object) -> Result:
    """What becomes of a program; that of options without files is made once."""
    files = {"schedule_file", "influence"} & options.keys()
    result = (_transformed.__wrapped__ if files else _transformed)(source_of(program, pragma), Options(**options))  # type: ignore[arg-type]
    assert [region.transformed for region in result.regions] == [True], [one.text() for one in result.remarks]
    return result


@cache
def _transformed(source: str, options: Options) -> Result:
    return optimize(source, options, file="in.c")


def ids(result: Result) -> set[str]:
    return {remark.id for remark in result.remarks}


def tree_of(program: Program, iterator: str) -> str:
    """An influence tree that asks for an innermost loop over an iterator, and nothing else."""
    last = len(program.iterators) - 1
    node = "rows: [" + ", ".join(f'"T[S0,{last},{one}] = {int(one == iterator)}"' for one in program.iterators) + "]"
    for dimension in reversed(range(last)):
        node = f'rows: ["T[S0,{dimension},{iterator}] = 0"], children: [{{{node}}}]'
    return f"scop: 0\nbranches: [{{{node}}}]\n"


def schedule_of(program: Program, *, apart: bool = False) -> str:
    """A schedule file with the program's loops in an order of its own: one band, or apart, a band for each."""
    text = _transformed(source_of(program), Options(scheduler="identity")).regions[0].proposal
    domain = next(line for line in text.splitlines() if line.startswith("domain:"))
    members = [f"{{ S0[{', '.join(program.iterators)}] -> [({one})] }}" for one in program.order]
    lines, indent = [domain], ""
    for some in [[one] for one in members] if apart else [members]:
        lines.append(f"{indent}child:")
        indent += "  "
        lines.append(f'{indent}schedule: "[n] -> [{", ".join(some)}]"')
    return "\n".join(lines) + "\n"


@pytest.fixture
def restricted(tmp_path: Path) -> Callable[[Program, str], Result]:
    """What becomes of a program under a restriction that keeps its mechanism."""

    def made(program: Program, restriction: str) -> Result:
        if restriction.startswith("sizes"):
            return optimized(program, tile_sizes=tuple(map(int, restriction.split()[1:])))
        if restriction == "parallel":
            return optimized(program, f"#pragma scopt parallel({program.parallel})")
        if restriction == "vector":
            return optimized(program, f"#pragma scopt vector({program.vector})")
        file = tmp_path / "given.yaml"
        if restriction == "influence":
            file.write_text(tree_of(program, program.vector))
            return optimized(program, influence=str(file))
        file.write_text(schedule_of(program))
        return optimized(program, schedule_file=str(file))

    return made


RESTRICTIONS = ("sizes 32", "sizes 7", "sizes 1000 5", "parallel", "vector", "influence", "schedule")


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What programs print as they are, by their mechanism, once one of them has run."""
    return {}


# With SCOPT_TEST_ALL=1 in the environment all restrictions of all; else some sizes of each, and one of two wishes.
LEFT_OUT = {
    "register tiles": ("sizes 32", "sizes 1000 5", "vector"),
    "vectors": ("sizes 32", "sizes 7", "influence"),
    "jammed rows": ("sizes 7", "sizes 1000 5", "vector"),
    "strips": ("sizes 32", "sizes 1000 5", "vector"),
}
EACH = [(one, restriction) for one, some in LEFT_OUT.items() for restriction in but_for(RESTRICTIONS, *some)]


@pytest.mark.parametrize(("mechanism", "restriction"), EACH)
def test_each_mechanism_is_kept(
    mechanism: str,
    restriction: str,
    restricted: Callable[[Program, str], Result],
    printed: dict[str, str],
    run_c: RunC,
) -> None:
    program = MECHANISMS[mechanism]
    result = restricted(program, restriction)
    text = result.text.decode()
    assert program.has in text
    assert "band.restricted" not in ids(result)
    assert ("influence.reached" in ids(result)) == (restriction in ("influence", "parallel", "vector"))
    if mechanism not in printed:
        printed[mechanism] = run_c(driver(program, source_of(program)), "-ffp-contract=off", name="original")
    emitted = run_c(driver(program, without_thresholds(text)), "-fopenmp", "-O2", "-ffp-contract=off")
    assert emitted == printed[mechanism]


def driver(program: Program, text: str) -> str:
    """A program that runs the function on some numbers and prints what comes out."""
    names = [array.partition("[")[0] for array in program.arrays]
    sizes = ["".join(f"[{N}]" for _ in range(array.count("["))) for array in program.arrays]
    globals_ = "".join(f"static double {name}{size};\n" for name, size in zip(names, sizes, strict=True))
    fill = "".join(
        f"for (long k = 0; k < (long)(sizeof {name} / sizeof(double)); k++)\n"
        f"  ((double *){name})[k] = (k * {7 + m} % 31) / 8.0 + 1;\n"
        for m, name in enumerate(names)
    )
    show = "".join(
        f"for (long k = 0; k < (long)(sizeof {name} / sizeof(double)); k++)\n"
        f"  hash = hash * 0.75 + ((double *){name})[k];\n"
        for name in names
    )
    body = f'{fill}f({N}, {", ".join(names)});\ndouble hash = 0;\n{show}printf("%a\\n", hash); return 0;'
    return f"#include <stdio.h>\n{text}\n{globals_}int main(void) {{\n{body}\n}}\n"


# --- panels: of tiles, whatever their sizes and loops are -------------------------------------------------------------

COLUMNS = """
#define N 1200
#define M 1000
double A[M][N], R[N][N], Q[M][N];
void f(void) {
  double s;
#pragma scop
  for (int k = 0; k < N; k++) {
    s = 0.0;
    for (int i = 0; i < M; i++) s += A[i][k] * A[i][k];
    R[k][k] = s;
    for (int i = 0; i < M; i++) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < N; j++) {
      R[k][j] = 0.0;
      for (int i = 0; i < M; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < M; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }
#pragma endscop
}
"""


def columns(pragma: str = "") -> str:
    """The program, with a pragma before its loop over columns."""
    return COLUMNS.replace("    for (int j = k", f"{pragma}\n    for (int j = k")


@pytest.mark.parametrize(("pragma", "sizes"), [("", (24,)), ("#pragma scopt parallel(j)", ())])
def test_panels_are_kept(pragma: str, sizes: tuple[int, ...]) -> None:
    text = _transformed(columns(pragma), Options(tile_sizes=sizes)).text.decode()
    assert "A_panel" in text


def test_panels_of_a_given_schedule(tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(_transformed(columns(), Options(tile_sizes=(24,))).regions[0].proposal)
    assert "A_panel" in optimize(columns(), Options(schedule_file=str(file)), file="in.c").text.decode()


def test_without_panels_the_choices_say_why() -> None:
    result = optimize(columns("#pragma scopt vector(j)"), Options(explain=True), file="in.c")
    assert "A_panel" not in result.text.decode()
    assert "there are no tiles" in result.regions[0].explanation


# --- what can't be kept is told ---------------------------------------------------------------------------------------


def test_a_vector_loop_that_register_tiles_cannot_have() -> None:
    result = optimized(GEMM, "#pragma scopt vector(i)")
    (remark,) = (one for one in result.remarks if one.id == "band.restricted")
    assert remark.kind == "analysis"
    assert remark.location.line == source_of(GEMM).splitlines().index(GEMM.loops) + 1
    assert "scopt_tile_" not in result.text.decode()
    assert "omp simd" in result.text.decode()


def test_blocks_are_whole_register_tiles() -> None:
    assert "tiles.rounded" not in ids(optimized(GEMM, tile_sizes=(32,)))
    assert "tiles.rounded" in ids(optimized(GEMM, tile_sizes=(7,)))
    assert "tiles.rounded" in ids(optimized(GEMM, tile_sizes=(1000,)))
    assert "double A_rows[1024]" in optimized(GEMM, tile_sizes=(32,)).text.decode()
    assert "double A_rows[64]" in optimized(GEMM, tile_sizes=(7,)).text.decode()


def test_strips_have_as_many_rows_as_the_loop_over_them_has_in_a_tile() -> None:
    text = optimized(RECURRENCE, tile_sizes=(16,)).text.decode()
    assert "rowt + 16" in text or "[16]" in text


def test_an_innermost_loop_that_the_tree_asks_for_is_vectorized(tmp_path: Path) -> None:
    """The model would take the other loop; without the tree it does."""
    file = tmp_path / "i.yaml"
    file.write_text(tree_of(COPY, "i"))
    result = optimized(COPY, influence=str(file))
    head = result.text.decode().split("#pragma omp simd\n")[1].splitlines()[0]
    assert head.strip().startswith("for (long i =")
    assert "influence.reached" in ids(result)
    assert "for (long j =" in optimized(COPY).text.decode().split("simd")[1].splitlines()[1]


def test_a_scenario_that_the_loops_do_not_follow_is_told(tmp_path: Path) -> None:
    """The recurrence runs along j: its vectors run across."""
    file = tmp_path / "j.yaml"
    file.write_text(tree_of(RECURRENCE, "j"))
    result = optimized(RECURRENCE, influence=str(file))
    (remark,) = (one for one in result.remarks if one.id == "influence.lost")
    assert "influence.reached" not in ids(result)
    assert "runs over i instead of j" in remark.message


def test_choices_are_told_when_asked_for() -> None:
    assert "band.choice" not in ids(optimized(GEMM))
    explained = optimized(GEMM, explain=True)
    assert "band.choice" in ids(explained)
    assert "rather than plain loops" in explained.regions[0].explanation
    assert explained.text == optimized(GEMM).text


@pytest.mark.parametrize("scheduler", ["isl", "pluto"])
def test_a_schedulers_name_shapes_no_tiles(scheduler: str) -> None:
    """Gauss-Seidel's chains overlap whoever has found the band."""
    body = "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];"
    seidel = replace(COPY, loops=body, arrays=("A[n][n]",))
    result = optimized(seidel, scheduler=scheduler, explain=True, register_tile=False)
    assert "points of a tile run in wavefronts" in result.regions[0].explanation


def test_loops_that_a_schedule_file_keeps_apart_are_told(tmp_path: Path) -> None:
    file = tmp_path / "given.yaml"
    file.write_text(schedule_of(GEMM, apart=True))
    result = optimized(GEMM, schedule_file=str(file))
    assert "schedule.bands-apart" in ids(result)
    file.write_text(schedule_of(GEMM))
    assert "schedule.bands-apart" not in ids(optimized(GEMM, schedule_file=str(file)))


SCALAR = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
      double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s; }"""


def test_a_schedule_that_was_written_is_read_again_with_cells_in_place_of_scalars(tmp_path: Path) -> None:
    program = replace(GEMM, loops=SCALAR)
    plain = optimized(program)
    file = tmp_path / "given.yaml"
    file.write_text(plain.regions[0].proposal)
    given = optimized(program, schedule_file=str(file))
    assert "scopt_tile_" in plain.text.decode()
    assert "scopt_tile_" in given.text.decode()
    assert "schedule.statements-kept" not in ids(given)
