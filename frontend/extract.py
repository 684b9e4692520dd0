"""From a region's syntax tree to a `Scop`: domains, access relations and the original order. Whatever the model can't
hold is a Refusal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Refusal
from scopt.frontend.extraction.affine_names import AffineNames
from scopt.frontend.extraction.likely_values import likely_values, may_hold
from scopt.frontend.extraction.region_arrays import RegionArrays
from scopt.frontend.extraction.region_names import RegionNames, read_names
from scopt.frontend.extraction.region_walk import RegionWalk
from scopt.frontend.extraction.scop_parts import ScopParts
from scopt.frontend.model.affine import NotAffine, condition
from scopt.frontend.model.delinearize import Shape, longer_than_rows, shape_of
from scopt.frontend.model.row_conditions import executed_by
from scopt.frontend.model.row_shapes import RowShape
from scopt.frontend.model.subscript_reading import Subscript
from scopt.frontend.model.triangles import triangle_of
from scopt.frontend.normalize.counting_loops import has_loop
from scopt.frontend.normalize.outer_products import OuterVariables
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.gnu import UNKNOWN_TYPES
from scopt.ir.scop import Scop
from scopt.ir.walks import walk
from scopt.poly.isl_utils import universe_params

# What variables that are no products are taken to be, where these are compared with them.
_MANY = 64
# A declaration of a product, which may be 0 where it isn't evaluated.
_PRODUCT = re.compile(r"[=?] (\w+(?: \* \w+)+)(?: : 0)?;$")
# Of an array whose rows macros' values make overlap.
_MACRO_ROWS = "the rows of '{}' overlap: their distance is the value of a macro"


def extract(tu: TranslationUnit, region: Region, name: str, *, assume_apart: bool = False) -> Scop:
    """The SCoP of a region. Raises Refusal where it isn't one that can be handled.

    assume_apart: different pointers are taken to lead to different memory, in unmarked regions too.
    """
    return extract_whole(tu, region, name, assume_apart=assume_apart)[0]


def extract_whole(
    tu: TranslationUnit, region: Region, name: str, *, assume_apart: bool = False
) -> tuple[Scop, Mapping[str, Refusal]]:
    """The SCoP of a region, and why some of its statements are loops or the like that are executed as a whole, or in
    loops that go in stages, by the statements' names.

    Where subscripts show that arrays of one dimension hold rows, the region is read again with that knowledge. Where
    other loops go through all of such an array, they go through its rows then.
    """
    try:
        return _extracted(tu, region, name, assume_apart=assume_apart)
    except Refusal as refusal:
        if refusal.remark.id != "affine.rows-and-whole":
            raise
        try:
            return _extracted(tu, region, name, assume_apart=assume_apart, by_rows=True)
        except Refusal:
            raise refusal from None


def _extracted(
    tu: TranslationUnit, region: Region, name: str, *, assume_apart: bool, by_rows: bool = False
) -> tuple[Scop, Mapping[str, Refusal]]:
    """by_rows: all loops go through rows."""
    known = universe_params()
    names = read_names(tu, region, by_rows=by_rows)
    _refuse_types(names)
    walk = _walk(names, {})
    tree = walk.tree(known)
    shapes, holds = _flat_arrays(walk)
    if shapes:
        known, first = holds, walk.affine.parameters
        walk = _walk(names, shapes)
        tree = walk.tree(known)
        # Loops that are executed as a whole now may have bounds that rows depend on.
        for k in range(known.dim(isl.dim_type.param)):
            asked = str(known.get_dim_name(isl.dim_type.param, k))
            walk.affine.parameters.setdefault(asked, first[asked])
    if walk.wanted_values:
        raise walk.wanted_values[0]
    return ScopParts(walk, name, known, assume_apart).scop(tree), {**walk.obstacles, **walk.stages}


def _walk(names: RegionNames, shapes: Mapping[str, RowShape]) -> RegionWalk:
    """names: stay as they are; a walk adds the arrays that it finds in structures to names of its own."""
    own = replace(names, symbols={**names.symbols})
    affine = AffineNames(own)
    return RegionWalk(own, affine, RegionArrays(own, affine, shapes))


def _refuse_types(names: RegionNames) -> None:
    """Refuse types that only the compiler tells, as `typeof` does, which can't be printed; and names of const types:
    nothing can be assigned to variables that are declared with one."""
    for node in walk(*names.items):
        if isinstance(node, ir.IdentifierType) and not UNKNOWN_TYPES.isdisjoint(node.names):
            message = "a type that only the compiler tells is not supported"
            raise names.refuse("decl.form", message, node, "name the type")
        if isinstance(node, ir.Decl) and isinstance(node.type, ir.TypeDecl) and "const" not in (node.quals or ()):
            symbol = names.symbols.get(node.name)
            if symbol is not None and symbol.type.const and not symbol.pointer:
                raise names.refuse("decl.form", f"the type of '{node.name}' is a name of a const type", node)


def _flat_arrays(walk: RegionWalk) -> tuple[dict[str, RowShape], isl.Set]:
    """Arrays of one dimension whose subscripts show rows, and the parameters for which they do.

    Rows of an array that is only read may overlap, as the frames of a signal do. Where they probably do, it is as it is
    written; what a macro says of their distance has to be known then.
    """
    region = walk.names.region
    shapes: dict[str, RowShape] = {}
    holds, executed = universe_params(), universe_params().complement()
    written = _written(walk)
    for name, subscripts in sorted(walk.survey.found.items(), key=lambda item: item[0] not in written):
        read = [subscript for subscript in subscripts if subscript is not None]
        if len(read) < len(subscripts):
            continue
        triangle = triangle_of(read) if name not in walk.survey.scattered else None
        several = not region.marked and sum(map(has_loop, region.items)) > 1
        if several and triangle is None and triangle_of([one for one in read if one.quotients]) is not None:
            message = f"some loops go through the rows of '{name}', others through all of it"
            raise Refusal("affine.rows-and-whole", message, region.location)
        if triangle is not None and _leaves_choice(holds.intersect(triangle[1]), executed_by(read)):
            shapes[name] = triangle[0]
            holds = holds.intersect(triangle[1])
            executed = executed.union(executed_by(read))
            continue
        found = shape_of(read, _products(walk, read))
        if found is not None and not may_hold(found[1], dict(region.symbolic)):
            if found[0].is_constant:
                continue  # macros say that it has no such rows
            if found[0].distances <= region.symbolic.keys():
                raise Refusal("affine.nonlinear-subscript", _MACRO_ROWS.format(name), region.location)
        if found is not None and name not in written and _overlap(walk, found[1].intersect(executed_by(read))):
            if found[0].is_constant:
                continue
            if found[0].distances <= region.symbolic.keys():
                raise Refusal("affine.nonlinear-subscript", _MACRO_ROWS.format(name), region.location)
        if found is not None and name not in written and (longer_than_rows(found[0], read) or _is_rare(*found)):
            continue  # no dependence asks which element is read: better than a test that is likely to fail
        if found is not None and _leaves_choice(holds.intersect(found[1]), executed_by(read)):
            too_long = _is_never_so(walk, found[1])
            never = several or too_long
            asked = never or (name not in written and not _is_so_for_any_size(found[1]))
            if asked and longer_than_rows(found[0], read, planes=too_long):
                if not never:
                    continue
                message = f"some loops go through the rows of '{name}', others through all of it"
                raise Refusal("affine.rows-and-whole", message, region.location)
            shapes[name] = found[0]
            holds = holds.intersect(found[1])
            executed = executed.union(executed_by(read))
    return shapes, holds.gist(executed.coalesce()).coalesce()


def _written(walk: RegionWalk) -> frozenset[str]:
    """The arrays that statements write, by their names in C."""
    written = {access.array for raw in walk.statements for access in raw.accesses if access.kind != "read"}
    return frozenset(name for name, array in walk.arrays.by_name.items() if array.name in written)


def _overlap(walk: RegionWalk, apart: isl.Set) -> bool:
    """Whether rows overlap where parameters have the values that they probably have. apart: the parameters for which
    they don't."""
    return not may_hold(apart, likely_values(walk))


