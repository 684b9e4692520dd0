"""Where strided iterators begin, as parameters.

The iterators of ``for (i = (n - 4) % 5; i <= n; i += 2)`` are those with i ≡ n + ⌊(-n - 2)/5⌋ modulo 2. isl keeps one
quotient of that alone, of i and n together, and where it has to do without quotients of i for a loop's bounds it takes
one of several iterations for all there are. With the offset as a parameter, the quotient is one of the iterator and
that parameter, which isl knows to be a stride.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from scopt.poly.isl_utils import DIV, IN, PARAM, SET, sets_of, union_of_sets


def with_offsets(tree: isl.Schedule, context: isl.Set) -> tuple[isl.Schedule, isl.Set, dict[str, isl.PwAff]]:
    """The tree and the context with a parameter for each offset of a stride that takes a quotient of parameters. By
    these parameters' names, their values: functions of the context's own."""
    values = dict[str, isl.PwAff]()
    parts = list[isl.Set]()
    for domain in sets_of(tree.get_domain()):
        for part in (isl.Set.from_basic_set(one) for one in domain.get_basic_sets()):
            strided = part
            for dimension, stride, offset in _offsets(part):
                value = isl.PwAff.from_aff(offset.project_domain_on_params())
                new = f"$o{len(values)}"
                name = next((known for known, other in values.items() if other.plain_is_equal(value)), new)
                values[name] = value
                strided = strided.intersect(_multiples(part.get_space(), dimension, stride, name))
            parts.append(strided)
    if not values:
        return tree, context, {}
    for name, value in values.items():
        space = _with_parameter(context.get_space(), name)
        context = context.intersect(_parameter(space).eq_set(value))
    # filters may not bring in parameters that the domain at the root doesn't have
    tree = tree.align_params(context.get_space())
    return tree.intersect_domain(union_of_sets(parts)), context, values


def _offsets(part: isl.Set) -> Iterator[tuple[int, isl.Val, isl.Aff]]:
    """The strides of a basic set's dimensions that have such offsets."""
    if not any(one.dim(DIV) for one in part.get_basic_sets()):  # an empty part has none
        return
    for dimension in range(part.dim(SET)):
        info = part.get_stride_info(dimension)
        stride, offset = info.get_stride(), info.get_offset()
        if not stride.is_one() and offset.dim(DIV) and not offset.involves_dims(IN, 0, offset.dim(IN)):
            yield dimension, stride, offset


def _multiples(space: isl.Space, dimension: int, stride: isl.Val, offset: str) -> isl.Set:
    """Where a dimension is a multiple of the stride away from a parameter."""
    space = _with_parameter(space, offset)
    value = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), SET, dimension)
    return value.sub(_parameter(space)).mod_val(stride).zero_set()


def _parameter(space: isl.Space) -> isl.PwAff:
    """The last parameter as a function on a space."""
    return isl.PwAff.var_on_domain(isl.LocalSpace.from_space(space), PARAM, space.dim(PARAM) - 1)


def _with_parameter(space: isl.Space, name: str) -> isl.Space:
    """The space with one more parameter, its last one."""
    return space.add_dims(PARAM, 1).set_dim_name(PARAM, space.dim(PARAM), name)
