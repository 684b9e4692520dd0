"""Loops under pragmas of OpenMP: which are read as if these weren't there, and what is said of the others."""

from __future__ import annotations

import pytest

from scopt import Options, optimize
from scopt.frontend.region.parse import parse
from scopt.frontend.text.openmp_clauses import Obstacle, OpenmpLoop, read_openmp
from scopt.frontend.text.openmp_lines import can_be_left_out, without_headers_openmp, without_openmp
from scopt.tell.results import Result

AUTODETECT = Options(cc="gcc", autodetect=True, eager=True)
HEAD = "double A[400][400], B[400][400], x[400];\nint g;\ndouble f(double);\nint omp_get_thread_num(void);\n"
NEST = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      A[i][j] = 2 * B[i][j];"


def optimized(body: str, options: Options = AUTODETECT) -> Result:
    return optimize(f"{HEAD}void k(int n)\n{{\n{body}\n}}\n", options, file="in.c")


def ids(result: Result, *topics: str) -> list[str]:
    return [r.id for r in result.remarks if r.id.startswith(topics)]


@pytest.mark.parametrize(
    "pragma",
    [
        "omp parallel for",
        "omp  parallel\tfor schedule(static, 4)",
        "omp parallel for simd",
        "omp simd safelen(8)",
        "omp parallel for \\\n  collapse(2) shared(A, B) \\\n  default(shared)",
        "omp parallel for if(n > 100) private(g)",
        "omp parallel for firstprivate(n), schedule(nonmonotonic: dynamic)",
    ],
)
def test_taken(pragma: str) -> None:
    result = optimized(f"#pragma {pragma}\n  {NEST}")
    assert [r.transformed for r in result.regions] == [True], result.remarks
    assert not ids(result, "openmp.", "region.openmp")
    assert b"collapse" not in result.text
    assert b"safelen" not in result.text


@pytest.mark.parametrize(
    ("body", "id"),
    [
        (f"#pragma omp parallel for num_threads(2)\n{NEST}", "openmp.clause"),
        (f"#pragma omp parallel for schedule(runtime)\n{NEST}", "openmp.clause"),
        (f"#pragma omp parallel for if(n = g)\n{NEST}", "openmp.clause"),
        (f"#pragma omp parallel for ordered\n{NEST}", "openmp.clause"),
        (f"#pragma omp simd linear(g)\n{NEST}", "openmp.clause"),
        (f"#pragma omp parallel\n{NEST}", "openmp.construct"),
        (f"#pragma omp for\n{NEST}", "openmp.construct"),
        (f"#pragma omp parallel\n{{ n++;\n#pragma omp for\n{NEST} {NEST} }}", "openmp.construct"),
        (f"#pragma omp parallel\n#pragma omp for\n{NEST}", "openmp.construct"),
        (f"#pragma omp critical\n{{ {NEST} }}", "openmp.construct"),
        (f"while (n--) {{\n#pragma omp single\n{NEST} }}", "openmp.construct"),
        (f"#pragma omp barrier\n{NEST}", "openmp.construct"),
        (f"int t = omp_get_thread_num();\n{NEST} g = t;", "openmp.construct"),
        (f"#pragma omp target teams distribute parallel for\n{NEST}", "openmp.construct"),
        (f"switch (n) {{ case 1:\n#pragma omp parallel for\n{NEST} }}", "openmp.construct"),
        (
            "#pragma omp parallel for\nfor (int i = 0; i < n; i++) {\n#pragma omp critical\nx[0] += 1; }",
            "openmp.construct",
        ),
        ("#pragma omp parallel for\nfor (int i = 1; i < n; i++) x[i] += x[i - 1];", "openmp.sequential"),
        (
            "double s = 0;\n#pragma omp simd reduction(+: s)\nfor (int i = 1; i < n; i++) s += x[i];\ng = s;",
            "openmp.sequential",
        ),
    ],
)
def test_left_with_one_remark(body: str, id: str) -> None:
    result = optimized(body)
    assert [r.transformed for r in result.regions if r.transformed] == []
    assert ids(result, "openmp.", "region.", "affine.") == [id]


