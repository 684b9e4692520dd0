"""Pointers that a function has surely read through when a region begins."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.reads_before import pointers_read_before
from scopt.frontend.syntax.symbols import facts_of
from scopt.options import Options

REGION = "\n#pragma scop\n;\n#pragma endscop\n"


@pytest.mark.parametrize(
    ("before", "read"),
    [
        ("int x = *p + q[0];", {"p", "q"}),
        ("if (*p == 0 || *q == 0) return;", {"p", "q"}),
        ("if (*p == 0 && *q == 0) return;", {"p"}),
        ("if (*p == 0 || *q == 0) n = 1;", {"p"}),
        ("if (*p) { h(); return; }", {"p"}),
        ("n = *p; h();", set()),
        ("n = *p; p++;", set()),
        ("n = *p; k: n = *q;", set()),
        ("if (n) { n = *p; }", set()),
        ("n = n ? *p : 0; n = sizeof *q;", set()),
        ("int **a = &p; n = *p + *q;", {"q"}),
        ("n = *p; while (n) { n = *q;", {"q"}),
        ("if (*p) { n = *q;", {"p", "q"}),
    ],
)
def test_reads(before: str, read: set[str]) -> None:
    end = "}" * (before.count("{") - before.count("}"))
    source = f"void h(void);\nvoid f(int n, int *p, int *q) {{\n{before}{REGION}{end}}}\n"
    tu = parse(source.encode(), "x.c", Options(cc="gcc"))
    region = tu.regions[0]
    assert pointers_read_before(facts_of(tu, region.function), region) == read
