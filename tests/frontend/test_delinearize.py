"""Rows recovered from subscripts, and pointer arithmetic as subscripts."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import Refusal
from scopt.frontend import extract
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, unsigned u, unsigned long z, long l, double *a, double *b, double M[20][30]"


def scop(body: str) -> Scop:
    return scop_of(body, params=PARAMS)


def cells(made: Scop, array: str = "a") -> isl.Map:
    return next(
        access.relation for statement in made.statements for access in statement.accesses if access.array == array
    )


def guard(made: Scop) -> isl.Set:
    return made.guard.parameters if made.guard is not None else isl.Set("{ : }")


@pytest.mark.parametrize(
    "written",
    [
        "a[i * n + j]",
        "a[j + n * i]",
        "a[(i + 1) * n + j - n]",
        "*(a + i * n + j)",
        "(a + i * n)[j]",
        "(&a[i * n])[j]",
        "*(&a[i * n] + j)",
        "(i * n + a)[j]",
        "a[(long)i * n + j]",
        "a[(unsigned long)i * n + j]",
    ],
)
def test_spellings_of_a_row(written: str) -> None:
    made = scop(f"for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {written} = 0;")
    assert cells(made).is_equal(isl.Map("[m, n] -> { S0[i, j] -> a[i, j] : 0 <= i < m and 0 <= j < n }"))
    assert made.arrays["a"].flat
    assert made.arrays["a"].rank == 2


def test_a_row_with_a_name() -> None:
    made = scop("for (int i = 0; i < m; i++) { double *row = a + i * n; for (int j = 0; j < n; j++) row[j] = 0; }")
    assert cells(made).is_equal(isl.Map("[m, n] -> { S0[i, j] -> a[i, j] : 0 <= i < m and 0 <= j < n }"))
    of_array = scop("for (int i = 0; i < 20; i++) { double *row = M[i]; for (int j = 0; j < 30; j++) row[j] = 0; }")
    assert cells(of_array, "M").is_equal(isl.Map("{ S0[i, j] -> M[i, j] : 0 <= i < 20 and 0 <= j < 30 }"))


@pytest.mark.parametrize(
    "body",
    [
        "double *row = a + i * n; for (int j = 0; j < n; j++) { row[0] = 0; if (j > 3) row++; }",
        "int k = i; double *row = a + k * n; k = 3; for (int j = 0; j < n; j++) row[j] = k;",
        "float *row = (float *)a + i * n; for (int j = 0; j < n; j++) row[j] = 0;",
    ],
)
def test_a_row_that_changes_is_refused(body: str) -> None:
    with pytest.raises(Refusal):
        scop(f"for (int i = 0; i < m; i++) {{ {body} }}")


def test_what_has_to_hold_is_for_the_parameters_that_matter() -> None:
    made = scop("for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) a[i * n + j] = a[i * n + j + 1];")
    assert guard(made).is_equal(isl.Set("[n, m] -> { : m < n }"))
    assert made.context.is_subset(isl.Set("[n, m] -> { : m < n }"))
    assert [remark.id for remark in made.assumptions] == ["assume.rows"]


def test_rows_that_are_counted_from_one() -> None:
    made = scop("for (int i = 1; i <= l; i++) for (int j = 1; j <= m; j++) a[i * n + j] = a[i * n + j - n];")
    assert guard(made).is_equal(isl.Set("[n, m] -> { : m <= n }"))
    both = scop("for (int i = 1; i <= l; i++) for (int j = 1; j <= m; j++) a[i * n + j] = a[i * n + j - 1];")
    assert guard(both).is_equal(isl.Set("[n, m] -> { : m < n }"))
    cube = "a[(k * z + i) * n + j]"
    made = scop(f"for (int k = 1; k < 9; k++) for (int i = 1; i <= u; i++) for (int j = 1; j <= m; j++) {cube} = 0;")
    assert guard(made).is_subset(isl.Set("[n, m, u, z] -> { : m <= n and u <= z }"))


def test_backwards_in_a_row() -> None:
    made = scop(
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i * n + n - 1 - j] = a[(i + 1) * n - 1 - j];"
    )
    assert guard(made).is_equal(isl.Set("{ : }"))
    assert cells(made).is_equal(isl.Map("[m, n] -> { S0[i, j] -> a[i, n - 1 - j] : 0 <= i < m and 0 <= j < n }"))


def test_three_dimensions_and_sums_as_sizes() -> None:
    made = scop(
        "for (int i = 0; i < 9; i++) for (int j = 0; j < n; j++)"
        " for (int k = 0; k <= m; k++) a[(i * (n + 2) + j) * (m + 1) + k] = 0;"
    )
    assert cells(made).is_equal(
        isl.Map("[m, n] -> { S0[i, j, k] -> a[i, j, k] : 0 <= i < 9 and 0 <= j < n and 0 <= k <= m }")
    )
    assert made.guard is None


def test_a_place_in_the_middle_of_a_plane() -> None:
    """A sum of parameters that is a factor is no distance of rows where the others show another one."""
    loops = "for (int i = 0; i < 9; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)"
    made = scop(f"{loops} a[(i * n + j) * m + k] = 0; a[(4 * n + n / 2) * m + m / 2] = 1;")
    middle = isl.Map("[m, n] -> { S1[] -> a[4, floor(n / 2), floor(m / 2)] : n > 0 and m > 0 }")
    found = next(access.relation for access in made.statement("S1").accesses if access.is_write)
    assert found.intersect_params(isl.Set("[m, n] -> { : n > 0 and m > 0 }")).is_equal(middle)


def test_constants_that_are_chosen() -> None:
    made = scop("for (int i = 0; i < m; i++) a[(n > 5 ? 0 : 200L) + i] = 0;")
    both = "{ S0[i] -> a[i] : 0 <= i < m and n > 5; S0[i] -> a[i + 200] : 0 <= i < m and n <= 5 }"
    assert cells(made).is_equal(isl.Map(f"[m, n] -> {both}"))
    made = scop("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i * (n > 5 ? n : 8) + j] = 0;")
    assert made.arrays["a"].rank == 1  # no rows of eight


def test_what_data_name_may_be_any_cell_of_rows() -> None:
    rows = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i * n + j] += 1;"
    made = scop(f"for (int t = 0; t < m; t++) {{ int p = (int)b[t]; a[p * n + t] -= 2; {rows} }}")
    found = [access for one in made.statements for access in one.accesses if access.array == "a"]
    read, write, *others = found
    assert [read.kind, write.kind] == ["read", "may-write"]
    for anywhere in (read, write):
        assert anywhere.relation.range().is_equal(isl.Set("[m] -> { a[r, c] : m > 0 }"))
    assert all(access.relation.is_single_valued() for access in others)
    assert made.arrays["a"].flat


def test_unsigned_sizes_must_not_wrap() -> None:
    made = scop("for (unsigned i = 0; i < u; i++) for (unsigned j = 0; j < u; j++) a[i * u + j] = 0;")
    assert guard(made).is_equal(isl.Set("[u] -> { : u <= 65536 }"))
    wide = scop("for (unsigned long i = 0; i < z; i++) for (unsigned long j = 0; j < z; j++) a[i * z + j] = 0;")
    assert guard(wide).is_equal(isl.Set("[z] -> { : z <= 2147483648 }"))
    signed = scop("for (long i = 0; i < l; i++) for (long j = 0; j < l; j++) a[i * l + j] = 0;")
    assert signed.guard is None


def test_constant_rows() -> None:
    made = scop("for (int i = 0; i < m; i++) for (int j = 0; j < 10; j++) a[i * 10 + j] = a[(i + 1) * 10 + j];")
    assert made.arrays["a"].sizes == (None, 10)
    assert made.guard is None
    assert guard(scop("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i * 64 + j] = 0;")).is_equal(
        isl.Set("[n] -> { : n <= 64 }")
    )
    few = scop("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i * 4 + j] = 0;")
    assert (few.arrays["a"].rank, few.guard) == (1, None)


@pytest.mark.parametrize("target", ["a[i * j]", "a[i * n + j * m]", "a[i * n * m + j]", "a[i * i + j]"])
def test_what_shows_no_rows(target: str) -> None:
    made = scop(f"for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {target} = 0;")
    assert (made.arrays["a"].flat, made.guard) == (False, None)
    assert [access.kind for access in made.statements[0].accesses if access.array == "a"] == ["may-write"]


def test_an_offset_that_is_no_pointer() -> None:
    with pytest.raises(Refusal):
        scop("for (int i = 0; i < m; i++) a[i] = *(i + n);")


def test_an_element_without_subscript() -> None:
    made = scop("for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) *a += a[i * n + j];")
    assert made.arrays["a"].rank == 2


def test_rows_as_long_as_a_product_that_bounds_a_loop() -> None:
    body = "for (int i = 0; i < l; i++) for (int j = 0; j < n * m; j++) a[i * n * m + j] = 0;"
    made = scop(body)
    assert made.arrays["a"].rank == 2
    assert cells(made).is_equal(isl.Map("[l, n_m] -> { S0[i, j] -> a[i, j] : 0 <= i < l and 0 <= j < n_m }"))


@pytest.mark.parametrize(
    "filled",
    [
        "for (int k = 0; k < n * m; k++) a[k] = 0;",
        "for (int k = 0; k < l; k++) for (int i = 0; i < 4 * n * n; i++) a[k * 4 * n * n + i] = 0;",
    ],
)
def test_rows_are_not_as_long_as_many_of_them(filled: str) -> None:
    """One length of rows for both would never be so when the program runs."""
    inner = "for (int i = 0; i < 2 * n; i++) for (int j = 0; j < 2 * n; j++)"
    several = f"for (int k = 0; k < l; k++) {inner} a[(k * 2 * n + i) * 2 * n + j] = 1;"
    with pytest.raises(Refusal, match="others through all of it"):
        scop(filled + several)
    one_row = several.replace("k < l", "k < 1")
    assert scop(one_row + "for (int k = 0; k < m; k++) a[k] = 0;").arrays["a"].flat


def test_planes_are_not_as_many_as_several_of_them_have() -> None:
    """Loops through all planes at once go through them one by one, as the others do: no guard that never holds."""
    all_planes = "for (int k = 0; k < n * m; k++) for (int j = 0; j < n; j++) a[((long)k * n + j) * m] = 0;"
    inner = "for (int j = 0; j < n; j++) for (int c = 0; c < m; c++)"
    one_by_one = f"for (int i = 0; i < n; i++) for (int p = 0; p < m; p++) {inner} b[i] += "
    made = scop(f"{all_planes} {one_by_one} a[(((long)i * m + p) * n + j) * m + c];")
    assert made.arrays["a"].rank == 4
    first = isl.Map("[n, m] -> { S0[i, p, j] -> a[i, p, j, 0] : 0 <= i < n and 0 <= p < m and 0 <= j < n }")
    assert cells(made).is_equal(first)
    assert isl.Set("[n, m] -> { : 1 <= n <= 1000 and 1 <= m <= 1000 }").is_subset(guard(made))


def test_a_product_that_wraps_around_is_no_length_of_rows() -> None:
    body = "for (int i = 0; i < n; i++) for (unsigned j = 0; j < u * m; j++) a[(unsigned long)i * u * m + j] = 0;"
    assert scop(body).arrays["a"].rank == 1


def test_a_product_that_is_not_evaluated_is_no_length_of_rows() -> None:
    """Where the loop over i doesn't run, the variable for n * m is 0, and the last loop's rows are longer."""
    body = """for (int i = 0; i < l; i++) for (int j = 0; j < n * m; j++) a[i * n * m + j] = 0;
      for (int k = 0; k < 5; k++) a[k * n * m] = 1;"""
    assert scop(body).arrays["a"].rank == 1


def test_iterators_that_cancel_each_other_out_are_no_part_of_a_row() -> None:
    made = scop("for (int i = 0; i < n; i++) a[(i % 4) * ((i + m) - (i + l))] = 0;")
    assert made.statements


# --- members of structures ----------------------------------------------------------------------------------------


STRUCTURES = "typedef struct { unsigned char r, g; struct { float x, y; } p; int v[2]; } cell;"


def members(body: str) -> Scop:
    loops = "for (i = 0; i < n; i++) for (j = 0; j < m; j++)"
    return scop_of(f"{loops} {{ {body} }}", "int n, int m, cell *restrict c, cell *restrict d", STRUCTURES)


@pytest.mark.parametrize(
    "body",
    [
        "c[i * m + j].r = d[i * m + j].g;",
        "int p = i * m + j; c[p].p.x = d[p].g; c[p].r = d[p].p.y;",
        "c[i * m + j].r += 2; if (d[i * m + j].g > 3) c[i * m + j].g = 1;",
    ],
)
def test_structures_lie_in_rows(body: str) -> None:
    made = members(body)
    assert {array.rank for array in made.arrays.values() if array.within == "c"} == {2}
    assert all(array.flat for array in made.arrays.values() if array.within)


def test_structures_that_are_copied_as_a_whole_lie_in_rows() -> None:
    made = members("c[i * m + j] = d[i * m + j]; c[i * m + j].g = 2;")
    assert {one.variable: (one.rank, one.flat) for one in made.arrays.values()} == {"c": (2, True), "d": (2, True)}
    written = [a.relation for s in made.statements for a in s.accesses if a.is_write]
    wanted = isl.Map("[n, m] -> { S0[i, j] -> c[i, j] : 0 <= i < n and 0 <= j < m }")
    assert written[0].is_equal(wanted), written[0]


def test_members_that_are_arrays_lie_in_rows_of_structures() -> None:
    """The dimensions of the member come behind those of the rows."""
    made = members("c[i * m + j].v[1] = d[i * m + j].v[0] + c[i * m + j].r;")
    ranks = {array.spelling: (array.rank, array.inner) for array in made.arrays.values() if array.within}
    assert ranks == {"c[].v[]": (3, 1), "d[].v[]": (3, 1), "c[].r": (2, 0)}
    written = next(a for s in made.statements for a in s.accesses if a.is_write)
    assert written.relation.is_equal(isl.Map("[n, m] -> { S0[i, j] -> c__v[i, j, 1] : 0 <= i < n and 0 <= j < m }")), (
        written.relation
    )
    assert {name: one.rank for name, one in made.flat.items()} == {"c": 2, "d": 2}


@pytest.mark.parametrize(
    "body",
    [
        "c[i * m + j].r = d[i * m + j].g; c->g = 2;",
        "c[i * m + j].r = d[i * m + j].g; c[j * n + i].g = 2;",
        "c[i * m + j].r = d[i * m + j].g; c[i * m + 2 * j].g = 2;",
    ],
)
def test_other_structures_lie_in_one_row(body: str) -> None:
    assert not any(array.flat for array in members(body).arrays.values() if array.variable == "c")


FRAMES = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) e[j] += a[i * %s + j] * w[j];"
SIGNAL = "int n, int m, double *a, double e[512], double w[512]"


def test_frames_that_overlap_are_no_rows() -> None:
    """What is only read may overlap; `m` is 512 at most."""
    made = scop_of(FRAMES % "128", params=SIGNAL)
    assert made.arrays["a"].rank == 1
    assert guard(made).plain_is_universe()
    assert scop_of(FRAMES % "1024", params=SIGNAL).arrays["a"].rank == 2
    written = scop_of("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * 128 + j] = w[j];", params=SIGNAL)
    assert written.arrays["a"].rank == 2


@pytest.mark.parametrize("hop", ["128", "(512 / 4)"])
def test_the_distance_of_frames_is_a_value_where_a_macro_says_it(hop: str) -> None:
    source = source_of(FRAMES % "HOP", SIGNAL, f"#define HOP {hop}")
    made = optimize(source, Options(eager=True))
    assert "assume.rows" not in [remark.id for remark in made.remarks]
    assert b"#if (HOP) == 128" in made.text
    rows = optimize(source.replace(hop.encode(), b"1024"), Options(eager=True))
    assert "assume.rows" in [remark.id for remark in rows.remarks]
    assert b"#if" not in rows.text.split(b"#pragma scop")[1]


def test_rows_that_macros_rule_out_are_none() -> None:
    """Of a lattice, one loop runs through all sites: these are no row."""
    sites = """for (int it = 0; it < m; it++) {
  for (int z = 0; z < 16; z++) for (int y = 0; y < 16; y++) for (int x = 0; x < 16; x++) {
    int s = (z * 16 + y) * 16 + x;
    a[s] = b[s] + b[((z + 1) % 16 * 16 + y) * 16 + x]; }
  for (int s = 0; s < SITES; s++) b[s] = 0.1 * a[s]; }"""
    source = source_of(sites, "int m, double *a, double *b", "#define SITES (16 * 16 * 16)")
    made = optimize(source, Options(eager=True))
    assert "region.transformed" in [remark.id for remark in made.remarks]
    assert "assume.rows" not in [remark.id for remark in made.remarks]


def test_rows_that_begin_anywhere_are_none() -> None:
    """Of what is only read, no program tests that it begins with a row."""
    body = "for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) M[i][j] = a[i * 64 + j + %s];"
    made = scop_of(body % "n", params="int n, double M[64][64], const double *a")
    assert made.arrays["a"].rank == 1
    assert guard(made).plain_is_universe()
    assert scop_of(body % "64 * n", params="int n, double M[64][64], const double *a").arrays["a"].rank == 2


def test_bounds_of_loops_that_are_executed_as_a_whole_are_parameters_of_rows() -> None:
    """The iterator holds all values for the bounds that show the rows, but not where the rows are known."""
    subscripts = "a[(unsigned long)(k + 1) * l + q] = a[(unsigned long)k * l + q + 2]"
    body = f"for (unsigned long k = 0; k < n; k++) for (q = k; q < m; ++q) {subscripts};"
    made = scop_of(body, params="unsigned short n, long m, long l, double *a, unsigned char q")
    assert guard(made).is_subset(isl.Set("[m, l] -> { : m + 2 <= l }"))
    assert {parameter.name for parameter in made.parameters} == {"n", "m", "l"}


def test_names_are_given_once_where_a_region_is_read_again_with_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    given, read_names = [], extract.read_names

    def noted(*arguments: object, **options: object) -> object:
        given.append(arguments)
        return read_names(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(extract, "read_names", noted)
    made = scop("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = b[j];")
    assert made.arrays["a"].rank == 2
    assert len(given) == 1
