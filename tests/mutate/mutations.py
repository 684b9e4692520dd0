"""All faults that can be planted in what a step makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import Emitted
from scopt.astgen.generation import REWRITES
from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.lower.strip_lowering import Buffered
from scopt.astgen.transformed_program import Program
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.scheduler.base import ScheduleResult
from scopt.scheduler.passes.band_passes import passes
from scopt.scheduler.passes.expansion import Expansion
from tests.mutate.made import buffered_edits, lowered_edits
from tests.mutate.nests import Sought, heads, nest_edits
from tests.mutate.rewritten import expansion_edits
from tests.mutate.texts import text_edits
from tests.mutate.trees import result_edits, schedule_edits

STEPS = (
    "rewritten",
    "own",
    "work",
    "rolled",
    "schedule",
    *(one.name for one in passes(Options())),
    "strips-and-panels",
    "register-tiles",
    "loops",
    # sources run at any size, without tests in front of marked regions; "own-choices" changes no loop
    *(rewrite.name for rewrite in REWRITES if rewrite.name not in ("least-size", "row-memory", "own-choices")),
    "guard",
    "print",
)


class Mutation(Struct, frozen=True, eq=False):
    """kind: of the fault. place: where. make: returns what the step makes, with it. near: it is in something that this
    very step has changed."""

    kind: str
    place: str
    make: Callable[[], Any]
    near: bool = True


class Shown(Struct, frozen=True, eq=False):
    """What steps before have made. scop: of the stage before; nest: likewise."""

    scop: Scop | None = None
    nest: LoopNest | None = None

    def after(self, made: object) -> Shown:
        match made:
            case Buffered(scop=scop) | Lowered(scop=scop):
                return replace(self, scop=scop)
            case LoopNest():
                return replace(self, nest=made)
            case Program(nest=nest):
                return replace(self, nest=nest)
        return self


def mutations(made: object, shown: Shown) -> Iterator[Mutation]:
    """Every fault that can be planted in what a step makes, in a fixed order; none that leaves it as it is. shown: by
    the steps before."""
    match made:
        case Expansion():
            yield from (planted(*edit) for edit in expansion_edits(made))
        case ScheduleResult():
            yield from (Mutation(*edit) for edit in result_edits(made))
        case MarkedSchedule():
            assert shown.scop is not None
            yield from (Mutation(*edit) for edit in schedule_edits(shown.scop, made))
        case Buffered():
            assert shown.scop is not None
            yield from (Mutation(*edit) for edit in buffered_edits(shown.scop, made) if made.made)
        case Lowered():
            assert shown.scop is not None
            yield from (Mutation(*edit) for edit in lowered_edits(shown.scop, made) if made.made)
        case LoopNest():
            assert shown.scop is not None
            yield from (planted(*edit) for edit in _in_nest(shown.scop, made, None))
        case Program():
            if made.nest == shown.nest:
                return
            for kind, place, nest, near in _in_nest(made.scop, made.nest, shown.nest):
                yield planted(kind, place, replace(made, nest=nest), near)
        case Emitted():
            yield from (
                planted(kind, place, replace(made, text=text))
                for kind, place, text in text_edits(made.text)
                if text != made.text
            )
            for k, definition in enumerate(made.definitions):
                before, behind = made.definitions[:k], made.definitions[k + 1 :]
                for kind, place, text in text_edits(definition):
                    yield planted(f"definition: {kind}", place, replace(made, definitions=(*before, text, *behind)))
        case str():
            yield from (planted(kind, made[:100], text) for kind, _, text in text_edits(made) if text != made)


def planted(kind: str, place: str, made: Any, near: bool = True) -> Mutation:
    """A fault that is there already."""
    return Mutation(kind, place, lambda: made, near)


def _in_nest(scop: Scop, nest: LoopNest, before: LoopNest | None) -> Iterator[tuple[str, str, LoopNest, bool]]:
    old = frozenset(heads(before.body)) if before is not None else frozenset()
    fresh = Sought(frozenset(heads(nest.body)) - old)
    fresh.remember(nest.body)
    seen = {nest}
    for kind, place, changed in nest_edits(scop, nest):
        if changed not in seen:
            seen.add(changed)
            yield kind, place, changed, not fresh.all_in(changed.body)
