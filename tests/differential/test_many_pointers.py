"""More pointers than are told apart two by two: the program finds out whether any of them overlap."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from scopt.pipeline import optimize

COUNT = 9
PARAMS = ", ".join(f"double *f{k}, double *g{k}" for k in range(COUNT))
STEPS = "\n".join(
    f"            g{k}[i * m + j] = f{k}[(i + {k % 3 - 1}) * m + j + {k // 3 - 1}] * w;" for k in range(COUNT)
)
CALL = ", ".join(f"at[{k}], at[{COUNT + k}]" for k in range(COUNT))
PROGRAM = f"""\
#include <stdio.h>
#define N 24
static double cells[40 * N * N], *at[{2 * COUNT}];
void stream(int n, int m, double w, {PARAMS})
{{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {{
{STEPS}
        }}
}}
static void run(int n, int m)
{{
    for (int i = 0; i < 40 * N * N; i++)
        cells[i] = i % 101;
    stream(n, m, 1.5, {CALL});
    for (int i = 0; i < 40 * N * N; i++)
        printf("%g\\n", cells[i]);
}}
int main(void)
{{
    for (int k = 0; k < {2 * COUNT}; k++)
        at[k] = cells + 2 * k * N * N;
    LAYOUT
    run(N, N);
    run(N - 3, N - 1);
    run(2, N);
}}
"""
LAYOUTS = {
    "apart": ";",
    "the same to read": "at[3] = at[1];",
    "in place": f"at[{COUNT}] = at[0];",
    "one row": f"at[{COUNT + 4}] = at[4] + 9 * N;",
    "written twice": f"at[{COUNT + 4}] = at[{COUNT + 2}] + 3;",
    "backwards": f"at[0] = cells + 39 * N * N; at[{COUNT}] = cells + 37 * N * N;",
}
APART = {"apart": "110", "the same to read": "110", "backwards": "110"}


@pytest.fixture(scope="module")
def made() -> str:
    options = Options(autodetect=True, eager=True, cpp_flags=("-DLAYOUT=;",))
    result = optimize(PROGRAM.encode(), options, file="x.c")
    assert [region.transformed for region in result.regions if region.function == "stream"] == [True]
    text = result.text.decode()
    # one thread gains, too, for which there is a form of its own: compilers test ten pairs
    assert text.split("void stream(")[1].split("static void run(")[0].count("#pragma omp simd") == 2 * COUNT
    return text


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(run_c: Callable[..., str], made: str, layout: str) -> None:
    flags = (f"-DLAYOUT={LAYOUTS[layout]}", "-O1", "-ffp-contract=off", "-fopenmp", "-fsanitize=address,undefined")
    assert run_c(made, *flags, name="made") == run_c(PROGRAM, *flags, name="original")
    asked = made.replace("  return apart;\n", '  printf("apart %d\\n", apart);\n  return apart;\n')
    printed = run_c(asked, *flags, name="asked").splitlines()
    # nothing is touched the third time, so nothing is known
    assert "".join(line[-1] for line in printed if line.startswith("apart")) == APART.get(layout, "000")