def test_a_function_without_pragmas_is_none_of_a_team() -> None:
    result = optimized(f"int t;\n#pragma omp parallel\n{{ t = omp_get_thread_num(); }}\n{NEST} g = t;")
    assert [r.transformed for r in result.regions] == [True]


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        (
            "double t;\n#pragma omp parallel for private(t)\nfor (int i = 0; i < n; i++) { t = x[i]; x[i] = t * t; }",
            True,
        ),
        ("int i;\n#pragma omp parallel for\nfor (i = 0; i < n; i++) x[i] += 1;", True),
        ("int i;\n#pragma omp simd\nfor (i = 0; i < n; i++) x[i] += 1;\ng = i;", True),
        # The old value would be read, by OpenMP.
        ("int i = 3;\n#pragma omp parallel for\nfor (i = 0; i < n; i++) x[i] += 1;\ng = i;", False),
        ("#pragma omp parallel for private(g)\nfor (int i = 0; i < n; i++) { g = i; x[i] = g; }", False),
        (
            "double t = 1;\n#pragma omp parallel for private(t)\n"
            "for (int i = 0; i < n; i++) { t = x[i]; x[i] = t * t; }\nx[0] = t;",
            False,
        ),
        (
            "double t = 1;\n#pragma omp parallel for lastprivate(t)\n"
            "for (int i = 0; i < n; i++) { t = B[i][0]; x[i] = t * t; }\nx[0] = t;",
            True,
        ),
        (
            "#pragma omp parallel for firstprivate(g)\nfor (int i = 0; i < n; i++) { if (i < 3) g = i; x[i] = g; }",
            False,
        ),
        # What a loop leaves in a variable is only read by the pragma.
        (
            "int c;\nfor (int i = 0; i < n; i++) c = i + 1;\n"
            "#pragma omp parallel for schedule(static, c)\nfor (int i = 0; i < n; i++) x[i] += 1;",
            False,
        ),
        ("int s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < n; i++) s += i & 3;\ng = s;", True),
        ("int s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < n; i++) s = i;\ng = s;", False),
        (
            "double s = x[0];\n#pragma omp parallel for reduction(max: s)\n"
            "for (int i = 0; i < n; i++) if (i > 3) s = x[i];\ng = s;",
            False,
        ),
    ],
)
def test_variables(body: str, taken: bool) -> None:
    refused = "openmp.clause" in ids(optimized(body), "openmp.")
    assert refused != taken


def test_it_is_gone_from_the_new_loops_and_stays_above_the_old() -> None:
    pragma = "#pragma omp parallel for \\\n    schedule(static)"
    body = f"  if (n > 3)\n{pragma}\n    for (int i = 0; i < n; i++)\n      p[i] = q[i];\n"
    result = optimize(f"void k(int n, double *p, double *q)\n{{\n{body}}}\n", AUTODETECT, file="in.c")
    before, _, after = result.text.decode().rpartition("} else {\n")
    assert "for (long i" in before
    assert pragma not in before
    assert after.startswith(f"{pragma}\n    for (int i")


def test_neighbours_and_loops_inside_are_one_region() -> None:
    inner = NEST.replace("    for", "#pragma omp simd\n    for")
    loops = f"#pragma omp parallel for\n{inner}\n#pragma omp parallel for\n{inner}"
    result = optimized(f"for (int t = 0; t < 9; t++) {{\n{loops}\n}}")
    assert len(result.regions) == 1
    assert result.regions[0].transformed
    assert result.regions[0].location.line == 7


def test_marked_regions_drop_them() -> None:
    result = optimized(f"#pragma scop\n#pragma omp parallel for\n  {NEST}\n#pragma endscop", Options(cc="gcc"))
    assert [r.transformed for r in result.regions] == [True]
    assert result.text.count(b"parallel for") == 1


@pytest.mark.parametrize("autodetect", [False, True])
def test_a_pragma_above_a_marked_region(autodetect: bool) -> None:
    body = f"#pragma omp parallel for\n#pragma scop\n  {NEST}\n#pragma endscop"
    result = optimized(body, Options(cc="gcc", autodetect=autodetect))
    assert not result.regions
    assert ids(result, "openmp.", "region.") == ["openmp.construct"]


