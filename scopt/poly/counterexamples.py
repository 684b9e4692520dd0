"""A concrete pair of instances and the cell they share: what is said where a dependence isn't kept."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.isl_utils import maps_of, union_of_maps


def counterexample(scop: Scop, array: str, kind: str, pairs: isl.UnionMap) -> str:
    """One pair of instances and a cell, in words: ``S0[1] → S1[2] through A[1] with n = 4``.

    kind: of the dependence over the array that the pairs, of which there is one at least, belong to; or ``live range``
      for pairs of two of them.
    """
    relation = next(m for m in maps_of(pairs) if not m.is_empty())
    point = relation.wrap().sample_point()
    one = isl.Set.from_point(point).unwrap()
    parameters = _parameter_values(isl.Set.from_point(point))
    source, sink = one.domain(), one.range()
    cells = _cells(scop, array, kind, isl.UnionSet.from_set(source), isl.UnionSet.from_set(sink))
    cell = str(cells.sample_point()) if not cells.is_empty() else array
    with_values = f" with {', '.join(f'{k} = {v}' for k, v in parameters.items())}" if parameters else ""
    return f"{_instance(source)} → {_instance(sink)} through {_tuple_only(cell)}{with_values}"


def _cells(scop: Scop, array: str, kind: str, source: isl.UnionSet, sink: isl.UnionSet) -> isl.UnionSet:
    """The cells of an array through which the sink (one instance) depends on the source; all that both touch if they
    are of two live ranges."""

    def touched(instances: isl.UnionSet, *kinds: str) -> isl.UnionSet:
        statements = (*scop.statements, *scop.kills)
        return instances.apply(
            union_of_maps(a.relation for s in statements for a in s.accesses if a.array == array and a.kind in kinds)
        )

    writes = ("write", "may-write")
    earlier, later = {"flow": (writes, ("read",)), "anti": (("read",), writes), "output": (writes, writes)}.get(
        kind, (("read", *writes),) * 2
    )
    cells = touched(source, *earlier).intersect(touched(sink, *later))
    if kind == "flow" or (kind in ("anti", "output") and not scop.arrays[array].private):
        after = scop.order.intersect_domain(source).lex_lt_union_map(scop.order).range()
        between = after.intersect(scop.order.lex_lt_union_map(scop.order.intersect_domain(sink)).domain())
        visible = cells.subtract(touched(between, "write"))
        # Where the analysis had to do without values, all cells count.
        return cells if visible.is_empty() else visible
    return cells


def _instance(one: isl.Set) -> str:
    values = [str(one.dim_max_val(k)) for k in range(one.dim(isl.dim_type.set))]
    return f"{one.get_tuple_name()}[{', '.join(values)}]"


def _tuple_only(text: str) -> str:
    return text.split("{", 1)[-1].split("}")[0].split(":")[0].strip() or text


def _parameter_values(one: isl.Set) -> Mapping[str, str]:
    dims = range(one.dim(isl.dim_type.param))
    return {
        str(one.get_dim_name(isl.dim_type.param, k)): str(one.plain_get_val_if_fixed(isl.dim_type.param, k))
        for k in dims
    }