def _is_rare(shape: Shape, rows: isl.Set) -> bool:
    """Whether rows of constant length lie apart for few values alone: they begin at multiples of that then."""
    return shape.is_constant and all(
        any(one.is_equality() for one in part.get_constraints()) for part in rows.get_basic_sets()
    )


def _is_so_for_any_size(rows: isl.Set) -> bool:
    """Whether rows lie apart whatever positive numbers the sizes are."""
    sizes = isl.Set.universe(rows.get_space())
    for position in range(rows.dim(isl.dim_type.param)):
        sizes = sizes.lower_bound_val(isl.dim_type.param, position, isl.Val(1))
    return bool(sizes.is_subset(rows))


def _is_never_so(walk: RegionWalk, rows: isl.Set) -> bool:
    """Whether a row would have to be as long as many of them: where variables that are no products are alike, or one is
    twice as large as the others."""
    texts = {one.symbol.name: _PRODUCT.search(one.text) for one in walk.names.hoisted}
    outer = OuterVariables(walk.names.region.function, walk.names.symbols, walk.names.local_names)
    names = [str(rows.get_dim_name(isl.dim_type.param, k)) for k in range(rows.dim(isl.dim_type.param))]
    factors = {
        name: found[1].split(" * ")
        if (found := texts.get(name)) is not None
        else walk.names.factors.get(name) or _factors(outer, name)
        for name in names
    }
    variables = {one for some in factors.values() for one in some if not one.isdecimal()}
    for larger in (None, *sorted(variables)):
        size = {one: _MANY * (2 if one == larger else 1) for one in variables}
        values = {
            name: prod(int(one) if one.isdecimal() else size[one] for one in some) for name, some in factors.items()
        }
        if may_hold(rows, values):
            return False
    return True


