"""The memory that a region may touch through a name,
as expressions that the program can evaluate before the region runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import product

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Array, Polynomial, Stretch
from scopt.poly.isl_utils import PARAM, SET, operation_limit

# isl's elementary operations for one end of a stretch whose cells are quotients and remainders: some tenths of a
# second, more than any known end needs. Unions of remainders take longer than anyone waits.
END_OPERATIONS = 100_000
# More expressions for one end of a stretch than this would make tests that nobody can read.
MAX_CASES = 4


def scalar_stretch(name: str, spelling: str) -> Stretch:
    """The bytes of one variable."""
    return Stretch(name, f"&{spelling}", f"sizeof({spelling})", ((),), (((1, ()),),))


def whole_stretch(name: str, spelling: str, ctype: str) -> Stretch:
    """The bytes of one array that a pointer leads to the beginning of. ctype: its type."""
    return Stretch(name, spelling, f"sizeof({ctype})", ((),), (((1, ()),),), whole=ctype)


def array_stretch(array: Array, accesses: Iterable[isl.Map], context: isl.Set) -> Stretch | None:
    """What these access relations reach, or the whole of an array that is an object by itself; None where neither is
    bounded by simple functions of the parameters.

    context: parameter set of what is known.
    """
    if not array.rank:
        if array.within:
            return scalar_stretch(array.within, array.within)
        return scalar_stretch(array.name, array.spelling)
    found = _reached(array, accesses, context)
    return (
        scalar_stretch(array.name, array.spelling) if found is None and not (array.pointer or array.within) else found
    )


def _reached(array: Array, accesses: Iterable[isl.Map], context: isl.Set) -> Stretch | None:
    """What the access relations reach, as far as simple functions bound it."""
    # Of an array with several dimensions whole rows, as its type has them:
    # its extents were evaluated where it was declared.
    dimensions = array.rank - array.inner if array.flat else 1
    exact: isl.Set | None = None
    for relation in accesses:
        rows = relation.range().reset_tuple_id()
        reached = rows.project_out(SET, dimensions, rows.dim(SET) - dimensions).intersect_params(context)
        exact = reached if exact is None else exact.union(reached)
    if exact is None:
        return None
    exact = exact.coalesce()  # what one access reaches may hide remainders of what others do
    cells, quotients = exact.remove_divs(), dict[str, tuple[Polynomial, int]]()
    stepped = not cells.plain_is_equal(exact)

    def ends(dimension: int, *, lower: bool) -> tuple[Polynomial, ...] | None:
        if not stepped and (whole := _whole_ends(cells, dimension, lower=lower)) is not None:
            return whole
        return _rounded_ends(exact, dimension, quotients, lower=lower) or ends_of(cells, dimension, lower=lower)

    sizes = _sizes(array) if array.flat else ()
    lows = [ends(k, lower=True) for k in range(dimensions)]
    highs = [ends(k, lower=False) for k in range(dimensions)]
    if sizes is None or None in (*lows, *highs):
        return None
    sums = {size.name: size.value for size in sizes if size.name}
    first = _distinct(_offset(ends, sizes, 0, sums) for ends in product(*(low for low in lows if low is not None)))
    beyond = _distinct(_offset(ends, sizes, 1, sums) for ends in product(*(high for high in highs if high is not None)))
    if len(first) > MAX_CASES or len(beyond) > MAX_CASES:
        return None
    base = array.within or array.spelling
    rounded = tuple((key, value, divisor) for key, (value, divisor) in quotients.items())
    return Stretch(array.within or array.name, base, f"sizeof(*{base})", first, beyond, tuple(sums.items()), rounded)


class _Size(Struct, frozen=True):
    """The length of a row: its value, and the name that stands for it where it is a sum."""

    value: Polynomial
    name: str = ""

    @property
    def factor(self) -> Polynomial:
        return ((1, (self.name,)),) if self.name else self.value


def _sizes(array: Array) -> tuple[_Size, ...] | None:
    """Of all but the first dimension of a flat array."""
    found = []
    for position, extent in enumerate(array.extents[1 : array.rank - array.inner], 1):
        value = polynomial_of(extent) if extent is not None else None
        if not value:
            return None
        found.append(_Size(value, f"${position}" if len(value) > 1 else ""))
    return tuple(found)


def _offset(ends: Sequence[Polynomial], sizes: Sequence[_Size], more: int, sums: dict[str, Polynomial]) -> Polynomial:
    """Σ end · elements of a row + more. What reaches the end of its row counts as one more row, which makes shorter
    expressions.

    sums: is given names for ends that are sums, so that they needn't be multiplied out.
    """
    total: Polynomial = ()
    row: Polynomial = ((1, ()),)
    for position in range(len(ends) - 1, -1, -1):
        end = add(ends[position], ((more, ()),)) if more else ends[position]
        size = sizes[position - 1] if position else None
        if size is not None and more and end == size.value:
            more = 1
        else:
            if len(end) > 1 and position < len(sizes):
                name = next((key for key, value in sums.items() if value == end), f"${len(sums)}+")
                sums[name], end = end, ((1, (name,)),)
            total, more = add(total, multiply(end, row)), 0
        row = multiply(row, size.factor) if size is not None else row
    return total


def _distinct(offsets: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
    return tuple(dict.fromkeys(offsets))


def ends_of(cells: isl.Set, dimension: int, *, lower: bool) -> tuple[Polynomial, ...] | None:
    """Functions the least (greatest) of which bounds a subscript where there are cells;
    None if there are none, or no simple ones."""
    found = _ends(cells, dimension, lower=lower)
    return _simplest(found, lower) if found is not None else None


def _simplest(found: _Ends, lower: bool) -> tuple[Polynomial, ...] | None:
    if len(found.simple) == len(found.kept) == 1:
        return found.simple
    every = found.simple if found.simple and len(found.simple) == len(found.kept) else None
    return _simple_ends(found.affs, found.bound, lower) or every


def _whole_ends(cells: isl.Set, dimension: int, *, lower: bool) -> tuple[Polynomial, ...] | None:
    """The same where none of the functions is rounded."""
    found = _ends(cells, dimension, lower=lower)
    if found is None or any(aff.dim(isl.dim_type.div) for aff in found.affs):
        return None
    return _simplest(found, lower)


class _Ends(Struct, frozen=True, eq=False):
    """A bound and the functions that its pieces are. kept: those that no other one dominates; simple: as many of these
    as are combinations of parameters."""

    bound: isl.PwAff
    affs: Sequence[isl.Aff]
    kept: Sequence[isl.Aff]
    simple: tuple[Polynomial, ...]


def _ends(cells: isl.Set, dimension: int, *, lower: bool) -> _Ends | None:
    if not (cells.dim_has_any_lower_bound(SET, dimension) if lower else cells.dim_has_any_upper_bound(SET, dimension)):
        return None
    try:
        bound = cells.dim_min(dimension) if lower else cells.dim_max(dimension)
    except isl.Error:
        return None
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    bound.coalesce().foreach_piece(lambda domain, aff: pieces.append((domain, aff)))
    affs: list[isl.Aff] = []
    for domain, aff in pieces:
        gist = aff.gist(domain)
        if not any(gist.plain_is_equal(other) for other in affs):
            affs.append(gist)
    kept = [
        aff
        for k, aff in enumerate(affs)
        if not any(_dominated(aff, other, lower, k > m) for m, other in enumerate(affs) if m != k)
    ]
    simple = tuple(one for aff in kept if (one := polynomial_of_function(aff)) is not None)
    return _Ends(bound, affs, kept, simple)


def _rounded_ends(
    cells: isl.Set, dimension: int, quotients: dict[str, tuple[Polynomial, int]], *, lower: bool
) -> tuple[Polynomial, ...] | None:
    """The same where loops go in steps, ``8 * ((h - 1) / 8) + 7``, which may be rows less than ``h + 6``, or subscripts
    are quotients, ``(h - 1) / 8``, an eighth of what is divided. None where nothing is rounded, or by more than a
    number, or isl can't tell in time. quotients: is given what is divided, and by what."""
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    try:
        with operation_limit(END_OPERATIONS):
            bound = cells.dim_min(dimension) if lower else cells.dim_max(dimension)
            bound.coalesce().foreach_piece(lambda domain, aff: pieces.append((domain, aff)))
            affs = [(aff.gist(domain), domain) for domain, aff in pieces]
            if not any(aff.dim(isl.dim_type.div) for aff, _ in affs) or len(affs) > MAX_CASES:
                return None
            # elsewhere other pieces' functions are the ends, whatever this one's quotient is there
            found = [_with_quotients(aff, domain, quotients) for aff, domain in affs]
    except isl.Error:
        return None
    return _distinct(one for one in found if one is not None) if None not in found else None


