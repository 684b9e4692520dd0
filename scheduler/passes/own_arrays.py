"""Arrays of iterations' own: what each iteration of a loop computes anew in an array that all of them share is computed
in a local array instead, of which each thread has one.

In ``for i { for j best[j] = …; …; y[i] = … best[k] … }`` the iterations have nothing to do with each other, but that
``best`` is the same memory (privatization: Tu and Padua, "Automatic array privatization", 1993). Other than cells for
each iteration (`work_arrays`), which strips keep in buffers, such an array is as small as the one that it stands for,
and data may say which of its cells are read. The last iteration that writes a cell puts it where it belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Dependences, Scop
from scopt.machine import Machine
from scopt.poly.body_rewriting import agree
from scopt.poly.dependences import MAX_TABLE_BYTES, last_sources
from scopt.poly.isl_utils import OUT, PARAM, maps_of
from scopt.poly.loop_lengths import at_estimates
from scopt.poly.row_extents import only_for, trusted_sizes, within_sizes
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.loop_values import spans
from scopt.scheduler.passes.expansion import new_name, with_cells
from scopt.scheduler.passes.left_values import with_copies
from scopt.scheduler.passes.line_work import Lines, has_products, with_much_work
from scopt.scheduler.passes.work_arrays import keeps_results, left_by_chance

# Bytes of a thread's stack that all of them take at most (chosen: an eighth of the smallest that systems give).
_MOST = 2 * MAX_TABLE_BYTES
# A parameter that nobody knows is taken to be that large at least (chosen: loops that threads share are longer).
_LONG = 32


class OwnArrays(Struct, frozen=True, eq=False):
    """A SCoP with arrays of iterations' own. names: of these."""

    scop: Scop
    names: frozenset[str]


def own_arrays(scop: Scop, deps: Dependences, machine: Machine) -> OwnArrays | None:
    """The SCoP with local arrays in loops that nothing but the arrays' memory keeps in order; None if there are no
    such loops. deps: with reductions in any order, as threads may have them."""
    made, names, done = scop, set[str](), set[Loops]()
    loops = source_loops(scop)
    for own in sorted({around[:depth] for around in loops.values() for depth in range(1, len(around))}):
        if any(own[: len(one)] == one for one in done):
            continue
        lines = Lines(scop, own, {one.name: one for one in scop.statements if loops[one.name][: len(own)] == own})
        arrays, context = _shared(deps, lines)
        if context.is_empty():
            continue
        done.add(own)
        if not arrays or not keeps_results(lines, arrays) or _is_short(lines, machine):
            continue
        if has_products(deps, lines, machine):
            continue
        fit = sum(map(_bytes, arrays)) <= _MOST and all(_is_plain(lines, array) for array in arrays)
        anew = _written_anew(lines, arrays, context) if fit else None
        if anew is None:
            continue
        anew = _large_enough(lines, arrays, anew.intersect(made.context))
        arrays = tuple(one for one in arrays if _is_written(lines, one, anew))
        if not arrays or anew.intersect(with_much_work(deps, lines, machine, arrays)).is_empty():
            continue
        made = only_for(made, anew)
        for array in arrays:
            found = _with_own(made, lines, array)
            if found is None:
                return None
            made, name = found
            names.add(name)
    return OwnArrays(made, frozenset(names)) if names else None


def _shared(deps: Dependences, lines: Lines) -> tuple[tuple[Array, ...], isl.Set]:
    """The arrays whose memory alone keeps a loop in order, and the parameters for which nothing else does: none if that
    holds for short loops at most."""
    found, context = dict[str, None](), lines.scop.context
    nothing = isl.Set.empty(context.get_space())
    for one in deps.select("flow", "anti", "output"):
        array = lines.scop.arrays[one.array]
        if (array.private and one.kind != "flow") or not lines.carries(one):
            continue  # threads have copies
        if one.kind == "flow":  # as from cells that a loop of no iterations leaves unwritten
            context = context.subtract(lines.carried(one.relation).params())
            if _for_long_loops(lines.scop, context).is_empty():
                return (), nothing
        elif array.rank:
            found[one.array] = None
        else:
            return (), nothing
    if not lines.scop.context.is_subset(context):  # a test without the cases in which nothing runs
        runs = reduce(isl.Set.union, (one.domain.params() for one in lines.statements.values()))
        context = context.intersect(runs).coalesce()
    return tuple(lines.scop.arrays[name] for name in found), context


