"""What is known of a function as a whole, worked out once: a file may have thousands of loops, and each asks."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.ir.effects import opaque_words

_RETURNS_TWICE = frozenset(
    {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "siglongjmp", "vfork", "getcontext"}
)
_LOOPS = (ir.For, ir.While, ir.DoWhile)
_HIDDEN_CONTROL = frozenset({"goto", "break", "continue", "return"})


class FunctionFacts(Struct, eq=False):
    """Of one function definition, whose tree doesn't change any more.

    parents: by node of the body, the node above it and its position among that one's children. loops: by their places.
    hidden_jumps: control may move in ways that no statement of C spells out. entered: the statements that are labels or
    have one inside.
    taken: what `addresses_taken` said, by its ranks. live: what `live_positions` said, by the declaration; mentioned:
      the names in expressions and declarations, which that asks for for each variable.
    """

    function: Any
    parents: dict[Any, tuple[Any, int]] = field(default_factory=dict)
    loops: dict[ir.Coord | None, Any] = field(default_factory=dict)
    hidden_jumps: bool = False
    entered: set[Any] = field(default_factory=set)
    taken: dict[frozenset[tuple[str, int]], frozenset[str]] = field(default_factory=dict)
    live: dict[Any, frozenset[tuple[Any, int]] | None] = field(default_factory=dict)
    mentioned: dict[Any, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Any) -> FunctionFacts:
        facts = cls(function)
        todo = [function.body]
        while todo:
            node = todo.pop()
            facts.hidden_jumps = facts.hidden_jumps or _is_hidden_jump(node)
            if isinstance(node, _LOOPS):
                facts.loops[node.coord] = node
            for index, child in enumerate(node.parts):
                facts.parents[child] = (node, index)
                todo.append(child)
            if isinstance(node, (ir.Label, ir.Case, ir.Default)):
                facts.entered.update((node, *(above for above, _ in facts.path_to(node))))
        return facts

    def path_to(self, target: Any) -> list[tuple[Any, int]]:
        """The nodes from the body down to, without, `target`, each with the position of the child that leads on; empty
        if it isn't in the body."""
        path: list[tuple[Any, int]] = []
        while (above := self.parents.get(target)) is not None:
            path.append(above)
            target = above[0]
        return path[::-1] if target is self.function.body else []

    def origin(self, loop: Any) -> Any:
        """The loop of the body that one was made of, of the same kind; the loop itself if there is none."""
        found = self.loops.get(loop.coord)
        return found if type(found) is type(loop) else loop


def _is_hidden_jump(node: Any) -> bool:
    if isinstance(node, ir.FuncDef):
        return True
    if not isinstance(node, ir.FuncCall):
        return False
    if isinstance(node.name, ir.ID) and node.name.name in _RETURNS_TWICE:
        return True
    words = opaque_words(node)
    return words is not None and bool(_HIDDEN_CONTROL & set(words))