def _with_quotients(aff: isl.Aff, domain: isl.Set, quotients: dict[str, tuple[Polynomial, int]]) -> Polynomial | None:
    """An integer combination of parameters and quotients, which C computes as they are where there are cells."""
    total: Polynomial = ()
    for k in range(aff.dim(isl.dim_type.div)):
        factor = aff.get_coefficient_val(isl.dim_type.div, k)
        if factor.is_zero():
            continue
        quotient, sign = aff.get_div(k), 1
        divisor = quotient.get_denominator_val()
        dividend = quotient.scale_val(divisor)
        if not _is_never_negative(dividend, domain):
            # rounded down, what is negative is one more than C's quotient says
            sign, dividend = -1, dividend.neg().add_constant_val(divisor.sub(isl.Val(1)))
        value = polynomial_of_function(dividend)
        if value is None or not factor.is_int() or not _is_never_negative(dividend, domain):
            return None
        number = int(divisor.to_python())
        key = f"${value} / {number}"
        quotients[key] = value, number
        total = add(total, ((sign * int(factor.to_python()), (key,)),))
        aff = aff.set_coefficient_val(isl.dim_type.div, k, isl.Val(0))
    rest = polynomial_of_function(aff)
    return add(total, rest) if rest is not None else None


def _is_never_negative(aff: isl.Aff, domain: isl.Set) -> bool:
    return bool(isl.Set.from_basic_set(aff.neg_basic_set()).intersect(domain).is_empty())


