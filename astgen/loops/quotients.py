"""Quotients that a schedule adds up, as dimensions of the statements' own.

The number of a wavefront is the sum of two tiles' numbers, ⌊f/s⌋ + ⌊g/s⌋. From that alone, isl finds the range of one
of them by as many cuts of a polytope as a tile is long. Where the numbers are dimensions of the domain, in front of the
iterators, they come first when others are expressed by them, and the same loops take a hundredth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from scopt.poly.isl_utils import DIV, OUT, SET, sets_of, union_of_sets, walk


def with_quotients(tree: isl.Schedule) -> tuple[isl.Schedule, dict[str, int]]:
    """The tree over instances ``S[q…, i…]`` for those ``S[i…]`` of which a band adds up quotients q…; and, by
    statement, how many."""
    found: dict[str, list[isl.Aff]] = {}
    for statement, quotients in _sums(tree):
        known = found.setdefault(statement, [])
        known += [one for one in quotients if not any(one.plain_is_equal(other) for other in known)]
    if not found:
        return tree, {}
    domains, shortened = list[isl.Set](), list[isl.Map]()
    for domain in sets_of(tree.get_domain()):
        quotients = found.get(domain.get_tuple_name(), [])
        longer = domain.insert_dims(SET, 0, len(quotients)).set_tuple_name(domain.get_tuple_name())
        kept = isl.Map.identity(longer.get_space().map_from_set()).project_out(OUT, 0, len(quotients))
        kept = kept.set_tuple_name(OUT, domain.get_tuple_name())
        for position, quotient in enumerate(quotients):
            value = isl.PwAff.from_aff(quotient).pullback_pw_multi_aff(isl.PwMultiAff.from_map(kept))
            own = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(longer.get_space()), SET, position)
            longer = longer.intersect(own.eq_set(value))
        domains.append(longer)
        shortened.append(kept)
    functions = isl.UnionPwMultiAff.from_pw_multi_aff(isl.PwMultiAff.from_map(shortened[0]))
    for one in shortened[1:]:
        functions = functions.union_add(isl.UnionPwMultiAff.from_pw_multi_aff(isl.PwMultiAff.from_map(one)))
    longer_tree = tree.pullback_union_pw_multi_aff(functions).intersect_domain(union_of_sets(domains))
    return longer_tree, {statement: len(quotients) for statement, quotients in found.items()}


def _sums(tree: isl.Schedule) -> Iterator[tuple[str, list[isl.Aff]]]:
    """The quotients of each function of a band that has more than one, with its statement."""
    for node in walk(tree.get_root()):
        if node.get_type() != isl.schedule_node_type.band:
            continue
        members = node.band_get_partial_schedule()
        for position in range(members.dim(OUT)):
            functions = list[isl.PwAff]()
            members.get_union_pw_aff(position).foreach_pw_aff(functions.append)
            for function in functions:
                for piece in _pieces(function):
                    used = [k for k in range(piece.dim(DIV)) if not piece.get_coefficient_val(DIV, k).is_zero()]
                    if len(used) > 1:
                        yield function.domain().get_tuple_name(), [piece.get_div(k).floor() for k in used]


def _pieces(function: isl.PwAff) -> list[isl.Aff]:
    found = list[isl.Aff]()
    function.foreach_piece(lambda _, piece: found.append(piece))
    return found
