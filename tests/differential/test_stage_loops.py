"""Transforms in stages, with threads: every bit as in the original, for lengths of all kinds; arrays may overlap."""

from __future__ import annotations

from pathlib import Path

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.differential.control import QUICK
from tests.fuzz.harness import without_thresholds

BUTTERFLY = "{ %(T)s t = y[k] * x[%(b)s]; x[%(b)s] = x[%(a)s] - t; x[%(a)s] += t; }"
FUNCTIONS = [
    (
        "double",
        "for (int h = 1; h < n; h *= 2) for (int i = 0; i < n; i += 2 * h) for (int k = 0; k < h; k++) "
        + BUTTERFLY % {"T": "double", "a": "i + k", "b": "i + k + h"},
    ),
    (
        "int",
        "for (int m = n; m > 1; m /= 2) for (int i = 0; i <= n; i += m) for (int k = 0; k < m / 2; k++) "
        + BUTTERFLY % {"T": "int", "a": "i + k", "b": "i + k + m / 2"},
    ),
    (
        "float",
        "for (size_t h = 1; h < n; h *= 3) for (size_t i = 0; i < n; i += h << 1) for (size_t k = i; k < i + h; k++)"
        " { float t = x[k + h]; x[k + h] = x[k] - t; x[k] += t; }",
    ),
    (
        "long",
        "for (int h = 1; h < n; h *= 2) for (int k = 0; k < h; k++) for (int i = k; i < n; i += 2 * h) "
        + BUTTERFLY % {"T": "long", "a": "i", "b": "i + h"},
    ),
    ("int", "for (int b = 0; 1 << b < n; b++) for (int i = 0; i < n; i++) if (i & 1 << b) x[i] += x[i ^ 1 << b];"),
    (
        "short",
        "for (int b = 0; 1 << b <= n; b++) for (int i = 0; i < n; i++) if (!(i >> b & 1)) x[i] -= x[i | 1 << b];",
    ),
    (
        "int",
        "for (int k = 2; k <= n; k *= 2) for (int h = k / 2; h > 0; h /= 2) for (int i = 0; i < n; i++) {"
        " int l = i ^ h; if (l > i && ((i & k) == 0) == (x[i] > x[l])) { int t = x[i]; x[i] = x[l]; x[l] = t; } }",
    ),
    ("unsigned", "for (unsigned h = 1; h < n; h++) for (unsigned i = 0; i < n; i++) y[i] = x[i] + x[i ^ h];"),
]
# With constant stages over a few cells, which are written out.
FIXED = [
    (
        "int",
        "for (int h = 1; h < 8; h *= 2) for (int i = 0; i < 8; i += 2 * h) for (int k = i; k < i + h; k++)"
        " { int t = x[k + h]; x[k + h] = x[k] - t; x[k] += t; }",
    ),
    ("short", "int h; for (h = 4; h; h >>= 1) for (int i = 0; i < h; i++) x[i] += x[i + h]; y[0] += h + n;"),
    ("long", "for (unsigned char b = 0; b < 3; b++) for (int i = 0; i < 8; i += 2 << b) x[i] += x[i + (1 << b)];"),
]
MAIN = """
static unsigned long long sum = 14695981039346656037ull;
static void note(const void *data, size_t size)
{
  for (size_t k = 0; k < size; k++)
    sum = (sum ^ ((const unsigned char *)data)[k]) * 1099511628211u;
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 31, 32, 64, 96};
  for (int s = 0; s < 13; s++)
    for (int apart = 0; apart < 3; apart++) {
      int n = sizes[s];
%s
      printf("%%d %%d %%llx\\n", n, apart, sum);
    }
}
"""
CALL = """      { static %(T)s a[1000]; for (int k = 0; k < 1000; k++) a[k] = (%(T)s)(k * 37 %% 101 - k %% 3) / 3;
        f%(k)d(n, a + 100, a + (apart == 0 ? 600 : apart == 1 ? 100 + n : 101)); note(a, sizeof a); }"""


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    both = [*FUNCTIONS, *FIXED]
    functions = [f"void f{k}(int n, {T} *x, {T} *y)\n{{\n  {body}\n}}" for k, (T, body) in enumerate(both)]
    calls = [CALL % {"T": T, "k": k} for k, (T, _) in enumerate(both)]
    source = "\n".join(["#include <stdio.h>", *functions, MAIN % "\n".join(calls)])
    options = Options(autodetect=True, eager=True, machine=QUICK)
    result = pipeline.optimize(source.encode(), options, file=str(tmp_path / "in.c"))
    assert not [one for one in result.remarks if one.id in ("internal.error", "budget.exceeded")]
    emitted = without_thresholds(result.text.decode())
    for k in range(len(FUNCTIONS)):
        text = emitted[emitted.index(f"void f{k}(") :].split("\nvoid f")[0]
        assert "_blocks >= 0" in text, text
        assert "omp parallel" in text, text
    assert all(text in emitted for text in ("int h = 4;", "h = 1;", "h = 0;", "unsigned char b = 2;"))
    flags = ("-O2", "-ffp-contract=off", "-fopenmp", "-w", "-fwrapv")
    assert run_c(emitted, *flags, name="emitted") == run_c(source, *flags, name="original")


