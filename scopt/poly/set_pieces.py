"""Schedule trees put together from pieces that are trees of their own:
what passes need that change which statements there are."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from scopt.poly.isl_utils import SET, joined


def in_sequence(parts: Sequence[isl.Schedule]) -> isl.Schedule:
    """One or more trees, one after the other. (By halves: each step looks at all statements that it has by then.)"""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return in_sequence(parts[:half]).sequence(in_sequence(parts[half:]))


def marked(tree: isl.Schedule, name: str) -> isl.Schedule:
    """A tree with a mark above it."""
    return tree.get_root().child(0).insert_mark(isl.Id(name, context=tree.get_ctx())).get_schedule()


def in_band(inner: isl.Schedule, members: Sequence[isl.UnionPwAff], like: isl.ScheduleNode) -> isl.Schedule:
    """A tree inside of a band of these members, with all flags of another one."""
    made = (
        inner.insert_partial_schedule(joined(members))
        .get_root()
        .child(0)
        .band_set_permutable(int(like.band_get_permutable()))
    )
    for k in range(like.band_n_member()):
        made = made.band_member_set_ast_loop_type(k, isl.ast_loop_type(like.band_member_get_ast_loop_type(k)))
        made = made.band_member_set_coincident(k, int(like.band_member_get_coincident(k)))
    return made.get_schedule()


def coordinate(domain: isl.Set, dimension: int) -> isl.UnionPwAff:
    """A dimension of a statement's domain as a function on it."""
    space = isl.LocalSpace.from_space(domain.get_space())
    return isl.PwAff.var_on_domain(space, SET, dimension).intersect_domain(domain).to_union_pw_aff()
