"""Which functions of C's library statements call through functions of the file."""

from __future__ import annotations

from collections.abc import Iterable

from scopt import ir
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.walks import used_names


def library_calls(tu: TranslationUnit, bodies: Iterable[ir.Node]) -> dict[str, frozenset[str]]:
    """By name, each function that statements call, or that those of the file do, with the library's functions of
    values that it leads to. Those that the file declares: which it doesn't define, and that are no macros."""
    found: dict[str, frozenset[str]] = {}
    todo = list(dict.fromkeys(used_names(*bodies)))
    reached: dict[str, list[str]] = {}
    while todo:
        name = todo.pop()
        if name not in reached:
            function = tu.functions.get(name)
            reached[name] = list(used_names(function.body)) if function is not None else []
            todo += reached[name]
    ours = reached.keys() & VALUE_FUNCTIONS - tu.defined_functions - tu.preprocessed.all_macros.keys()
    if not ours:
        return found
    declared = {node.name for node in tu.ast.ext if isinstance(node, ir.Decl) and isinstance(node.type, ir.FuncDecl)}
    for name in reached:
        behind = _behind(name, reached) & ours & declared
        if behind:
            found[name] = frozenset(behind)
    return found


def _behind(name: str, reached: dict[str, list[str]]) -> set[str]:
    """A function, and all that it leads to."""
    found, todo = set[str](), [name]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += reached[one]
    return found
