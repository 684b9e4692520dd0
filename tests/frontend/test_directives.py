"""``#pragma scopt``: its clauses, where it may stand, and what becomes of it."""

from __future__ import annotations

import pytest
from msgspec.structs import fields

from scopt import ir, optimize
from scopt.diagnostics import InputError
from scopt.frontend.extract import extract
from scopt.frontend.region.autodetect import Detected, detect
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.frontend.text.directives import Directives, Setting, apply_directives
from scopt.options import Options
from tests.sources import source_of

LOOPS = "for (i = 0; i < n; i++)\n  for (j = 0; j < m; j++)\n    A[i][j] = 0;"


def unit(source: str | bytes, **options: bool) -> TranslationUnit:
    return parse(source if isinstance(source, bytes) else source.encode(), "in.c", Options(**options))  # type: ignore[arg-type]


def before_scop(*pragmas: str, body: str = LOOPS, before: str = "") -> bytes:
    """A marked region with pragmas before it: the first in line 5 of the file (if `before` is one line)."""
    source = source_of(body, before=before).decode()
    return source.replace("#pragma scop\n", "".join(f"{p}\n" for p in pragmas) + "#pragma scop\n").encode()


def wanted(*pragmas: str, body: str = LOOPS, before: str = "") -> Directives:
    tu = unit(before_scop(*pragmas, body=body, before=before))
    assert tu.remarks == ()
    return tu.regions[0].pragmas


def values(directives: Directives) -> dict[str, object]:
    """What is set, without places."""
    found: dict[str, object] = {}
    for field in fields(directives):
        value = getattr(directives, field.name)
        if isinstance(value, Setting):
            found[field.name] = value.value
        elif value and field.name != "used":
            found[field.name] = tuple(wish.iterator for wish in value)
    return found


def targets(source: bytes | str) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    tu = unit(source)
    return [(str(d), d.targets) for d in extract(tu, tu.regions[0], "scop0").directives]


# --- clauses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("tile(32)", {"tile": True, "tile_sizes": (32,)}),
        ("tile ( 32 , 64 )", {"tile": True, "tile_sizes": (32, 64)}),
        ("notile", {"tile": False}),
        ("fuse(max)", {"fusion": "max"}),
        ("fuse(typed) notile", {"fusion": "typed", "tile": False}),
        ("nofuse", {"fusion": "no"}),
        ("scheduler(identity)", {"scheduler": "identity"}),
        ("noparallel novector", {"threads": False, "simd": False}),
        ("parallel(i) vector(j)", {"parallel": ("i",), "vector": ("j",)}),
        ("parallel(i, j)", {"parallel": ("i", "j")}),
        ("/* why */ notile // because", {"tile": False}),
        ("tile(8, \\\n  16) \\\n nofuse", {"tile": True, "tile_sizes": (8, 16), "fusion": "no"}),
    ],
)
def test_clauses(clauses: str, expected: dict[str, object]) -> None:
    assert values(wanted(f"#pragma scopt {clauses}")) == expected


def test_lines_add_up() -> None:
    directives = wanted(
        "#pragma scopt notile", "#pragma GCC ivdep", "# pragma scopt parallel(i)", '_Pragma("scopt parallel(j)")'
    )
    assert values(directives) == {"tile": False, "parallel": ("i", "j")}
    assert directives.tile is not None
    assert (directives.tile.location.line, directives.tile.location.column) == (5, 15)
    assert [directive.location.line for directive in directives.used] == [5, 7, 8]


def test_macros_are_sizes() -> None:
    before = "#define W 16\n#define V (2*W)\n"
    assert values(wanted("#pragma scopt tile(W, V)", before=before))["tile_sizes"] == (16, 32)
    # Inside a region, where the macro itself stays symbolic.
    inside = unit(source_of(f"#pragma scopt tile(W)\n{LOOPS.replace('n;', 'W;')}", before=before)).regions[0]
    assert values(inside.pragmas)["tile_sizes"] == (16,)


