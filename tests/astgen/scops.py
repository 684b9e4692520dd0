"""Small SCoPs built by hand, for tests of code generation:
from isl strings and C statements to nests, traces and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.loops.isl_loops import build
from scopt.diagnostics import Location
from scopt.ir.expr import evaluate, satisfied
from scopt.ir.from_pycparser import parse_c
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Call, For, If, LoopMark, LoopNest
from scopt.ir.scop import Array, CType, Parameter, Scop, Statement
from scopt.poly.isl_utils import SET, sets_of, union_of_sets

HERE = Location("test.c", 1, 1)
INT = CType("int", integer=True, bits=32)
UNSIGNED = CType("unsigned int", integer=True, signed=False, bits=32)
LONG = CType("long", integer=True, bits=64)
SIZE = CType("size_t", integer=True, signed=False, bits=64)
DOUBLE = CType("double", floating=True, bits=64)

Instance = tuple[str, tuple[int, ...]]


class S(Struct, frozen=True, dict=True):
    """One statement: its domain in isl's notation without parameters (``S0[i, j] : 0 <= i < n``) and its C text."""

    domain: str
    text: str = ""
    type: CType = INT


def parse_statement(text: str, typedefs: Sequence[str] = ()) -> ir.Node:
    types = "".join(f"typedef int {name};" for name in typedefs)
    return parse_c(f"{types} void f(void) {{ {text} }}").ext[-1].body.block_items[0]


def make_scop(
    *statements: S,
    parameters: Mapping[str, CType] | None = None,
    context: str = "",
    arrays: Sequence[Array] = (),
    reserved: Sequence[str] = (),
    typedefs: Sequence[str] = (),
) -> Scop:
    """A SCoP whose original order is of no interest. A statement without text traces its iterators."""
    parameters = {"n": INT} if parameters is None else parameters
    prefix = f"[{', '.join(parameters)}] -> "
    made = [_statement(prefix, s, typedefs) for s in statements]
    domain = union_of_sets(s.domain for s in made)
    return Scop(
        name="test",
        location=HERE,
        context=isl.Set(f"{prefix}{{ : {context} }}"),
        parameters=tuple(Parameter(name, name, ctype) for name, ctype in parameters.items()),
        arrays={a.name: a for a in arrays},
        statements=tuple(made),
        schedule=isl.Schedule.from_domain(domain),
        order=isl.UnionMap("{ }"),
        reserved=frozenset(reserved) | set(parameters) | {i for s in made for i in s.iterators},
        typedefs=frozenset(typedefs),
    )


def _statement(prefix: str, s: S, typedefs: Sequence[str]) -> Statement:
    domain = isl.Set(f"{prefix}{{ {s.domain} }}")
    name = domain.get_tuple_name()
    iterators = tuple(domain.get_dim_name(SET, k) for k in range(domain.dim(SET)))
    text = s.text or f"trace({', '.join((name[1:], *iterators))});"
    return Statement(name, domain, iterators, (s.type,) * len(iterators), parse_statement(text, typedefs), (), HERE)


def bands(
    scop: Scop, *rows: str, sizes: Sequence[int] = (), marks: Mapping[int, LoopMark] | None = None
) -> MarkedSchedule:
    """A schedule tree of one band, tiled if sizes are given. Each row has the members ``S0[i,j] -> [i + j]; …`` of one
    dimension.

    marks: by dimension, tile loops first; then the statements, in order, are a sequence inside.
    """
    prefix = f"[{', '.join(p.name for p in scop.parameters)}] -> "
    functions = [isl.UnionPwAff(f"{prefix}{{ {row} }}") for row in rows]
    partial = isl.MultiUnionPwAff.from_union_pw_aff(functions[0])
    for function in functions[1:]:
        partial = partial.flat_range_product(isl.MultiUnionPwAff.from_union_pw_aff(function))
    node = isl.Schedule.from_domain(scop.domain).get_root().child(0)
    if len(scop.statements) > 1:
        filters = isl.UnionSetList.alloc(node.get_ctx(), len(scop.statements))
        for s in scop.statements:
            filters = filters.add(isl.UnionSet.from_set(s.domain.intersect_params(scop.context)))
        node = node.insert_sequence(filters)
    node = node.insert_partial_schedule(partial)
    if sizes:
        multi = isl.MultiVal.zero(node.band_get_space())
        for position, size in enumerate(sizes):
            multi = multi.set_at(position, isl.Val(size))
        node.get_ctx().set_tile_shift_point_loops(0)
        node = node.band_tile(multi)
        for position in range(len(sizes)):
            node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    named = {str(dim): mark for dim, mark in (marks or {}).items()}
    node = _mark(node, set(marks or ()))
    return MarkedSchedule(node.get_schedule(), named)


