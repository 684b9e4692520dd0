"""Static variables of a function that each call sets before it reads them, as f2c declares all locals: nothing of them
passes from one call to the next, so that they are like variables of the call's own.

They are declared ``auto`` in the tree: what looks at regions takes them for automatic ones, while a function with such
variables is still none that threads may call side by side. Not where a call may come back to the function while the
variable has a value that is read later: it would be another one then.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scopt import ir
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.flow import passes_into
from scopt.frontend.syntax.symbols import taken_in
from scopt.ir.walks import changed, rebuilt, walk


def with_passing_statics(ast: Any, harmless: Collection[str]) -> Any:
    """The file's tree with these declared `auto`. harmless: functions that call nothing but each other."""
    made = [_automatic(one, harmless) if isinstance(one, ir.FuncDef) else one for one in ast.ext]
    return ast if all(one is other for one, other in zip(made, ast.ext, strict=True)) else changed(ast, ext=made)


def _automatic(function: ir.FuncDef, harmless: Collection[str]) -> ir.FuncDef:
    declared = [
        one for one in walk(function.body) if isinstance(one, ir.Decl) and list(one.storage or ()) == ["static"]
    ]
    scalars = [one for one in declared if isinstance(one.type, ir.TypeDecl) and "const" not in (one.quals or ())]
    if not scalars:
        return function
    facts = FunctionFacts.of(function)
    if facts.hidden_jumps:
        return function
    taken = taken_in(facts, {})
    found = {
        one for one in scalars if one.name not in taken and not passes_into(function, one, facts.mentioned, harmless)
    }
    if not found:
        return function
    body = rebuilt(function.body, lambda node: changed(node, storage=["auto"]) if node in found else node)
    return changed(function, body=body)
