"""Variables for what stays the same in loops: calls that iterations do, conditions that decide about them, flags that
any of them sets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from msgspec.structs import replace

from scopt.frontend.normalize.conditions_inside import with_conditions_inside
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.flags import with_flags_below_conditions, with_flags_collected
from scopt.frontend.normalize.short_updates import with_short_updates
from scopt.frontend.normalize.steady_calls import with_steady_calls
from scopt.frontend.syntax.symbols import Symbol
from scopt.frontend.syntax.unit import TranslationUnit


def with_values_in_front(
    tu: TranslationUnit,
    items: tuple[Any, ...],
    types: ExpressionTypes,
    iterators: Collection[str],
    reserved: Collection[str],
    read_after: Callable[[str], bool],
) -> tuple[tuple[Any, ...], dict[str, Symbol], ExpressionTypes]:
    """The statements of a region with such variables, these, and types with them; short loops below conditions are
    written out. The rest is as in `with_conditions_inside`."""
    items, steady = with_steady_calls(items, types.scope, reserved, tu.defined_functions)
    types = replace(types, scope={**types.scope, **steady})
    items, bits, before = with_flags_collected(items, types.scope, iterators, reserved)
    types = replace(types, scope={**types.scope, **bits})
    items = with_short_updates(items)
    items, told = with_conditions_inside(items, types.scope, iterators, types, reserved, read_after)
    items = with_flags_below_conditions(items, before, iterators)
    return items, {**steady, **bits, **told}, replace(types, scope={**types.scope, **told})