def _simple_ends(affs: Sequence[isl.Aff], bound: isl.PwAff, lower: bool) -> tuple[Polynomial, ...] | None:
    """Simple functions the least (greatest) of which bounds at least as much as `bound`, whose pieces some functions
    are: as few of these as will do, zero, and what is rounded in them. None if that isn't enough.

    ``w - 1`` alone where subscripts are cut off there, whatever else they depend on; 0 and ``n - 1`` for ``a[n / 2]``.
    """
    space = bound.get_domain_space()
    zero = isl.Aff.zero_on_domain(space.params() if space.is_set() else space)
    dividends = [
        aff.get_div(k).scale_val(aff.get_div(k).get_denominator_val())
        for aff in affs
        for k in range(aff.dim(isl.dim_type.div))
    ]
    kept = [aff for aff in (*dividends, zero, *affs) if polynomial_of_function(aff) is not None]
    if not kept or not _bounds(kept, bound, lower):
        return None
    # of ``m - 1`` and 63 the number bounds sizes that are worth a test
    for aff in (*dividends, zero, *sorted(affs, key=lambda one: bool(one.is_cst()))):
        fewer = [other for other in kept if other is not aff]
        if fewer and _bounds(fewer, bound, lower):
            kept = fewer
    found = (polynomial_of_function(aff) for aff in kept)
    return tuple(one for one in found if one is not None)


def _bounds(affs: Sequence[isl.Aff], bound: isl.PwAff, lower: bool) -> bool:
    """Whether the least (greatest) of some functions is nowhere beyond a bound."""
    functions = [isl.PwAff.from_aff(aff) for aff in affs]
    inside = [one.le_set(bound) if lower else one.ge_set(bound) for one in functions]
    return bool(bound.domain().is_subset(reduce(isl.Set.union, inside)))


def _dominated(aff: isl.Aff, other: isl.Aff, lower: bool, later: bool) -> bool:
    """Whether `other` bounds at least as much, whatever the parameters are (of two equal ones the first stays)."""
    weaker = aff.ge_basic_set(other) if lower else aff.le_basic_set(other)
    always = bool(isl.Set.universe(weaker.get_space()).is_subset(isl.Set.from_basic_set(weaker)))
    return always and (later or not aff.plain_is_equal(other))


def polynomial_of_function(aff: isl.Aff) -> Polynomial | None:
    """An integer combination of parameters, by their names in C; None for others."""
    rounded = any(not aff.get_coefficient_val(isl.dim_type.div, k).is_zero() for k in range(aff.dim(isl.dim_type.div)))
    if rounded or not aff.get_denominator_val().is_one():
        return None
    total: Polynomial = ()
    for k in range(aff.dim(PARAM)):
        coefficient = int(aff.get_coefficient_val(PARAM, k).to_python())
        if coefficient:
            total = add(total, ((coefficient, (str(aff.get_dim_name(PARAM, k)),)),))
    constant = int(aff.get_constant_val().to_python())
    return add(total, ((constant, ()),)) if constant else total


# --- polynomials ------------------------------------------------------------------------------------------------------


def add(a: Polynomial, b: Polynomial) -> Polynomial:
    terms: dict[tuple[str, ...], int] = {}
    for coefficient, factors in (*a, *b):
        terms[factors] = terms.get(factors, 0) + coefficient
    return tuple((terms[factors], factors) for factors in sorted(terms, key=lambda f: (-len(f), f)) if terms[factors])


def multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = ()
    for left, some in a:
        for right, others in b:
            total = add(total, ((left * right, tuple(sorted((*some, *others)))),))
    return total


def polynomial_of(node: ir.Node) -> Polynomial | None:
    """A C expression of names, literals, sums and products."""
    match node:
        case ir.ID(name=name):
            return ((1, (name,)),)
        case ir.Constant(type="int", value=value) if value.isdecimal():
            return ((int(value), ()),) if int(value) else ()
        case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = polynomial_of(left), polynomial_of(right)
            if a is None or b is None:
                return None
            return multiply(a, b) if op == "*" else add(a, b if op == "+" else multiply(((-1, ()),), b))
    return None