def test_stages_among_other_statements_of_a_region(run_c: RunC, tmp_path: Path) -> None:
    stages = FIXED[0][1].replace("h *= 2", "h <<= 1").replace("x[", "v[")
    tree = "for (int s = 4; s > 0; s /= 2) for (int k = 0; k < s; k++) v[k] += v[k + s];"
    functions = [
        "#include <stdio.h>\nstatic int a[40][8], b[40];\n"
        f"void f{k}(int n, int x[40][8], int *y)\n{{\n#pragma scop\n  for (int i = 0; i < n; i++) {{\n    int v[8];\n"
        f"    for (int k = 0; k < 8; k++) v[k] = x[i][k] * k;\n    {body}\n"
        "    for (int k = 0; k < 8; k++) y[i] += x[i][k] = v[k];\n  }\n#pragma endscop\n}\n"
        for k, body in enumerate((stages, tree))
    ]
    for k, function in enumerate(functions):
        source = function + (
            "int main(void)\n{\n  for (int i = 0; i < 320; i++) a[i / 8][i % 8] = i * 37 % 101;\n"
            f"  for (int n = 0; n < 40; n += 13) f{k}(n, a, b);\n"
            '  for (int i = 0; i < 40; i++) printf("%d %d %d\\n", a[i][0], a[i][7], b[i]);\n}\n'
        )
        emitted = pipeline.optimize(source.encode(), Options(machine=QUICK, eager=True)).text.decode()
        copies = emitted.split(f"f{k}(")[1].split("else")[0]
        assert "h <<= 1" not in copies, emitted
        assert "s /= 2" not in copies, emitted
        flags = ("-O2", "-fopenmp", "-w")
        assert run_c(emitted, *flags, name=f"emitted{k}") == run_c(source, *flags, name=f"original{k}")


def test_small_distances_have_texts_of_their_own() -> None:
    k, (T, body) = 4, FUNCTIONS[4]
    source = f"void f{k}(int n, {T} *x)\n{{\n  {body}\n}}\n"
    text = pipeline.optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert [f"(b == {value} && i_blocks >= 0, 1)" in text for value in range(4)] == [True, True, True, False]


def test_a_marked_region_is_taken_in_parts() -> None:
    source = f"void f(int n, double *x, const double *y)\n{{\n#pragma scop\n{FUNCTIONS[0][1]}\n#pragma endscop\n}}\n"
    result = pipeline.optimize(source.encode(), Options())
    assert [one.part for one in result.regions if one.transformed] == [True]
    rows = source.replace("for (int h", "for (int r = 0; r < n; r++) for (int h").replace("*x", "x[100][100]")
    rows = rows.replace("x[i", "x[r][i")
    result = pipeline.optimize(rows.encode(), Options())
    assert [one.part for one in result.regions if one.transformed] == [False]  # rows are shared by threads