def _factors(outer: OuterVariables, name: str) -> list[str]:
    """Of the product that a variable around a region holds; the variable itself if it is none."""
    product = outer.product(name)
    found = [] if product is None else [one.name for one in walk(product) if isinstance(one, ir.ID)]
    return found or [name]


def _products(walk: RegionWalk, subscripts: Sequence[Subscript]) -> dict[str, tuple[str, ...]]:
    """The variables that stand for products wherever some subscripts are evaluated, with the factors."""
    scope = replace(walk.affine.scope(universe_params(), {}), assume=lambda violation: False)
    found: dict[str, tuple[str, ...]] = {}
    for one in walk.names.hoisted:
        if len(one.factors) < 2 or None in one.entries:
            continue
        try:
            holds = [condition(entry, scope) for entry in one.entries]
        except NotAffine:
            continue
        if all(subscript.domain.is_subset(where) for subscript in subscripts for where in holds):
            found[one.symbol.name] = one.factors
    return found


def _leaves_choice(values: isl.Set, some: isl.Set) -> bool:
    """Whether a parameter set holds more than one value of each parameter that has more where there are iterations:
    what is only right for one length is no shape. some: where there are."""
    if values.is_empty():
        return False
    both = values.intersect(some).detect_equalities()
    names = (both.get_dim_name(isl.dim_type.param, k) for k in range(both.dim(isl.dim_type.param)))
    return not any(_is_fixed(both, name) and not _is_fixed(some, name) for name in names)


def _is_fixed(values: isl.Set, name: str | None) -> bool:
    position = values.find_dim_by_name(isl.dim_type.param, name) if name is not None else -1
    return position >= 0 and bool(values.plain_get_val_if_fixed(isl.dim_type.param, position).is_int())
