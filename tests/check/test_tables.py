"""SCoPs with tables compute what the original does; with any fault planted, they are refused."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.check.tables import check_tables
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import copied
from scopt.poly.isl_utils import IN, OUT, maps_of, union_of_maps
from scopt.scheduler.passes.private_tables import tabulated
from tests.sources import scop_of

PARAMS = "int n, int m, const unsigned char *p, const unsigned char *q, int *count, unsigned *seen, int *x"
COUNT = "for (i = 0; i < n; i++) x[i] = 0; for (i = 0; i < n; i++) { count[p[i]] += q[i]; x[i]++; }"
FRAMES = "for (t = 0; t < m; t++) { for (i = 0; i < n; i++) seen[p[i] >> 2] |= q[i + t]; x[t] = seen[t]; }"


def made_of(body: str) -> tuple[Scop, Scop]:
    scop = scop_of(body, PARAMS)
    found = tabulated(scop, frozenset())
    assert found is not None
    return scop, found.scop


INSIDE = """for (t = 0; t < m; t++) { for (i = 0; i < n; i++) { seen[p[i] >> 2] |= q[i]; count[q[i]]++; }
  x[t] = seen[t]; }"""


NEVER = "for (i = 0; i < n; i++) { count[p[i]] += q[i]; if (1 > 1) count[3]++; }"


@pytest.mark.parametrize("body", [COUNT, FRAMES, INSIDE, NEVER])
def test_sound_ones_are_not_refused(body: str) -> None:
    check_tables(*made_of(body))


def changed(scop: Scop, name: str, change: Callable[[Statement], Statement]) -> Scop:
    return replace(scop, statements=tuple(change(s) if s.name == name else s for s in scop.statements))


def dated(scop: Scop, name: str, change: Callable[[isl.Map], isl.Map]) -> Scop:
    dates = (change(m) if m.get_tuple_name(IN) == name else m for m in maps_of(scop.order))
    return replace(scop, order=union_of_maps(dates))


def at(when: int, other: int) -> Callable[[isl.Map], isl.Map]:
    """Dates with another value where they have one in some dimension."""

    def change(dates: isl.Map) -> isl.Map:
        for k in range(dates.dim(OUT)):
            if not dates.is_empty() and dates.fix_val(OUT, k, isl.Val(when)).is_equal(dates):
                return dates.drop_constraints_involving_dims(OUT, k, 1).fix_val(OUT, k, isl.Val(other))
        raise AssertionError

    return change


def with_table(scop: Scop, **changes: object) -> Scop:
    name = next(one for one in scop.arrays if one.endswith("_own"))
    return replace(scop, arrays={**scop.arrays, name: replace(scop.arrays[name], **changes)})


def smaller(statement: Statement) -> Statement:
    """Without the last cell."""
    domain = statement.domain.upper_bound_val(isl.dim_type.set, statement.domain.dim(isl.dim_type.set) - 1, isl.Val(62))
    accesses = tuple(replace(a, relation=a.relation.intersect_domain(domain)) for a in statement.accesses)
    return replace(statement, domain=domain, accesses=accesses)


def unconditional(statement: Statement) -> Statement:
    assert isinstance(statement.body, ir.If)
    return replace(statement, body=statement.body.iftrue)


def ones(statement: Statement) -> Statement:
    match statement.body:
        case ir.Assignment(op=op, lvalue=cell):
            return replace(statement, body=ir.Assignment(op, cell, ir.Constant("int", "1")))
    raise AssertionError


def of_copies(statement: Statement) -> Statement:
    """Accesses of nodes that aren't the body's."""
    return replace(statement, body=copied(statement.body))


FAULTS: dict[str, Callable[[Scop], Scop]] = {
    "no cell is cleared": lambda s: replace(s, statements=tuple(o for o in s.statements if o.name != "S0_clear")),
    "not all are cleared": lambda s: changed(s, "S0_clear", smaller),
    "not all are added": lambda s: changed(s, "S0_add", smaller),
    "cleared to something else": lambda s: changed(s, "S0_clear", ones),
    "added without a test": lambda s: changed(s, "S0_add", unconditional),
    "another update": lambda s: changed(s, "S0", ones),
    "accesses of something else": lambda s: changed(s, "S0", of_copies),
    "cleared behind": lambda s: dated(s, "S0_clear", at(-1, 2)),
    "added before": lambda s: dated(s, "S0_add", at(1, -1)),
    "another statement is changed": lambda s: changed(s, "S1", of_copies),
    "other parameters": lambda s: replace(s, guard=None),
    "a smaller table": lambda s: with_table(s, sizes=(63,)),
    "a smaller declaration": lambda s: with_table(s, declaration=None),
    "another type": lambda s: with_table(s, type=replace(s.arrays["seen"].type, bits=16, spelling="short")),
    "qualified": lambda s: with_table(s, type=replace(s.arrays["seen"].type, volatile=True)),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_refused(fault: Callable[[Scop], Scop]) -> None:
    original, made = made_of(FRAMES)
    with pytest.raises(InternalError):
        check_tables(original, fault(made))


def test_signed_sums_need_unsigned_tables() -> None:
    original, made = made_of(COUNT)
    table = made.arrays["count_own"]
    assert table.type.spelling == "unsigned int"
    with pytest.raises(InternalError, match="type"):
        check_tables(original, with_table(made, type=replace(table.type, signed=True, spelling="int")))


def test_what_looks_at_the_array_in_between_is_seen() -> None:
    body = "for (t = 0; t < m; t++) { for (i = 0; i < n; i++) { seen[p[i] >> 2] |= q[i + t]; x[i] = seen[3]; } }"
    original = scop_of(body, PARAMS)
    reader = original.statement("S1")
    blind = replace(reader, accesses=tuple(a for a in reader.accesses if a.array != "seen"))
    found = tabulated(changed(original, "S1", lambda _: blind), frozenset())
    assert found is not None
    with pytest.raises(InternalError, match="in between"):
        check_tables(original, changed(found.scop, "S1", lambda _: reader))


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) { count[p[i]] += q[i]; x[i] = count[i]; }",  # read in between
        "for (i = 0; i < n; i++) { count[p[i]] += q[i]; count[q[i]] |= 1; }",  # two operators
        "for (i = 0; i < n; i++) count[x[i]] += q[i];",  # any cell
        "for (i = 0; i < n; i++) count[p[i] - 3] += q[i];",  # before the array's beginning
        "for (i = 0; i < n; i++) count[p[i]] += count[q[i]];",
        "for (i = 0; i < n; i++) count[p[i]] = q[i];",
        "for (i = 0; i < 100; i++) count[p[i]] += q[i];",  # too few
    ],
)
def test_where_there_are_no_tables(body: str) -> None:
    assert tabulated(scop_of(body, PARAMS), frozenset()) is None