def _for_long_loops(scop: Scop, context: isl.Set) -> isl.Set:
    """Those of some parameters that the program probably has."""
    about = {one.name: one.estimate for one in scop.parameters if one.estimate is not None}
    context = at_estimates(context, about)
    for k in range(context.dim(PARAM)):
        if context.get_dim_name(PARAM, k) not in about:
            context = context.lower_bound_val(PARAM, k, isl.Val(_LONG))
    return context


def _is_plain(lines: Lines, array: Array) -> bool:
    """Whether an array is one that a local array can stand for."""
    odd = array.type.volatile or array.type.atomic or array.within or array.rows or array.flat or array.inner
    if odd or not (array.type.floating or array.type.integer) or not array.type.bits:
        return False
    if None in array.sizes or 0 in array.sizes or _bytes(array) > MAX_TABLE_BYTES:
        return False
    return all(access.node is not None for _, access in lines.uses(array))


def _is_short(lines: Lines, machine: Machine) -> bool:
    """Whether a loop has so few iterations that some threads would have none."""
    counts = [spans(one)[lines.row] for one in lines.statements.values()]
    return all(count is not None and count < machine.cores for count in counts)


def _written_anew(lines: Lines, arrays: Sequence[Array], context: isl.Set) -> isl.Set | None:
    """Those parameters for which an iteration of the loop reads nothing of some arrays but what it has written itself,
    whichever cells those are; None if it does read other values."""
    uses = [(access, one) for one in arrays for _, access in lines.uses(one)]
    for access, array in uses:
        if access.kind != "read":
            continue
        inside = replace(access, relation=within_sizes(access.relation, trusted_sizes(array)))
        sources, older = last_sources(lines.scop, inside)
        for one in maps_of(sources.intersect_params(context)):
            if one.get_tuple_name(OUT) not in lines.statements or not agree(one, lines.row + 1):
                return None
        for one in maps_of(older):
            context = context.subtract(one.params().remove_divs())
    for array in arrays:
        context = context.subtract(left_by_chance(lines, array))
    return context.coalesce()


def _large_enough(lines: Lines, arrays: Sequence[Array], context: isl.Set) -> isl.Set:
    """Those parameters with which no reference leaves the local arrays: with others, which no program has, all that a
    loop does may be outside."""
    for array in arrays:
        for _, access in lines.uses(array):
            context = context.subtract(_outside(array, access))
    return context.coalesce()


def _outside(array: Array, access: Access) -> isl.Set:
    """Parameters with which a reference leaves the local array."""
    cells = access.relation
    if not cells.is_single_valued():  # data say where it goes
        cells = within_sizes(cells, trusted_sizes(array))
    return cells.subtract(within_sizes(cells, array.sizes)).domain().params()


def _is_written(lines: Lines, array: Array, context: isl.Set) -> bool:
    """Whether a loop surely writes cells of an array with some of these parameters: otherwise it leaves nothing there,
    as data choose among those cells only, and needs no array of its own."""
    writes = (access for _, access in lines.uses(array) if access.kind == "write")
    return any(not one.relation.intersect_params(context).is_empty() for one in writes)


def _bytes(array: Array) -> int:
    return prod(size or 1 for size in array.sizes) * max(array.type.bits // 8, 1)


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_own(scop: Scop, lines: Lines, array: Array) -> tuple[Scop, str] | None:
    """The SCoP with a local array in one's place, and with copies of what the loop leaves."""
    name = new_name(scop, array, "own")
    changed = {one.name: with_cells(scop.statement(one.name), array, name, ()) for one, _ in lines.uses(array)}
    new = _local(name, array)
    before = scop
    scop = replace(
        scop,
        statements=tuple(changed.get(one.name, one) for one in scop.statements),
        arrays={**scop.arrays, name: new},
    )
    made = with_copies(scop, before, lines, array, new, inside=True)
    return None if made is None else (made, name)


def _local(name: str, array: Array) -> Array:
    """An array like one, declared where it is used."""
    inner: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(array.type.spelling.split()))
    extents = tuple(ir.Constant("int", str(size)) for size in array.sizes)
    for extent in reversed(extents):
        inner = ir.ArrayDecl(inner, extent, [])
    return Array(
        name,
        name,
        replace(array.type, const=False),
        extents,
        array.sizes,
        private=True,
        local=True,
        declaration=ir.Decl(name, [], [], [], [], inner, None, None),
        location=array.location,
    )
