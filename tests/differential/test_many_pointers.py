"""More pointers than are told apart two by two: the program finds out whether any of them overlap."""

from __future__ import annotations

from collections.abc import Callable

from scopt.options import Options
from tests.sources import optimize

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
    for (int layout = 0; layout < 6; layout++) {{
        for (int k = 0; k < {2 * COUNT}; k++)
            at[k] = cells + 2 * k * N * N;
        switch (layout) {{ LAYOUTS }}
        run(N, N);
        run(N - 3, N - 1);
        run(2, N);
    }}
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


def test_layouts(run_c: Callable[..., str]) -> None:
    layouts = " ".join(f"case {k}: {text} break;" for k, text in enumerate(LAYOUTS.values()))
    source = PROGRAM.replace("LAYOUTS", layouts)
    result = optimize(source.encode(), Options(autodetect=True, eager=True), file="x.c")
    assert [region.transformed for region in result.regions if region.function == "stream"] == [True]
    made = result.text.decode()
    # one thread gains, too, for which there is a form of its own: compilers test ten pairs
    assert made.split("void stream(")[1].split("static void run(")[0].count("#pragma omp simd") == 2 * COUNT
    exact = ("-O1", "-ffp-contract=off")
    flags = (*exact, "-fopenmp", "-fsanitize=address,undefined")
    asked = made.replace("  return apart;\n", '  printf("apart %d\\n", apart);\n  return apart;\n')
    printed = run_c(asked, *flags, name="asked").splitlines()
    original = run_c(source, *exact, name="original").splitlines()
    assert [line for line in printed if not line.startswith("apart")] == original
    said = "".join(line[-1] for line in printed if line.startswith("apart"))
    # nothing is touched the third time, so nothing is known
    assert [said[k : k + 3] for k in range(0, len(said), 3)] == [APART.get(layout, "000") for layout in LAYOUTS]
