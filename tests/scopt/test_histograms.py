"""Reductions whose cells data name: threads update copies of the whole array, if nothing else looks at it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.astgen.loops.isl_loops import build
from scopt.astgen.passes.held_check import check_held
from scopt.cli import main
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Const, For, Held, Hold, LoopNest, Reduction
from scopt.ir.nest_walks import Item, map_block
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.legality import ParallelDim, check_marks, check_order
from scopt.poly.reordering import Reorder, updates_of
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of, source_of

PARAMS = "int n, int *key, int *other, double *x"
LOCALS = "int h[64]; unsigned u[8][16], w[64][16]; int m[64]; double d[64]; int large[10000]; int flags[n];"
COUNT = "for (i = 0; i < n; i++) h[key[i]]++;"


def source(body: str) -> bytes:
    """The arrays as globals, but one whose size is known at run time alone."""
    text = source_of(body, PARAMS).decode()
    named, sized = LOCALS.rsplit("; ", 1)
    return f"{named};\n{text.replace('#pragma scop', sized + chr(10) + '#pragma scop', 1)}".encode()


def clauses(body: str, options: Options) -> list[str]:
    result = pipeline.optimize(source(body), options)
    assert not any(remark.id in ("internal.error", "schedule.simplified") for remark in result.remarks)
    return re.findall(r"(?:parallel for|simd).*?(reduction\(.*\)) schedule", result.text.decode())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COUNT, "reduction(+: h)"),
        ("for (i = 0; i < n; i++) if (other[i] > 3) h[key[i]] += 1;", "reduction(+: h)"),
        ("for (i = 0; i < n; i++) u[key[i]][other[i]] -= 3;", "reduction(+: u)"),
        ("for (i = 0; i < n; i++) u[key[i]][other[i]] = u[key[i]][other[i]] | 3;", "reduction(|: u)"),
        ("for (i = 0; i < n; i++) if (m[key[i]] < other[i]) m[key[i]] = other[i];", "reduction(max: m)"),
        ("for (i = 0; i < n; i++) { h[key[i]]++; h[other[i]]--; m[key[i]]++; }", "reduction(+: h, m)"),
        ("for (i = 0; i < n; i++) { h[key[i]]++; h[3]++; }", "reduction(+: h)"),
        (
            "for (i = 0; i < n; i++) h[key[i]] += other[i];",
            "reduction(+: h_own)",
        ),  # unsigned, since sums might overflow
        ("for (i = 0; i < n; i++) large[key[i]]++;", "reduction(+: large_own)"),
    ],
)
def test_threads_update_copies(body: str, expected: str) -> None:
    assert clauses(body, Options()) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) flags[key[i]]++;",
        "for (i = 0; i < n; i++) other[key[i]]++;",
        "for (i = 0; i < n; i++) h[h[i]]++;",
        "for (i = 0; i < n; i++) { h[key[i]]++; x[i] = h[3]; }",
        "for (i = 0; i < n; i++) { h[key[i]]++; h[other[i]] |= 3; }",
        "for (i = 0; i < n; i++) { h[key[i]]++; h[0] = 3; }",
        "for (i = 0; i < n; i++) h[key[i]] = h[other[i]] + 1;",
        "for (i = 0; i < n; i++) d[key[i]] += x[i];",
    ],
)
def test_where_copies_would_not_do(body: str) -> None:
    assert clauses(body, Options()) == []


def test_sums_that_round_are_left_to_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "for (i = 0; i < n; i++) d[key[i]] += x[i];"
    assert clauses(body, Options(reassociate=True)) == ["reduction(+: d)"]
    (tmp_path / "in.c").write_bytes(source(body))
    assert main([str(tmp_path / "in.c"), "-o", str(tmp_path / "out.c")]) == 0
    assert (
        "sum in 'd' (give --reassociate if its last digits don't matter) [reduction.in-order]"
        in capsys.readouterr().err
    )
    assert main([str(tmp_path / "in.c"), "--reassociate", "-o", str(tmp_path / "out.c")]) == 0
    assert "in another order: sum in 'd' [reduction.reordered]" in capsys.readouterr().err


def test_the_whole_array_is_kept_apart() -> None:
    """Characters may be part of anything, and any cell of h may be touched."""
    text = (
        b"int h[256];\nvoid f(int n, const unsigned char *key)\n{\n  for "
        b"(int i = 0; i < n; i++)\n    h[key[i] & 7]++;\n}\n"
    )
    result = pipeline.optimize(text, Options(autodetect=True)).text.decode()
    assert "(unsigned long)h + sizeof(*h) * 256UL <= (unsigned long)key" in result
    assert "reduction(+: h)" in result


def test_a_loop_that_needs_no_copies_is_preferred() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < 64; j++) w[j][key[i]]++;"
    text = pipeline.optimize(source(body), Options()).text.decode()
    assert "parallel for" in text
    assert "reduction" not in text


def test_short_loops_have_no_copies() -> None:
    text = pipeline.optimize(source(COUNT), Options()).text.decode()
    test, rest = text.split("#pragma omp parallel for firstprivate(key, n) reduction(+: h) schedule(static)")
    assert re.search(r"if \(n > \d+\) \{\s*$", test)
    assert re.search(r"\} else \{\s*for \(long i = 0; i < n; i\+\+\)\s*h\[key\[i\]\]\+\+;", rest)


@pytest.mark.parametrize(
    "wrong", [Reduction("*", "h", whole=True), Reduction("+", "h"), Reduction("+", "m", whole=True)]
)
def test_other_clauses_are_refused(wrong: Reduction) -> None:
    scop = scop_of(COUNT, "int n, int h[64], int m[64], int *key")
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    right = Reduction("+", "h", whole=True)
    check_order(scop, deps, scop.order, [ParallelDim(0, scop.domain, (), reductions=(right,))])
    if wrong.array != right.array or wrong.operator != right.operator:
        with pytest.raises(
            InternalError, match=r"is carried by the parallel loop|don't only update it|nothing in it updates"
        ):
            check_order(scop, deps, scop.order, [ParallelDim(0, scop.domain, (), reductions=(wrong,))])
    nest = build(scop, apply_passes(scop, deps, scop.schedule, Options()))
    if not wrong.whole:
        with pytest.raises(InternalError, match="not in variables around it"):
            check_held(scop, _with_clause(nest, wrong))


def test_what_else_touches_the_array_is_refused() -> None:
    """The pairs with it would be carried, unless it has no other iteration to depend on."""
    scop = scop_of("for (i = 0; i < n; i++) { h[key[i]]++; x[i] = h[i]; }", "int n, int h[64], int *key, double *x")
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    loop = ParallelDim(0, scop.domain, (), reductions=(Reduction("+", "h", whole=True),))
    with pytest.raises(InternalError, match="threads have copies of 'h', but don't only update it by '\\+'"):
        check_order(scop, replace(deps, all=()), scop.order, [loop])


@pytest.mark.parametrize("stored", [True, False])
def test_a_cell_that_is_held_around_the_loop_is_refused(stored: bool) -> None:
    scop = scop_of(COUNT, "int n, int h[64], int *key")
    deps = dependences(scop, updates=updates_of(scop, Reorder.ALL))
    nest = _with_clause(
        build(scop, apply_passes(scop, deps, scop.schedule, Options())), Reduction("+", "h", whole=True)
    )
    check_held(scop, nest)
    with pytest.raises(InternalError, match=r"cells in variables: (a parallel loop inside|another reference)"):
        check_held(scop, LoopNest(Block((Hold((Held("h_0", "h", (Const(0),), stored),), nest.body),))))


def test_marks_are_checked() -> None:
    scop = scop_of(COUNT, "int n, int h[64], int *key")
    deps = dependences(scop, updates=updates_of(scop, Reorder.SAFE))
    assert [one.array for one in deps.reductions] == ["h"]
    check_marks(scop, deps, apply_passes(scop, deps, scop.schedule, Options()))


def _with_clause(nest: LoopNest, clause: Reduction) -> LoopNest:
    def item(one: Item) -> tuple[Item, ...]:
        return (
            (replace(one, mark=replace(one.mark, parallel=True, reductions=(clause,))),)
            if isinstance(one, For)
            else (one,)
        )

    return LoopNest(map_block(nest.body, item))
