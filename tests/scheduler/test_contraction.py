"""What counts as a contraction, how its operands are split, which instances' operands may be packed, what expansion
makes of others."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.marked_schedule import Contraction, Extremum
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.bands import ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import walk
from scopt.scheduler import get_scheduler
from scopt.scheduler.decisions.contractions import contraction_of, pure_part, shape_of
from scopt.scheduler.decisions.register_tiles import register_tiling
from scopt.scheduler.passes.expansion import expand
from tests.sources import scop_of

MATRICES = (
    "int n, int m, double A[99][99], double B[99][99], double C[99][99], double a, float F[99][99],"
    " int K[99][99], int L[99][99], short H[99][99]"
)
LOOPS = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++)"


def scheduled(scop: Scop) -> isl.Schedule:
    deps = dependences(scop)
    return with_properties(scop, ordered(scop, deps), get_scheduler("pluto").schedule(scop, deps, Options()).tree)


def band(scop: Scop) -> isl.ScheduleNode:
    """The first band of three members."""
    return next(
        n
        for n in walk(scheduled(scop).get_root())
        if n.get_type() == isl.schedule_node_type.band and n.band_n_member() == 3
    )


def found(statement: str) -> Contraction | None:
    scop = scop_of(f"{LOOPS} {statement}", MATRICES)
    return contraction_of(scop, band(scop))


@pytest.mark.parametrize(
    ("statement", "update", "rows", "columns", "scalars"),
    [
        ("C[i][j] += A[i][k] * B[k][j];", "+= row0 * column0", ["A[i][k]"], ["B[k][j]"], []),
        ("C[i][j] -= a * A[k][i] * B[j][k];", "-= row0 * column0", ["(a * A[k][i])"], ["B[j][k]"], []),
        (
            "C[i][j] = C[i][j] + A[i][k] * B[k][j] * a;",
            "= (cell + ((row0 * column0) * scalar0))",
            ["A[i][k]"],
            ["B[k][j]"],
            ["a"],
        ),
        (
            "C[i][j] += A[i][k] * B[j][k] + B[i][k] * A[j][k];",
            "+= (row0 * column0) + (row1 * column1)",
            ["A[i][k]", "B[i][k]"],
            ["B[j][k]", "A[j][k]"],
            [],
        ),
        ("K[i][j] += L[i][k] * L[k][j] * 2;", "+= row0 * column0 * 2", ["L[i][k]"], ["L[k][j]"], []),
        ("C[i][j] *= (A[i][k] - A[k][i]) / B[k][j];", "*= row0 / column0", ["(A[i][k] - A[k][i])"], ["B[k][j]"], []),
    ],
)
def test_operands_are_split_by_what_they_depend_on(
    statement: str, update: str, rows: list[str], columns: list[str], scalars: list[str]
) -> None:
    contraction = found(statement)
    assert contraction is not None
    operation, text = contraction.operation, CPrinter().visit
    assert (contraction.row, contraction.column, contraction.reduction) == (0, 1, 2)
    assert f"{operation.op} {text(operation.expression)}".replace("(", "").replace(")", "") == update.replace(
        "(", ""
    ).replace(")", "")
    kinds = (operation.rows, operation.columns, operation.scalars)
    assert [[text(node).strip("()") for node in kind] for kind in kinds] == [
        [one.strip("()") for one in kind] for kind in (rows, columns, scalars)
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "C[i][j] = A[i][k] * B[k][j];",  # nothing accumulates
        "C[i][j] += A[i][j] * B[k][j];",  # an operand of row and column
        "C[i][j] += A[i][k];",  # no column
        "C[i][j] += F[i][k] * B[k][j];",  # two types
        "K[i][j] /= L[i][k] * L[k][j];",  # may trap where a cell doesn't exist
        "K[i][j] += L[i][k] * (L[k][j] / L[k][0]);",
        "K[i][j] += L[i][k] * L[k][j] * 3000000000;",  # long
        "H[i][j] += H[i + n][k] * H[k + n][j];",  # computed as int
        "C[i][j] = C[i][j] < A[i][k] + B[k][j] ? C[i][j] : A[i][k] - B[k][j];",  # compared with something else
        "C[i][j] = A[i][k] < B[k][j] ? A[i][k] : C[i][j];",
        (
            "C[i][j] = C[i][j] < C[i][j] + A[i][k] * B[k][j] ? C[i][j] : C[i][j] + A[i][k] * B[k][j];"
        ),  # the value uses the cell
        "C[i][j] += A[i][k] * k * B[k][j];",  # an iterator's value
        "C[i + j][j] += A[i][k] * B[k][j];",  # the column moves two subscripts
        "C[j][i] += A[k][i] * (A[k][j] > 0 ? 1.0 : 2.0);",  # not arithmetic
    ],
)
def test_other_statements_are_not_contractions(statement: str) -> None:
    assert found(statement) is None


@pytest.mark.parametrize(
    ("statement", "op", "keeps"),
    [
        ("C[i][j] = C[i][j] < A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];", "<", True),
        ("C[i][j] = A[i][k] + B[k][j] <= C[i][j] ? A[i][k] + B[k][j] : C[i][j];", ">=", False),
        ("K[i][j] = K[i][j] >= L[i][k] + L[k + 1][j] ? K[i][j] : L[i][k] + L[k + 1][j];", ">=", True),
        ("if (K[i][j] < L[i][k] + L[k][j]) { K[i][j] = L[i][k] + L[k][j]; }", "<", False),
    ],
)
def test_extrema_keep_their_comparison(statement: str, op: str, keeps: bool) -> None:
    contraction = found(statement)
    assert contraction is not None
    assert contraction.operation.extremum == Extremum(op, keeps)
    assert CPrinter().visit(contraction.operation.expression) == "row0 + column0"
    assert len(contraction.operation.rows) == len(contraction.operation.columns) == 1


def test_the_row_of_several_is_the_one_that_one_operand_depends_on() -> None:
    params = "int n, double T[n][n][n][n], double E[n][n][n][n], double A[n][n]"
    loops = "".join(f"for (int {name} = 0; {name} < n; {name}++) " for name in "pqrst")
    for update, row in (
        ("T[q][r][s][t] += A[p][q] * E[p][r][s][t]", 1),
        ("T[q][r][s][t] += A[p][s] * E[r][q][p][t]", 3),
    ):
        scop = scop_of(f"{loops} {update};", params)
        assert shape_of(scop, scop.statements[0]) == (row, 4, 0)
    scop = scop_of(f"{loops} T[q][r][s][t] += A[t][r] * E[q][p][s][t];", params)
    assert shape_of(scop, scop.statements[0]) is None


def test_statements_that_do_the_same_are_one_contraction() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) {"
        " for (j = 0; j < i; j++) { for (k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j]; A[i][j] /= A[j][j]; }"
        " for (j = i; j < n; j++) for (k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j]; }",
        MATRICES,
    )
    contraction = contraction_of(scop, band(scop))
    assert contraction is not None
    assert contraction.statements == ("S0", "S2")


@pytest.mark.parametrize(
    ("operand", "packed"), [("A[i][k]", True), ("C[i + n][k]", True), ("C[i + 1][k + 1]", False), ("C[i][k]", False)]
)
def test_operands_that_are_updated_are_not_packed(operand: str, packed: bool) -> None:
    nest = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = i + 1; k < n; k++)"
    scop = scop_of(f"{nest} C[i][j] += {operand} * B[k][j];", MATRICES)

    def tilings(options: Options) -> list[object]:
        tree = scheduled(scop)
        found = [
            register_tiling(scop, node, options)
            for node in walk(tree.get_root())
            if node.get_type() == isl.schedule_node_type.band
        ]
        return [one for one in found if one is not None]

    assert len(tilings(Options())) == packed
    assert not tilings(Options(register_tile=False))
    assert [(one.block, one.depth) for one in tilings(Options(tile_sizes=(21,)))] == [(24, 24)] * len(
        tilings(Options())
    )


def test_the_pure_part_of_a_factorization() -> None:
    """Steps of earlier tiles, for rows and columns of later ones: their operands are finished when the tile begins."""
    scop = scop_of(
        "for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) { C[i][k] /= C[k][k];"
        " for (j = k + 1; j < n; j++) C[i][j] -= C[i][k] * C[k][j]; }",
        MATRICES,
    )
    deps = ordered(scop, dependences(scop))
    node = band(scop)
    contraction = contraction_of(scop, node)
    assert contraction is not None
    partial = node.band_get_partial_schedule()
    tiles = isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(0).scale_down_val(isl.Val(4)).floor())
    for k in (1, 2):
        tiles = tiles.flat_range_product(
            isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(k).scale_down_val(isl.Val(4)).floor())
        )
    within = node.insert_partial_schedule(tiles).child(0)
    pure = pure_part(scop, deps, within, contraction, tiles, first=False)
    assert pure.is_equal(
        isl.UnionSet("[n] -> { S1[k, i, j] : 0 <= k and i < n and j < n and 4*floor(i/4) > k and 4*floor(j/4) > k }")
    )


def test_expansion_makes_contractions() -> None:
    """A row that is collected anew for each i, as a cell for each i."""
    scop = scop_of(
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) x[j] = 0;"
        " for (k = 0; k < n; k++) for (j = 0; j < n; j++) x[j] += A[i][k] * B[k][j];"
        " for (j = 0; j < n; j++) C[i][j] = x[j]; }",
        MATRICES + ", double *x",
    )
    expansion = expand(scop, dependences(scop))
    assert expansion is not None
    assert {name: len(sizes) for name, sizes in expansion.extents.items()} == {"x_all": 2}
    assert shape_of(expansion.scop, expansion.scop.statement("S1")) is not None
    # what x holds in the end is copied back, by the last i alone
    (copy,) = [s for s in expansion.scop.statements if s.name.endswith("_last")]
    assert copy.domain.is_equal(isl.Set(f"[n] -> {{ {copy.name}[i, j] : n > 0 and i = n - 1 and 0 <= j < n }}"))


def test_a_sum_may_come_to_an_array_by_way_of_other_scalars() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { double e = 0, q;"
        " for (k = 0; k < n; k++) e += A[i][k] * B[j][k]; q = e * 2; if (q > 1) q = 1; C[i][j] = q; }",
        MATRICES,
    )
    expansion = expand(scop, dependences(scop))
    assert expansion is not None
    assert set(expansion.extents) == {"e_all"}


@pytest.mark.parametrize(
    ("beside", "dimensions"),
    [
        ("", 3),
        # loops that add to D may stand beside those that use e, which aren't bound to their order then
        ("D[j][k] += A[i][j] * A[i][k];", 3),
        # those that e comes to may not: iterations that come one after the other share cells
        ("", 2),
    ],
)
def test_scalars_that_conditions_clear_get_cells(beside: str, dimensions: int) -> None:
    left = "x[j] = x[j] + e" if dimensions == 2 else "C[i][j] = e"
    scop = scop_of(
        "for (int t = 0; t < n; t++) for (i = 0; i < n; i++) for (j = 0; j < n; j++) { double e = 0;"
        f" for (k = 0; k < n; k++) {{ {beside} e += A[i][k] * B[j][k] * x[t]; }}"
        f" if (A[i][j] > 1) e = 0; {left}; V[t][i][j] = 1; }}",
        MATRICES + ", double *x, double D[99][99], double V[99][99][99]",
    )
    expansion = expand(scop, dependences(scop))
    assert expansion is not None
    assert {name: len(sizes) for name, sizes in expansion.extents.items()} == {"e_all": dimensions}


@pytest.mark.parametrize(
    "body",
    [
        # what was there before is read
        "for (i = 0; i < n; i++) { for (k = 0; k < n; k++) for (j = 0; j < n; j++) x[j] += A[i][k] * B[k][j];"
        " for (j = 0; j < n; j++) C[i][j] = x[j]; }",
        # values cross the outer loop
        "for (i = 0; i < n; i++) { if (i == 0) for (j = 0; j < n; j++) x[j] = 0;"
        " for (k = 0; k < n; k++) for (j = 0; j < n; j++) x[j] += A[i][k] * B[k][j]; }",
        # no contraction comes of it
        "for (i = 0; i < n; i++) { x[0] = A[i][0]; for (j = 0; j < n; j++) C[i][j] = x[0]; }",
        # sums are too short for new memory
        "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) x[j] = 0;"
        " for (k = 0; k < 12; k++) for (j = 0; j < n; j++) x[j] += A[i][k] * B[k][j];"
        " for (j = 0; j < n; j++) C[i][j] = x[j]; }",
    ],
)
def test_nothing_is_expanded_elsewhere(body: str) -> None:
    scop = scop_of(body, MATRICES + ", double *x")
    assert expand(scop, dependences(scop)) is None
