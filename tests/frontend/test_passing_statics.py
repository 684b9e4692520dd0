"""Static variables of a function that each call sets before it reads them."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.frontend.region.parse import parse
from scopt.ir.walks import walk
from scopt.options import Options


@pytest.mark.parametrize(
    ("body", "automatic"),
    [
        ("static int i; for (i = 0; i < n; i++) a[i] = i;", True),
        ("static int i = 3; i = n; a[i] = sin(a[i]) + i;", True),
        ("static int i; a[i] = 1; i = n;", False),
        ("static int i = 3; a[i] = 1;", False),
        ("static int i; if (n) i = 2; a[i] = 1;", False),
        ("static int i; i = n; h(); a[i] = 1;", False),
        ("h(); static int i; i = n; a[i] = 1; h();", True),
        ("static int i; i = n; h(&i);", False),
        ("for (int k = 0; k < n; k++) { static int i; if (k) a[i] = 1; i = k; }", False),
        ("if (n) goto in; { static int i; i = 1; in: a[i] = 1; }", False),
        ("static int i[3]; i[0] = n; a[0] = i[0];", False),
        ("static const int i = 3; a[0] = i;", False),
    ],
)
def test_statics(body: str, automatic: bool) -> None:
    source = f"double sin(double);\nint h();\nvoid f(int n, double *a) {{\n{body}\n}}\n"
    tu = parse(source.encode(), "x.c", Options(cc="gcc"))
    declared = [one for one in walk(tu.functions["f"].body) if isinstance(one, ir.Decl) and one.name == "i"]
    assert [list(one.storage) for one in declared] == [["auto" if automatic else "static"]]
    assert "f" not in tu.pure_functions
