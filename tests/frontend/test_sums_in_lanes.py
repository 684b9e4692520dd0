"""Which sums become lanes, and that the text is shown to say the same."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.check.written_lanes import check_written_lanes
from scopt.diagnostics import InternalError
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected
from scopt.frontend.region.sums_in_lanes import in_lanes
from scopt.options import Options

PLAIN = "s0 += x[j] * y[j]; s1 += x[j + 1] * y[j + 1]; s2 += x[j + 2] * y[j + 2]; s3 += x[j + 3] * y[j + 3];"
CELLS = "for (int k = 0; k < 4; k++) s[k] = 0; "


def source(body: str, kind: str = "float") -> str:
    params = "int n, const T *x, const T *y, const short *h, const double *d"
    sums = "T s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, s[4] = {0, 0, 0, 0}; static T u[4];"
    used = "s0 + s1 + s2 + s3 + t0 + t1 + s[0] + s[1] + s[2] + s[3] + u[0] + u[1] + u[2] + u[3]"
    text = f"T g(T *);\nT f({params})\n{{\n  {sums}\n  {body}\n  return {used};\n}}\n"
    return text.replace("T ", f"{kind} ")


def made(body: str, kind: str = "float") -> str:
    return pipeline.optimize(source(body, kind).encode(), Options(autodetect=True)).text.decode()


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            f"for (int j = 0; j < n; j += 4) {{ {PLAIN} }}",
            ["float sums[4] = {s0, s1, s2, s3};", "sums[lane] += x[j + lane] * y[j + lane];", "s3 = sums[3];"],
        ),
        (  # lags of a correlation, in cells
            "for (int j = 0; j < n; j++) { s[0] += x[j] * y[j]; s[1] += x[j] * y[j + 1]; s[2] = s[2] + x[j] * y[j + 2];"
            " s[3] += x[j] * y[j + 3]; }",
            ["{s[0], s[1], s[2], s[3]};", "sums[lane] += x[j] * y[j + lane];"],
        ),
        (  # counted by the number of groups, from a place on
            "for (int j = 1; j < n; j++) { s0 -= x[4 * j - 2]; s1 -= x[4 * j - 1]; s2 -= x[4 * j];"
            " s3 -= x[4 * j + 1]; }",
            ["sums[lane] -= x[4 * j - 2 + lane];"],
        ),
        (
            "const T *p = x; while (n-- > 0) { const T a = y[n]; s0 += a * p[0]; s1 += a * p[1]; s2 += a * p[2];"
            " s3 += a * p[3]; p += 4; }",
            ["sums[lane] += a * p[lane];"],
        ),
    ],
)
def test_in_lanes(body: str, lines: list[str]) -> None:
    text = made(body)
    assert "#pragma omp simd" in text
    assert not [line for line in lines if line not in text], text


def test_real_and_imaginary_parts() -> None:
    text = made(
        "for (int j = 0; j < n; j += 2) { s0 += x[j] * y[j]; t0 += x[j] * y[j + 8]; s1 += x[j + 1] * y[j + 1];"
        " t1 += x[j + 1] * y[j + 9]; }",
        "double",
    )
    assert "double sums[2] = {s0, s1};" in text
    assert "double sums_2[2] = {t0, t1};" in text
    assert "sums_2[lane] += x[j + lane] * y[j + 8 + lane];" in text


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.replace("s3 += x[j + 3]", "s3 += x[j + 4]"),
        PLAIN.replace("s3 +=", "s3 -="),
        PLAIN.replace("s3", "s2"),  # two to one sum
        f"{PLAIN} if (s0 > 9) n--;",
        f"{PLAIN} if (x[j] > 9) break;",
        f"float s0 = 1; {PLAIN}",  # another variable by the same name
        PLAIN.replace("y[j + 3]", "y[j + 3] + s0").replace("* y[j + 3] + s0", "* (y[j + 3] + s0)"),
        "s0 += x[j]; s1 += x[j + 1];",  # not enough for a vector
        "s0 += h[j]; s1 += h[j + 1]; s2 += h[j + 2]; s3 += h[j + 3];",  # of other types
        "s0 += d[j]; s1 += d[j + 1]; s2 += d[j + 2]; s3 += d[j + 3];",
        "s0 += x[0]; s1 += x[0]; s2 += x[0]; s3 += x[0];",  # no vector to load
        "u[0] += x[j]; u[1] += x[j + 1]; u[2] += x[j + 2]; u[3] += x[j + 3];",  # not only here
    ],
)
def test_left(body: str) -> None:
    assert "omp simd" not in made(f"for (int j = 0; j < n; j += 4) {{ {body} }}")


@pytest.mark.parametrize("address", ["s0 = g(&s1);", "s0 = g(s);"])
def test_sums_that_pointers_lead_to(address: str) -> None:
    body = PLAIN if "&" in address else "s[0] += x[j]; s[1] += x[j + 1]; s[2] += x[j + 2]; s[3] += x[j + 3];"
    assert "lane" not in made(f"{address} for (int j = 0; j < n; j += 4) {{ {body} }}")


def test_without_vectors() -> None:
    text = source(f"for (int j = 0; j < n; j += 4) {{ {PLAIN} }}")
    assert pipeline.optimize(text, Options(autodetect=True, simd=False)).text.decode() == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{s0, s1, s2, s3}", "{s0, s2, s1, s3}"),
        ("s3 = sums[3];", "s3 = sums[2];"),
        ("s3 = sums[3];", ""),
        ("lane < 4", "lane < 3"),
        ("sums[lane] +=", "sums[lane] -="),
        ("sums[lane] +=", "sums[3] +="),
        ("y[j + lane]", "y[j]"),
        ("y[j + lane]", "y[j + sums[lane]]"),
        ("float sums[4]", "double sums[4]"),
        ("float sums[4]", "static float sums[4]"),
        ("j += 4", "j += 3"),
        ("x[j] > 1", "x[j] > 2"),
    ],
)
def test_other_texts_are_refused(old: str, new: str) -> None:
    text = source(f"for (int j = 0; j < n; j += 4) {{ {PLAIN} if (x[j] > 1) t0 += 1; }}")
    tu = parse(text.encode(), "in.c", Options())
    (region,) = find_autodetected(tu)
    found = in_lanes(tu, region, deep=True)
    assert found is not None
    scopes = {loop: types.scope for loop, types in found[1].items()}
    check_written_lanes(region.items, found[0], scopes, tu.typedefs)
    assert old in found[0]
    with pytest.raises(InternalError):
        check_written_lanes(region.items, found[0].replace(old, new, 1), scopes, tu.typedefs)
