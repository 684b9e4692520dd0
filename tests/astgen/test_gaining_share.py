"""Regions most of whose work gains nothing."""

from __future__ import annotations

from scopt.options import Options
from scopt.tell.results import Result
from tests.sources import optimize

CLEARED = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = 0;"
CHAINED = """for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)
    if (b[i][j] > s) s = s * 0.5 + b[(int)s % n][j]; else b[i][j] += s;"""


def result(body: str, **options: bool) -> Result:
    parameters = "int n, int m, double a[n][n], double b[n][n], double *r, double *v, double *u, double *w, double *z"
    function = f"void f({parameters}) {{ double s = 1;\n{body}\n*z = s; }}\n"
    return optimize(function.encode(), Options(**options))


def ids(made: Result) -> list[str]:
    return [remark.id for remark in made.remarks]


def marked(*nests: str) -> str:
    return "\n".join(("#pragma scop", *nests, "#pragma endscop"))


def test_loops_that_clear_an_array_in_front_of_a_deep_nest_in_order() -> None:
    made = result(marked(CLEARED, CHAINED))
    assert "region.no-gain" in ids(made)
    assert "region.transformed" not in ids(made)


def test_the_same_loops_alone() -> None:
    assert "region.transformed" in ids(result(marked(CLEARED)))


def test_nobody_doubts_what_is_asked_for() -> None:
    assert "region.transformed" in ids(result(marked(CLEARED, CHAINED), eager=True))


def test_a_deep_nest_that_gains_beside_one_that_does_not() -> None:
    product = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) a[i][j] += b[i][k];"
    chain = "for (int i = 1; i < n; i++) s = s * 0.5 + a[i][(int)s % n];"
    assert "region.transformed" in ids(result(marked(product, chain)))


def test_a_search_beside_a_deep_nest_in_order() -> None:
    search = "int best = 0; for (int j = 1; j < n; j++) if (a[0][j] < a[0][best]) best = j; z[best] = 1;"
    assert "region.transformed" in ids(result(marked(search)))
    made = result(marked(CHAINED, search))
    assert "region.no-gain" in ids(made)
    assert "region.transformed" not in ids(made)


def test_what_compilers_call_a_function_for_gains_nothing_beside_chains_over_places_from_data() -> None:
    groups = """for (int i = 0; i < n; i++) {
  int k = (int)b[0][i];
  double d = b[1][i] * 3;
  z[k] += d;
  z[k + 1] += d * d; }"""
    cleared = "for (int i = 0; i < 1000; i++) a[0][i] = 0;"
    made = result(marked(groups, cleared))
    assert "region.no-gain" in ids(made)
    assert "region.transformed" not in ids(made)


def test_a_deep_nest_whose_bounds_the_region_sets_is_no_reason_to_take_it_as_a_whole() -> None:
    """Nor are strips of what stands in front of it."""
    windows = """for (int i = 0; i < n; i++) {
  double c = 0, d = 0;
  for (int k = -m; k <= m; k++) if (i + k >= 0 && i + k < n) { c += r[i + k] * v[i + k]; d += r[i + k]; }
  w[i] = v[i] - c / d; }"""
    deep = """int most = (int)(s * n) + 1;
for (int p = 0; p < n; p++) {
  for (int b = 0; b < 99; b++) u[b] = 0;
  for (int i = 0; i < n; i++) { int b = (int)(v[i] * p); u[b] += w[i]; }
  for (int b = 0; b < n; b++) {
    double d = 0;
    for (int k = 0; k < most; k++) { d += u[b + k]; if (d > z[p]) z[p] = d; } } }"""
    told = [one.message for one in result(marked(windows, deep)).remarks if one.id == "region.no-gain"]
    assert any(one.startswith("as a whole") for one in told)
