"""Answers about bands, kept by what a band is rather than by where it stands: passes make tree after tree, mechanisms
are tried one after the other, orders compared, and most bands are the same in all of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import islpy as isl

from scopt.poly.restructure import leaf_parts

R = TypeVar("R")
P = ParamSpec("P")


def of_same_band(
    most: int,
) -> Callable[[Callable[Concatenate[isl.ScheduleNode, P], R]], Callable[Concatenate[isl.ScheduleNode, P], R]]:
    """For functions of a band node and of what can be compared, which look at nothing in the tree but what `_written`
    writes. most: answers that are kept."""

    def keeping(ask: Callable[Concatenate[isl.ScheduleNode, P], R]) -> Callable[Concatenate[isl.ScheduleNode, P], R]:
        known: dict[tuple[object, ...], R] = {}

        def answer(node: isl.ScheduleNode, /, *more: P.args, **named: P.kwargs) -> R:
            key = (_written(node), more, *named.items())
            if key not in known:
                if len(known) >= most:
                    known.clear()
                known[key] = ask(node, *more, **named)
            return known[key]

        return answer

    return keeping


def _written(node: isl.ScheduleNode) -> tuple[object, ...]:
    """A band with its instances, the schedule around it, and the parts of straight code below: isl writes equal ones as
    the same text, in a small part of the time that most questions take."""
    depth, width = int(node.get_schedule_depth()), node.band_n_member()
    around = str(node.get_prefix_schedule_multi_union_pw_aff()) if depth else ""
    carried = tuple(node.band_member_get_coincident(k) for k in range(width))
    parts = leaf_parts(node.child(0))
    below = tuple(map(str, parts)) if parts is not None and len(parts) > 1 else parts is None
    own = str(node.band_get_partial_schedule()), str(node.get_domain())
    return depth, around, *own, carried, below
