"""Loops and switches as statements, and cells that only data name."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.parse import parse
from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, double A[100][100], double *restrict x, double *restrict y, int *restrict idx"


def accesses(body: str) -> list[tuple[str, str, str]]:
    """Statement, kind and relation of all accesses."""
    return [(s.name, a.kind, str(a.relation)) for s in scop_of(body, PARAMS).statements for a in s.accesses]


def kinds(body: str, array: str) -> list[str]:
    return [a.kind for s in scop_of(body, PARAMS).statements for a in s.accesses if a.array == array]


@pytest.mark.parametrize(
    "loop",
    [
        "while (s > 1) s /= 2;",
        "do { s /= 2; } while (s > 1);",
        "for (k = 0; k < m; k++) if (y[k] > s) break;",
        "for (k = idx[i]; k < idx[i + 1]; k++) s += y[k];",
        "for (k = i; k < m; k = 2 * k + 1) s += y[k];",
        "switch (idx[i]) { case 0: s = 1; case 2: s *= 3; break; default: s += 2; }",
    ],
)
def test_a_loop_that_is_not_affine_is_one_statement(loop: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ s = x[i]; {loop} y[i] = s; }}", PARAMS)
    assert [s.name for s in scop.statements] == ["S0", "S1", "S2"]
    assert [remark.id for remark in scop.assumptions if remark.id == "statement.opaque"] == ["statement.opaque"]
    assert scop.statement("S1").iterators == ("i",)
    assert scop.arrays["s"].private


def test_its_writes_may_happen() -> None:
    found = kinds("for (i = 0; i < n; i++) { s = 0; while (s < x[i]) { s = s + 1; y[i] = s; } }", "y")
    assert found == ["may-write"]


def test_a_scalar_that_it_sets_first_has_no_value_from_before() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { for (k = 0; k < m; k++) if (y[k] > x[i]) break; A[i][0] = k; }", PARAMS)
    assert scop.arrays["k"].private
    reads = [a for a in scop.statement("S0").accesses if a.array == "k" and a.kind == "read"]
    assert reads
    assert all(a.relation.is_empty() for a in reads)
    assert not any(a.relation.is_empty() for a in scop.statement("S1").accesses)


def test_a_place_that_data_give_is_a_scalar_whatever_else_its_name_steps() -> None:
    """A list is kept in order, by an iterator whose last value is the place of what comes in."""
    room = "for (k = m; k > 0 && A[i][k - 1] > s; k--) A[i][k] = A[i][k - 1]; A[i][k] = s;"
    scop = scop_of(f"for (i = 0; i < n; i++) {{ for (k = 0; k < m; k++) A[i][k] = 0; s = x[i]; {room} }}", PARAMS)
    assert [s.iterators for s in scop.statements] == [("i", "k_2"), ("i",), ("i",), ("i",)]
    assert scop.arrays["k"].private


def test_steps_that_macros_give_are_read_with_their_values() -> None:
    source = source_of("for (i = 0; i < n; i++) for (k = 0; k < m; k += 4 * P) A[i][k] = x[k];", PARAMS)
    result = optimize(source.replace(b"#pragma scop", b"#define P 2\n#pragma scop"), Options())
    assert "#if (P) == 2" in result.text.decode()


WORK = "int n, int m, double *restrict x, double *restrict y, int *restrict idx, double w[50]"


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        ("for (k = 0; k < m; k++) w[k] = y[k]; for (k = 1; k < m; k++) x[i] -= w[k] * w[k - 1];", ""),
        ("w[0] = 1; for (int k = 1; k < m; k++) w[k] = w[k - 1] * x[i]; x[i] -= w[0];", ""),
        ("w[m] = 1; for (k = m - 1; k >= 0; k--) w[k] = w[k + 1] * x[i]; x[i] -= w[0];", "m < 0 and d = 0"),
        ("for (k = 0; k < m; k++) { if (k > 3) w[k] = y[k]; else w[k] = 1; } if (m > 2) x[i] -= w[2];", ""),
        ("for (k = 0; k < m; k++) if (y[k] > 3) w[k] = 1; else w[k] = 2; if (m > 2) x[i] -= w[2];", ""),
        ("for (k = 0; k < m; k += 2) w[k] = 1; for (k = 0; k < m; k++) x[i] -= w[k];", "0 < d < m and d % 2 = 1"),
        ("for (k = 0; k < m; k++) if (y[k] > 3) w[k] = 1; if (m > 2) x[i] -= w[2];", "m > 2 and d = 2"),
        ("for (k = 0; k < m; k++) { if (y[k] > 3) continue; w[k] = 1; } x[i] -= w[2];", "d = 2"),
        ("for (k = 0; k < m; k++) { x[i] -= w[k]; w[k] = 1; }", "0 <= d < m"),
        ("for (k = 0; k < m; k++) w[idx[k]] = 1; x[i] -= w[2];", "d = 2"),
        ("while (y[i] > 1) w[2] = y[i] /= 2; x[i] -= w[2];", "d = 2"),
        ("do { if (y[i] > 3) continue; w[2] = 1; } while (w[2] > y[i]--);", "d = 2"),
        ("do { y[i]--; w[2] = 1; } while (w[2] > y[i]);", ""),
        ("switch (idx[i]) { case 0: w[2] = 1; case 1: x[i] -= w[2]; }", "d = 2"),
    ],
)
def test_cells_that_it_fills_first_have_no_value_from_before(body: str, cells: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) while (x[i] > 0) {{ {body} }}", WORK)
    found = isl.Map("[n, m] -> { S0[i] -> w[d] : false }")
    for access in scop.statements[0].accesses:
        if access.array == "w" and access.kind == "read":
            found = found.union(access.relation)
    assert found.is_equal(isl.Map(f"[n, m] -> {{ S0[i] -> w[d] : 0 <= i < n and ({cells or 'false'}) }}"))


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ("int l = idx[i]; for (k = 0; k < l; k++) w[k] = x[k]; for (k = 0; k < l; k++) y[i] += w[k];", True),
        ("t = idx[i]; w[t] = x[i]; if (t > 0) y[i] = w[t];", True),
        ("int l = idx[i]; for (k = 0; k < l; k++) w[k] = x[k]; for (k = 0; k <= l; k++) y[i] += w[k];", False),
        ("int l = idx[i]; for (k = 0; k < l; k++) w[k] = x[k]; l--; for (k = 0; k < l; k++) y[i] += w[k];", False),
        ("for (j = 0; j < m; j++) { int l = idx[j]; for (k = 0; k < l; k++) w[k] = x[k]; } y[i] = w[2];", False),
        ("while (x[i] > 0) { t = idx[i]; for (k = 0; k < t; k++) w[k] = 1; } y[i] = w[2];", False),
        ("for (k = 0; k < m; k++) w[k] = 0; w[idx[i]] += x[i]; for (k = 0; k < m; k++) y[k] += w[k];", True),
        ("for (k = 0; k < m; k++) w[k] = 0; w[idx[i]] += x[i]; y[i] = w[idx[i + 1]];", False),
        ("for (k = 0; k < m; k++) w[k] = 0; y[i] = w[idx[i]] += x[i];", False),
        ("for (k = 0; k < m; k++) w[k] = 0; w[idx[i]] += w[idx[i + 1]]; y[i] = m > 0 ? w[0] : 0;", False),
        ("int l = idx[i]; for (k = 0; k < l; k++) w[k] += x[k]; for (k = 0; k < l; k++) y[i] += w[k];", False),
        ("t = idx[i]; for (k = 0; k < t; k++) { w[k]++; y[i] += w[k]; }", False),
        ("while (idx[i]--) { w[m] = 1; for (k = m - 1; k >= 0; k--) w[k] = w[k + 1]; y[i] = w[0]; }", True),
        ("while (idx[i]--) { y[i] = w[0]; w[m] = 1; for (k = m - 1; k >= 0; k--) w[k] = w[k + 1]; }", False),
        ("while (idx[i]--) { if (x[i]) w[m] = 1; y[i] = m < 0 ? w[0] : 0; }", False),
    ],
)
def test_arrays_that_each_iteration_fills_as_far_as_data_say(body: str, private: bool) -> None:
    text = f"for (i = 0; i < n; i++) {{ {body} }}"
    before = "static double w[50];"
    assert scop_of(text, PARAMS, before=before).arrays["w"].private == private
    assert not scop_of(f"{text} w[2] = w[3];", PARAMS, before=before).arrays["w"].private
    assert not scop_of(text, PARAMS, before=before, after="s = w[2];").arrays["w"].private


def test_extents_are_trusted_where_data_say_how_far_loops_go() -> None:
    loop = "for (i = 0; i < n; i++) {{ t = idx[i]; for (k = t; k < 90; k++) A[0][{}] += x[i]; }}"
    scop = scop_of(loop.format("k"), PARAMS)
    assert "A" in {access.array for statement in scop.statements for access in statement.accesses}
    with pytest.raises(Refusal, match="leaves its extent"):
        scop_of(loop.format("k - 90"), PARAMS)


def test_a_variable_that_a_loop_goes_up_to_is_read() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { t = idx[i]; for (k = 0; k < t; k++) y[i] += x[k]; }", PARAMS)
    assert [a.kind for a in scop.statements[1].accesses if a.array == "t" and not a.relation.is_empty()] == ["read"]


def test_a_scalar_set_in_one_branch_may_be_the_one_from_before() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) { while (x[i] > 0) { if (y[i] > 1) t = 1; else k = 1; x[i] = t; } }", PARAMS
    )
    assert not any(a.relation.is_empty() for a in scop.statements[0].accesses)


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        ("for (i = 0; i < n; i++) x[idx[i]] = 1;", "{ S0[i] -> x[d0] : 0 <= i < n }"),
        ("for (i = 0; i < n; i++) A[idx[i]][i] = 1;", "{ S0[i] -> A[d0, i] : 0 <= i < n and 0 <= d0 <= 99 }"),
        ("for (i = 0; i < n; i++) A[i][idx[i]] = 1;", "{ S0[i] -> A[i, d1] : 0 <= i < n and 0 <= d1 <= 99 }"),
    ],
)
def test_unknown_subscripts_of_writes(body: str, cells: str) -> None:
    scop = scop_of(body, PARAMS)
    write = next(a for a in scop.statements[0].accesses if a.is_write)
    assert write.kind == "may-write"
    assert write.relation.is_equal(isl.Map(f"[n] -> {cells}"))
    assert [remark.id for remark in scop.assumptions if remark.id.startswith("access")] == ["access.unknown-cell"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("while (x[0] > 1) x[0] /= 2;", "control.while"),
        ("for (i = 0; i < n; i++) { switch (i) { case 1: x[i]--; case 2: continue; } x[i] = 1; }", "control.continue"),
        ("for (i = 0; i < n; i++) while (x[i] > 1) { if (y[i] > 1) return; x[i] /= 2; }", "control.return"),
        ("for (i = 0; i < n; i++) while (x[i] > 1) { x[i] = g(i); }", "call.unknown"),
        ("for (i = 0; i < n; i++) while (x[i] > 1) { static int c; x[i] = c++; }", "decl.form"),
    ],
)
def test_refused(body: str, expected: str) -> None:
    with pytest.raises(Refusal) as raised:
        scop_of(body, PARAMS, before="double g(int);")
    assert raised.value.remark.id == expected


def test_where_no_loop_around_is_parallel_the_loops_within_are_found() -> None:
    body = "for (i = 0; i < n; i++) { while (x[0] > i) { for (j = 0; j < m; j++) x[j] = x[j] / 2; } }"
    source = source_of(body, PARAMS).replace(b"#pragma scop\n", b"").replace(b"#pragma endscop\n", b"")
    found = detect(parse(source, "in.c", Options(autodetect=True)))
    assert [remark.id for remark in found.remarks] == ["control.while"]
    assert [region.items[0].init.lvalue.name for region in found.regions] == ["j"]


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ("if (x[i] > 0) ROW { t = y[k]; A[i][k] = t * t; }", True),
        ("if (x[i] > 0) { t = y[i]; ROW A[i][k] = t; }", True),
        ("if (x[i] > 0) { t = y[i]; ROW A[i][k] = t; } else { t = x[i]; y[i] = t; }", True),
        ("if (x[i] > 0) ROW { t = y[k]; A[i][k] = t; } ROW { t = k; y[k] += t; }", True),
        ("if (x[i] > 0) ROW { A[i][k] = t; t = y[k]; }", False),
        ("if (x[i] > 0) ROW { t = y[k]; A[i][k] = t; } y[i] = t;", False),
        ("if (x[i] > 0) ROW t = y[k]; if (x[i] > 0) ROW A[i][k] = t;", False),
        ("if (x[i] > 0) ROW { if (y[k] > 1) t = k; A[i][k] = t; }", False),
    ],
)
def test_scalars_that_each_iteration_sets_below_conditions(body: str, private: bool) -> None:
    body = body.replace("ROW", "for (k = 0; k < m; k++)")
    text = f"for (i = 0; i < n; i++) {{ {body} }}"
    assert scop_of(text, PARAMS).arrays["t"].private == private
    assert not scop_of(text, PARAMS, after="s = t;").arrays["t"].private


@pytest.mark.parametrize("subscript", ["(unsigned long)k", "(unsigned long)k * m + 1", "2u * k"])
def test_of_values_that_only_data_say_nothing_is_taken_for_granted(subscript: str) -> None:
    """Else the program would ask whether no iteration comes there at all."""
    body = f"k = idx[i]; do {{ if (k < 0) break; s += x[{subscript}]; k = 0; }} while (s > 1);"
    other = f"for (k = m; k > 0; k--) {{ int t = idx[k]; if (t < 0) break; s += x[{subscript.replace('k', 't')}]; }}"
    for inner in (body, other):
        scop = scop_of(f"for (i = 0; i < n; i++) {{ s = 0; {inner} y[i] = s; }}", PARAMS)
        assert scop.guard is None


def test_sights_over_a_terrain_are_shared_by_threads(run_c: RunC) -> None:
    """Each goes on until it leaves the map; cells are found by a function of the file."""
    source = """#include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    typedef struct { int rows, cols; double cell; float *z; } map;
    static inline size_t at(int cols, int r, int c) { return (size_t)r * cols + c; }
    __attribute__((noinline)) void sky(const map *dem, float dx, float dy, int far, map *out) {
      int R = dem->rows, C = dem->cols;
      for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) {
          float z0 = dem->z[at(C, r, c)], best = 0.0f;
          for (int s = 1; s <= far; s++) {
            int rr = r + (int)lrintf(dy * (float)s), cc = c + (int)lrintf(dx * (float)s);
            if (rr < 0 || rr >= R || cc < 0 || cc >= C)
              break;
            float t = (dem->z[at(C, rr, cc)] - z0) / ((float)s * (float)dem->cell);
            if (t > best)
              best = t;
          }
          out->z[at(C, r, c)] += 1.0f - best / sqrtf(1.0f + best * best);
        }
    }
    int main(void) {
      map dem = {60, 80, 3.0, calloc(4800, 4)}, out = dem;
      for (int i = 0; i < 4800; i++) dem.z[i] = i * 37 % 101 * 0.5f;
      out.z = calloc(4800, 4);
      for (int k = -2; k < 3; k++) sky(&dem, 0.4f * k, 1.0f - 0.5f * k, 30, &out);
      sky(&dem, 1.0f, -0.5f, 9, &dem);
      float sum = 0;
      for (int i = 0; i < 4800; i++) sum = 0.9f * sum + out.z[i] + dem.z[i];
      printf("%a\\n", sum);
    }
    """
    made = optimize(source, Options(autodetect=True)).text.decode()
    assert "#pragma omp parallel for" in made[made.index("sky(") : made.index("int main")]
    check_same_results(run_c, source, made, sanitized=True)
    check_same_results(run_c, source, made, sanitized=False)
