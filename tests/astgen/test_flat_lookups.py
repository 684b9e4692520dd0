"""Tables that are looked up by one subscript: which, and that the proof tells other references from the same ones."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.flat_lookups import flat_reference, lookup_of, with_references
from scopt.check.single_subscripts import is_flat
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import replaced
from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import optimize, scop_of, source_of

TABLES = "static int score[6][5], deep[4][6][5]; static short narrow[6][5];\n"
PARAMS = "int n, int x[n], unsigned char a[n], int u[n], unsigned char b[n], int (*rows)[5], float (*reals)[40]"
LOOP = "for (i = 0; i < n; i++) x[i] = {};"


def flat(value: str) -> tuple[Scop, Statement, Statement | None]:
    scop = scop_of(LOOP.format(value), PARAMS, TABLES)
    (base,) = scop.statements
    found = {one.node: lookup_of(scop, base, one) for one in base.accesses}
    become = {node: flat_reference(one) for node, one in found.items() if node is not None and one is not None}
    return scop, base, with_references(base, become) if become else None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("score[a[i]][b[i]]", True),
        ("score[u[i]][b[i]]", True),  # C says that there are six rows
        ("deep[b[i]][a[i]][u[i]]", True),
        ("rows[a[i]][b[i]]", True),
        ("reals[b[i]][a[i]]", True),
        ("rows[u[i]][b[i]]", False),  # of how many rows nobody knows
        ("score[2][b[i]]", False),
        ("score[a[i]][2]", True),
        ("narrow[a[i]][b[i]]", False),
        ("x[a[i]]", False),
    ],
)
def test_which_are(value: str, found: bool) -> None:
    assert (flat(value)[2] is not None) == found


def test_cells_that_are_updated_keep_their_subscripts() -> None:
    scop = scop_of("for (i = 0; i < n; i++) score[a[i]][b[i]] += x[i];", PARAMS, TABLES)
    (base,) = scop.statements
    assert [one.kind for one in base.accesses if one.array == "score"].count("read") == 1
    assert not any(lookup_of(scop, base, one) for one in base.accesses)


def test_the_text() -> None:
    made = optimize(source_of(LOOP.format("x[i] + deep[b[i]][a[i]][u[i]]"), PARAMS, TABLES), Options()).text.decode()
    assert "((const int *)deep)[5 * (6 * b[i] + a[i]) + u[i]]" in made


@pytest.mark.parametrize("value", ["score[a[i]][b[i]]", "deep[b[i]][a[i]][u[i]]", "rows[a[i]][b[i]]"])
def test_the_proof(value: str) -> None:
    scop, base, made = flat(value)
    assert made is not None
    assert is_flat(scop, made, base)

    def edited(change: dict[str, object]) -> Statement:
        def inner(node: ir.Node) -> ir.Node:
            match node:
                case ir.Constant(value="5" | "6" as size) if "size" in change:
                    return ir.Constant("int", str(int(size) + 1))
                case ir.BinaryOp(op="+", left=left, right=right) if "turned" in change:
                    return ir.BinaryOp("+", right, left)
                case ir.BinaryOp(op="+", left=left, right=right) if "less" in change:
                    return ir.BinaryOp("-", left, right)
                case ir.Cast(to_type=to_type) if "table" in change:
                    return ir.Cast(to_type, ir.ID("x"))
                case ir.IdentifierType() if "type" in change:
                    return ir.IdentifierType(["unsigned"])
                case ir.TypeDecl(declname=name, align=align, type=kind) if "const" in change:
                    return ir.TypeDecl(name, [], align, kind)
            return node

        body = replaced(made.body, inner)
        moved = {old: new for old, new in zip(_references(made.body), _references(body), strict=True)}
        accesses = tuple(replace(one, node=moved.get(one.node, one.node)) for one in made.accesses)
        return replace(made, body=body, accesses=accesses)

    assert is_flat(scop, edited({}), base)
    for kind in ("size", "turned", "less", "table", "type", "const"):
        assert not is_flat(scop, edited({kind: True}), base), kind
    assert not is_flat(scop, replace(made, body=ir.Assignment("+=", made.body.lvalue, made.body.rvalue)), base)
    unknown = {name: replace(one, pointer=True, sizes=(None,) * one.rank) for name, one in scop.arrays.items()}
    assert not is_flat(replace(scop, arrays=unknown), made, base)


def _references(body: ir.Node) -> list[ir.Node]:
    """Those of the value that go through a pointer."""
    return [node for node in _walk(body) if isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.Cast)]


def _walk(node: ir.Node) -> list[ir.Node]:
    return [node, *(below for part in node.parts for below in _walk(part))]


PROGRAM = """#include <stdio.h>
static int score[6][5];
static void f(int n, int x[n], unsigned char a[n], unsigned char b[n], int (*rows)[5])
{
#pragma scop
  for (int i = 0; i < n; i++)
    x[i] = 3 * score[a[i]][b[i]] - rows[a[n - 1 - i]][b[i]];
#pragma endscop
}
int main(void)
{
  static int x[301], other[9][5];
  static unsigned char a[301], b[301];
  for (int k = 0; k < 30; k++)
    score[k / 5][k % 5] = k * k % 23, other[k / 5][k % 5] = k * 7 % 31;
  for (int n = 0; n < 301; n += 7) {
    for (int k = 0; k < n; k++)
      a[k] = k * 5 % 6, b[k] = (k * k + n) % 5;
    f(n, x, a, b, other);
    unsigned sum = 0;
    for (int k = 0; k < n; k++)
      sum = sum * 31 + x[k];
    printf("%u\\n", sum);
  }
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_the_same_cells(run_c: RunC, sanitized: bool) -> None:
    made = optimize(PROGRAM, Options(eager=True)).text.decode()
    assert "((const int *)score)[5 * a[i] + b[i]]" in made
    check_same_results(run_c, PROGRAM, made, sanitized=sanitized)
