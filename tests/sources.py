"""C snippets as SCoPs, for tests of every stage."""

from __future__ import annotations

import re
from functools import lru_cache

from scopt import pipeline
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.tell.results import Result

PARAMS = "int n, int m, double A[100][100], double B[100][100], double *x, double *y"


def source_of(body: str, params: str = PARAMS, before: str = "", after: str = "") -> bytes:
    """A file with one function and one marked region."""
    return (
        f"{before}\nvoid f({params}) {{\n  int i, j, k, t;\n  double s;\n#pragma "
        f"scop\n{body}\n#pragma endscop\n{after}\n}}\n"
    ).encode()


def scop_of(body: str, params: str = PARAMS, before: str = "", after: str = "") -> Scop:
    """The SCoP of a marked region in a function with these parameters."""
    tu = parse(source_of(body, params, before, after), "in.c", Options())
    assert not tu.remarks
    return extract(tu, tu.regions[0], "scop0")


@lru_cache(64)
def optimize(source: bytes | str, options: Options | None = None, *, file: str = "<stdin>") -> Result:
    """As `scopt.pipeline.optimize`, which isn't run for a source that comes again: for tests that change nothing of
    what scopt does, and name no files in options."""
    return pipeline.optimize(source, options, file=file)


def without_helpers(text: str) -> str:
    """A transformed text without what asks how many threads there are."""
    return re.sub(r"#if defined\(_OPENMP\) \|\| .*?return 1; \}\n#endif\n", "", text, flags=re.DOTALL)