def _mark(node: isl.ScheduleNode, wanted: set[int]) -> isl.ScheduleNode:
    """Split the bands into single members and insert marks above the wanted ones; returns the outermost node."""

    def visit(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() != isl.schedule_node_type.band:
            return node
        depth, members = node.get_schedule_depth(), node.band_n_member()
        for member in reversed(range(members)):
            if member:
                node = node.band_split(member)
            if depth + member in wanted:
                target = node.child(0) if member else node
                target = target.insert_mark(isl.Id(str(depth + member), context=node.get_ctx()))
                node = target.parent() if member else target
        return node

    return node.map_descendant_bottom_up(visit) if wanted else node


def loops(scop: Scop, *rows: str, sizes: Sequence[int] = (), marks: Mapping[int, LoopMark] | None = None) -> LoopNest:
    """The nest of `bands`."""
    return build(scop, bands(scop, *rows, sizes=sizes, marks=marks))


def instances(scop: Scop, values: Mapping[str, int]) -> set[Instance]:
    """All statement instances for these parameters."""
    return {point for domain in sets_of(scop.domain) for point in points(domain, values)}


def points(domain: isl.Set, values: Mapping[str, int]) -> Iterator[Instance]:
    """The points of a bounded set for these parameters."""
    for name, value in values.items():
        position = domain.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            domain = domain.fix_val(isl.dim_type.param, position, isl.Val(value))
    found: list[isl.Point] = []
    domain.project_out(isl.dim_type.param, 0, domain.dim(isl.dim_type.param)).foreach_point(found.append)
    for point in found:
        size = domain.dim(SET)
        yield domain.get_tuple_name() or "", tuple(point.get_coordinate_val(SET, k).to_python() for k in range(size))


def trace(nest: LoopNest, values: Mapping[str, int]) -> list[Instance]:
    """Run the nest: the statement instances in order."""
    return list(_run(nest.body, dict(values)))


def _run(block: Block, values: dict[str, int]) -> Iterator[Instance]:
    for item in block.items:
        match item:
            case Call(statement, args):
                yield statement, tuple(evaluate(arg, values) for arg in args)
            case If(condition, then, otherwise):
                if satisfied(condition, values):
                    yield from _run(then, values)
                elif otherwise is not None:
                    yield from _run(otherwise, values)
            case For():
                for value in range(evaluate(item.lower, values), evaluate(item.upper, values) + 1, item.step):
                    yield from _run(item.body, {**values, item.iterator: value})


def dates(schedule: isl.UnionMap, values: Mapping[str, int]) -> dict[Instance, tuple[int, ...]]:
    """Each statement instance's date."""
    found: dict[Instance, tuple[int, ...]] = {}
    maps: list[isl.Map] = []
    schedule.foreach_map(maps.append)
    for one in maps:
        name, width = one.get_tuple_name(isl.dim_type.in_), one.dim(isl.dim_type.in_)
        flat = one.reset_tuple_id(isl.dim_type.in_).move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, width).range()
        for _, point in points(flat, values):
            assert (name, point[:width]) not in found, "an instance has two dates"
            found[name, point[:width]] = point[width:]
    return found


def function(scop: Scop, nest: LoopNest, name: str = "region", *, openmp: bool = True) -> str:
    """The printed nest as a C function of the parameters, with the helpers it needs."""
    emitted = emit(scop, nest, openmp=openmp)
    parameters = ", ".join(f"{p.type.spelling} {p.spelling}" for p in scop.parameters)
    body = "".join(f"  {line}\n" for line in emitted.text.splitlines())
    return f"{definitions(scop, emitted)}\nvoid {name}({parameters or 'void'})\n{{\n{body}}}\n"


def definitions(scop: Scop, emitted: Emitted) -> str:
    return helper_definitions(emitted.helpers, scop.long_type, scop.reserved)


TRACING = """#include <stdarg.h>
#include <stdio.h>
#include <limits.h>
#include <stddef.h>
#define trace(...) trace_values((int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))
static void trace_values(int *values, size_t count)
{
  for (size_t k = 0; k < count; k++)
    printf(k ? " %d" : "%d", values[k]);
  printf("\\n");
}
"""


def parse_trace(text: str) -> list[Instance]:
    """What a traced program printed."""
    rows = [tuple(map(int, line.split())) for line in text.splitlines()]
    return [(f"S{row[0]}", row[1:]) for row in rows]
