"""A static estimate of how long a schedule takes to run: the simulated reward of the environments. Nothing is compiled
or run.

Estimated are the loops that the band passes and isl's AST generation make of a schedule tree (tiled, skewed, parallel,
vector loops), with trip counts for assumed parameter values (`nest_samples`) and a model of the machine (`nest_model`,
which says what counts and what doesn't).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.loops.bounds import plain_bounds
from scopt.astgen.loops.isl_loops import raw_loops
from scopt.astgen.loops.simplify import simplify
from scopt.diagnostics import ScoptError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark, LoopNest
from scopt.ir.scop import Access, Dependences, Scop, Statement
from scopt.machine.costs import ELEMENT, UNKNOWN_EXTENT, arithmetic
from scopt.machine.loop_costs import loop_costs
from scopt.options import Options
from scopt.poly.bands import ordered, with_properties
from scopt.poly.isl_utils import operation_limit, walk
from scopt.poly.linear import affine_row
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.simulation.nest_model import NestModel, counts_of
from scopt.simulation.nest_samples import Item, Reference, sampled

# isl's elementary operations for the passes on a tree, and for its loops, a statement: usually some tenths of a second,
# but ten seconds where numbers become large. A limit in operations gives the same answer on any machine. What needs
# more is tried without tiles, then without passes, each with the share `SIMPLER` of the operations.
PASS_OPERATIONS = 6_000_000
LOOP_OPERATIONS = 250_000
SIMPLER = 4
# islpy's conversions to Python raise a TypeError where isl has given up within them.
_FAILURES = (isl.Error, TypeError)
# Of a parameter that no array extent bounds: time steps.
UNKNOWN_PARAMETER = 100


class Estimate(Struct, frozen=True):
    """nanoseconds: of one run of the SCoP. fallback: why simpler loops than those of the passes were estimated; empty
    if they weren't."""

    nanoseconds: float
    fallback: str = ""


