"""`--explain`: the facts in the text, not its wording as a whole."""

from __future__ import annotations

import re

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.tell.explain import explain
from scopt.tell.wording import distance_text, domain_text, function_text
from tests.sources import optimize, scop_of, source_of

GEMM = """for (i = 0; i < n; i++)
  for (j = 0; j < n; j++) {
    A[i][j] *= 2;
    for (k = 0; k < n; k++)
      A[i][j] += B[i][k] * B[k][j];
  }"""
STENCIL = "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) x[i] = x[i - 1] + x[i + 1];"


def explained(body: str, scheduler: str = "isl", options: Options | None = None) -> str:
    options = replace(options or Options(), scheduler=scheduler)
    scop = scop_of(body)
    deps = dependences(scop)
    tree = get_scheduler(scheduler).schedule(scop, deps, options).tree
    return explain(scop, deps, tree, apply_passes(scop, deps, tree, options))


def section(text: str, title: str) -> list[str]:
    """The lines of one section, blanks squeezed."""
    lines = text.split(f"\n {title}:\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [" ".join(line.split()) for line in lines]


def test_statements_have_line_domain_and_text() -> None:
    statements = section(explained(GEMM), "statements")
    assert statements[0] == "S0 line 8 for i, j: 0 <= i < n, 0 <= j < n A[i][j] *= 2;"
    assert statements[1].endswith("A[i][j] += B[i][k] * B[k][j];")


def test_dependences_are_split_by_the_loop_that_carries_them() -> None:
    lines = section(explained(GEMM), "dependences")
    assert lines == [
        "flow, anti, output A S0 → S1 loop-independent",
        "flow, anti, output A S1 → S1 carried by k (level 3) distance (0, 0, 1)",
    ]
    assert section(explained(STENCIL), "dependences") == [
        "flow, anti x S0 → S0 carried by t (level 1) distance (1, -1)",
        "output x S0 → S0 carried by t (level 1) distance (1, 0)",
        "flow, anti x S0 → S0 carried by i (level 2) distance (0, 1)",
    ]


def test_distances_of_a_descending_loop_are_in_execution_order() -> None:
    assert section(explained("for (i = n - 2; i >= 0; i--) x[i] = x[i + 1];"), "dependences") == [
        "flow x S0 → S0 carried by i (level 1) distance (1)"
    ]


def test_dimensions_are_parallel_or_name_what_they_carry() -> None:
    lines = section(explained(GEMM), "schedule")
    second = lines[lines.index("2. S1") :]
    assert any(re.fullmatch(r"d0 = i \[parallel.*\]", line) for line in second)
    assert "d1 = j [parallel; vectorizable innermost, stride 1]" in second
    carried = second.index("d2 = k [sequential]")
    assert second[carried + 1] == "carries flow/anti/output A S1 → S1 (distance 1)"
    example = re.fullmatch(
        r"e\.g\. S1\[(\d+), (\d+), (\d+)\] → S1\[\1, \2, (\d+)\] through A\[\1, \2\] with .*n = \d+.*",
        second[carried + 2],
    )
    assert example is not None
    assert int(example[4]) > int(example[3])
    assert "after 1: flow/anti/output A S0 → S1" in second


def test_the_end_of_a_band_names_the_dependence_that_would_run_backwards() -> None:
    text = explained(STENCIL, "identity")
    assert (
        "the next dimension is not permutable with the one above, it would run "
        "flow/anti x S0 → S0 (distance -1..1) backwards"
    ) in text
    assert "permutable band of 2" not in text
    assert "permutable band of 2" in explained(STENCIL)


def test_skewed_tiles_in_a_wavefront() -> None:
    final = section(explained(STENCIL, options=Options(tile_sizes=(64, 128))), "after the band passes")
    assert final[0].startswith("tiles are cut along the band's own dimensions")
    assert final[1].startswith("the points of a tile run in wavefronts too")
    assert final[2] == "wavefront of tiles of 64 over t, tiles of 128 over t + i"
    assert final[3] == "tiles of 128 over t + i [parallel]"


def test_diamond_tiles() -> None:
    body = "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) A[t + 1][i] = A[t][i - 1] + A[t][i + 1];"
    final = section(explained(body, "pluto", Options(tile_sizes=(8,))), "after the band passes")
    diamonds = re.fullmatch(
        r"tiles are diamonds, all tiles of a wavefront can start at once; their hyperplanes: (.+) and (.+)", final[0]
    )
    assert diamonds is not None
    assert set(diamonds.groups()) == {"t + i", "t - i"}
    assert final[1].startswith("wavefront of tiles of 8 over t ")
    assert not any("points of a tile" in line for line in final)


def test_diamond_tiles_of_two_statements() -> None:
    body = (
        "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];"
        " for (i = 1; i < n - 1; i++) x[i] = y[i]; }"
    )
    final = section(explained(body, "pluto"), "after the band passes")
    assert re.fullmatch(r"tiles are diamonds, .* hyperplanes: S0: .+ and .+; S1: .+ and .+", final[0])


def test_interleaved_points() -> None:
    body = STENCIL.replace("+ x[i + 1]", "* x[i] + x[i + 1]")
    final = section(explained(body, "pluto"), "after the band passes")
    assert final[0].startswith("tiles are cut along")
    assert final[1].startswith("the points of a tile run in wavefronts too")
    assert final[2].startswith("wavefront of tiles")
    assert any("points of a tile" in line for line in section(explained(body, "isl"), "after the band passes"))


def test_tiles_and_vector_loops_of_the_final_tree() -> None:
    final = section(explained(GEMM, options=Options(tile_sizes=(8, 4), register_tile=False)), "after the band passes")
    start = final.index("2. S1")
    assert final[start + 1 :] == [
        "tiles of 8 over i [parallel]",
        "tiles of 4 over k",
        "tiles of 4 over j",
        "i",
        "k",
        "j [vector loop]",
    ]


def test_distribution_is_told() -> None:
    body = (
        "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];"
        " for (i = 1; i < n - 1; i++) x[i] = y[i]; }"
    )
    text = explained(body)
    assert "vectorizable innermost once distributed" in text
    assert "distributed, so that each has an innermost loop of its own: S0 | S1" in text
    assert "distributed" not in explained(GEMM)


def test_private_arrays_and_their_copies() -> None:
    text = explained("for (i = 0; i < n; i++) { s = x[i]; y[i] = s * s; }")
    assert "private (not needed afterwards; iterations and threads may have copies): double s" in text
    assert "d0 = i [parallel with private copies of s" in " ".join(text.split())
    assert "flow s (private) S0 → S1 loop-independent" in section(text, "dependences")


def test_a_private_sum_is_no_vector_loop() -> None:
    text = explained("for (i = 0; i < n; i++) { s = 0; for (j = 0; j < n; j++) s += A[i][j]; y[i] = s; }")
    inner = next(line for line in section(text, "schedule") if line.startswith("d1 = j"))
    assert inner == "d1 = j [sequential]"


def test_statements_apart_say_what_fusion_would_reverse() -> None:
    text = explained("for (i = 0; i < n; i++) x[i] = i; for (i = 0; i < n; i++) y[i] = x[n - 1 - i];", "identity")
    assert (
        "not fused with the one before: one loop over both outermost dimensions would run flow x S0 → S1 backwards"
        in text
    )
    text = explained("for (i = 0; i < n; i++) x[i] = i; for (i = 0; i < n; i++) y[i] = x[i];", "identity")
    assert "could share the outermost loop of the one before" in text
    text = explained("for (i = 0; i < n; i++) x[i] = i; for (i = 0; i < n; i++) y[i] = i;", "identity")
    assert "no dependence on the ones before" in text


def test_statements_without_loops() -> None:
    text = explained("x[0] = 1; y[0] = x[0];", "identity")
    assert "flow x S0 → S1 loop-independent" in section(text, "dependences")
    assert section(explained("x[0] = 1;"), "schedule") == ["S0"]


def test_region_has_an_explanation_only_if_asked() -> None:
    assert optimize(source_of(GEMM)).regions[0].explanation == ""
    (region,) = optimize(source_of(GEMM), Options(explain=True)).regions
    assert region.transformed
    assert region.explanation.startswith("<stdin>:5: SCoP of 2 statements; parameters: n\n")


# --- words ---


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ("{ [1] }", "1"),
        ("{ [d] : -1 <= d <= 1 }", "-1..1"),
        ("[n] -> { [d] : 1 <= d < n }", ">=1"),
        ("{ [d] }", "*"),
        ("[n] -> { [0] }", "0"),
    ],
)
def test_distances_in_words(values: str, text: str) -> None:
    assert distance_text(isl.Set(values)) == text


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("{ S[t, i] -> [(1 + 2t + i)] }", "2t + i + 1"),
        ("[n] -> { S[t, i] -> [(-2 + n)] }", "n - 2"),
        ("{ S[t, i] -> [(-1 - t)] }", "-1 - t"),
        ("{ S[t, i] -> [(3)] }", "3"),
        ("{ S[t, i] -> [(floor((1 + t)/64))] }", "floor((t + 1)/64)"),
        ("{ S[a, b] -> [(a)] : a > 4; S[a, b] -> [(7)] : a <= 4 }", "t if t >= 5; 7 if t <= 4"),
    ],
)
def test_functions_in_words(function: str, text: str) -> None:
    assert function_text(isl.PwAff(function), ("t", "i")) == text


def test_domains_in_words() -> None:
    assert domain_text(isl.Set("[n] -> { S[i, j] : 0 <= i < n and 0 < j < n - 1 }")) == "0 <= i < n, 0 < j <= n - 2"
    assert domain_text(isl.Set("{ S[] }")) == ""


def test_reductions_are_explained() -> None:
    """The scheduler keeps their order; the band passes don't."""
    source = source_of("for (i = 0; i < n; i++) s += x[i];")
    (region,) = optimize(source, Options(explain=True, reassociate=True)).regions
    (dependence,) = section(region.explanation, "dependences")
    assert dependence.split()[:2] == ["reduction", "s"]
    assert "[parallel, vector loop, reduces s by +]" in region.explanation
