"""Dependence analysis on textbook cases."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.scop import Dependences, Scop
from scopt.poly.dependences import dependences
from tests.sources import scop_of


def relations(deps: Dependences, kind: str) -> dict[tuple[str, str, str], isl.Map]:
    return {(d.array, d.source, d.sink): d.relation for d in deps.all if d.kind == kind}


def test_flow_is_value_based() -> None:
    flow = relations(dependences(scop_of("for (i = 1; i < n; i++) { x[i] = 0; x[i] = x[i] + x[i - 1]; }")), "flow")
    assert set(flow) == {("x", "S0", "S1"), ("x", "S1", "S1")}
    assert flow["x", "S0", "S1"].is_equal(isl.Map("[n] -> { S0[i] -> S1[i] : 1 <= i < n }"))
    assert flow["x", "S1", "S1"].is_equal(isl.Map("[n] -> { S1[i] -> S1[i + 1] : 1 <= i < n - 1 }"))


def test_sources_nearby_hide_all_others() -> None:
    """Of loops with strides from one remainder on, isl can't tell in time what comes last of all iterations before."""
    body = """for (k = 0; k < m; k++) for (t = 0; t < 2; t++) for (i = 1; i < n; i++)
    for (j = (i + t) % 2; j < n; j += 2) {
      if (x[i] > 0) s = 3;
      s = A[i][j]; y[j] = s; s = s + 1; B[i][j] = s; }"""
    flow = relations(dependences(scop_of(body)), "flow")
    pairs = {(source, sink): relation for (array, source, sink), relation in flow.items() if array == "s"}
    assert pairs.keys() == {("S1", "S2"), ("S1", "S3"), ("S3", "S4")}
    same = isl.Map("{ [k, t, i, j] -> [k, t, i, j] }")
    for relation in pairs.values():
        bare = relation.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        assert bare.is_subset(same.align_params(bare.get_space()))
    # a source behind its sink in the text comes from an iteration before
    body = "for (i = 0; i < n; i++) { s = x[i]; for (j = 0; j < m; j++) { y[j] = s; s = s * B[i][j]; } }"
    flow = relations(dependences(scop_of(body)), "flow")
    assert flow["s", "S0", "S1"].is_equal(isl.Map("[n, m] -> { S0[i] -> S1[i, 0] : 0 <= i < n and m > 0 }"))
    assert flow["s", "S2", "S1"].is_equal(
        isl.Map("[n, m] -> { S2[i, j] -> S1[i, j + 1] : 0 <= i < n and 0 <= j < m - 1 }")
    )


def test_may_write_hides_nothing() -> None:
    flow = relations(
        dependences(scop_of("for (i = 0; i < n; i++) { x[0] = i; if (y[i] > 0) x[0] = 1; y[i] = x[0]; }")), "flow"
    )
    assert ("x", "S0", "S2") in flow
    assert ("x", "S1", "S2") in flow


def test_anti_and_output() -> None:
    deps = dependences(scop_of("for (i = 0; i < n; i++) x[i] = x[i + 1];"))
    assert relations(deps, "anti")["x", "S0", "S0"].is_equal(isl.Map("[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }"))
    assert not relations(deps, "output")
    assert relations(dependences(scop_of("for (i = 0; i < n; i++) x[0] = i;")), "output")["x", "S0", "S0"].is_equal(
        isl.Map("[n] -> { S0[i] -> S0[i + 1] : 0 <= i < n - 1 }")
    )


def test_kill_of_a_local_cuts_flow_between_iterations() -> None:
    flow = relations(
        dependences(scop_of("for (i = 0; i < n; i++) { double u; if (x[i] > 0) u = 1; else u = 2; y[i] = u; }")), "flow"
    )
    assert flow["u", "S0", "S1"].is_equal(isl.Map("[n] -> { S0[i] -> S1[i] : 0 <= i < n }"))


def test_private_pairs_are_all_pairs() -> None:
    deps = dependences(scop_of("for (i = 0; i < n; i++) { double u = x[i]; y[i] = u; }"))
    output = relations(deps, "output")["u", "S0", "S0"]
    assert output.is_equal(isl.Map("[n] -> { S0[i] -> S0[j] : 0 <= i < j < n }"))


def test_input_on_demand() -> None:
    scop = scop_of("for (i = 0; i < n; i++) y[i] = x[0];")
    assert not dependences(scop).select("input")
    assert dependences(scop, inputs=True).select("input")


def test_negative_stride_reverses_time() -> None:
    flow = relations(dependences(scop_of("for (i = n - 2; i >= 0; i--) x[i] = x[i + 1];")), "flow")
    assert flow["x", "S0", "S0"].is_equal(isl.Map("[n] -> { S0[i] -> S0[i - 1] : 1 <= i <= n - 2 }"))


def test_large_arrays_are_not_private() -> None:
    """A copy on each thread's stack could overflow it."""
    sizes = {"small": 100, "large": 100_000}
    for name, size in sizes.items():
        scop = scop_of(f"for (i = 0; i < n; i++) {{ double {name}[{size}]; {name}[0] = x[i]; y[i] = {name}[0]; }}")
        assert scop.arrays[name].private == (name == "small")