@pytest.mark.parametrize("flags", [(), ("-fopenmp",)])
def test_under_a_condition_of_its_own(flags: tuple[str, ...]) -> None:
    above = "#ifdef _OPENMP\n#pragma omp parallel for\n#endif\n"
    body = f"{above}for (int i = 0; i < n; i++)\n  p[i] = q[i];\n"
    options = Options(cc="gcc", cpp_flags=flags, autodetect=True, eager=True)
    result = optimize(f"void k(int n, double *p, double *q)\n{{\n{body}}}\n", options, file="in.c")
    assert [r.transformed for r in result.regions] == [True]
    assert f"}} else {{\n{above}for".encode() in result.text
    other = body.replace("#endif", "#else\n#pragma omp simd\n#endif")
    result = optimize(f"void k(int n, double *p, double *q)\n{{\n{other}}}\n", options, file="in.c")
    assert ids(result, "region.") == ["region.directives"]


def test_without_threads_the_programs_own_stay() -> None:
    options = Options(cc="gcc", autodetect=True, eager=True, parallel=False)
    assert ids(optimized(f"#pragma omp parallel for\n{NEST}", options), "openmp.", "region.") == ["openmp.sequential"]


def test_macros_in_a_pragma() -> None:
    assert isinstance(read_openmp("omp parallel for private(T)", 1, ("T",)), Obstacle)
    assert isinstance(read_openmp("omp parallel for private(T)", 1, ()), OpenmpLoop)
    source = f'{HEAD}#define EACH _Pragma("omp parallel for")\nvoid k(int n)\n{{\nEACH\n{NEST}\n}}\n'
    assert ids(optimize(source, AUTODETECT, file="in.c"), "openmp.", "region.") == ["openmp.construct"]


def test_lists() -> None:
    said = read_openmp("omp parallel for private(a,b) reduction(+:h[:n], s) reduction(max : m) collapse(2)", 4, ())
    assert isinstance(said, OpenmpLoop)
    assert (said.private, said.reduced, said.depth) == (("a", "b"), (("h", "+"), ("s", "+"), ("m", "max")), 2)
    assert said.used == {"n"} or said.used == frozenset()


def test_without_openmp() -> None:
    source = b"int a;\n #pragma omp parallel for \\\n  private(a) // x\nint b; // #pragma omp\n#pragma once\n"
    blank = without_openmp(source)
    assert len(blank) == len(source)
    assert blank.split() == b"int a; int b; // #pragma omp #pragma once".split()
    assert [len(line) for line in blank.split(b"\n")] == [len(line) for line in source.split(b"\n")]


def test_where_pragmas_come_from() -> None:
    source = b"#pragma omp simd\nint a;\nM\n"
    begin = b'# 1 "in.c"\n#pragma omp simd\nint a;\n'
    assert can_be_left_out(source, "in.c", begin + b"int b;\n")
    assert not can_be_left_out(source, "in.c", begin + b"#pragma omp simd\n")
    header = b'# 1 "in.h" 1\n#pragma omp simd\n'
    back = b'# 4 "in.c" 2\n'
    assert can_be_left_out(source, "in.c", begin + header + back)
    assert not can_be_left_out(source, "in.c", begin + header + back + b"#pragma omp simd\n")
    other = b'# 1 "in.h"\n#pragma omp simd\n'  # what a directive in the source calls it
    assert not can_be_left_out(source, "in.c", begin + other)
    assert without_headers_openmp(begin + header + back) == begin + b'# 1 "in.h" 1\n\n' + back


def test_what_a_file_without_openmp_says() -> None:
    options = Options(cc="gcc", autodetect=True, eager=True, ignore_openmp=True)
    result = optimized(f"#pragma omp parallel num_threads(3)\n{{ n = n / 2; {NEST} }}", options)
    assert [r.transformed for r in result.regions] == [True]
    assert b"num_threads" not in result.text
    unchanged = optimized("#pragma omp parallel\n{ n = n / 2; }", options)
    assert b"#pragma omp parallel\n" in unchanged.text


def test_the_tree_of_other_files_is_kept() -> None:
    assert parse(b"int a;\n", "in.c", AUTODETECT).openmp.loops == {}
