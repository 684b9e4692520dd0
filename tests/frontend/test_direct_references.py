"""References that begin with an address: what the file's tree has in their place."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.symbols import addresses_taken
from scopt.ir.printing import CPrinter
from scopt.options import Options

BEFORE = """#define AT(f, i) ((f)->a[(i)])
struct field { double *a; int n; };
struct flow { struct field u, p[4]; } whole;
"""


@pytest.mark.parametrize(
    ("statement", "direct"),
    [
        ("AT(&f->u, i) = 1;", "f->u.a[i] = 1"),
        ("AT(&whole.p[i], i) = 1;", "whole.p[i].a[i] = 1"),
        ("(*&own).n = AT(&own, 2);", "own.n = own.a[2]"),
        ("(&f->p[1])[0].n = *&i;", "f->p[1].n = i"),
        ("(&f->p[1])[i].n = 1;", "(&f->p[1])[i].n = 1"),
    ],
)
def test_references(statement: str, direct: str) -> None:
    source = f"{BEFORE}void f(struct flow *f, int i) {{\nstruct field own;\n{statement}\n}}\n"
    body = parse(source.encode(), "x.c", Options()).functions["f"].body
    assert CPrinter().visit(body.block_items[-1]) == direct
    assert "own" not in addresses_taken(body, {})
