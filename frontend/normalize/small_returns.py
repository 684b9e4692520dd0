"""What functions of the file return at least and at most, where that is little: ``return (d > 0) - (d < 0);``."""

from __future__ import annotations

from collections.abc import Iterable

from scopt import ir
from scopt.frontend.normalize.formulas import formula_of
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.ctypes import type_spelling
from scopt.ir.small_values import Interval, interval
from scopt.ir.walks import used_names


def small_returns(tu: TranslationUnit, bodies: Iterable[ir.Node]) -> dict[str, Interval]:
    """By name, the functions of type int that statements call, and that only choose among small values."""
    found = {}
    for name in dict.fromkeys(used_names(*bodies)):
        function = tu.functions.get(name)
        if function is None or tu.pure_functions.get(name) != "const":
            continue
        formula = formula_of(function)
        if formula is None or type_spelling(function.decl.type.type) != "int":
            continue
        returned = interval(formula, lambda _: None)
        if returned is not None:
            found[name] = returned
    return found
