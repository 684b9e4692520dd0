"""By how much subscripts move along a direction, quotients and remainders among them."""

from __future__ import annotations

from fractions import Fraction

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.diagnostics import Location
from scopt.ir.scop import Access, Array, CType
from scopt.machine.costs import MOST_STEP
from scopt.options import Options
from scopt.poly.data_moves import data_moves
from scopt.poly.linear import subscript_moves
from scopt.scheduler.locality.row_steps import in_rows, is_step, is_table
from scopt.scheduler.locality.same_band import of_same_band
from scopt.scheduler.locality.strides import _Move, _offsets, linear_schedule, strides
from tests.sources import optimize, scop_of, source_of


@pytest.mark.parametrize(
    ("relation", "direction", "expected"),
    [
        ("{ S[t, i] -> a[t mod 2, i] }", (0, 1), (0, 1)),
        ("{ S[t, i] -> a[t mod 2, i] }", (2, 1), (0, 1)),
        ("{ S[t, i] -> a[1 - (t mod 2), i] }", (1, 0), None),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (1, 0), (1, 0)),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (0, 1), None),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (0, 4), (0, 2)),
        ("[n] -> { S[t, i] -> a[t, i + 1] : i < n - 1; S[t, i] -> a[t, 0] : i = n - 1 }", (1, 0), (1, 0)),
        ("[n] -> { S[t, i] -> a[t, i + 1] : i < n - 1; S[t, i] -> a[t, 0] : i = n - 1 }", (0, 1), None),
        ("{ S[t, i] -> a[t, 2i] }", (0, Fraction(1, 2)), (0, 1)),
        ("{ S[t, i] -> a[o, i] : 0 <= o < t }", (0, 1), None),
    ],
)
def test_moves(relation: str, direction: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    assert subscript_moves(isl.Map(relation), tuple(map(Fraction, direction))) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] = a[i + d[0]][j + d[i]];", (0, 1)),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] = a[i][2 * j - d[i]];", (0, 2)),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) { u = j + d[i]; v = u + d[0]; b[i][j] = a[i][v]; }", (0, 1)),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] = a[i][d[j]];", None),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) { d[i] = j; b[i][j] = a[i][d[i]]; }", None),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) { u += j; b[i][j] = a[i][u]; }", None),
        ("for (i = 0; i < n; i++) for (j = 0; j < n; j++) b[i][j] = a[i][j * j];", None),
    ],
)
def test_moves_wherever_data_say_that_cells_begin(body: str, expected: tuple[int, ...] | None) -> None:
    scop = scop_of(body, "int n, double a[90][90], double b[90][90], int d[90], int u, int v")
    statement = scop.statements[-1]
    (read,) = (one for one in statement.accesses if one.array == "a")
    assert data_moves(scop, statement, read, (Fraction(0), Fraction(1))) == expected


@pytest.mark.parametrize(
    ("sizes", "bits", "moves", "expected", "step"),
    [
        ((None, None, 3), 8, (0, 1, 0), (0, 0, 3), True),  # a pixel on
        ((None, None, 3), 8, (0, 2, 1), (0, 0, 7), True),
        ((None, 9), 64, (1, 0), (0, 9), False),  # a record of two lines
        ((None, 9), 8, (1, 0), (0, 9), False),  # more than vectors are put together from
        ((None, None), 32, (1, 0), (1, 0), False),
        ((5, 4), 32, (1, 0), (0, 4), True),
    ],
)
def test_steps_in_rows(
    sizes: tuple[int | None, ...], bits: int, moves: tuple[int, ...], expected: tuple[int, ...], step: bool
) -> None:
    array = Array("a", "a", CType("t", integer=True, bits=bits), (None,) * len(sizes), sizes)
    found = in_rows(array, tuple(map(Fraction, moves)))
    assert found == expected
    assert is_step(array, found) is step


def test_tables_are_small_and_of_known_size() -> None:
    kind = CType("float", floating=True, bits=32)
    assert is_table(Array("t", "t", kind, (None,), (256,)))
    assert not is_table(Array("t", "t", kind, (None,), (None,)))
    assert not is_table(Array("t", "t", kind, (None, None), (256, 256)))


def test_vector_loops_run_upwards() -> None:
    """Tiles take the rows in one direction, and what is inside of them in the other."""
    body = "for (i = 0; i < n; i++) for (j = 0; j < 64; j++) x[8 * i + j] += y[j] * A[i][j];"
    made = optimize(source_of(body), Options()).text.decode()
    assert "x[8 * i + j] +=" in made
    assert "[-" not in made


def test_records_of_rows_that_take_turns_are_whole_lines() -> None:
    body = """
for (i = 0; i < n; i++)
  for (j = 0; j < 32; j++) {
    b[(i + 1) & 1][2 * j] = b[i & 1][j] + 1;
    b[(i + 1) & 1][2 * j + 1] = b[i & 1][j + 32] * 2;
  }"""
    scop = scop_of(body, "int n, short b[2][64]")
    node = scop.schedule.get_root().child(0).child(0)
    assert strides(scop, linear_schedule(scop, node), 0).contiguous
    alone = scop_of(body.replace("[2 * j + 1]", "[2 * j]"), "int n, short b[2][64]")
    node = alone.schedule.get_root().child(0).child(0)
    assert not strides(alone, linear_schedule(alone, node), 0).contiguous


def test_a_band_is_asked_about_once_whatever_tree_it_stands_in() -> None:
    """The same band in two trees, one of another loop, and one of the same loop whose member carries something."""
    asked: list[str] = []

    @of_same_band(8)
    def about(node: isl.ScheduleNode, word: str) -> str:
        asked.append(word)
        return word

    def band(domain: str, coincident: int = 0) -> isl.ScheduleNode:
        tree = isl.Schedule.from_domain(isl.UnionSet(domain))
        schedule = isl.MultiUnionPwAff(f"[{domain[:-1].replace('S[i]', 'S[i] -> [(i)]')}}}]")
        node = tree.insert_partial_schedule(schedule).get_root().child(0)
        return node.band_member_set_coincident(0, coincident)

    few, many = "{ S[i] : 0 <= i < 9 }", "{ S[i] : 0 <= i < 99 }"
    assert [about(band(few), "few"), about(band(few), "few"), about(band(many), "few")] == ["few"] * 3
    about(band(few, 1), "few")
    about(band(few), "other")
    assert asked == ["few", "few", "few", "other"]


def test_straight_code_may_be_as_long_as_types_allow() -> None:
    """How many values an iterator has is counted no further than anybody asks, nor than Python has lengths for."""
    relation = isl.Map(f"{{ S[i, k] -> a[2 i + k] : 0 <= k < {2**63 - 1} }}")
    few = isl.Map("{ S[i, k] -> a[2 i + k] : 3 <= k < 5 }")
    access = Access("a", "read", relation, None, Location("a.c", 1))
    along = (Fraction(2),), (Fraction(1), Fraction(0)), (1,)
    assert _offsets(_Move(access, *along), [2, 1, 7]) == [7 + k for k in range(MOST_STEP)]
    assert _offsets(_Move(replace(access, relation=few), *along), [2, 1, 7]) == [10, 11]
