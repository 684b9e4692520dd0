"""Blocks of rows that are whole: each step that one of their rows makes, all make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from scopt.poly import trees
from scopt.poly.isl_utils import SET, joined, sets_of, union_of_sets
from scopt.scheduler.decisions.strip_references import row_iterator
from scopt.scheduler.decisions.strip_trees import outside


def divided(lane: isl.UnionPwAff, first: isl.Aff, count: int) -> isl.UnionPwAff:
    """The first row of the strip that each instance's row is in, where strips of so many rows start at a row. first: of
    the parameters."""
    start = isl.UnionPwAff.aff_on_domain(isl.UnionMap.from_union_pw_aff(lane).domain(), first)
    place = lane.sub(start)
    if count > 1:
        place = place.scale_down_val(isl.Val(count)).floor().scale_val(isl.Val(count))
    return place.add(start)


def whole_blocks(
    node: isl.ScheduleNode,
    domain: isl.UnionSet,
    lane: isl.UnionPwAff,
    around: Sequence[isl.UnionPwAff],
    first: isl.Aff,
    count: int,
) -> isl.UnionSet:
    """The instances of whole blocks of so many rows. node: a band that has a loop over the rows; around: its members
    outside of the blocks."""
    strips = divided(lane, first, count)
    key = isl.UnionMap.from_multi_union_pw_aff(joined([*around, strips])).intersect_domain(domain)
    if node.get_schedule_depth():
        key = isl.UnionMap.from_multi_union_pw_aff(outside(node)).intersect_domain(domain).flat_range_product(key)
    lacking = union_of_sets(_lacking(part, lane, first, count) for part in sets_of(domain))
    whole = domain.subtract(key.intersect_range(lacking.apply(key)).domain()).coalesce()
    plain = union_of_sets(complete(part, lane, first, count) for part in sets_of(domain))
    return plain if plain.is_equal(whole) else whole


def complete(part: isl.Set, lane: isl.UnionPwAff, first: isl.Aff, count: int) -> isl.Set:
    """The instances of a statement that all rows of their block have: of several bounds of the rows each holds for the
    whole block, where subtracting what lacks makes a case of each."""
    found = part
    for target in _rows_of_block(part, lane, first, count):
        found = found.intersect(target.intersect_range(part).domain())
    return found.remove_redundancies().coalesce()


def _lacking(part: isl.Set, lane: isl.UnionPwAff, first: isl.Aff, count: int) -> isl.Set:
    """The instances of a statement that not all rows of their block have."""
    lacking = isl.Set.empty(part.get_space())
    for target in _rows_of_block(part, lane, first, count):
        lacking = lacking.union(part.subtract(target.intersect_range(part).domain()))
    return lacking.coalesce()


def _rows_of_block(part: isl.Set, lane: isl.UnionPwAff, first: isl.Aff, count: int) -> Iterator[isl.Map]:
    """From each instance of a statement to the ones in the rows of its block that are the same otherwise."""
    place = row_iterator(lane, part)
    assert place is not None
    position, shift = place
    space = part.get_space().align_params(first.get_domain_space())
    begin = (
        isl.PwAff.from_aff(first).align_params(space).insert_domain(space).as_aff().add_constant_val(isl.Val(-shift))
    )
    return (_row_at(space, position, begin, count, offset) for offset in range(count))


def _row_at(space: isl.Space, position: int, begin: isl.Aff, count: int, offset: int) -> isl.Map:
    """From each instance to the one in the row at an offset of its block that is the same otherwise. begin: the value
    of the iterator at this position where the first block begins."""
    row = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), SET, position)
    block = row.sub(begin).scale_down_val(isl.Val(count)).floor().scale_val(isl.Val(count)).add(begin)
    target = isl.MultiAff.identity(space.map_from_set())
    target = target.set_aff(position, block.add_constant_val(isl.Val(offset)))
    return isl.Map.from_multi_aff(target)


def peeled_inside(tree: trees.Tree) -> trees.Tree:
    """A tree whose loops, one in each band, are peeled."""
    match tree:
        case trees.Band(partial, body):
            members = [partial.get_at(k) for k in range(tree.width)]
            inner = peeled(trees.nested(members[-1:], peeled_inside(body)))
            return trees.nested(members[:-1], inner)
        case trees.Sequence(parts):
            return trees.Sequence(tuple(map(peeled_inside, parts)))
    return tree


def peeled(tree: trees.Tree) -> trees.Tree:
    """A loop around a sequence without what runs only in its first, or its last, iteration: that stands before it, or
    behind."""
    match tree:
        case trees.Band(partial, trees.Sequence(parts)) if tree.width == 1:
            member, rest = partial.get_at(0), list(parts)
            before, after = list[trees.Tree](), list[trees.Tree]()
            while len(rest) > 1 and _is_end(member, rest[0], rest[1:], first=True):
                before.append(rest.pop(0))
            while len(rest) > 1 and _is_end(member, rest[-1], rest[:-1], first=False):
                after.insert(0, rest.pop())
            if before or after:
                body = trees.Sequence(tuple(rest)) if len(rest) > 1 else rest[0]
                return trees.Sequence((*before, trees.Band(partial, body), *after))
    return tree


def _is_end(member: isl.UnionPwAff, part: trees.Tree, others: Sequence[trees.Tree], *, first: bool) -> bool:
    """Whether a part of a loop's body runs in one iteration only, before, or after, which there are none of the
    others."""
    if trees.has_bands(part):
        return False
    values = _values(member, trees.domain_of(part))
    beyond = isl.Set.lex_gt_set if first else isl.Set.lex_lt_set
    there = [_values(member, trees.domain_of(other)) for other in others]
    return bool(values.is_singleton()) and all(beyond(values, one).is_empty() for one in there)


def _values(member: isl.UnionPwAff, domain: isl.UnionSet) -> isl.Set:
    return isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(member.intersect_domain(domain)).range())