@pytest.mark.parametrize(
    ("clauses", "column", "word"),
    [
        ("", 1, "no clause"),
        ("tile", 15, "expected '('"),
        ("tile()", 20, "lacks"),
        ("tile(8,)", 22, "lacks"),
        ("tile(8", 20, "expected ')'"),
        ("tile(0)", 20, "'0'"),
        ("tile(-8)", 20, "'-'"),
        ("tile(2*8)", 21, "expected ')'"),
        ("tile(B)", 20, "'B'"),
        ("tile(1.5)", 20, "'1.5'"),
        ("tiled(8)", 15, "unknown clause 'tiled'"),
        ("notile(8)", 21, "no arguments"),
        ("fuse(all)", 20, "'all'"),
        ("fuse(max,max)", 24, "one argument"),
        ("scheduler(none)", 25, "'none'"),
        ("vector(7)", 22, "'7'"),
        ("parallel(q)", 24, "'q'"),
        ("notile notile", 22, "given twice"),
        ("notile tile(8)", 22, "contradicts"),
        ("fuse(max) nofuse", 25, "contradicts"),
        ("parallel(i) noparallel", 27, "contradicts"),
        ("novector vector(j)", 24, "contradicts"),
        ("parallel(i,i)", 26, "given twice"),
        ("vector(i) vector(j)", 32, "contradicts"),
    ],
)
def test_errors_stand_at_the_word(clauses: str, column: int, word: str) -> None:
    with pytest.raises(InputError) as caught:
        unit(before_scop(f"#pragma scopt {clauses}"))
    assert str(caught.value).startswith(f"in.c:5:{column}: error: ")
    assert word in str(caught.value)


# --- places -----------------------------------------------------------------------------------------------------------

NESTS = "for (i = 0; i < n; i++) x[i] = 0;\n{}\nfor (i = 0; i < n; i++)\n  for (j = 0; j < m; j++)\n    A[i][j] = 0;"


def test_before_a_scop_all_statements_with_the_iterator_are_meant() -> None:
    source = before_scop("#pragma scopt parallel(i) vector(j)", body=NESTS.format(""))
    assert targets(source) == [("parallel(i)", (("S0", "i"), ("S1", "i"))), ("vector(j)", (("S1", "j"),))]


def test_before_a_loop_the_statements_inside_are_meant() -> None:
    assert targets(source_of(NESTS.format("#pragma scopt parallel(i)"))) == [("parallel(i)", (("S1", "i"),))]


def test_a_renamed_iterator_is_known_by_its_name_in_the_source() -> None:
    body = "for (int m = 0; m < n; m++) x[m] = m;\n for (int s = 0; s < n; s++) { double m = y[s]; x[s] = m; }"
    tu = unit(before_scop("#pragma scopt parallel(m)", body=body))
    scop = extract(tu, tu.regions[0], "scop0")
    assert [directive.targets for directive in scop.directives] == [(("S0", scop.statement("S0").iterators[0]),)]


def test_a_directive_inside_an_opaque_statement_has_no_targets() -> None:
    body = (
        "for (i = 0; i < n; i++)\n if (x[i] > 0)\n#pragma scopt vector(k)\n  for (int k = 0; k < 3; k++) A[i][k] = 0;"
    )
    assert targets(source_of(body)) == [("vector(k)", ())]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (NESTS.format("#pragma scopt tile(8)"), "in.c:7:15"),
        (NESTS.format("#pragma scopt vector(k)"), "in.c:7:22"),
        # The iterator of a loop around it.
        (LOOPS.replace("\n  for", "\n#pragma scopt parallel(i)\n  for"), "in.c:7:24"),
    ],
)
def test_what_a_loop_cannot_have(body: str, place: str) -> None:
    with pytest.raises(InputError, match=f"^{place}: error: "):
        unit(source_of(body))


def test_clauses_for_the_whole_scop_before_its_only_loop() -> None:
    directives = unit(source_of(f"double t;\n#pragma scopt notile\n{LOOPS}")).regions[0].pragmas
    assert values(directives) == {"tile": False}


