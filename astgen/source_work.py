"""Tests of how much work the original loops have, over the parameters: a region as a whole is asked for so much before
its new loops run.

Work is estimated one instance after the other, in nanoseconds, by the product of the loops' trip counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.loop_work import loop_work, rounded
from scopt.astgen.emit.statement_costs import statement_costs
from scopt.astgen.loops.isl_loops import build
from scopt.ir.expr import exceeds, linear, names
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Call, Compare, Condition, Const, Exceeds, Expr, For, Name
from scopt.ir.nest_walks import Item, children, items
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import walk
from scopt.machine import Machine
from scopt.machine.costs import ELEMENT
from scopt.machine.streams import waiting_instance
from scopt.poly.linear import subscript_rows
from scopt.poly.lookups import narrow_lookups

NEVER = Compare(Const(0), ">", Const(0))
# Lanes that cells which data name take one after the other, in the time that vectors take for all the rest of them.
_GATHERED = 4


def source_tests(
    scop: Scop, limit: Fraction, machine: Machine, chained: Collection[str] = ()
) -> list[Condition | None]:
    """For each outermost loop of the original, the test that it has more than so many nanoseconds of work; None: it
    surely has, `NEVER`: it surely hasn't. chained: statements each instance of which waits for the one before."""
    costs = statement_costs(scop, {}, machine)
    costs.update({name: max(costs[name], waiting_instance(machine)) for name in chained})
    nest = build(scop, MarkedSchedule(scop.schedule, {}))
    parameters = frozenset(p.name for p in scop.parameters)
    whole = [whole_test(loop, costs, limit, parameters) for loop in outermost_loops(nest.body)]
    return list(dict.fromkeys(whole))


def waiting(source: Scop) -> set[str]:
    """The statements that add to one floating-point cell all along their innermost loop: steps of these wait for each
    other in the original, where compilers keep the order."""
    inside = (one for one in source.statements if one.iterators)
    return {one.name for one in inside if any(map(partial(_adds, source, one), one.accesses))}


def _adds(source: Scop, statement: Statement, write: Access) -> bool:
    if not write.is_write or not source.arrays[write.array].type.floating:
        return False
    rows = subscript_rows(write.relation)
    last = len(statement.iterators) - 1
    if rows is None or any(row[last] for row in rows):
        return False
    same = (one for one in statement.accesses if one.kind == "read" and one.array == write.array)
    return any(one.relation.is_equal(write.relation) for one in same)


def whole_test(
    loop: For, costs: Mapping[str, Fraction], limit: Fraction, parameters: frozenset[str]
) -> Condition | None:
    """The test of a loop's work as a whole; None: always, `NEVER`: never."""
    weight, factors = loop_work(loop, costs)
    factors = tuple(factor for factor in factors if names(factor) <= parameters and linear(factor)[0])
    if not factors or not weight:
        return NEVER if weight < limit else None
    return exceeds(factors, rounded(limit / weight))


def is_plain(condition: Condition) -> bool:
    """Whether all factors are sums of parameters: people read the test."""
    product = product_of(condition)
    return product is not None and all(isinstance(name, Name) for factor in product[0] for name in linear(factor)[0])


def product_of(work: Condition) -> tuple[tuple[Expr, ...], int] | None:
    """The factors whose product has to exceed a number, and the number; None for other tests."""
    match work:
        case Exceeds(factors, limit):
            return factors, limit
        case Compare(left, ">", Const(limit)):
            return (left,), limit
    return None


def has_vectors(loop: For) -> bool:
    return any(isinstance(item, For) and item.mark.simd for item in items(Block((loop,))))


def vector_elements(scop: Scop, machine: Machine) -> int:
    """By how much vectors may make the original loops quicker than costs say: with all lanes, a fork has to be worth it
    all the same."""
    return max((_lanes(scop, one, machine) for one in scop.statements if one.iterators), default=1)


def _lanes(scop: Scop, statement: Statement, machine: Machine) -> int:
    """Instances of a statement that vectors do at once: of its widest elements, which narrow ones are converted to;
    cells that data name are loaded one by one, so that only the rest is quicker, and narrow ones keep compilers from
    vectors at all."""
    if narrow_lookups(scop, statement) or _stores_sometimes(statement):
        return 1
    cells = [access for access in statement.accesses if scop.arrays[access.array].rank]
    sizes = [scop.arrays[access.array].type.bytes for access in cells if scop.arrays[access.array].type.bits]
    lanes = machine.lanes(max(sizes, default=ELEMENT))
    named = any(not access.relation.is_single_valued() for access in cells)
    return max(lanes // _GATHERED, 1) if named else lanes


def _stores_sometimes(statement: Statement) -> bool:
    """Whether a statement stores below a condition to cells that aren't neighbours: masks are for whole vectors of
    memory."""
    if not any(isinstance(node, ir.If) for node in walk(statement.body)):
        return False
    last = len(statement.iterators) - 1
    step = int(statement.domain.get_stride(last).get_num_si())
    rows = (subscript_rows(access.relation) for access in statement.accesses if access.is_write)
    return any(found and abs(found[-1][last]) * step > 1 for found in rows)


def outermost_loops(block: Block) -> Iterator[For]:
    for item in block.items:
        if isinstance(item, For):
            yield item
        elif not isinstance(item, Call):
            for part in children(item):
                yield from outermost_loops(part)


def without_tests(block: Block, conditions: Sequence[Condition]) -> Block:
    """The block without the tests that hold wherever any of the conditions does.

    They aren't only superfluous: where a function has one, clang asks for the thread's number whenever the function is
    called.
    """

    def visit(item: Item) -> Item:
        covered = (
            isinstance(item, For)
            and item.work is not None
            and all(_implies(condition, item.work) for condition in conditions)
        )
        return replace(item, work=None) if covered and isinstance(item, For) else item

    return Block(tuple(map(visit, block.items)))


def _implies(condition: Condition, test: Condition) -> bool:
    """Whether a condition on the work says that there is enough for a test: the same factors, some of them once more
    perhaps, exceed no more."""
    left, right = product_of(condition), product_of(test)
    if left is None or right is None:
        return False
    given, factors = Counter(left[0]), Counter(right[0])
    return right[1] <= left[1] and given <= factors and given.keys() == factors.keys()
