"""The check of all functions that stand in front of the user's: each text has to define a known one, and to compute
what is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from scopt import ir
from scopt.astgen.emit.c_expr import ALL_HELPERS, helper_name
from scopt.astgen.emit.math_functions import is_math_declaration
from scopt.astgen.lower.ending_loops import EndingLoop
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.row_sums import RowSums
from scopt.astgen.lower.transposing import Transposed
from scopt.check.functions.conditionals import branches
from scopt.check.functions.counters import COUNTER, TOLD, check_counter, check_told
from scopt.check.functions.ending_functions import check_ending
from scopt.check.functions.faults import Fault
from scopt.check.functions.helper_functions import MEMORY, THREADS, check_helpers, check_memory, check_threads
from scopt.check.functions.kernels import check_kernel
from scopt.check.functions.sums_of_rows import check_sums
from scopt.check.functions.transposed import check_transposed
from scopt.check.functions.workshop import Workshop
from scopt.diagnostics import InternalError, Location

Function = Kernel | Transposed | RowSums | EndingLoop
# What was found right: attempts at a region, regions, and files that one process reads have the same functions again,
# but for their names. So many are kept.
_RIGHT: set[object] = set()
_MOST_KEPT = 1000
_DEFINED = re.compile(r"\b(?!(?:for|if|while)\b)(\w+)\s*\([^(){}]*\)\s*\{")


def check_functions(
    location: Location,
    definitions: Sequence[str],
    kernels: Sequence[Kernel] = (),
    transposed: Sequence[Transposed] = (),
    sums: Sequence[RowSums] = (),
    endings: Sequence[EndingLoop] = (),
    *,
    helpers: Collection[str] = (),
    long_type: str,
    reserved: Collection[str] = frozenset(),
    taken: frozenset[str] = frozenset(),
    workshop: Workshop | None = None,
) -> None:
    """Raise InternalError unless these texts, as they will be written, define all kernels, copies, sums and loops that
    end on data, and other functions only such as are known, and each computes in every configuration of the compiler
    what it has to.

    location: of the region that calls them. helpers: those that it calls, which have to be among the texts. long_type,
    reserved: as these were printed with. taken: as in `Scop`. workshop: what was found right there isn't checked again;
    without one, what was found right in any check without one.
    """
    right = _RIGHT if workshop is None else workshop.right
    workshop = workshop or Workshop()
    known: dict[str, Function] = {one.name: one for one in kernels}
    known |= {one.name: one for one in transposed} | {one.name: one for one in sums}
    known |= {one.name: one for one in endings}
    missing = set(known) | {helper_name(helper, frozenset(reserved)) for helper in helpers}
    for text in definitions:
        names = _DEFINED.findall(text)
        try:
            if not text.strip() or is_math_declaration(text):
                continue
            missing -= _check_one(workshop, right, location, text, names, known, long_type, frozenset(reserved), taken)
        except (Fault, StopIteration) as fault:
            raise InternalError(f"{location}: the function '{names[-1] if names else text[:40]}': {fault}") from fault
    if missing:
        raise InternalError(f"{location}: functions that aren't defined: {', '.join(sorted(missing))}")
    if len(_RIGHT) > _MOST_KEPT:
        _RIGHT.clear()


def _check_one(
    workshop: Workshop,
    right: set[object],
    location: Location,
    text: str,
    names: Sequence[str],
    known: Mapping[str, Function],
    long_type: str,
    reserved: frozenset[str],
    taken: frozenset[str],
) -> set[str]:
    """Check one text by what it defines. The names of the functions in it."""
    own = [name for name in dict.fromkeys(names) if name in known]
    helpers = {helper_name(helper, reserved) for helper in ALL_HELPERS}
    if len(own) > 1 or not names:
        raise Fault("a text that isn't understood")
    check: Callable[[], None]
    prefix = own[0] if own else "#"
    if own:
        function = known[own[0]]
        if isinstance(function, Kernel):
            check = lambda: check_kernel(workshop, function, text)  # noqa: E731
        elif isinstance(function, RowSums):
            check = lambda: check_sums(workshop, function, text)  # noqa: E731
        elif isinstance(function, EndingLoop):
            check = lambda: check_ending(workshop, function, text)  # noqa: E731
        else:
            check = lambda: check_transposed(workshop, function, text)  # noqa: E731
        key: tuple[object, ...] = (_anonymous(text, own[0]), _fingerprint(function))
    else:
        check, key = (
            _check_of(workshop, location, text, names, helpers, long_type, reserved, taken),
            (text, location, long_type, reserved, taken),
        )
    others = {
        name for name in (*names, *branches(text).defined) if name not in own and not name.startswith(f"{prefix}_")
    }
    if others and (own or branches(text).defined):
        raise Fault(f"defines '{min(others)}' too")
    if key not in right:
        check()
        right.add(key)
    return set(names)


def _check_of(
    workshop: Workshop,
    location: Location,
    text: str,
    names: Sequence[str],
    helpers: set[str],
    long_type: str,
    reserved: frozenset[str],
    taken: frozenset[str],
) -> Callable[[], None]:
    if helpers.issuperset(names):
        return lambda: _check_helpers(text, long_type, reserved)
    if any(map(MEMORY.match, names)):
        return lambda: check_memory(workshop, text, taken)
    if any(map(THREADS.match, names)):
        return lambda: check_threads(workshop, text)
    if names == [TOLD]:
        return lambda: check_told(workshop, text)
    if any(map(COUNTER.match, names)):
        return lambda: check_counter(workshop, text, location)
    raise Fault("a function that isn't known")


@lru_cache(64)
def _check_helpers(text: str, long_type: str, reserved: frozenset[str]) -> None:
    """Raise Fault where `check_helpers` does. Regions, and attempts at one, have the same few texts."""
    check_helpers(Workshop(), text, long_type, reserved)


def _anonymous(text: str, name: str) -> str:
    """The same for functions that differ by their names."""
    return re.sub(rf"\b{name}(?=\b|_)", "$", text)


def _fingerprint(function: Function) -> tuple[object, ...]:
    """The same for functions that are to compute the same."""
    if isinstance(function, EndingLoop):
        kinds = function.states, function.given, function.same, function.own
        return kinds, function.bits, function.long_type, _shape(function.body, {})
    if isinstance(function, RowSums):
        operands = function.rows, function.common, function.scalars, function.own, function.width
        updates = tuple((one.target, one.op, _shape(one.value, {})) for one in function.updates)
        return updates, function.type, operands, function.long_type
    if isinstance(function, Transposed):
        leaves: dict[ir.Node, str] = {
            function.source: "source",
            **{own: f"scalar{k}" for k, own in enumerate(function.scalars)},
        }
        types = function.type, function.source_type, function.narrow, len(function.scalars)
        return types, function.width, function.long_type, function.back, _shape(function.operand, leaves)
    one = function.operation
    kind = type(function).__name__
    counts = len(one.rows), len(one.columns), len(one.scalars)
    return (
        kind,
        one.op,
        one.type,
        one.operand_type,
        one.extremum,
        counts,
        _shape(one.expression, {}),
        function.rows,
        function.columns,
        function.row_strides,
        function.long_type,
    )


def _shape(n: ir.Node, leaves: Mapping[ir.Node, str]) -> object:
    if n in leaves:
        return leaves[n]
    own = tuple(str(getattr(n, name)) for name in n.attr_names)
    return type(n).__name__, own, tuple(_shape(child, leaves) for child in n.parts)
