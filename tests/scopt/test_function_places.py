"""Where helper functions go: in front of the function that calls them, whatever that looks like."""

from __future__ import annotations

import subprocess

import pytest

from scopt.options import Options
from tests.sources import optimize

BODY = "  for (i = 0; i < n >> 2; i++) a[i] = b[2 * i];\n"
BEFORE = "int first;\n"
POINTERS = "double *restrict a, double *restrict b, int n"


@pytest.mark.parametrize(
    "head",
    [
        f"void f({POINTERS}\n#ifdef FIXED\n  , int shift\n#endif\n)\n{{\n",
        "void f(a, b, n)\n  double *restrict a;\n  double *restrict b;\n  int n;\n{\n",
        f"#ifdef FIXED\nvoid f({POINTERS}, int m)\n{{\n#else\nvoid f({POINTERS})\n{{\n#endif\n",
        f"static\n#ifdef FIXED\ninline\n#endif\nvoid f({POINTERS})\n{{\n",
        (
            f"void f(double *, double *, int);\n\nvoid f({POINTERS})\n{{\n#ifdef "
            f"FIXED\n  if (n) {{\n#else\n  {{\n#endif\n}}\n"
        ),
    ],
)
def test_helpers_stand_in_front_of_the_function(head: str) -> None:
    source = f"{BEFORE}{head}  int i;\n{BODY}}}\n"
    text = optimize(source.encode(), Options(autodetect=True)).text
    assert b"scopt_floord(n - 4L, 4)" in text
    assert text.index(b"int first;") < text.index(b"static inline") < text.index(b"double *restrict a")
    for flags in ((), ("-DFIXED",)):
        command = ["cc", "-fsyntax-only", "-Werror=implicit-function-declaration", "-x", "c", *flags, "-"]
        done = subprocess.run(command, input=text, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("condition", ["ifdef __cplusplus", "if defined(__cplusplus)"])
def test_helpers_stand_behind_what_only_another_language_reads(condition: str) -> None:
    around = (f'#{condition}\nextern "C" {{\n#endif\n', f"#{condition}\n}}\n#endif\n")
    source = f"{around[0]}{BEFORE}void f({POINTERS})\n{{\n  int i;\n{BODY}}}\n{around[1]}"
    text = optimize(source.encode(), Options(autodetect=True)).text
    assert text.index(b"int first;") < text.index(b"static inline") < text.index(b"double *restrict a")
    source = source.replace(BEFORE, "")
    text = optimize(source.encode(), Options(autodetect=True)).text
    assert text.index(b"#endif") < text.index(b"static inline") < text.index(b"double *restrict a")


def test_macros_replace_no_names_in_helpers() -> None:
    """Names of parameters and of local variables are the file's to define as macros."""
    macros = "".join(f"#define {name} 7\n" for name in ("d", "n_", "most", "share"))
    body = BODY.replace("n >>", "n / d >>")
    source = f"{macros}#define n 1000\ndouble a[n], b[n];\nvoid f(void)\n{{\n  int i;\n{body}}}\n"
    text = optimize(source.encode(), Options(autodetect=True, eager=True)).text
    assert b"scopt_threads(void)" in text
    assert b"most_ < 2" in text
    command = ["cc", "-fsyntax-only", "-Werror=implicit-function-declaration", "-fopenmp", "-x", "c", "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
