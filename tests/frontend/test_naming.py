"""Unmarked regions whose macros keep their names: which do, where the second tree's nodes stand, what a region depends
on without naming it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scopt import ir
from scopt.frontend.region.autodetect import detect
from scopt.frontend.region.naming import Placed, with_names, with_value
from scopt.frontend.region.origins import choosing_macros, macros_behind
from scopt.frontend.region.parse import parse
from scopt.ir.walks import walk
from scopt.options import Options
from scopt.pipeline import optimize

OPTIONS = Options(autodetect=True)
ARRAYS = "double A[500], B[500], C[500][500];\n"
LOOP = "  for (int i = 0; i < N; i++) A[i] = B[i] + N;\n"


def placed(source: str, *flags: str, file: str = "x.c", eager: bool = True) -> list[Placed]:
    options = Options(autodetect=True, cpp_flags=flags, eager=eager)
    tu = parse(source.encode(), file, options)
    return with_names(tu, detect(tu).regions, options)


def kept(source: str, *flags: str) -> list[dict[str, int]]:
    return [dict(one.region.symbolic) for one in placed(source, *flags)]


def function(body: str, name: str = "f") -> str:
    return f"void {name}(int n)\n{{\n{body}}}\n"


def test_names_are_kept() -> None:
    (one,) = placed(f"#define N 100\n{ARRAYS}{function(LOOP)}")
    assert one.region.symbolic == {"N": 100}
    assert one.region.baked == {}
    assert one.expanded is not None
    assert one.expanded.region.baked == {"N": 100}
    assert (one.region.start, one.region.end) == (one.expanded.region.start, one.expanded.region.end)
    names = [node.name for item in one.region.items for node in walk(item) if isinstance(node, ir.ID)]
    assert names.count("N") == 2
    assert one.region.items == tuple(one.region.parent.block_items[one.region.first : one.region.stop])


def test_a_macro_of_the_command_line() -> None:
    assert kept(f"{ARRAYS}{function(LOOP)}", "-DN=70") == [{"N": 70}]


def test_each_region_has_the_macros_of_its_place() -> None:
    source = f"#define N 100\n{ARRAYS}{function(LOOP)}#undef N\n#define N 60\n{function(LOOP, 'g')}#undef N\n"
    assert kept(source) == [{"N": 100}, {"N": 60}]


def test_constants_and_sizes_are_no_macros() -> None:
    loop = "  for (int i = 0; i < E; i++) A[i] = B[i] + SIZE;\n"
    (one,) = placed(f"enum {{ E = 30 }};\n#define SIZE sizeof(A)\n{ARRAYS}{function(loop)}")
    assert (one.region.symbolic, one.region.baked) == ({}, {})


@pytest.mark.parametrize(
    "body",
    [
        LOOP,
        (
            "  int i, j; i = 3; for (i = 0; i < N; i++) { A[i] = N + B[i]; } /* c\n"
            "  */ j = 3; if (n) for (j = 0; j < N; j++)\n    B[j] = N; /* d */\n"
        ),
        (
            "\tfor (int i = 0; i < N; i++)\n\t  A[i] = MORE(i,\n\t    N) + B[i]; // end\n"
            "  while (n > N) { for (int k = 0; k < N; k++) A[k] = 3; }\n"
        ),
    ],
)
def test_nodes_have_the_same_places(body: str) -> None:
    regions = placed(f"#define N 100\n#define MORE(a, b) ((a) + (b))\n{ARRAYS}{function(body)}{function(LOOP, 'g')}")

    def places(region: Any) -> list[tuple[int, int]]:
        nodes = [node for item in region.items for node in walk(item)]
        return [(node.coord.line, node.coord.column) for node in nodes if node.coord is not None]

    assert len(regions) >= 2
    for one in regions:
        assert one.region.symbolic == {"N": 100}
        assert one.expanded is not None
        assert places(one.region) == places(one.expanded.region)
        assert one.region.location == one.expanded.region.location


def test_regions_side_by_side() -> None:
    loops = "\n".join(f"  for (int i = 0; i < N; i++) A[i] += {k};" for k in range(130))
    assert kept(f"#define N 100\n{ARRAYS}{function(loops)}") == [{"N": 100}] * 3


def test_directives_bind_to_the_loops_of_the_second_tree() -> None:
    loop = (
        "  #pragma scopt noparallel\n  for (int i = 0; i < N; i++)\n    #pragma scopt vector(j)\n"
        "    for (int j = 0; j < N; j++) C[i][j] = N;\n"
    )
    (one,) = placed(f"#define N 100\n{ARRAYS}{function(loop)}")
    assert one.region.symbolic == {"N": 100}
    (wish,) = one.region.pragmas.vector
    assert wish.loop in [node for node in walk(*one.region.items) if isinstance(node, ir.For)]


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("#if N > 50\ntypedef int real;\n#else\ntypedef double real;\n#endif\nreal A[500];\n", {}),
        (
            "#if N > 50\ntypedef int real;\n#else\ntypedef double real;\n#endif\nreal D[500];\ndouble A[500];\n",
            {"N": 100},
        ),
        ("#if N > 500\n#error too many\n#endif\ndouble A[500];\n", {"N": 100}),
        ("#ifdef N\ndouble A[500];\n#endif\n", {"N": 100}),
        ("#if defined(N) && defined M\ndouble A[500];\n#endif\n", {"N": 100}),
        ("#define BIG N\n#if BIG > 50\ndouble A[500];\n#endif\n", {}),
        ("#if 0\n#elif N > 50\ndouble A[500];\n#endif\n", {}),
        ("double A[500];\nvoid g(void) {\n#if N > 50\n  A[0] = 3;\n#endif\n}\n", {"N": 100}),
    ],
)
def test_what_a_condition_chooses(condition: str, names: dict[str, int]) -> None:
    (one,) = placed(
        f"#define N 100\n#define M\n{condition}{function('  for (int i = 0; i < N; i++) A[i] = 2;' + chr(10))}"
    )
    assert one.region.symbolic == names
    assert one.region.baked == ({} if names else {"N": 100})


def test_statements_that_a_condition_chooses_in_the_same_function() -> None:
    assert kept(
        f"#define N 100\n{ARRAYS}{function('#if N > 5' + chr(10) + '  n++;' + chr(10) + '#endif' + chr(10) + LOOP)}"
    ) == [{}]
    assert kept(f"#define N 100\n{ARRAYS}{function('#if N > 5' + chr(10) + LOOP + '#endif' + chr(10))}") == [{"N": 100}]


@pytest.mark.parametrize(
    ("statement", "macros"),
    [
        ("memset(rows, 0, sizeof rows);", {"N": 100}),
        ("A[N] = 1; memset(rows, 0, sizeof rows);", {}),  # `N` stands there by its name
        ("A[N] = 1; memset(more, 0, sizeof more);", {"N": 100}),
        ("memcpy(one.v, rows, sizeof(one.v));", {"N": 100}),
        ("item all = {0};", {"N": 100}),
        ("memcpy(rows, plain, sizeof(double) * 4);", {"N": 100}),
        ("memset(plain, 0, sizeof plain);", {}),
    ],
)
def test_macros_behind_sizes(statement: str, macros: dict[str, int]) -> None:
    before = "typedef struct { double v[N]; } item;\ndouble rows[N];\ndouble more[N + 1];\ndouble plain[9];\nitem one;"
    (one,) = placed(
        f"#define N 100\n{before}\n{ARRAYS}"
        f"{function(f'  for (int i = 0; i < 9; i++) {{ A[i] = 1; {statement} }}' + chr(10))}"
    )
    assert macros_behind(one.tu, one.region) == macros


@pytest.mark.parametrize(
    ("before", "bound", "macros"),
    [
        ("enum { E = N / 2 };", "E", {"N": 100}),
        ("enum { D = N,\n  E };", "E", {"N": 100}),
        ("enum { E = 30 };", "E", {}),
        ("#define HALF (N / 2)\nenum { D = HALF }; enum { E = D + 1 };", "E", {"HALF": 50, "N": 100}),
        ("double rows[N];\nenum { E = sizeof rows / sizeof *rows };", "E", {"N": 100}),
        ("static int less(int x) { return x < N ? x : N; }", "less(n)", {"N": 100}),
        ("static int less(int x) { return x / 2; }", "less(n)", {}),
        ('#include "e.h"', "E", {"N": 100}),
    ],
)
def test_macros_behind(before: str, bound: str, macros: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "e.h").write_text("enum { E = N };\n")
    source = f"#define N 100\n{before}\n{ARRAYS}{function(f'  for (int i = 0; i < {bound}; i++) A[i] = 2;' + chr(10))}"
    (one,) = placed(source, file=str(tmp_path / "x.c"))
    assert macros_behind(one.tu, one.region) == macros
    assert choosing_macros(one.tu, one.region) == frozenset()


def test_one_value_may_be_enough() -> None:
    (one,) = placed(
        f"#define N 100\n#define STEP 3\n{ARRAYS}"
        f"{function('  for (int i = 0; i < N; i += STEP) A[i] = STEP;' + chr(10))}"
    )
    assert one.region.symbolic == {"N": 100, "STEP": 3}
    found = with_value(one, OPTIONS)
    assert found is not None
    assert (found.region.symbolic, found.region.baked) == ({"N": 100}, {"STEP": 3})
    assert "STEP" not in [node.name for item in found.region.items for node in walk(item) if isinstance(node, ir.ID)]
    assert found.scop is not None  # it isn't read again
    assert [statement.name for statement in found.scop.statements] == ["S0"]


def test_short_loops_have_values_where_speed_counts() -> None:
    loop = "  for (int i = 0; i < N; i++)\n    for (int j = 0; j < SHORT; j++) C[i][j] = SMALL;\n"
    source = f"#define N 100\n#define SHORT 3\n#define SMALL 4\n{ARRAYS}{function(loop)}"
    (one,) = placed(source, eager=False)
    assert (one.region.symbolic, one.region.baked) == ({"N": 100, "SMALL": 4}, {"SHORT": 3})
    (one,) = placed(source)
    assert (one.region.symbolic, one.region.baked) == ({"N": 100, "SMALL": 4, "SHORT": 3}, {})


def test_short_loops_of_marked_regions_have_values() -> None:
    loop = "for (int i = 0; i < N; i++)\n%s\nfor (int j = 0; j < TAPS; j++) C[i][j] = N + SMALL;\n"
    source = f"#define N 100\n#define TAPS 24\n#define SMALL 4\n{ARRAYS}" + function(
        f"#pragma scop\n{loop}#pragma endscop\n"
    )
    tu = parse((source % "").encode(), "x.c", Options())
    region = tu.regions[0]
    assert (region.symbolic, region.baked) == ({"N": 100, "SMALL": 4}, {"TAPS": 24})
    assert b"#if (TAPS) == 24" in optimize((source % "").encode(), Options()).text
    wanted = optimize((source % "#pragma scopt vector(j)").encode(), Options()).text
    assert b"#if (TAPS)" not in wanted
    assert b"omp simd" in wanted


def test_no_value_is_given_where_none_is_wanted() -> None:
    (one,) = placed(
        f"#define N 100\n#define M 3\n{ARRAYS}{function('  for (int i = 0; i < N; i++) A[i] = M;' + chr(10))}"
    )
    assert one.region.symbolic == {"N": 100, "M": 3}
    assert with_value(one, OPTIONS) is None