def test_vector_loops_of_different_nests() -> None:
    body = NESTS.format("#pragma scopt vector(j)").replace("for", "#pragma scopt vector(i)\nfor", 1)
    assert targets(source_of(body)) == [("vector(i)", (("S0", "i"),)), ("vector(j)", (("S1", "j"),))]


@pytest.mark.parametrize(
    "source",
    [
        source_of(LOOPS, after="#pragma scopt notile\n  n = 1;"),
        source_of(LOOPS, after="#pragma scopt notile\n  for (i = 0; i < n; i++) x[i] = 0;"),
        source_of(f"{LOOPS}\n#pragma scopt notile"),
        source_of(f"#pragma scopt notile\nx[0] = 0;\n{LOOPS}"),
        source_of(LOOPS, before="#pragma scopt notile"),
    ],
)
def test_misplaced(source: bytes) -> None:
    tu = unit(source)
    assert [(r.id, r.kind) for r in tu.remarks] == [("pragma.misplaced", "missed")]
    assert tu.regions[0].pragmas.used == ()


def test_pragmas_that_are_not_compiled_say_nothing() -> None:
    assert unit(source_of(LOOPS, before="#if 0\n#pragma scopt nonsense\n#endif")).remarks == ()


def test_naming_an_iterator_is_no_use_of_it() -> None:
    later = "#pragma scopt parallel(i)\n#pragma scop\n  for (i = 0; i < n; i++) x[i] = 0;\n#pragma endscop"
    tu = unit(source_of(LOOPS, after=later))
    assert len(extract(tu, tu.regions[0], "scop0").statements) == 1


# --- regions without pragmas of their own -----------------------------------------------------------------------------


def detected(body: str) -> tuple[TranslationUnit, Detected]:
    tu = unit(f"void f(int n, double A[9][9], double *x) {{\n  int i, j;\n{body}\n}}\n", autodetect=True)
    assert tu.remarks == ()
    return tu, detect(tu)


def test_autodetected_loops_have_directives() -> None:
    outer = "#pragma scopt parallel(i) tile(8)\nfor (i = 0; i < n; i++)\n"
    tu, found = detected(
        f"{outer}#pragma scopt vector(j)\n for (j = 0; j < n; j++) A[i][j] = 0;\nfor (i = 0; i < n; i++) A[8][i] = 0;"
    )
    assert found.remarks == ()
    (region,) = found.regions
    assert not region.directives
    assert values(region.pragmas) == {"tile": True, "tile_sizes": (8,), "parallel": ("i",), "vector": ("j",)}
    assert [d.targets for d in extract(tu, region, "scop0").directives] == [(("S0", "i"),), (("S0", "j"),)]


def test_misplaced_among_autodetected_loops() -> None:
    _, found = detected(
        "#pragma scopt notile\nwhile (x[n] > 0) n--;\n#pragma scopt nofuse\nfor (i = 0; i < n; i++) x[i] = 0;"
    )
    assert [(r.id, r.location.line) for r in found.remarks] == [("pragma.misplaced", 3)]
    assert [values(region.pragmas) for region in found.regions] == [{"fusion": "no"}]


# --- what becomes of them ---------------------------------------------------------------------------------------------


def test_options_of_a_region() -> None:
    directives = wanted("#pragma scopt tile(8,16) scheduler(identity) noparallel novector")
    options = apply_directives(Options(tile=False, cc="gcc"), directives)
    assert options == Options(cc="gcc", tile=True, tile_sizes=(8, 16), scheduler="identity", parallel=False, simd=False)
    assert apply_directives(options, Directives()) == options


def test_directives_outside_stay_and_inside_go() -> None:
    text = optimize(
        before_scop("#pragma scopt notile", body=f"#pragma scopt parallel(i)\n{LOOPS}"),
        Options(verify="off"),
        file="in.c",
    ).text
    assert text.count(b"#pragma scopt") == 1
    assert b"#pragma scopt notile\n#pragma scop\n" in text


def test_the_tree_keeps_the_pragmas() -> None:
    tu = unit(source_of(f"#pragma scopt notile\n{LOOPS}"))
    assert [type(item) for item in tu.regions[0].items] == [ir.Pragma, ir.For]
