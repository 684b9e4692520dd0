"""Iterator names: short, telling, and never in the way of another name.

A loop over one original iterator keeps its name (``i``); a loop over a skewed iterator adds ``s`` (``is``), a tile loop
adds ``t`` to the name of its point loop (``it``, with a second level ``itt``); whatever is left is called ``t1``,
``t2``, …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, count

from scopt import ir
from scopt.ir.expr import linear, names
from scopt.ir.nest import Block, Call, For, Hold, LoopNest, Max, Min, Name
from scopt.ir.nest_walks import calls, children, declared, items, rename_iterators, used_names
from scopt.ir.scop import Scop
from scopt.ir.walks import walk

KEYWORDS = frozenset(
    """
        auto break case char const continue default do double else enum extern float for goto if inline int long
        register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    """.split()
)


def choose_names(scop: Scop, nest: LoopNest) -> LoopNest:
    """Give every loop its final iterator. In `nest` each loop has an iterator of its own that is no C identifier.

    An original iterator's name may be taken although it is reserved, because the loop declares it anew: then nothing
    inside the loop uses that name with another meaning. All other names avoid everything in `scop.reserved`.
    """
    chosen: dict[str, str] = {}
    _choose(_Statements(scop), nest.body, (), chosen)
    return LoopNest(rename_iterators(nest.body, chosen))


class _Statements:
    """What names the statements use, collected once."""

    def __init__(self, scop: Scop) -> None:
        self.iterators = {s.name: s.iterators for s in scop.statements}
        self.others = {s.name: identifiers(s.body) - set(s.iterators) for s in scop.statements}
        self.parameters = {p.name for p in scop.parameters} | {p.spelling for p in scop.parameters}
        self.taken = scop.reserved | scop.typedefs | set(scop.arrays) | self.parameters
        self.taken = self.taken.union(*self.others.values())


def names_in_use(scop: Scop, nest: LoopNest) -> frozenset[str]:
    """The names that a new variable of a nest can't have: those of the file, and of what the nest declares."""
    taken = scop.reserved | scop.typedefs | set(scop.arrays) | used_names(nest.body) | KEYWORDS
    taken |= {name for p in scop.parameters for name in (p.name, p.spelling)}
    return taken.union(*(declared(item) for item in items(nest.body) if isinstance(item, Hold)))


def identifiers(node: ir.Node) -> frozenset[str]:
    """All identifiers in a piece of C: variables, functions, types, declared names."""
    found: set[str] = set()
    for n in walk(node):
        match n:
            case ir.ID() | ir.Decl():
                found.add(n.name)
            case ir.IdentifierType():
                found.update(n.names)
    return frozenset(found)


def _choose(statements: _Statements, block: Block, enclosing: tuple[str, ...], chosen: dict[str, str]) -> None:
    for item in block.items:
        if isinstance(item, For):
            name = _name(statements, item, enclosing)
            chosen[item.iterator] = name
            _choose(statements, item.body, (*enclosing, name), chosen)
        else:
            for child in children(item):
                _choose(statements, child, enclosing, chosen)


def _name(statements: _Statements, loop: For, enclosing: tuple[str, ...]) -> str:
    inside = tuple(calls(loop.body))
    meant = used_names(loop.body) | names(loop.lower) | names(loop.upper) | frozenset(enclosing)
    meant = meant.union(*(statements.others[call.statement] for call in inside))
    roles = _roles(statements, loop)
    for role in roles:
        if role not in meant | statements.parameters and any(
            role in statements.iterators[call.statement] for call in inside
        ):
            return role
    base = roles[0] if roles else ""
    candidates = chain((base,), (f"{base}{k}" for k in count(2))) if base else (f"t{k}" for k in count(1))
    return next(c for c in candidates if c not in meant and c not in statements.taken and c not in KEYWORDS)


def _roles(statements: _Statements, loop: For) -> list[str]:
    """Names that tell what the loop iterates over, the most fitting one first; none if nothing tells."""
    for wanted, suffix in ((_unskewed, ""), (_skewed, "s")):
        found = Counter(chain.from_iterable(wanted(loop.iterator, call, statements) for call in calls(loop.body)))
        if found:
            return [f"{name}{suffix}" for name, _ in found.most_common()]
    for inner in items(loop.body):
        if isinstance(inner, For) and _is_tile_of(loop.iterator, inner):
            return [f"{role}t" for role in _roles(statements, inner)]
    return []


def _unskewed(iterator: str, call: Call, statements: _Statements) -> Iterator[str]:
    """Original iterators that are the loop's iterator up to a constant."""
    for original, arg in zip(statements.iterators[call.statement], call.args, strict=True):
        if linear(arg)[0] == {Name(iterator): 1} and not original.startswith("$"):
            yield original


def _skewed(iterator: str, call: Call, statements: _Statements) -> Iterator[str]:
    """The first original iterator that follows the loop's iterator, if the others stand still."""
    for original, arg in zip(statements.iterators[call.statement], call.args, strict=True):
        if linear(arg)[0].get(Name(iterator)) == 1 and not original.startswith("$"):
            yield original
            return


def _is_tile_of(iterator: str, inner: For) -> bool:
    """Whether the inner loop runs over an interval of constant length that starts at a multiple of the iterator."""
    lowers = [linear(arg)[0] for arg in (inner.lower.args if isinstance(inner.lower, Max) else (inner.lower,))]
    uppers = [linear(arg)[0] for arg in (inner.upper.args if isinstance(inner.upper, Min) else (inner.upper,))]
    return any(set(lower) == {Name(iterator)} and lower in uppers for lower in lowers)
