"""Autodetection: all of the kernels with their pragmas removed;
what belongs to a region; what isn't worth one; limits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scopt import ir
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.in_sight import in_sight
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import region_of
from scopt.frontend.syntax.unit import Region
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.results import Result
from tests.conftest import everyday

KERNELS = sorted((Path(__file__).parents[2] / "polybench" / "kernels").glob("*.c"))
HEAD = "static double A[1000000], B[1000000], M[2000][2000];\nvoid g(void);\n"


def loops_of(regions: tuple[Region, ...]) -> list[tuple[int, int]]:
    """Line and column of every loop of the regions."""
    found: list[tuple[int, int]] = []
    todo: list[Any] = [item for region in regions for item in region.items]
    while todo:
        node = todo.pop()
        if isinstance(node, ir.For):
            found.append((node.coord.line, node.coord.column))
        todo.extend(node.parts)
    return sorted(found)


@pytest.mark.parametrize("kernel", everyday(KERNELS), ids=lambda path: path.stem)
def test_the_regions_of_all_kernels_are_found(kernel: Path) -> None:
    source = kernel.read_bytes()
    flags = (f"-I{kernel.parents[1]}", f"-I{kernel.parent}")
    marked = parse(source, str(kernel), Options(cpp_flags=flags)).regions
    plain = re.sub(rb"(?m)^[ \t]*#pragma (?:end)?scop$", b"//", source)
    found = detect(parse(plain, str(kernel), Options(cpp_flags=flags, autodetect=True))).regions
    same = tuple(region for region in found if region.function.decl.name == marked[0].function.decl.name)
    assert len(same) == len(marked) == 1
    assert loops_of(same) == loops_of(marked)


def optimized(body: str, **options: Any) -> Result:
    return optimize(f"{HEAD}{body}\n", Options(autodetect=True, **options))


def reasons(result: Result) -> list[str]:
    return [remark.id for remark in result.remarks]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("void f(void) { for (int i = 0; i < 100; i++) A[i] *= 2; }", "region.tiny"),
        ("void f(int n) { for (int i = 0; i < n; i++) A[i] = 0; }", "region.library"),
        ("void f(int n) { for (int i = 0; i < n; i++) A[i + 1] = B[i]; }", "region.library"),
        ("void f(int n) { for (int i = 1; i < n; i++) A[i] += A[i - 1]; }", "region.no-gain"),
        # a row of a sparse matrix, or of a skyline, isn't as long as threads want it
        ("void f(int j, const int *top) { for (int i = top[j]; i < j; i++) A[i] -= B[i] * 3; }", "region.no-gain"),
        ("__attribute__((cold)) void f(int n) { for (int i = 0; i < n; i++) A[i] *= 2; }", "region.cold"),
    ],
)
def test_what_does_not_pay_stays_byte_for_byte(body: str, reason: str) -> None:
    result = optimized(body)
    assert reasons(result) == [reason]
    assert result.text.decode() == f"{HEAD}{body}\n"
    assert "region.transformed" in reasons(optimized(body, eager=True))


def test_short_loops_run_as_they_were() -> None:
    text = optimized("void f(int n)\n{\n  for (int i = 0; i < n; i++)\n    A[i] *= 2;\n}").text.decode()
    assert re.search(
        r"if \(n > \d+ && scopt_threads\(\) > 1\) \{\n"
        r"    #pragma omp parallel for simd firstprivate\(n\) schedule\(static\)\n",
        text,
    )
    assert text.count("A[i] *= 2;") == 2


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        # Told in the same words, it is tested once.
        ("for (int i = 0; i < n - 5; i++) { double t = A[i]; A[i] = B[i]; B[i] = t; }", 1),
        # Enough for the nest is more than its own test asks for; the row alone may be short.
        ("for (int i = 0; i < n; i++) { A[i] = 0; for (int j = 0; j < n; j++) M[i][j] += A[i]; }", 1),
    ],
)
def test_loops_are_not_tested_again_behind_the_test_of_their_region(body: str, loops: int) -> None:
    text = optimized(f"void f(int n) {{ {body} }}").text.decode()
    assert text.count("#pragma omp parallel for") == loops
    assert text.count("scopt_threads() > 1") == 1
    assert not re.search(r"#pragma omp .* if\(", text)


def test_the_test_of_skewed_loops_is_about_the_original_ones() -> None:
    stencil = (
        "for (int i = 1; i < n; i++)\n for (int j = 1; j < n; j++)\n M[i][j] = M[i - 1][j] + M[i][j - 1] + M[i][j + 1];"
    )
    text = optimized(f"void f(int n, int t) {{ for (int s = 0; s < t; s++) {stencil} }}").text.decode()
    assert re.search(r"if \(\(double\)t \* \(n - 1L?\) \* \(n - 1L?\) > \d+ && scopt_threads\(\) > 1\)", text)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) A[i] *= 2;\n  if (n > 3)\n    for (int i = 0; i < n; i++) B[i] += A[i];",
        "for (int i = 0; i < n; i++) A[i] *= 2;\n  double t = A[3];\n  for (int i = 0; i < n; i++) B[i] += t;",
        "double s;\n  for (int i = 0; i < n; i++) A[i] *= 2;\n  s = A[3];\n  for (int i = 0; i < n; i++) B[i] += s;",
    ],
)
def test_what_may_stand_among_loops(body: str) -> None:
    regions = detect(
        parse(f"{HEAD}void f(int n)\n{{\n  {body}\n  g();\n}}\n".encode(), "x.c", Options(autodetect=True))
    ).regions
    assert [len(loops_of((region,))) for region in regions] == [2]


def test_a_declaration_that_is_used_later_ends_a_region() -> None:
    body = (
        "for (int i = 0; i < n; i++) A[i] *= 2;\n  double t = A[3];\n"
        "  for (int i = 0; i < n; i++) B[i] += t;\n  return t;"
    )
    regions = detect(
        parse(f"{HEAD}double f(int n)\n{{\n  {body}\n}}\n".encode(), "x.c", Options(autodetect=True))
    ).regions
    assert [len(region.items) for region in regions] == [1, 1]


@pytest.mark.parametrize("around", ["if (n & 1)\n    {}\n  else\n    g();", "while (n-- > 3)\n    {}", "if (n & 1) {}"])
def test_loops_that_are_a_whole_body_get_braces(around: str) -> None:
    loop = "for (int i = 0; i < n; i++) A[i] *= 2;"
    text = optimized(f"int h(int);\nvoid f(int n)\n{{\n  g();\n  {around.format(loop)}\n  g();\n}}", eager=True).text
    assert b"#pragma omp" in text
    parse(text, "x.c", Options())
    assert re.search(rb"\{\s+(?:if|#pragma omp)", text)


def test_as_much_as_can_be_taken_together() -> None:
    loops = "\n".join(f"  for (int i = 0; i < n; i++) A[i] += {k};" for k in range(150))
    regions = detect(parse(f"{HEAD}void f(int n)\n{{\n{loops}\n}}\n".encode(), "x.c", Options(autodetect=True))).regions
    assert [len(region.items) for region in regions] == [60, 60, 30]


def test_deep_nests_and_long_sums_end_in_time() -> None:
    nest = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(60))
    total = " + ".join(f"B[i + {k}]" for k in range(3000))
    source = (
        f"{HEAD}void f(int n) {{ {nest} A[0] += 1; g(); }}\n"
        f"void h(int n) {{ for (int i = 0; i < 9; i++) A[i] = {total}; }}\n"
    )
    found = detect(parse(source.encode(), "x.c", Options(autodetect=True)))
    assert {remark.id for remark in found.remarks} == {"region.large"}
    assert [len(loops_of((region,))) for region in found.regions] == [8]


def test_tables_of_constants_are_not_looked_at() -> None:
    table = ",".join(map(str, range(50000)))
    result = optimized(
        f"static const int T[] = {{{table}}};\nvoid f(int n)\n{{\n  for (int i = 0; i < n; i++)\n    A[i] *= T[i];\n}}"
    )
    assert reasons(result) == ["region.transformed"]


def test_a_file_has_a_time_limit() -> None:
    body = "".join(f"void f{k}(int n) {{ for (int i = 0; i < n; i++) A[i] *= {k}; }}\n" for k in range(4))
    result = optimized(body, file_budget=1e-6)
    assert reasons(result) == ["budget.file"] * 4
    assert result.text.decode() == f"{HEAD}{body}\n"


def test_several_regions_at_a_time_give_the_same_text() -> None:
    body = "".join(f"void f{k}(int n) {{ for (int i = 0; i < n; i++) A[i] *= {k}; }}\n" for k in range(4))
    assert optimized(body, jobs=3).text == optimized(body).text


@pytest.mark.parametrize(
    "source", [b"", b"\n", b"int x;", b'/* caf\xe9 */ char *s = "\xff";\n', b"void f(n) int n; { }"]
)
def test_files_without_loops_stay(source: bytes) -> None:
    assert optimize(source, Options(autodetect=True)).text == source


def test_straight_code_of_many_variables_is_taken() -> None:
    """Two hundred statements that set variables of an iteration's own are a loop like any other."""
    steps = "".join(f"    double t{k + 1} = t{k} * 0.5 + {k};\n" for k in range(200))
    writes = "".join(f"    B[i + {k}] = A[i];\n" for k in range(70))
    source = (
        f"{HEAD}void f(int n)\n{{\n"
        f"  for (int i = 0; i < n; i++) {{\n    double t0 = A[i];\n{steps}    B[i] = t200;\n  }}\n}}\n"
        f"void h(int n)\n{{\n  for (int i = 0; i < n; i++) {{\n{writes}  }}\n}}\n"
    )
    found = detect(parse(source.encode(), "x.c", Options(autodetect=True)))
    (region,) = found.regions
    assert region.location.line < 210
    assert [remark.id for remark in found.remarks] == ["region.large"]


