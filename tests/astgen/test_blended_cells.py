"""Cells of rows' own below conditions: which are blended, and that the proof tells other statements from such."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.blended_cells import blends, may_blend
from scopt.check.cell_blends import is_blended
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import replaced
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.rolling_rows import rolled
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int row[n], int most[n], unsigned char a[m], unsigned char b[n], int found[2]"
SEARCH = """
int best = 0, at = -1;
for (i = 0; i < m; i++) {
  int before = 0;
  for (j = 1; j < n; j++) {
    int here = before + (a[i] == b[j] ? 5 : -4);
    before = row[j];
    here = here > row[j] - 3 ? here : row[j] - 3;
    here = here > row[j - 1] - 3 ? here : row[j - 1] - 3;
    row[j] = here;
    if (here > best) { best = here; at = j; }
  }
}
found[0] = best; found[1] = at;"""


@cache
def searched(body: str = SEARCH) -> tuple[Scop, Statement]:
    """The SCoP with cells for each row, and the statement that looks for the best one."""
    scop = scop_of(body, PARAMS)
    made = rolled(scop, dependences(scop).strict())
    assert made is not None
    found = [one for one in made.expansion.scop.statements if isinstance(one.body, ir.If) and len(one.iterators) == 2]
    return made.expansion.scop, found[0]


def text(body: str) -> str:
    return optimize(source_of(body, PARAMS), Options(eager=True)).text.decode().partition("#pragma scop\n")[2]


def test_places_of_rows_are_blended() -> None:
    made = text(SEARCH)
    best, at = "best_total_all[j + m - is]", "at_total_all[j + m - is]"
    assert f"{at} = here > {best} ? (int)j : {at};\n" in made
    assert f"{best} = here > {best} ? here : {best};\n" in made
    assert made.index(f"{at} = here") < made.index(f"{best} = here")  # the place is chosen by the best one so far


def test_cells_of_the_source_are_not() -> None:
    """They may be where nothing may be written."""
    own = "for (i = 0; i < m; i++) for (j = 0; j < n; j++) if (row[j] > most[j]) { most[j] = row[j]; }"
    scop = scop_of(own, PARAMS)
    assert not any(may_blend(scop, one) for one in scop.statements)
    assert " : most[j];" not in text(own)


@pytest.mark.parametrize("value", ["j + found[0]", "found[j]", "j / m"])
def test_values_that_may_fail_are_not(value: str) -> None:
    """What overflows, or isn't there, or divides by zero, where the condition doesn't hold."""
    scop, one = searched()
    other = scop_of(f"for (i = 0; i < m; i++) for (j = 1; j < n; j++) if (a[i] > 1) row[j] = {value};", PARAMS)
    (given,) = other.statements
    made = {name: replace(array, pointer=False, location=None) for name, array in other.arrays.items()}
    own = replace(other, arrays={**other.arrays, "row": made["row"]})
    plain = scop_of("for (i = 0; i < m; i++) for (j = 1; j < n; j++) if (a[i] > 1) row[j] = j;", PARAMS)
    plain = replace(plain, arrays={**plain.arrays, "row": replace(plain.arrays["row"], pointer=False, location=None)})
    assert may_blend(plain, plain.statements[0])
    assert not may_blend(own, given)
    assert may_blend(scop, one)


def test_the_proof() -> None:
    scop, base = searched()
    body = blends(scop, base)
    assert isinstance(body, ir.Compound)
    made = replace(base, body=body)
    assert is_blended(scop, made, base)
    first, second = body.block_items
    wrong = [
        ir.Compound([second, first]),  # what is compared has changed then
        ir.Compound([first]),
        ir.Compound([first, second, second]),
        replaced(body, lambda node: ir.TernaryOp(node.cond, node.iffalse, node.iftrue) if _chooses(node) else node),
        replaced(body, lambda node: ir.BinaryOp(">=", node.left, node.right) if _compares(node) else node),
        replaced(body, lambda node: ir.Constant("int", "0") if isinstance(node, ir.ID) and node.name == "j" else node),
    ]
    assert not any(is_blended(scop, replace(base, body=one), base) for one in wrong)
    assert not is_blended(scop, replace(made, accesses=base.accesses[:-1]), base)
    shared = {name: replace(one, pointer=True) for name, one in scop.arrays.items()}
    other = replace(scop, arrays=shared)
    assert not is_blended(other, made, base)


def _chooses(node: ir.Node) -> bool:
    return isinstance(node, ir.TernaryOp)


def _compares(node: ir.Node) -> bool:
    return isinstance(node, ir.BinaryOp) and node.op == ">"