@pytest.mark.parametrize(
    "body",
    [
        # Bounds with remainders inside of strides: isl's compute_flow finds no flow from one j to the next.
        "for (j = n; 0 < j; j -= 2) for (k = 4; j % 2 <= k; k -= 2) x[0] = x[0] * 2 + 1;",
        "for (j = 0; j < n; j += 3) for (k = j % 4; k < 9; k += 2) x[k / 2] = x[k / 2] + x[j];",
        (
            "for (i = 0; i < n; i++) for (j = 0; j <= i; j++) { if ((i + j) % 2 == 0) "
            "x[i - j] = j; else y[j] = x[i - j] + x[j]; }"
        ),
        "for (i = 0; i < n; i++) { for (j = i; j < n; j++) x[j] = x[j] + x[i]; x[i] = y[i]; y[i] = x[n - 1 - i]; }",
    ],
)
def test_flow_is_what_an_execution_sees(body: str) -> None:
    scop = scop_of(body)
    found = {pair for d in dependences(scop).select("flow") for pair in points(d.relation.wrap(), n=7)}
    assert found == executed(scop, n=7)


def test_sums_that_are_written_out_have_flow_by_value() -> None:
    """Each update reads what the one before has written: all pairs would carry the sum around the loop."""
    terms = " ".join(f"s += A[i][{k}];" for k in range(40))
    scop = scop_of(f"for (i = 0; i < n; i++) {{ double s = 0.0; {terms} B[i][0] = s; }}")
    flows = [one for one in dependences(scop).select("flow") if one.array == "s"]
    assert len(flows) == 41
    assert all(int(one.sink[1:]) == int(one.source[1:]) + 1 for one in flows)


def points(instances: isl.Set, n: int) -> set[str]:
    """The points of a set for one n, as texts without parameters."""
    texts: list[str] = []
    instances.intersect_params(isl.Set(f"[n] -> {{ : n = {n} }}")).foreach_point(lambda point: texts.append(str(point)))
    return {text[text.index("{") :] for text in texts}


def executed(scop: Scop, n: int) -> set[str]:
    """The pairs (last write of a cell, read of it) that running all instances in their order gives."""
    dated: list[tuple[tuple[int, ...], isl.Set, str]] = []
    for statement in scop.statements:

        def add(point: isl.Point, name: str = statement.name) -> None:
            one = isl.Set.from_point(point)
            date = isl.Set.from_union_set(isl.UnionSet.from_set(one).apply(scop.order)).sample_point()
            values = (
                int(str(date.get_coordinate_val(isl.dim_type.set, k)))
                for k in range(date.get_space().dim(isl.dim_type.set))
            )
            dated.append((tuple(values), one, name))

        statement.domain.intersect_params(isl.Set(f"[n] -> {{ : n = {n} }}")).foreach_point(add)
    last: dict[str, isl.Set] = {}
    pairs: set[str] = set()
    for _, one, name in sorted(dated, key=lambda item: item[0]):
        accesses = scop.statement(name).accesses
        for access in (a for a in accesses if a.kind == "read"):
            for cell in points(one.apply(access.relation), n):
                if cell in last:
                    pairs |= points(isl.Map.from_domain_and_range(last[cell], one).wrap(), n)
        for access in (a for a in accesses if a.kind == "write"):
            last |= dict.fromkeys(points(one.apply(access.relation), n), one)
    return pairs


@pytest.mark.parametrize("size", ["n", "9000"])
@pytest.mark.parametrize("guard", ["", "if (y[i] > 0) "])
def test_tables_that_no_thread_has_a_copy_of_stay_occupied(size: str, guard: str) -> None:
    """A life that ends, or begins anew in each iteration, is no reason for others to take the memory meanwhile."""
    inner = "{ for (j = 0; j < n; j++) work[j] = x[i] + j; for (j = 0; j < n; j++) B[i][j] = work[j] + work[n - 1]; }"
    before = f"double work[{size}];"
    deps = dependences(scop_of(f"for (i = 0; i < m; i++) {guard}{inner}", before=before))
    names = sorted({name for one in deps.all if one.array == "work" for name in (one.source, one.sink)})
    fills, reads = names
    carried = isl.Map("{ [i, j] -> [k, l] : i < k }")
    for kind, source in (("anti", reads), ("output", fills)):
        pairs = relations(deps, kind)["work", source, fills]
        bare = pairs.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        assert not bare.intersect(carried.align_params(bare.get_space())).is_empty()


def test_large_tables_of_an_iteration_stay_occupied() -> None:
    inner = "double work[9000]; for (j = 0; j < n; j++) work[j] = x[i] + j; for (j = 0; j < n; j++) B[i][j] = work[j];"
    deps = dependences(scop_of(f"for (i = 0; i < m; i++) {{ {inner} }}"))
    assert ("work", "S1", "S0") in relations(deps, "anti")
    assert ("work", "S0", "S0") in relations(deps, "output")
