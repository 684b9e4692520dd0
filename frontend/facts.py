"""What is known of a function as a whole, worked out once: a file may have thousands of loops, and each asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pycparser import c_ast

from scopt.frontend.gnu import opaque_words

# What happens first to a variable on the way through some code: it may be read; it is surely overwritten (or the function is left)
# before any read; neither.
Fate = Literal["read", "killed", "untouched"]
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.FuncDef)
_RETURNS_TWICE = frozenset({"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "siglongjmp", "vfork", "getcontext"})
_HIDDEN_CONTROL = frozenset({"goto", "break", "continue", "return"})


@dataclass(slots=True, eq=False)
class FunctionFacts:
    """Of one function definition, whose tree doesn't change any more.

    parents: by `id` of a node of the body, the node above it and its position among that one's children. jumps: control may move in ways that a
    walk along the structure does not see. leaps: `id` of each ``break`` and ``continue``; switches: of each ``switch`` and its
      labels. taken: what `addresses_taken` said, by its ranks.
    fates: what a statement does to a variable's value (see `liveness`).
    """

    function: Any
    parents: dict[int, tuple[Any, int]] = field(default_factory=dict)
    jumps: bool = False
    leaps: set[int] = field(default_factory=set)
    switches: set[int] = field(default_factory=set)
    fates: dict[tuple[int, str, bool], Fate] = field(default_factory=dict)
    taken: dict[frozenset[tuple[str, int]], frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Any) -> FunctionFacts:
        facts = cls(function)
        todo = [function.body]
        while todo:
            node = todo.pop()
            facts.jumps = facts.jumps or _is_jump(node)
            if isinstance(node, (c_ast.Break, c_ast.Continue)):
                facts.leaps.add(id(node))
            if isinstance(node, (c_ast.Switch, c_ast.Case, c_ast.Default)):
                facts.switches.add(id(node))
            for index, (_, child) in enumerate(node.children()):
                facts.parents[id(child)] = (node, index)
                todo.append(child)
        return facts

    def path_to(self, target: Any) -> list[tuple[Any, int]]:
        """The nodes from the body down to, without, `target`, each with the position of the child that leads on; empty if it isn't in the body."""
        path: list[tuple[Any, int]] = []
        while (above := self.parents.get(id(target))) is not None:
            path.append(above)
            target = above[0]
        return path[::-1] if target is self.function.body else []


def _is_jump(node: Any) -> bool:
    if isinstance(node, _JUMPS):
        return True
    if not isinstance(node, c_ast.FuncCall):
        return False
    if isinstance(node.name, c_ast.ID) and node.name.name in _RETURNS_TWICE:
        return True
    words = opaque_words(node)
    return words is not None and bool(_HIDDEN_CONTROL & set(words))
