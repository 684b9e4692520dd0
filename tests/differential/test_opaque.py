"""Statements with control flow of their own, and cells that only data name:
run with threads, every bit as in the original."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunC
from tests.differential.control import Case, same_output, same_output_among

PARALLEL = {
    "search": "for (i = 0; i < n; i++) { for (k = 0; k < m; k++) if (x[k] < y[i]) break; q[i] = k; }",
    "bisect": (
        "for (i = 0; i < n; i++) { int lo = 0, hi = m; while (lo < hi) { int mid = (lo + hi) / 2;"
        " if (x[mid] > y[i]) lo = mid + 1; else hi = mid; } q[i] = lo; }"
    ),
    "halve": "for (i = 0; i < n; i++) { double v = y[i]; while (v > 1e-3) v /= 2; z[i] = v; }",
    "do": (
        "for (i = 0; i < n; i++) { double v = y[i]; int c = 0;"
        " do { v = 0.5 * v - 1; c++; } while (v > 0 && c < m); z[i] = v + c; }"
    ),
    "newton": (
        "for (i = 0; i < n; i++) { double v = 1 + x[i];"
        " for (int c = 0; c < 20; c++) { double w = 0.5 * (v + x[i] / v); if (w == v) break; v = w; } z[i] = v; }"
    ),
    "escape": (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { double u = 0, v = 0; int c = 0;"
        " while (c < 50 && u * u + v * v < 4) {"
        " double w = u * u - v * v + 0.05 * i - 1; v = 2 * u * v + 0.03 * j; u = w; c++; } A[i][j] = c; }"
    ),
    "switch": (
        "for (i = 0; i < n; i++) { switch (q[i] % 4) {"
        " case 0: z[i] = 1; break; case 1: z[i] += 2; case 2: z[i] *= 3; break; default: z[i] = x[i]; } }"
    ),
    "rows": (
        "for (i = 0; i < n; i++) { double sum = 0;"
        " for (k = start[i]; k < start[i + 1]; k++) sum += y[k] * x[p[k]]; z[i] = sum; }"
    ),
    "rows in place": (
        "for (i = 0; i < n; i++) { z[i] = 0; for (k = start[i]; k < start[i + 1]; k++) z[i] += y[k] * x[p[k]]; }"
    ),
    "skip": (
        "for (i = 0; i < n; i++) { double sum = 0;"
        " for (k = start[i]; k < start[i + 1]; k++) { if (y[k] < 0) continue; sum += y[k]; } z[i] = sum; }"
    ),
    "scattered rows": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[p[i]][j] += B[i][j];",
    "exchange": "for (i = 0; i < n; i++) if (y[i] > z[i]) { x[0] = y[i]; y[i] = z[i]; z[i] = x[0]; }",
    "histogram": "for (i = 0; i < n; i++) p[q[i]]++;",
}
SERIAL = {
    "weights": "for (i = 0; i < n; i++) y[q[i]] += x[i];",
    "scatter": "for (i = 0; i < n; i++) z[p[i]] = x[i];",
    "columns": "for (i = 0; i < n; i++) for (k = start[i]; k < start[i + 1]; k++) z[p[k]] += y[k] * x[i];",
    "carried": "k = 0; for (i = 0; i < n; i++) { while (x[k] > y[i] && k < m) k++; q[i] = k; }",
    "chase": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { if (x[j] < y[i]) { x[j] = y[i]; break; } }",
}


ALL = {name: Case(body) for name, body in (PARALLEL | SERIAL).items()}


@pytest.mark.parametrize("name", PARALLEL)
def test_loops_around_run_in_parallel(name: str, run_c: RunC, tmp_path: Path) -> None:
    text = same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)
    assert ("omp parallel for" in text) == (name != "exchange")


@pytest.mark.parametrize("name", SERIAL)
def test_loops_around_keep_their_order(name: str, run_c: RunC, tmp_path: Path) -> None:
    assert "omp parallel for" not in same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)


def test_work_arrays_that_a_statement_fills_anew_are_each_thread_s_own(run_c: RunC, tmp_path: Path) -> None:
    body = (
        "for (i = 0; i < n; i++) { int c = 0; double far = 1;"
        " while (far > 1e-3 && c++ < 9) { far = 0;"
        " for (k = 0; k < m; k++) { if (k % 3) u[k] = x[k] + c; else u[k] = A[i][k] / (c + 1); }"
        " for (int l = 1; l < m; l++) { w[l - 1] = u[l] - u[l - 1]; if (l > 1) w[l - 2] += 0.1 * w[l - 1]; }"
        " w[m] = 2; for (k = m - 1; k >= 0; k--) w[k] = 0.5 * w[k + 1] + u[k];"
        " for (k = 0; k < m; k++) far = fmax(far, fabs(w[k] - A[i][k])), A[i][k] = 0.6 * w[k]; } q[i] += c; }"
    )
    text = same_output(body, run_c, tmp_path, before="double u[MOST], w[MOST];")
    assert "omp parallel for private(" in text
    assert "u, w" in text or "w, u" in text


def test_rows_of_tables_as_long_as_data_say_are_each_thread_s_own(run_c: RunC, tmp_path: Path) -> None:
    body = (
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int a = start[i], l = start[j] % MOST, at = 0, c;"
        " u[0] = 0; for (c = 1; c <= l; c++) u[c] = c;"
        " for (at = 0; at < a; at++) { int old = u[0]; u[0] = at + 1;"
        " for (c = 1; c <= l; c++) { int here = u[c], cost = old + (p[c] != q[at % 40]);"
        " if (here + 1 < cost) cost = here + 1; if (u[c - 1] + 1 < cost) cost = u[c - 1] + 1;"
        " u[c] = cost; old = here; } if (u[l] > 50) break; }"
        " A[i][j] = u[l]; }"
    )
    text = same_output(body, run_c, tmp_path, before="int u[MOST + 1];")
    assert "omp parallel for" in text
    assert "u)" in text or "u," in text


def test_what_branches_with_loops_count_is_summed_by_threads(run_c: RunC, tmp_path: Path) -> None:
    body = (
        "for (i = 0; i < n; i++) { if (y[i] > -3) { z[i] = y[i]; j++; k -= 2;"
        " while (z[i] > 1e-2) { if (z[i] > 5) { z[i] -= 4; continue; } z[i] /= 2; } }"
        " else { j++; for (int c = 0; c < q[i]; c++) z[i] += x[c]; if (z[i] > 2) z[i] = 0; else left++; } }"
        " q[0] = j; q[1] = k;"
    )
    text = same_output(body, run_c, tmp_path)
    assert "omp parallel for" not in text  # left
    text = same_output(body.replace("else left++;", ""), run_c, tmp_path)
    assert "reduction(+:" in text


def test_a_statement_beside_a_scattered_write_runs_in_parallel(run_c: RunC, tmp_path: Path) -> None:
    text = same_output(
        "for (i = 0; i < n; i++) { y[p[i]] = x[i]; z[i] = 2 * x[i]; q[i]--; p[q[i]] += 2; }", run_c, tmp_path
    )
    assert text.count("omp parallel for") == 2  # z and q
    assert text.index("y[p[i]]") < text.index("p[q[i]] += 2")