class CostModel:
    """The cost of schedules of one SCoP. The original order's, with innermost loops vectorized where that is legal,
    stands for -O3."""

    def __init__(
        self,
        scop: Scop,
        deps: Dependences,
        options: Options | None = None,
        parameters: Mapping[str, int] | None = None,
    ) -> None:
        """options: their machine is what costs are estimated for. parameters: values to assume for some parameters, in
        place of estimates."""
        self.scop, self.deps = scop, deps
        self.options = options or Options()
        self.costs = loop_costs(self.options.machine)
        self.parameters = {**assumed_parameters(scop), **(parameters or {})}
        self.references = {s.name: _references(scop, s, self.parameters) for s in scop.statements}
        self.operations = {s.name: arithmetic(s.body) for s in scop.statements}
        nest = _loops(scop, _vectorized(scop, deps))
        samples = sampled(nest, self.parameters, self.references)
        self.counts = counts_of(samples)
        self.original = self._nanoseconds(samples)

    def estimate(self, tree: isl.Schedule) -> Estimate:
        """The cost of a legal schedule tree after the band passes.

        Where passes or AST generation take isl too many operations, without tiling; then, of the tree as it is;
        `fallback` says so.
        Raises ScoptError if not even that becomes loops.
        """
        reasons: list[str] = []
        limit = LOOP_OPERATIONS * max(len(self.scop.statements), 2)
        untiled = replace(self.options, tile=False), limit // SIMPLER
        attempts = {"tiled": (self.options, limit), "untiled": untiled} if self.options.tile else {"untiled": untiled}
        for name, (options, operations) in attempts.items():
            try:
                with operation_limit(PASS_OPERATIONS):
                    marked = apply_passes(self.scop, self.deps, tree, options)
                with operation_limit(operations):
                    nest = _loops(self.scop, marked)
                return Estimate(self.of_nest(nest), "; ".join(reasons))
            except (*_FAILURES, ScoptError) as error:
                reasons.append(f"{name}: {(str(error).splitlines() or ['unknown'])[0]}")
        try:
            with operation_limit(limit // SIMPLER):
                nest = _loops(self.scop, MarkedSchedule(tree, {}))
        except _FAILURES as error:
            raise ScoptError(f"no loops: {(str(error).splitlines() or ['unknown'])[0]}") from error
        return Estimate(self.of_nest(nest), "; ".join(reasons))

    def speedup(self, tree: isl.Schedule) -> float:
        """The original order's cost over the tree's."""
        return self.original / self.estimate(tree).nanoseconds

    def of_nest(self, nest: LoopNest) -> float:
        """Nanoseconds of a loop nest of this SCoP."""
        return self._nanoseconds(sampled(nest, self.parameters, self.references))

    def _nanoseconds(self, samples: Sequence[Item]) -> float:
        found = counts_of(samples)
        # Sampling finds more or fewer instances than there are:
        # a statement's own work is that of all its instances in any order.
        shares = {name: count / found[name] if found.get(name) else 1.0 for name, count in self.counts.items()}
        missed = sum(count for name, count in self.counts.items() if not found.get(name))
        model = NestModel(self.options.machine, self.costs, self.operations, shares)
        return max(model.run(samples) + missed * (self.costs.operation + self.costs.test), self.costs.operation)


# --- what the model needs of a SCoP -----------------------------------------------------------------------------------


def assumed_parameters(scop: Scop) -> dict[str, int]:
    """A value for each parameter: its estimate, else the largest that keeps subscripts
    in their arrays' extents, else `UNKNOWN_PARAMETER`."""
    found: dict[str, int] = {}
    for access in (access for statement in scop.statements for access in statement.accesses):
        for position, extent in enumerate(scop.arrays[access.array].sizes):
            if extent is not None:
                for name, offset in _largest_subscript(access, position):
                    found[name] = min(found.get(name, extent - 1 - offset), extent - 1 - offset)
    known = {p.name: p.estimate for p in scop.parameters if p.estimate is not None}
    return {p.name: max(known.get(p.name, found.get(p.name, UNKNOWN_PARAMETER)), 1) for p in scop.parameters}


def _largest_subscript(access: Access, position: int) -> Iterator[tuple[str, int]]:
    """(parameter, constant) for each piece of a subscript's maximum that is a parameter plus a constant."""
    reached = access.relation.range()
    try:
        pieces = reached.dim_max(position).get_pieces()
    except isl.Error:
        return
    for _, aff in pieces:
        factors = [aff.get_coefficient_val(isl.dim_type.param, k) for k in range(aff.dim(isl.dim_type.param))]
        used = [k for k, factor in enumerate(factors) if not factor.is_zero()]
        if len(used) == 1 and factors[used[0]].is_one() and aff.dim(isl.dim_type.div) == 0:
            yield str(aff.get_dim_name(isl.dim_type.param, used[0])), aff.get_constant_val().to_python()


def _references(scop: Scop, statement: Statement, parameters: Mapping[str, int]) -> tuple[Reference, ...]:
    """The statement's accesses as addresses, each once for reading and once for writing.
    Arrays lie in memory row by row."""
    found = dict.fromkeys(_reference(scop, statement, access, parameters) for access in statement.accesses)
    return tuple(found)


def _reference(scop: Scop, statement: Statement, access: Access, parameters: Mapping[str, int]) -> Reference:
    array = scop.arrays[access.array]
    size = max(array.type.bits // 8, 1) if array.type.bits else ELEMENT
    extents = [extent if extent is not None else UNKNOWN_EXTENT for extent in array.sizes]
    total, depth = size * prod(extents), len(statement.iterators)
    rows = _subscripts(access.relation, tuple(parameters))
    if rows is None:
        return Reference(access.array, (0,) * depth, 0, size, total, access.is_write, known=False)
    steps = [size * prod(extents[position + 1 :]) for position in range(len(extents))]
    sums = [sum(step * row[k] for step, row in zip(steps, rows, strict=True)) for k in range(depth)]
    values = (*parameters.values(), 1)
    constant = sum(
        step * sum(a * b for a, b in zip(row[depth:], values, strict=True))
        for step, row in zip(steps, rows, strict=True)
    )
    return Reference(access.array, tuple(sums), constant, size, total, access.is_write)


def _subscripts(relation: isl.Map, parameters: tuple[str, ...]) -> list[tuple[int, ...]] | None:
    if not relation.is_single_valued():
        return None
    function = relation.as_pw_multi_aff()
    rows = [affine_row(function.get_pw_aff(k), parameters) for k in range(function.dim(isl.dim_type.out))]
    return [row for row in rows if row is not None] if None not in rows else None


def _loops(scop: Scop, marked: MarkedSchedule) -> LoopNest:
    """The loops, without the rewrites that only make them readable."""
    return plain_bounds(scop, simplify(scop, raw_loops(scop, marked)))


def _vectorized(scop: Scop, deps: Dependences) -> MarkedSchedule:
    """The original order, its innermost loops marked as vector loops where they carry nothing."""
    marks: dict[str, LoopMark] = {}

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() != isl.schedule_node_type.band or any(
            n.get_type() == isl.schedule_node_type.band for n in walk(node.child(0))
        ):
            return node
        last = node.band_n_member() - 1
        if not node.band_member_get_coincident(last):
            return node
        node = node.band_split(last).child(0) if last else node
        name = f"vector{len(marks)}"
        marks[name] = LoopMark(simd=True)
        node = node.insert_mark(isl.Id(name, context=node.get_ctx()))
        return node.parent() if last else node

    tree = with_properties(scop, ordered(scop, deps), scop.schedule)
    tree = tree.get_root().map_descendant_bottom_up(visit).get_schedule()
    return MarkedSchedule(tree, marks)