@pytest.mark.parametrize(("place", "taken"), [("C[i][j][%d]", True), ("B[%d]", False)])
def test_long_straight_code_is_a_block_where_loops_around_are_parallel(place: str, taken: bool) -> None:
    cells = "".join(f"    {place % k} = A[i] * {k} + j;\n" for k in range(90))
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    source = f"{HEAD}double C[50][50][90];\nvoid f(int n)\n{{\n  {loops} {{\n{cells}  }}\n}}\n"
    tu = parse(source.encode(), "x.c", Options(autodetect=True))
    found = detect(tu)
    assert [len(extract(tu, region, "scop0").statements) for region in found.regions] == ([1] if taken else [])
    assert {remark.id for remark in found.remarks} == (set() if taken else {"region.large"})


def test_searches_beside_a_count_run_in_threads() -> None:
    body = """int f(int n) { int hits = 0; for (int i = 0; i < n; i++) { int at = -1;
  for (int j = 0; j < n; j++) { if (j == i) continue; if (A[j] > B[i]) { at = j; break; } }
  if (at >= 0) hits++; } return hits; }"""
    assert b"reduction(+: hits)" in optimized(body).text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a[i] = i; puts(0);", "call.unknown"),
        ("a[i] = i; if (n > 9) return;", "control.return"),
        ("a[i] = i; if (0) puts(0);", ""),
    ],
)
def test_what_keeps_a_loop_from_being_one_is_in_sight(body: str, reason: str) -> None:
    source = f"int puts(const char *); void f(int n, double *a) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    tu = parse(source.encode(), "in.c", Options())
    loop = next(item for item in tu.user_functions[0].body.block_items if isinstance(item, ir.For))
    block = tu.user_functions[0].body
    whole = region_of(tu, tu.user_functions[0], block, position := block.block_items.index(loop), position + 1)
    assert whole is not None
    seen = in_sight(tu, whole)
    assert (seen.id if seen is not None else "") == reason
