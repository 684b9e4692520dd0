"""Draws what skips statements: branches, and jumps inside of loops."""

from __future__ import annotations

from msgspec.structs import replace

from tests.fuzz.draft import Draft
from tests.fuzz.expressions import Condition, Data, DataType, Operation
from tests.fuzz.integers import condition
from tests.fuzz.scope import Scope
from tests.fuzz.statements import Jump, Loop, Stmt
from tests.fuzz.values import leaf, literal


def data_condition(draft: Draft, scope: Scope) -> Data:
    """A comparison of data."""
    types = sorted({shape.type for shape in draft.data()})
    kind: DataType = draft.choices.pick("double", *(type for type in types if type != "double")) if types else "double"
    return Operation(
        f"{{}} {draft.choices.pick('<', '>', '<=', '!=')} {{}}", (leaf(draft, scope, kind), literal(draft, kind))
    )


def with_jump(draft: Draft, loop: Loop, scope: Scope) -> Loop:
    """The loop with a jump in its body. A while loop's `continue` would leave out its step."""
    choices = draft.choices
    stops: Condition | Data = condition(draft, scope) if choices.chance(60) else data_condition(draft, scope)
    jump = Jump(stops, choices.pick("continue", "break") if loop.form not in ("while", "do") else "break")
    first = choices.up_to(len(loop.body))
    body: tuple[Stmt, ...] = (*loop.body[:first], jump, *loop.body[first:])
    return replace(loop, body=body)
