"""Regions: marked ones as bytes and statements, remarks on odd pragmas, autodetected ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import ir
from scopt.astgen.splice import splice
from scopt.frontend.region.parse import parse
from scopt.frontend.region.regions import find_autodetected, region_of, statement_extent
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.printing import CPrinter
from scopt.options import Options

GCC = Options(cc="gcc")


def unit(source: bytes | str, file: str = "x.c") -> TranslationUnit:
    return parse(source if isinstance(source, bytes) else source.encode(), file, GCC)


def text_of(tu: TranslationUnit, region: Region) -> bytes:
    return tu.source[region.start : region.end]


def in_function(body: str) -> str:
    return f"double A[100], B[100];\nvoid f(int n)\n{{\n  int i, j;\n{body}\n}}\n"


def test_a_marked_region() -> None:
    tu = unit(in_function("#pragma scop\n  for (i = 0; i < n; i++)\n    A[i] = 0;\n  A[0] = 1;\n#pragma endscop"))
    region = tu.regions[0]
    assert text_of(tu, region) == b"  for (i = 0; i < n; i++)\n    A[i] = 0;\n  A[0] = 1;\n"
    assert [type(item) for item in region.items] == [ir.For, ir.Assignment]
    assert region.items == region.parent.block_items[region.first : region.stop]
    assert region.function.decl.name == "f"
    assert region.indent == "  "
    assert region.newline == "\n"
    assert region.marked
    assert not region.directives
    assert region.location.line == 5


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("#pragma scop", "#pragma endscop"),
        ("  #  pragma   scop  ", "\t#pragma\tendscop // done"),
        ("#pragma \\\n  scop", "#pragma \\\n endscop"),
        ("/* x */ #pragma scop", "/* y */ # /* z */ pragma endscop"),
        ("#pragma scop /* to\n here */", "#pragma endscop"),
        ("%:pragma scop", "%:pragma endscop"),
        ("#pragma scop name", "#pragma endscop name"),
    ],
)
def test_spellings_of_the_pragmas(begin: str, end: str) -> None:
    tu = unit(in_function(f"{begin}\n  A[0] = 1;\n{end}"))
    assert tu.remarks == ()
    assert [text_of(tu, r) for r in tu.regions] == [b"  A[0] = 1;\n"]
    replaced = splice(tu.source, [(tu.regions[0].start, tu.regions[0].end, b"  A[0] = 2;\n")])
    assert replaced.decode() == in_function(f"{begin}\n  A[0] = 2;\n{end}")


def test_carriage_returns_and_no_newline_at_the_end() -> None:
    source = in_function("#pragma scop\n\tA[0] = 1;\n#pragma endscop").rstrip("\n").replace("\n", "\r\n").encode()
    tu = unit(source)
    region = tu.regions[0]
    assert text_of(tu, region) == b"\tA[0] = 1;\r\n"
    assert region.newline == "\r\n"
    assert region.indent == "\t"


def test_bytes_count_not_characters() -> None:
    source = "/* é */ ".encode() + in_function("/* \xff */\n#pragma scop\nA[0] = 1; // é\n#pragma endscop").encode(
        "utf-8"
    )
    tu = unit(source)
    assert text_of(tu, tu.regions[0]) == "A[0] = 1; // é\n".encode()


def test_comments_around_the_statements() -> None:
    tu = unit(
        in_function("#pragma scop\n  /* lead\n  ing */\n\n  // two\n  A[0] = 1; // end\n  /* trail */\n#pragma endscop")
    )
    region = tu.regions[0]
    assert region.leading == b"  /* lead\n  ing */\n\n  // two\n"
    assert region.trailing == b"  /* trail */\n"
    assert text_of(tu, region).startswith(region.leading)
    assert text_of(tu, region).endswith(region.trailing)


def test_a_comment_that_ends_on_the_pragmas_line_stays_with_it() -> None:
    tu = unit(in_function("#pragma scop\n  A[0] = 1;\n  /* here\n it ends */ #pragma endscop"))
    assert text_of(tu, tu.regions[0]) == b"  A[0] = 1;\n"


def test_code_on_the_pragmas_line_is_refused() -> None:
    tu = unit(in_function("#pragma scop\n  A[0] = 1; /* here\n it ends */ #pragma endscop"))
    assert [r.id for r in tu.remarks] in (["region.pragma-line"], ["region.unbalanced"])
    assert tu.regions == ()


def test_several_regions() -> None:
    one = "#pragma scop\n  A[0] = 1;\n#pragma endscop\n  B[0] = 1;\n#pragma scop\n  A[1] = 1;\n#pragma endscop"
    tu = unit(in_function(one) + "void g(void) {\n#pragma scop\nA[2] = 1;\n#pragma endscop\n}\n")
    assert [text_of(tu, r) for r in tu.regions] == [b"  A[0] = 1;\n", b"  A[1] = 1;\n", b"A[2] = 1;\n"]
    assert [r.function.decl.name for r in tu.regions] == ["f", "f", "g"]


@pytest.mark.parametrize(
    "around",
    [
        "for (j = 0; j < n; j++) {{\n{}\n}}",
        "if (n) {{\n{}\n}} else {{ A[1] = 2; }}",
        "{{\n{}\n}}",
        "switch (n) {{ case 1: {{\n{}\n}} }}",
    ],
)
def test_regions_inside_other_statements(around: str) -> None:
    tu = unit(in_function(around.format("#pragma scop\n  A[0] = 1;\n#pragma endscop")))
    assert tu.remarks == ()
    assert [text_of(tu, r) for r in tu.regions] == [b"  A[0] = 1;\n"]
    assert len(tu.regions[0].items) == 1


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("#pragma scop\n A[0] = 1;", [5]),
        ("A[0] = 1;\n#pragma endscop", [6]),
        ("#pragma scop\n A[0] = 1;\n#pragma scop\n A[1] = 1;\n#pragma endscop\n#pragma endscop", [5, 10]),
        ("#pragma scop\n for (i = 0; i < n; i++) {\n A[i] = 1;\n#pragma endscop\n}", [5]),
        ("for (i = 0; i < n; i++) {\n#pragma scop\n A[i] = 1;\n}\n#pragma endscop", [6]),
        ("switch (n) { case 1:\n#pragma scop\n A[0] = 1;\n#pragma endscop\n }", [8]),
        ("for (i = 0; i < n; i++)\n#pragma scop\n A[i] = 1;\n#pragma endscop", [6]),
    ],
)
def test_unbalanced_pragmas(body: str, lines: list[int]) -> None:
    tu = unit(in_function(body))
    assert [(r.id, r.location.line) for r in tu.remarks] == [("region.unbalanced", line) for line in lines]


def test_the_inner_pair_of_nested_pragmas_is_a_region() -> None:
    tu = unit(in_function("#pragma scop\n A[0] = 1;\n#pragma scop\n A[1] = 1;\n#pragma endscop\n#pragma endscop"))
    assert [text_of(tu, r) for r in tu.regions] == [b" A[1] = 1;\n"]


def test_pragmas_outside_of_functions() -> None:
    tu = unit("#pragma scop\nint a;\n#pragma endscop\n")
    assert {r.id for r in tu.remarks} == {"region.unbalanced"}
    assert tu.regions == ()


def test_a_pair_across_two_functions_is_unbalanced() -> None:
    tu = unit("void f(void) {\n#pragma scop\n;}\nvoid g(void) {\n#pragma endscop\n;}\n")
    assert [(r.id, r.location.line) for r in tu.remarks] == [("region.unbalanced", 2)]
    assert tu.regions == ()


def test_the_pragma_operator_is_refused() -> None:
    tu = unit(in_function('_Pragma("scop")\n  A[0] = 1;\n_Pragma("endscop")\n'))
    assert [r.id for r in tu.remarks] == ["region.pragma-operator"]
    assert tu.regions == ()


def test_a_pragma_that_is_none() -> None:
    for fake in ("/*\n#pragma scop\n*/", "#if 0\n#pragma scop\n#endif", "// \\\n#pragma scop"):
        tu = unit(in_function(f"{fake}\n#pragma scop\n  A[0] = 1;\n#pragma endscop"))
        assert tu.remarks == ()
        assert [text_of(tu, r) for r in tu.regions] == [b"  A[0] = 1;\n"]


def test_a_region_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text(in_function("#pragma scop\n  A[0] = 1;\n#pragma endscop"))
    tu = unit('#include "x.h"\nint main(void) { f(1); return 0; }\n', str(tmp_path / "x.c"))
    assert tu.regions == ()
    assert [(r.id, r.location.file, r.location.line) for r in tu.remarks] == [
        ("region.in-header", str(tmp_path / "x.h"), 5)
    ]


@pytest.mark.parametrize(
    "inside",
    ["#if 1\n  A[0] = 1;\n#endif", "#define X 1\n  A[0] = X;", "#undef X\n  A[0] = 1;", "#line 7\n  A[0] = 1;"],
)
def test_directives_are_noted(inside: str) -> None:
    tu = unit(in_function(f"#pragma scop\n{inside}\n#pragma endscop"))
    assert tu.regions[0].directives


def test_pragmas_are_no_directives() -> None:
    tu = unit(in_function("#pragma scop\n#pragma omp parallel\n  for (i = 0; i < n; i++) A[i] = 1;\n#pragma endscop"))
    assert not tu.regions[0].directives
    assert isinstance(tu.regions[0].items[0], ir.Pragma)


def test_included_statements_are_directives(tmp_path: Path) -> None:
    (tmp_path / "body.h").write_text("A[0] = 1;\n")
    tu = unit(in_function('#pragma scop\n#include "body.h"\n#pragma endscop'), str(tmp_path / "x.c"))
    assert tu.regions[0].directives


def test_an_empty_region() -> None:
    tu = unit(in_function("#pragma scop\n#pragma endscop"))
    assert tu.regions[0].items == ()
    assert text_of(tu, tu.regions[0]) == b""


def test_a_date_is_refused() -> None:
    tu = unit(in_function("#pragma scop\n  A[0] = __COUNTER__;\n#pragma endscop"))
    assert [r.id for r in tu.remarks] == ["region.unstable-macro"]


def test_a_region_under_the_files_own_line_directive() -> None:
    tu = unit('#line 50 "y.y"\n' + in_function("#pragma scop\n  A[0] = 1;\n#pragma endscop"))
    assert [text_of(tu, r) for r in tu.regions] == [b"  A[0] = 1;\n"]
    assert tu.regions[0].location == type(tu.regions[0].location)("x.c", 6)


# --- autodetection ----------------------------------------------------------------------------------------------------


def detected(source: str) -> list[bytes]:
    tu = unit(source)
    regions = find_autodetected(tu)
    assert all(not r.marked for r in regions)
    for region in regions:
        assert region.items == region.parent.block_items[region.first : region.stop]
    return [text_of(tu, r) for r in regions]


def test_runs_of_loops() -> None:
    body = (
        "  g();\n  for (i = 0; i < n; i++)\n    A[i] = 0; // one\n  A[0] = 1;\n"
        "  for (i = 0; i < n; i++) { B[i] = 0; }\n  A[1] = 3;\n  g();"
    )
    tu = unit("void g(void);\n" + in_function(body))
    regions = find_autodetected(tu)
    assert [len(r.items) for r in regions] == [3]
    assert text_of(tu, regions[0]).startswith(b"  for (i = 0; i < n; i++)\n    A[i] = 0; // one\n  A[0] = 1;\n  for")
    assert regions[0].location.line == 7


def test_whole_lines_are_taken_where_nothing_else_stands_on_them() -> None:
    assert detected(in_function("  for (i = 0; i < n; i++) A[i] = 0;")) == [b"  for (i = 0; i < n; i++) A[i] = 0;\n"]
    assert detected(in_function("  i = 1; for (i = 0; i < n; i++) A[i] = 0;  if (n) return;")) == [
        b"for (i = 0; i < n; i++) A[i] = 0;"
    ]


def test_loops_inside_other_statements() -> None:
    branch = "  if (n) {\n    for (i = 0; i < n; i++)\n      A[i] = 0;\n  }\n"
    found = detected(in_function(branch + "  while (B[0] > 0) { for (j = 0; j < n; j++) B[j] = 0; }"))
    assert found == [b"    for (i = 0; i < n; i++)\n      A[i] = 0;\n", b"for (j = 0; j < n; j++) B[j] = 0;"]


def test_a_loop_without_braces_around_it_is_no_candidate() -> None:
    assert detected(in_function("  if (n)\n    for (i = 0; i < n; i++)\n      A[i] = 0;")) == []


def test_marked_regions_are_left_out() -> None:
    zero, one, two = (f"  for (i = 0; i < n; i++) A[i] = {k};" for k in range(3))
    body = f"{zero}\n#pragma scop\n{one}\n#pragma endscop\n{two}"
    assert detected(in_function(body)) == [
        b"  for (i = 0; i < n; i++) A[i] = 0;\n",
        b"  for (i = 0; i < n; i++) A[i] = 2;\n",
    ]


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = 0; i < n; i++)\n  if (i > 2)\n    A[i] = 0;\n  else\n    A[i] = 1;",
        "for (i = 0; i < n; i++)\n  if (i > 2) { A[i] = 0; } else if (i) B[i] = 1; else { ; }",
        "for (i = 0; i < n; i++)\n  for (j = 0; j < n; j++)\n    /* ; } */ A[i] = ';';",
        "for (i = 0; i < n; i++)\n  do A[i]++; while (A[i] < 3);",
        "for (i = 0; i < n; i++) {\n  double t = B[i];\n  A[i] = t; }",
        "for (i = 0; i < n; i++)\n  ;",
        "for (i = 0; i < N; i++)\n  A[i] = F(i, (B[i]));",
    ],
)
def test_where_a_loop_ends(loop: str) -> None:
    source = "#define N 100\n#define F(x, y) ((x) + \\\n (y))\n" + in_function(f"{loop}\ng();")
    assert detected("void g(void);\n" + source) == [loop.encode() + b"\n"]


@pytest.mark.parametrize(
    ("definition", "loop"),
    [
        ("#define END }", "for (i = 0; i < n; i++) { A[i] = 0; END"),
        ("#define SET(x) x = 0; x = 1;", "for (i = 0; i < n; i++) SET(A[i])"),
        ("#define OPEN (i", "for (i = 0; i < OPEN + 1); i++) A[i] = 0;"),
        ("#define SEMI ;", "for (i = 0; i < n; i++) A[i] = 0 SEMI"),
        ("#define EMPTY(x)", "EMPTY(\nfor) for (i = 0; i < n; i++) A[i] = 0;"),
        ("#define TWO(x) x x", "TWO(for (i = 0; i < n; i++) A[i] = 0;)"),
    ],
)
def test_loops_with_macros_that_make_structure_are_not_told(definition: str, loop: str) -> None:
    tu = unit(definition + "\n" + in_function(loop + "\nif (n) return;"))
    for region in find_autodetected(tu):
        # If anything is told, it has to be a loop that stands there in full.
        assert text_of(tu, region).strip().startswith(b"for (i = 0; i < n; i++)")
        assert definition.startswith("#define EMPTY")


def test_loops_on_one_line_are_told_apart() -> None:
    tu = unit(
        in_function("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i] = j; for (j = 0; j < n; j++) B[j] = 0; g: ;")
    )
    loops = [item for item in tu.user_functions[0].body.block_items if isinstance(item, ir.For)]
    extents = [statement_extent(tu, loop) for loop in loops]
    assert all(extent is not None for extent in extents)
    assert [tu.source[e[0] : e[1]] for e in extents if e is not None] == [
        b"for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i] = j;",
        b"for (j = 0; j < n; j++) B[j] = 0;",
    ]


def test_directives_inside_a_detected_region_are_noted() -> None:
    tu = unit(in_function("for (i = 0; i < n; i++) {\n#if 1\n  A[i] = 0;\n#endif\n}"))
    assert [r.directives for r in find_autodetected(tu)] == [True]


def test_a_part_of_a_run() -> None:
    tu = unit(in_function("for (i = 0; i < n; i++) A[i] = 0;\nfor (i = 0; i < n; i++) B[i] = 0;"))
    run = find_autodetected(tu)[0]
    second = region_of(tu, run.function, run.parent, run.first + 1, run.stop)
    assert second is not None
    assert text_of(tu, second) == b"for (i = 0; i < n; i++) B[i] = 0;\n"


def test_loops_of_headers_are_not_told(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("static inline void g(int *a) { for (int i = 0; i < 3; i++) a[i] = 0; }\n")
    tu = unit('#include "x.h"\nint main(void) { int a[3]; g(a); return 0; }\n', str(tmp_path / "x.c"))
    assert find_autodetected(tu) == ()


def test_marking_a_detected_region_gives_the_same_statements() -> None:
    bodies = [
        "  i = 3; for (i = 0; i < N; i++) { A[i] = 0; } /* c */",
        "  if (n) { for (i = 0; i < n; i++)\n    if (i) A[i] = GET(B,\n i); else\n ; A[3] = 2; }",
        "  while (n--) for (j = 0; j < n; j++) A[j] = 1;",
        "  { for (j = 0; j < n; j++) A[j] = 1; A[2] = 3;\n\tfor (j = 0; j < n; j++) B[j] = 1; n = 3; }",
    ]
    source = "#define N 100\n#define GET(a, i) (a)[i]\n" + in_function("\n".join(bodies))
    tu = unit(source)
    regions = find_autodetected(tu)
    assert len(regions) == 2
    assert [dict(region.baked) for region in regions] == [{"N": 100}, {}]
    for region in regions:
        marks = [(region.start, region.start, b"\n#pragma scop\n"), (region.end, region.end, b"\n#pragma endscop\n")]
        marked = parse(splice(tu.source, marks), "x.c", GCC, symbolic=False)
        assert marked.remarks == ()
        again = marked.regions[0]
        assert [(type(a), type(b)) for a, b in zip(again.items, region.items, strict=True)]
        shown = CPrinter()
        assert [shown.visit(item) for item in again.items] == [shown.visit(item) for item in region.items]


def test_a_loop_under_a_pragma_about_it_is_left_to_it() -> None:
    for pragma in ("omp parallel", "omp critical", "omp parallel for num_threads(2)", "GCC ivdep", "acc loop"):
        body = f"#pragma {pragma}\n  for (i = 0; i < n; i++) A[i] = 0;\n  for (i = 0; i < n; i++) B[i] = 0;"
        assert detected(in_function(body)) == [b"  for (i = 0; i < n; i++) B[i] = 0;\n"]
    assert len(detected(in_function("#pragma omp barrier\n  for (i = 0; i < n; i++) A[i] = 0;"))) == 0
    assert len(detected(in_function("#pragma omp flush\n  for (i = 0; i < n; i++) A[i] = 0;"))) == 1
    assert len(detected(in_function("#pragma GCC diagnostic pop\n  for (i = 0; i < n; i++) A[i] = 0;"))) == 1


SWAPS = """#define SWAP(i, j) { double t = x[i]; x[i] = x[j]; x[j] = t; }
#define SWAPS(i, j) do { SWAP(i, j) } while (0)
#define EACH for (int k = 0; k < 3; k++)
#define BEGIN {
#define END }
#define NONE(x)
#define FIRST(x, y) x }
"""


@pytest.mark.parametrize(
    ("loop", "known"),
    [
        ("for (int i = 0; i < n; i++) {\n    SWAP(i, i + 1) }", True),
        ("for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {\n      SWAPS(i, j); SWAP(j, i)\n    }", True),
        ("for (int i = 0; i < n; i++) SWAP(i, i + 1)", False),
        ("for (int i = 0; i < n; i++) SWAPS(i, i + 1);", False),
        ("for (int i = 0; i < n; i++) {\n    EACH x[i] = k; }", True),
        ("for (int i = 0; i < n; i++) {\n    BEGIN x[i] = 0; END }", False),
        ("for (int i = 0; i < n; i++) {\n    NONE(}) x[i] = 0; }", False),
        ("for (int i = 0; i < n; i++) {\n    FIRST(x[i] = 0; {, }) }", False),
        ("for (int i = 0; i < n; i++) BEGIN x[i] = 0; END", False),
    ],
)
def test_macros_of_whole_statements(loop: str, known: bool) -> None:
    """The braces of a loop match whatever stands between them, as long as macros have no braces without their other
    half; a macro may be the head of a loop."""
    source = f"{SWAPS}void f(int n, double *x) {{\n  {loop}\n}}\n"
    tu = parse(source.encode(), "in.c", Options(autodetect=True))
    found = [source[region.start : region.end].strip() for region in find_autodetected(tu)]
    assert (loop in found) == known, found
