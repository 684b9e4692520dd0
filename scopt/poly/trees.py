"""Schedule trees as plain Python values, for surgery that isl's node operations make hard; back to isl in one go."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import joined

_TYPE = isl.schedule_node_type


class Leaf(Struct, frozen=True, eq=False):
    """Statement instances in no particular order."""

    domain: isl.UnionSet


class Band(Struct, frozen=True, eq=False):
    """A band around a subtree."""

    partial: isl.MultiUnionPwAff
    body: Tree

    @property
    def width(self) -> int:
        return int(self.partial.dim(isl.dim_type.out))


class Sequence(Struct, frozen=True, eq=False):
    """Subtrees in this order (a set node, whose order is free, is read as a sequence)."""

    parts: tuple[Tree, ...]


Tree = Leaf | Band | Sequence


def domain_of(tree: Tree) -> isl.UnionSet:
    """All instances of a tree."""
    match tree:
        case Leaf(domain):
            return domain
        case Band(body=body):
            return domain_of(body)
        case Sequence(parts):
            result = domain_of(parts[0])
            for part in parts[1:]:
                result = result.union(domain_of(part))
            return result


def read(node: isl.ScheduleNode) -> Tree:
    """The subtree at a node. Raises ValueError for nodes other than domain, filter, band, sequence, set and leaf."""
    kind = node.get_type()
    if kind == _TYPE.leaf:
        return Leaf(node.get_domain())
    if kind in (_TYPE.domain, _TYPE.filter):
        return read(node.child(0))
    if kind == _TYPE.band:
        return Band(node.band_get_partial_schedule(), read(node.child(0)))
    if kind in (_TYPE.sequence, _TYPE.set):
        return Sequence(tuple(read(node.child(k)) for k in range(node.n_children())))
    raise ValueError(f"unexpected schedule node {kind}")


def restricted(tree: Tree, instances: isl.UnionSet) -> Tree | None:
    """The part of a tree that has some of its instances; None without any."""
    match tree:
        case Leaf(domain):
            kept = domain.intersect(instances)
            return None if kept.is_empty() else Leaf(kept)
        case Band(partial, body):
            inner = restricted(body, instances)
            return None if inner is None else Band(partial.intersect_domain(domain_of(inner)), inner)
        case Sequence(parts):
            made = tuple(one for part in parts if (one := restricted(part, instances)) is not None)
            return Sequence(made) if len(made) > 1 else made[0] if made else None


def build(tree: Tree) -> isl.Schedule:
    """The tree as isl's; no band is permutable or coincident until someone has computed that."""
    match tree:
        case Leaf(domain):
            return isl.Schedule.from_domain(domain)
        case Band(partial, body):
            inner = build(body)
            return inner.insert_partial_schedule(partial.intersect_domain(inner.get_domain()))
        case Sequence(parts):
            result = build(parts[0])
            for part in parts[1:]:
                result = result.sequence(build(part))
            return result


def first_member(band: Band) -> tuple[isl.UnionPwAff, Tree]:
    """A band's first member, and what is left without it."""
    members = [band.partial.get_at(k) for k in range(band.width)]
    return members[0], Band(joined(members[1:]), band.body) if members[1:] else band.body


def nested(members: SequenceOf[isl.UnionPwAff], body: Tree) -> Tree:
    """A band with some members around a tree; the tree itself without members."""
    return Band(joined(members), body) if members else body


def has_bands(tree: Tree) -> bool:
    """Whether there is a loop in a tree."""
    return isinstance(tree, Band) or (isinstance(tree, Sequence) and any(has_bands(part) for part in tree.parts))
