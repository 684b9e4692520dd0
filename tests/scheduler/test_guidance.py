"""Influence trees and pragmas through the whole pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import optimize
from scopt.diagnostics import InputError
from scopt.options import Options
from tests.fuzz.harness import in_one_form

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "influence"
COPY = """void f(int n, int m, double A[n][m], double B[n][m]) {
%s
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = %s;
#pragma endscop
}
"""


def text_of(source: str, **options: object) -> str:
    result = optimize(source, Options(**options), file="in.c")  # type: ignore[arg-type]
    assert all(region.transformed for region in result.regions), [remark.text() for remark in result.remarks]
    return result.text.decode()


@pytest.mark.parametrize("influence", [str(EXAMPLES / "fig2.yaml"), "vectorize"])
def test_figure_2c_from_the_tree_and_from_the_optimizer(influence: str) -> None:
    """i parallel, k, then X and the vector loop over Y."""
    text = text_of((EXAMPLES / "fig2.c").read_text(), scheduler="pluto", influence=influence, tile=False)
    lines = [
        line.strip() for line in in_one_form(text).split("#pragma scop\n")[1].split("#pragma endscop")[0].splitlines()
    ]
    heads = [line.split(";")[0].replace("long ", "") for line in lines if line.startswith(("for", "#pragma omp"))]
    kinds = [head.split(" if")[0].split(" schedule")[0] for head in heads]
    assert kinds == ["#pragma omp parallel for", "for (i = 0", "for (k = 0", "#pragma omp simd", "for (j = 0"]
    inner = lines[lines.index(next(line for line in lines if "k = 0" in line)) + 1 :]
    assert inner[0].startswith("B[i][k] =")


def test_tiles_of_a_pragma_count_before_the_options() -> None:
    transposed = COPY.replace("double B[n][m]", "double B[m][n]") % ("#pragma scopt tile(8,16)", "B[j][i]")
    text = text_of(transposed, tile_sizes=(4,))
    assert {"+= 8", "+= 16"} == {word for word in ("+= 4", "+= 8", "+= 16", "+= 32") if word in text}


def test_vector_loop_of_a_pragma() -> None:
    text = text_of(COPY % ("#pragma scopt notile vector(i)", "B[i][j] + 1"))
    inner = text[text.index("omp simd") :]
    assert inner.splitlines()[1].lstrip().startswith("for (long i = 0")


def test_parallel_loop_of_a_pragma() -> None:
    text = text_of(COPY % ("#pragma scopt notile parallel(j)", "B[i][j] + 1"))
    after = text[text.index("omp parallel for") :].splitlines()[1]
    assert after.lstrip().startswith("for (long j = 0")


def test_a_wish_that_a_dependence_forbids_is_an_error() -> None:
    with pytest.raises(InputError, match=r"in\.c:2:\d+: error: parallel\(j\).*flow dependence over 'A'"):
        optimize(COPY % ("#pragma scopt parallel(j)", "A[i][j - 1] + B[i][j]"), Options(), file="in.c")


def test_a_scheduler_of_a_pragma() -> None:
    result = optimize(
        COPY % ("#pragma scopt scheduler(feautrier) notile", "A[i][j - 1] + A[i - 1][j]"), Options(), file="in.c"
    )
    assert "omp parallel for" in result.text.decode()


def test_an_influence_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        optimize(COPY % ("", "B[i][j]"), Options(influence="nowhere.yaml"), file="in.c")
