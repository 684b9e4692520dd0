"""The elements that a reference reaches, from its subscripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.access_names import Names
from scopt.frontend.model.affine import NotAffine, Scope, affine
from scopt.frontend.model.delinearize import Shape
from scopt.frontend.model.row_shapes import RowShape, divided
from scopt.frontend.model.subscript_reading import Subscript, read_subscript
from scopt.frontend.model.value_ranges import MAX_TABLE
from scopt.ir.scop import Array, CType
from scopt.ir.walks import copied
from scopt.poly.isl_utils import constant_pw_aff, project_out_params

# Values of cells of which nothing but their type is known.
_WHOLE_TYPES = ((0, 2**8 - 1), (0, 2**16 - 1))


class SubscriptReader(Struct, frozen=True, eq=False):
    """Where subscripts stand. domain: of the iterators there, and of the parameters. inner: iterators of loops inside
    of the statement. certain: what is there is executed for all of the domain. bound: a variable that loops there go up
    to, and which has another value in each instance; empty without any. values: such variables where they keep it."""

    names: Names
    domain: isl.Set
    iterators: tuple[str, ...]
    inner: Mapping[str, CType]
    certain: bool = True
    bound: str = ""
    values: Mapping[str, CType] = {}

    def note(self, array: Array, subscript: Any | None) -> None:
        """Remember a subscript that may be one into rows of rows; None: one of several, so that there are no rows. One
        that data say may lead to any row."""
        try:
            found = self.read_sum(subscript) if subscript is not None else None
        except NotAffine:
            self.names.survey.scattered.add(array.variable)
            return
        if found is not None and self.inner and found.unsigned:
            found = None  # nobody proves that unsigned subscripts of loops inside a statement don't wrap
        self.names.survey.found.setdefault(array.variable, []).append(found)

    def read_sum(self, subscript: Any) -> Subscript:
        """A subscript as a sum of products, which nothing is taken for granted for."""
        if self.bound:
            raise NotAffine("variant", f"'{self.bound}' changes inside the region", subscript)
        scope = replace(self.names.scope(self.domain, self.inner), assume=lambda violation: False)
        return read_subscript(subscript, scope, (*self.iterators, *self.inner))

    def somewhere(self, shape: RowShape, node: ir.ArrayRef, subscript: Any) -> tuple[ir.ArrayRef, NotAffine] | None:
        """The reference as one to the first row, and beyond, where its subscript is no sum of products, and why not:
        it may lead to any cell. None for others, and for rows of different lengths."""
        if not isinstance(shape, Shape):
            return None
        try:
            self.read_sum(subscript)
        except NotAffine as error:
            made = node.name
            for _ in range(shape.rank - 1):
                made = ir.ArrayRef(made, ir.Constant("int", "0"), node.coord)
            return ir.ArrayRef(made, subscript, node.coord), error
        return None

    def with_rows(self, shape: RowShape, node: ir.ArrayRef, subscript: Any) -> ir.ArrayRef:
        """The reference with a subscript for each dimension."""
        try:
            parts = divided(self.read_sum(subscript), shape)
        except NotAffine:  # some other reference, or this one in another place, showed the rows
            parts = None
        if parts is None or not self.domain.intersect(parts.holds.complement()).is_empty():
            message = "this subscript is not one into the rows that the others show"
            raise self.names.refuse("affine.nonlinear-subscript", message, node)
        made = node.name
        for part in parts.nodes:
            made = ir.ArrayRef(made, part, node.coord)
        result: ir.ArrayRef = copied(made)
        return result

    def elements(self, array: Array, subscripts: Sequence[Any]) -> tuple[bool, isl.Set, list[NotAffine]]:
        """The accessed elements as a set over the array's space, with the iterators as parameters; whether these are
        exactly those; and why subscripts aren't affine, which may have any value then."""
        scope = self.scope()
        known: dict[int, isl.PwAff] = {}
        unknown: list[NotAffine] = []
        between: dict[int, tuple[int, int] | None] = {}
        for position, subscript in enumerate(subscripts):
            try:
                known[position] = affine(subscript, scope).aff
            except NotAffine as error:
                unknown.append(error)
                between[position] = self.between(array, position, subscript)
                continue
            self.check_bounds(array, position, known[position], subscript)
        if len(known) == len(subscripts) > 0:
            functions = [isl.MultiPwAff.from_pw_aff(aff) for aff in known.values()]
            value = reduce(isl.MultiPwAff.flat_range_product, functions)
            return True, value.as_set().set_tuple_name(array.name).intersect_params(self.domain), []
        parts = (_at(array, position, aff) for position, aff in known.items())
        cells = _within(reduce(isl.Set.intersect, parts, all_elements(array)), between)
        return not subscripts, cells.intersect_params(self.domain), unknown

    def scope(self) -> Scope:
        """What names mean here. Of values that only data say, nothing is taken for granted that would leave no
        iteration that comes here: such a subscript isn't affine."""
        scope = self.names.scope(self.domain, {**self.values, **self.inner})
        names = (*self.iterators, *self.inner, *self.values)

        def assume(violation: isl.Set) -> bool:
            place = project_out_params(scope.domain.intersect(scope.ranges()), names)
            return not place.is_subset(project_out_params(violation, names)) and scope.assume(violation)

        return replace(scope, assume=assume) if self.values else scope

    def bounded(self, array: Array, subscripts: Sequence[Any], cells: isl.Set) -> isl.Set:
        """Cells of subscripts with values that only data say, as far as these may go."""
        ends = {position: self.between(array, position, one) for position, one in enumerate(subscripts)}
        return _within(cells, ends)

    def between(self, array: Array, position: int, subscript: Any) -> tuple[int, int] | None:
        """The least and the greatest value of a subscript that isn't affine: of its type and its operands; or what the
        declaration has room for, where nobody but the type of a cell says more, and nothing but that object can be
        meant: not a member that ends a structure, nor rows that somebody goes through as one. Objects are touched as a
        whole, as threads with copies of them do."""
        found, size = self.names.bounds(subscript), array.sizes[position]
        bounded = found is not None and found[0] >= 0 and found[1] < MAX_TABLE
        if array.within or array.flat or size is None or not 0 < size <= MAX_TABLE:
            return found
        if found is not None and bounded and not array.pointer:
            return 0, max(found[1], size - 1)
        if found is not None and bounded:
            alone = found in _WHOLE_TYPES and not isinstance(subscript, ir.BinaryOp)
            return (0, size - 1) if alone and size <= found[1] and self.names.trusts(array) else found
        sure = not position and not array.pointer
        return (0, size - 1) if sure or self.names.trusts(array) else found

    def check_bounds(self, array: Array, position: int, aff: isl.PwAff, node: Any) -> None:
        """A subscript that leaves its row reaches an element of another row, which the model would take for a different
        one.

        Refused where it happens whatever the parameters are; where it depends on them, or on data, as values in loops'
        bounds are, the declared extents are trusted.
        """
        size = array.sizes[position]
        if position == 0 or size is None or not self.certain:
            return
        outside = aff.lt_set(constant_pw_aff(0)).union(aff.ge_set(constant_pw_aff(size))).intersect(self.domain)
        if outside.is_empty():
            return
        iterators = [*self.iterators, *self.inner]
        if project_out_params(self.domain, iterators).is_subset(project_out_params(outside, iterators)):
            message = f"subscript {position + 1} of '{array.name}' leaves its extent of {size}"
            raise self.names.refuse("access.out-of-bounds", message, node)


def _at(array: Array, position: int, aff: isl.PwAff) -> isl.Set:
    """The elements whose subscript at a position has a value, which is a function of parameters."""
    one = isl.MultiPwAff.from_pw_aff(aff).as_set().insert_dims(isl.dim_type.set, 1, array.rank - position - 1)
    return one.insert_dims(isl.dim_type.set, 0, position).set_tuple_name(array.name)


def _within(cells: isl.Set, between: Mapping[int, tuple[int, int] | None]) -> isl.Set:
    """Those whose subscripts at some positions have values in intervals, where these are of a table's size."""
    for position, ends in between.items():
        if ends is not None and ends[0] >= 0 and ends[1] < MAX_TABLE:
            cells = cells.lower_bound_val(isl.dim_type.set, position, isl.Val(ends[0]))
            cells = cells.upper_bound_val(isl.dim_type.set, position, isl.Val(ends[1]))
    return cells


def all_elements(array: Array) -> isl.Set:
    """All elements of an array: what a read with an unknown subscript may reach."""
    return isl.Set(f"{{ {array.name}[{', '.join(f'd{k}' for k in range(array.rank))}] }}")
