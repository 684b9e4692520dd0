"""Conditions as choices, and choices as conditions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from scopt import ir
from scopt.ir.chosen_values import as_ways, choices, conditions, whole_choice
from scopt.ir.from_pycparser import parse_c
from scopt.ir.printing import CPrinter
from scopt.ir.walks import same_tree

TYPES = {"a": "int", "b": "int", "x": "float", "d": "float"}
OWN = frozenset("abx")


def statement(text: str) -> ir.Node:
    return parse_c(f"void f(void) {{ {text} }}").ext[0].body.block_items[0]


def name_of(node: ir.Node) -> str:
    return node.name if isinstance(node, ir.ID) else ""


def type_of(node: ir.Node) -> str | None:
    return TYPES.get(name_of(node))


def as_choices(text: str) -> ir.Node | None:
    return choices(statement(text), lambda node: name_of(node) in OWN, type_of)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("if (d < x) x = d;", "x = d < x ? d : x;"),
        # what the condition looks at comes last
        ("if (d < x) { x = d; a = b; }", "{ a = d < x ? b : a; x = d < x ? d : x; }"),
        # where the value may have another type it is converted before the choice would do so
        ("if (d < 0) a = d;", "a = d < 0 ? (int)d : a;"),
        ("if (a > 3) b = b + 1;", "b = a > 3 ? (int)(b + 1) : b;"),
        # each sees what those in front of it have given
        ("if (d < 1) { a = b; b = 1; }", "{ a = d < 1 ? b : a; b = d < 1 ? 1 : b; }"),
        ("if (d < 1) { a++; b -= a; }", "{ a = d < 1 ? (int)(a + 1) : a; b = d < 1 ? (int)(b - a) : b; }"),
        ("if (d < x) a += 1;", "a = d < x ? (int)(a + 1) : a;"),
        (
            "if (d < 3) { a++; --b; x *= d; }",
            "{ a = d < 3 ? (int)(a + 1) : a; b = d < 3 ? (int)(b - 1) : b; x = d < 3 ? (float)(x * d) : x; }",
        ),
    ],
)
def test_conditions_become_choices(text: str, wanted: str) -> None:
    made = as_choices(text)
    assert made is not None
    assert same_tree(made, statement(wanted)), CPrinter().visit(made)


def test_chains_of_updates_only_where_they_are_wanted() -> None:
    for text, free in (("if (d < 1) { a = b; b = 1; }", False), ("if (d < 1) { a = 1; b = 1; }", True)):
        made = choices(statement(text), lambda node: name_of(node) in OWN, type_of, chained=False)
        assert (made is not None) == free


@pytest.mark.parametrize(
    "text",
    [
        "if (d < x) d = x;",  # not ours: nobody may write it at any time
        "if (d < x) x = d; else x = 0;",
        "if (a < b) { a = b; b = 3; }",  # both change the condition
        "if (a < b) { a = x; x = a; }",  # the order matters, and the first one changes the condition
        "if (d < x) { a = 1; a += 2; }",
        "if (d < x) { a++; ; }",
        "if (f(d)) a = 1;",
        "if (d < x) a = f(d);",
        "if (a++ < 1) b = 1;",
        "a = 1;",
    ],
)
def test_other_statements_stay(text: str) -> None:
    assert as_choices(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "{ x = d < x ? d : x; a = d < x ? b : a; }",  # the second condition sees the first one's result
        "{ a = d < x ? b : a; b = d > x ? 1 : b; }",  # two conditions
        "x = d < x ? d : d;",
        "a = d < x ? (char)b : a;",  # a conversion that the assignment does not make
        "a = d < x ? d : a;",  # what stays goes through the other type
        "y = d < x ? d : y;",  # of unknown type
        "x += d < x ? d : x;",
        "x = f() < x ? d : x;",
        "{ x = d < x ? d : x; y = 1; }",
    ],
)
def test_choices_that_no_condition_is_known_for(text: str) -> None:
    assert list(conditions(statement(text), type_of)) == []


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("if (d < x) a = b; else a = 1;", "a = d < x ? b : 1"),
        ("if (d < x) { a = b; } else { a = 1; }", "a = d < x ? b : 1"),
        ("if (d < x) x = d; else if (d > x) x = 2 * d; else x = x;", "x = d < x ? d : (d > x ? (float) (2 * d) : x)"),
        ("if (d < x) { if (a) x = d; else x = a; } else x = d;", "x = d < x ? (a ? d : (float) a) : d"),
    ],
)
def test_ways_that_assign_one_cell_are_one_choice(text: str, made: str) -> None:
    original = statement(text)
    found = whole_choice(original, type_of)
    assert found is not None
    assert same_tree(found, statement(f"{made};"))
    back = as_ways(original, found, type_of)
    assert back is not None
    assert same_tree(back, original)


@pytest.mark.parametrize(
    "text",
    [
        "if (d < x) a = b;",  # nothing is assigned else
        "if (d < x) a = b; else b = a;",
        "if (d < x) a = b; else { a = 1; b = 2; }",
        "if (d < x) a = b; else a += 1;",
        "if (d < x) y = b; else y = 1;",  # of unknown type
        "if (d++ < x) a = b; else a = 1;",
        "if (d < x) a = b++; else a = 1;",
        "if (d < x) a = f(); else a = 1;",
        "a = b;",
    ],
)
def test_ways_that_are_no_choice(text: str) -> None:
    assert whole_choice(statement(text), type_of) is None


@pytest.mark.parametrize(
    ("like", "text"),
    [
        ("if (d < x) a = b; else a = 1;", "a = d < x ? d : 1;"),  # through the other type
        ("if (d < x) a = b; else a = d;", "a = d < x ? b : (char) d;"),
        ("if (d < x) a = b; else a = 1;", "a += d < x ? b : 1;"),
        ("if (d < x) a = b; else a = 1;", "a = b;"),
        ("if (d < x) a = b;", "a = d < x ? b : a;"),
        ("if (d < x) y = b; else y = 1;", "y = d < x ? b : 1;"),
        ("if (d < x) a = b; else { a = 1; b = 2; }", "a = d < x ? b : 1;"),
    ],
)
def test_choices_that_are_no_ways(like: str, text: str) -> None:
    assert as_ways(statement(like), statement(text), type_of) is None


ASSIGNED = st.lists(st.sampled_from(["a", "b", "x"]), min_size=1, max_size=3, unique=True)


def run(node: Any, state: dict[str, int]) -> Any:
    """A statement or expression, on integers."""
    match node:
        case ir.Compound(block_items=items):
            for item in items or ():
                run(item, state)
        case ir.If(cond=condition, iftrue=then):
            if run(condition, state):
                run(then, state)
        case ir.Assignment(op=op, lvalue=target, rvalue=value):
            state[target.name] = run(value, state) + (state[target.name] if op == "+=" else 0)
        case ir.UnaryOp(op="p++" | "++", expr=target):
            state[target.name] += 1
        case ir.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise):
            return run(then if run(condition, state) else otherwise, state)
        case ir.BinaryOp(op=op, left=left, right=right):
            a, b = run(left, state), run(right, state)
            return {"<": a < b, ">": a > b, "+": a + b}[op]
        case ir.Cast(expr=inner):
            return run(inner, state)
        case ir.Constant(value=value):
            return int(value)
        case ir.ID(name=name):
            return state[name]
    return None


@given(
    ASSIGNED,
    st.lists(
        st.sampled_from(["= d", "= 1", "= a + 1", "= b", "= x", "+= d + x", "+= 1", "++"]), min_size=3, max_size=3
    ),
    st.sampled_from(["d < x", "a > b", "d > 2", "x < a + 1"]),
    st.dictionaries(st.sampled_from("abxd"), st.integers(-4, 4), min_size=4, max_size=4),
)
def test_choices_do_what_the_condition_does(
    targets: list[str], values: list[str], condition: str, state: dict[str, int]
) -> None:
    body = " ".join(f"{target} {value};" for target, value in zip(targets, values, strict=False))
    original = statement(f"if ({condition}) {{ {body} }}")
    made = as_choices(f"if ({condition}) {{ {body} }}")
    if made is None:
        return
    wanted, found = dict(state), dict(state)
    run(original, wanted)
    run(made, found)
    assert found == wanted
    back = list(conditions(made, type_of))
    assert any(same_tree(one, original) for one in back)
    for one in back:
        again = dict(state)
        run(one, again)
        assert again == wanted


@pytest.mark.parametrize(
    "text", ["if (d < x) a += 3;", "if (d < x) a++;", "if (d < x) --b;", "if (d < x) { x /= d; a |= b; }"]
)
def test_updates_are_found_again(text: str) -> None:
    made = as_choices(text)
    assert made is not None
    assert any(same_tree(one, statement(text)) for one in conditions(made, type_of))
    other = statement(text.replace("a", "b"))
    assert text == "if (d < x) --b;" or not any(same_tree(one, other) for one in conditions(made, type_of))
