"""Where trees use variables."""

from __future__ import annotations

from scopt import ir
from scopt.frontend.text.gnu import PREAMBLE
from scopt.ir.from_pycparser import parse_c
from scopt.ir.name_uses import name_uses


def body_of(text: str) -> ir.Node:
    body: ir.Node = parse_c(f"{PREAMBLE}\nvoid f(void) {{ {text} }}").ext[-1].body
    return body


def test_uses_declarations_and_questions_are_those_of_all_statements_below() -> None:
    body = body_of("int a = 1; { int a; a = b; } for (i = 0; i < b; i++) if (a) x[a] = sizeof(x); g(&b);")
    found = name_uses(body)
    assert found.uses == {"a": 3, "b": 3, "i": 3, "x": 2, "g": 1}
    assert {name: len(some) for name, some in found.declared.items()} == {"a": 2}
    assert found.asked == {"x", "b"}


def test_several_nodes_are_taken_together() -> None:
    body = body_of("a = b; a = c; b = a;")
    assert name_uses(*body.block_items[1:]).uses == {"a": 2, "b": 1, "c": 1}
    assert not name_uses().uses
