"""Values of subscripts that aren't affine."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.frontend.model import value_ranges
from scopt.options import Options
from scopt.pipeline import optimize
from tests.sources import scop_of


def found(body: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int] | None:
    """What is told of the subscripts of `t` where the statements run in a loop."""
    told: dict[str, tuple[int, int]] = {}
    own = value_ranges.read_values

    def listening(*arguments: object) -> value_ranges.Values | None:
        read = own(*arguments)  # type: ignore[arg-type]
        told.update({name: ends for name, ends in read.found.items() if ends is not None} if read is not None else {})
        return read

    monkeypatch.setattr(value_ranges, "read_values", listening)
    head = "void f(int n, int *a, unsigned u, unsigned char *b, signed char *c, float *x, float *t, float *o)"
    optimize(f"{head} {{ for (int i = 0; i < n; i++) {{ {body} }} }}", Options(autodetect=True, eager=True))
    return told.get("t")


ALL = (-(1 << 31), (1 << 31) - 1)


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("o[i] = t[b[i]];", (0, 255)),
        ("o[i] = t[c[i] + 128];", (0, 255)),
        ("o[i] = t[a[i]];", ALL),
        ("o[i] = t[a[i] & 63];", (0, 63)),
        ("o[i] = t[a[i] % 8];", (-7, 7)),
        ("o[i] = t[b[i] % 8];", (0, 7)),
        ("o[i] = t[(b[i] << 8 | b[i]) & 4095];", (0, 4095)),
        ("o[i] = t[b[i] >> 4 ^ 3];", (0, 15)),
        ("o[i] = t[(unsigned char)a[i]];", (0, 255)),
        ("o[i] = t[(short)x[i]];", (-32768, 32767)),
        ("o[i] = t[b[i] / 3 - b[i] * 2];", (-510, 85)),
        ("o[i] = t[a[i] < 0 ? 0 : a[i] > 9 ? 9 : 3];", (0, 9)),
        ("int d = b[i] - c[i]; o[i] = t[d < 0 ? -d : d];", (0, 383)),
        ("int v = a[i]; if (v < 0) v = 0; if (v > 99) v = 99; o[i] = t[v];", (0, 99)),
        ("int v = a[i]; if (v < 0 || v > 99) v = 5; o[i] = t[v];", (0, 99)),
        ("int v = a[i]; if (!(v >= 1 && 7 > v)) v = 2; o[i] = t[v];", (1, 6)),
        ("int v = a[i]; if (v < 0) v = 0; else v = b[i] + 1; o[i] = t[v];", (0, 256)),
        # values that change where nobody sees how
        ("int v = 3; for (int k = 0; k < 9; k++) { o[i] = t[v]; v = a[k]; }", ALL),
        ("int v = 3; while (v < a[i]) v += 2; o[i] = t[v];", ALL),
        ("int v = 1; o[i] = t[(v = a[i]) + v];", None),
        # what loops leave within the next power of two
        ("int v = 0; for (int k = 0; k < 6; k++) v |= (a[k] > 3) << k; o[i] = t[v];", (0, 63)),
        ("int v = 5; for (int k = 0; k < n; k++) v ^= b[k]; o[i] = t[v];", (0, 255)),
        ("int v = 0; for (int k = 0; k < n; k++) { o[i] = t[v]; v = (v + a[k]) & 15; }", (0, 15)),
        ("int v = 0; do { v = (v * 5 + 3) % 16; } while (v < a[i]); o[i] = t[v];", (0, 15)),
        ("int v = 0, w = 0; for (int k = 0; k < n; k++) { w = v; v = b[k]; } o[i] = t[w];", (0, 255)),
        ("int v = 0; for (int k = 0; k < n; k++) { if (a[k]) { v = 9; break; } v = 0; } o[i] = t[v];", ALL),
        ("int v = 0; for (int k = 0; k < n; k++) { v = 9; if (a[k]) continue; v = 0; } o[i] = t[v];", (0, 9)),
        ("int v = 0; for (int k = 0; k < 5; k++) { if (a[k] > a[v]) v = k; } o[i] = t[v];", (0, 4)),
        ("int v = 1; for (int k = 0; k < n; k++) v *= 3; o[i] = t[v];", ALL),
        ("int v = 1; for (int k = 0; k < n; k++) v <<= 1; o[i] = t[v];", ALL),
        # comparisons of other values than the variable's own
        ("int v = a[i]; if (v > u) v = 0; o[i] = t[v];", ALL),
        ("int v = a[i]; if (v < 10u) o[i] = t[v];", ALL),
        # what wraps around
        ("o[i] = t[b[i] * 16777216];", ALL),
        ("o[i] = t[b[i] - 1u];", (0, (1 << 32) - 1)),
        ("o[i] = t[b[i]] + t[c[i]];", (-128, 255)),
        ("for (int k = 2; k < 9; k++) o[i] = t[k * k];", (4, 64)),
        ("for (int k = a[i]; k < 9; k++) o[i] = t[k * 0 + 2];", (2, 2)),
        ("for (int k = 9; k >= 1; k--) o[i] = t[k * k];", (1, 81)),
        ("o[i] = t[b[i]] + *t;", (0, 255)),
    ],
)
def test_values(body: str, values: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    told = found(body, monkeypatch)
    assert told == values or (values == ALL and told is None)


@pytest.mark.parametrize(
    ("body", "cells", "trusted"),
    [
        ("any[p[i]] += 1;", "0 <= c <= 255", False),
        ("any[key[i] & 7] += 1;", "0 <= c <= 7", False),
        ("any[key[i]] += 1;", "", False),
        ("any[c[i]] += 1;", "", False),  # may be negative
        ("own[key[i]] += 1;", "0 <= c <= 49", False),
        ("sized[key[i]] += 1;", "0 <= c <= 99", True),
        ("sized[p[i]] += 1;", "0 <= c <= 99", True),
        ("sized[key[i] & 255] += 1;", "0 <= c <= 255", False),  # somebody counts on that
        ("any[0] += sized[key[i]];", "", False),  # nobody writes it
    ],
)
def test_cells_that_data_name(body: str, cells: str, trusted: bool) -> None:
    params = "int n, const int *key, const unsigned char *p, const signed char *c, int *any, int sized[100]"
    scop = scop_of(f"for (i = 0; i < n; i++) {body}", params, before="static int own[50];")
    name = "sized" if "sized" in body else "own" if "own" in body else "any"
    found = next(a.relation for s in scop.statements for a in s.accesses if a.array == name)
    assert found.range().is_equal(isl.Set(f"[n] -> {{ {name}[c] : n > 0{' and ' if cells else ''}{cells} }}"))
    assert ("assume.size" in [remark.id for remark in scop.assumptions]) == trusted
