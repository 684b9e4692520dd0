"""Loops of transforms that go in stages, at distances that are the stage's own: as loops over blocks with loops over
places in a block.

``for (i = 0; i < n; i += 2 * h) for (k = 0; k < h; k++) … x[i + k] … x[i + k + h]`` steps by a variable (Fourier
transforms); ``for (i = 0; i < n; i++) if (i & h) x[i] += x[i ^ h]`` asks for a bit (sums over subsets, networks that
sort). Within a stage `h` is a parameter: both are loops over blocks ``q``, of ``2 * h`` cells, at ``q * (2 * h)``. How
many there are is computed in front of the region, as -1 where nothing would be right: where `h` isn't positive, or not
the power of two that the second form needs, or its last block would lack cells. The program tests that
(`StageLoops.required`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.bit_halves import bits_of
from scopt.frontend.normalize.failing_checks import behind_checks
from scopt.frontend.normalize.fixed_values import FixedValues
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.normalize.opaque import LOOPS, may_end_early
from scopt.frontend.normalize.stage_bits import BitLoops
from scopt.frontend.normalize.stage_steps import VariableSteps, step_added
from scopt.frontend.normalize.stage_values import StageValues
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.effects import effects
from scopt.ir.walks import changed, mapped, walk


class StageLoops(Struct, frozen=True, eq=False):
    """items: the statements. iterators: the new ones. values: numbers of blocks, and their sizes. required: those that
    have to be at least a number, here 0. distances: expressions of blocks' lengths, with what these are multiplied in
    them. changed: there are any."""

    items: tuple[Any, ...]
    iterators: frozenset[str]
    values: tuple[Hoisted, ...]
    required: tuple[tuple[str, int], ...]
    distances: tuple[tuple[Any, int], ...]
    changed: bool


def with_stage_loops(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    inside: Collection[str],
    symbolic: Collection[str],
    reserved: Collection[str],
    long_type: str,
    read_after: Callable[[str], bool],
) -> StageLoops:
    """The statements of a region, in which each name has one meaning, with such loops.

    inside: names that are declared in it, and iterators. symbolic: macros with names of their own. long_type: an
    integer type of 64 bits. read_after: whether what the region leaves in a variable may be read."""
    items = tuple(items)
    if not any(isinstance(node, ir.For) for node in walk(*items)):
        return StageLoops(items, frozenset(), (), (), (), changed=False)
    changing = {*inside, *symbolic, *effects(*items).assigned}
    known = StageValues(FixedValues(symbols, changing), {*reserved, *inside}, long_type, read_after, items)
    maker = _Maker(known, behind_checks(items))
    made = tuple(maker.statement(item, ()) for item in items)
    iterators, values, required = frozenset(known.iterators), tuple(known.values), tuple(known.required)
    return StageLoops(made, iterators, values, required, tuple(known.distances), bool(known.iterators))


def may_go_in_stages(loop: ir.For) -> bool:
    """Whether a loop has the form of one of this kind, as far as it can be told by itself."""
    name = loop_iterator(loop)
    if name is None or loop.next is None:
        return False
    step = step_added(loop.next, name)
    return bool(names_of(step)) if step is not None else next(bits_of(name, loop.stmt), None) is not None


def goes_in_stages(loop: ir.For, changing: Collection[str]) -> bool:
    """Whether a loop steps by, or asks for a bit of, what changes around it: it would be one of this kind if it were
    taken alone. changing: names that the region sets, declares or steps."""
    name = loop_iterator(loop)
    if name is None or loop.next is None:
        return False
    own = {name, *effects(loop.stmt).changed}
    step = step_added(loop.next, name)
    found = [step] if step is not None else [bit.mask for bit in bits_of(name, loop.stmt)]
    return any(names_of(one) & set(changing) and not names_of(one) & own for one in found)


class _Maker(Struct, frozen=True, eq=False):
    """late: `behind_checks`."""

    known: StageValues
    late: frozenset[Any]

    def statement(self, node: Any, around: tuple[ir.For, ...] | None) -> Any:
        """A statement rewritten from the outside in. around: the loops around it; None where it depends on something
        else too whether it is reached."""
        around = None if node in self.late else around
        if not isinstance(node, ir.For):
            inner = None if isinstance(node, (*LOOPS, ir.If, ir.Switch, ir.TernaryOp)) else around
            return mapped(node, lambda child: self.statement(child, inner))
        loop = self.known.header(node) if around is not None else None
        made = None
        if around is not None and loop is not None:
            made = VariableSteps(self.known).blocks(node, loop, around) or BitLoops(self.known).blocks(
                node, loop, around
            )
        node = made if made is not None else node
        inner = None if around is None or may_end_early(node.stmt) or behind_checks((node,)) else (*around, node)
        body = self.statement(node.stmt, inner)
        return node if body is node.stmt else changed(node, stmt=body)
