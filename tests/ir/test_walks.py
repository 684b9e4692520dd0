"""Walks over nodes, and what makes others of them."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, strategies as st

from scopt import ir
from scopt.ir.from_pycparser import parse_c
from scopt.ir.printing import CPrinter
from scopt.ir.walks import (
    changed,
    copied,
    distinct,
    mapped,
    rebuilt,
    replaced,
    rewritten,
    same_tree,
    used_names,
    walk,
    with_nodes,
)


def expression(text: str) -> ir.Node:
    value: ir.Node = parse_c(f"int v = {text};").ext[0].init
    return value


def statement(text: str) -> ir.Node:
    found: ir.Node = parse_c(f"void f(void) {{ {text} }}").ext[0].body.block_items[0]
    return found


def text_of(node: ir.Node) -> str:
    return CPrinter(reduce_parentheses=True).visit(node)


def name(text: str) -> ir.Node:
    return ir.ID(text)


EXPRESSIONS = st.recursive(
    st.sampled_from("abc").map(name),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*"), inner, inner).map(lambda parts: ir.BinaryOp(*parts)),
        st.tuples(inner, inner).map(lambda parts: ir.ArrayRef(*parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: ir.FuncCall(ir.ID("f"), ir.ExprList(items))),
        inner.map(lambda part: ir.StructRef(part, ".", "a")),
    ),
    max_leaves=12,
)


def test_the_walk_is_in_the_order_of_the_source() -> None:
    assert list(used_names(statement("for (i = a; b < c; d++) { e = f[g] + h(j.k, l->m); }"))) == list("iabcdefghjl")
    assert list(walk()) == list(walk(None)) == []
    assert list(used_names(expression("a + b"), None, expression("c"))) == ["a", "b", "c"]


def test_nodes_do_not_change() -> None:
    node = expression("a + b")
    with pytest.raises(AttributeError, match="doesn't change"):
        node.left = node.right
    with pytest.raises(AttributeError, match="doesn't change"):
        del node.op
    with pytest.raises(AttributeError):
        copy.deepcopy(node)
    items = [ir.ID("a")]
    block = ir.Compound(items)
    items.append(ir.ID("b"))
    assert len(block.block_items) == 1


def test_other_fields() -> None:
    node = expression("a + b")
    other = changed(node, op="-")
    assert (text_of(other), other.left, other.coord) == ("a - b", node.left, node.coord)
    assert text_of(node) == "a + b"
    with pytest.raises(TypeError):
        changed(node, middle=None)


def test_what_does_not_change_is_shared() -> None:
    node = statement("if (a) { b = 1; c = 2; } else d = 3;")
    assert mapped(node, lambda child: child) is node
    assert rebuilt(node, lambda inner: inner) is node
    assert replaced(node, lambda inner: inner) is node
    other = rebuilt(node, lambda inner: ir.ID("x") if isinstance(inner, ir.ID) and inner.name == "c" else inner)
    assert other.cond is node.cond
    assert other.iffalse is node.iffalse
    assert other.iftrue.block_items[0] is node.iftrue.block_items[0]
    assert list(used_names(other)) == ["a", "b", "x", "d"]
    assert other.iftrue.coord is node.iftrue.coord


def test_what_is_put_in_is_not_looked_at() -> None:
    def twice(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("*", node, ir.Constant("int", "2")) if isinstance(node, ir.ID) else node

    assert text_of(replaced(expression("a + b"), twice)) == "a * 2 + b * 2"
    assert replaced(None, twice) is rebuilt(None, twice) is None


def test_from_the_inside_out() -> None:
    def folded(node: ir.Node) -> ir.Node:
        match node:
            case ir.BinaryOp(op="+", left=ir.Constant(value=a), right=ir.Constant(value=b)):
                return ir.Constant("int", str(int(a) + int(b)))
        return node

    assert text_of(rebuilt(expression("1 + 2 + (3 + a[4 + 5])"), folded)) == "3 + (3 + a[9])"


def test_what_becomes_of_nodes() -> None:
    node = expression("a[b[i]] + c")
    inner = node.left.subscript
    become: dict[ir.Node, ir.Node] = {}
    made = rewritten(node, lambda old, new: ir.ID("x") if old is inner else new, become)
    assert text_of(made) == "a[x] + c"
    assert become == {inner: made.left.subscript, node.left: made.left, node: made}
    assert with_nodes(node, {inner: made.left.subscript}).left.subscript is made.left.subscript


def test_trees_without_the_nodes_are_shared_and_what_is_put_in_is_not_looked_at() -> None:
    node = expression("f(a + b, c[i] * d)")
    first, second = node.args.exprs
    put = ir.BinaryOp("-", second.right, ir.ID("e"))
    made = with_nodes(node, {second.right: put, second: put})
    assert text_of(with_nodes(node, {second.right: put})) == "f(a + b, c[i] * (d - e))"
    assert with_nodes(node, {second.right: put}).args.exprs[0] is first
    assert made.args.exprs[1] is put
    assert with_nodes(node, {ir.ID("a"): put}) is node


def test_members_are_no_names() -> None:
    node = expression("a.b + a->c + (struct s) {.d = e}.d")
    renamed = rebuilt(node, lambda inner: changed(inner, name="x") if isinstance(inner, ir.ID) else inner)
    assert list(used_names(renamed)) == ["x", "x", "x"]
    assert [inner.field for inner in walk(renamed) if isinstance(inner, ir.StructRef)] == ["b", "c", "d"]


def test_same_trees_have_the_same_in_the_same_places() -> None:
    assert same_tree(expression("a[i + 1]"), expression("a[(i) + 1]"))
    assert not same_tree(expression("a - b"), expression("a + b"))
    assert not same_tree(expression("f(a)"), expression("f(a, a)"))
    assert not same_tree(expression("s.a"), expression("s.b"))
    assert not same_tree(statement("for (; a;) ;"), statement("for (; ; a) ;"))
    assert not same_tree(None, expression("a"))


@given(EXPRESSIONS)
def test_a_copy_has_nodes_of_its_own(node: ir.Node) -> None:
    copies: dict[ir.Node, ir.Node] = {}
    other = copied(node, copies)
    assert same_tree(node, other)
    assert set(walk(node)).isdisjoint(walk(other))
    assert [copies[inner] for inner in walk(node)] == list(walk(other))


@given(EXPRESSIONS)
def test_each_occurrence_is_a_node_of_its_own(node: ir.Node) -> None:
    shared = ir.BinaryOp("+", node, ir.ArrayRef(node, node))
    made = distinct((shared, node))
    assert all(map(same_tree, made, (shared, node)))
    found = list(walk(*made))
    assert len(set(found)) == len(found)
    assert made[0].left is node
    assert distinct(made) == made


@given(EXPRESSIONS, EXPRESSIONS)
def test_substitution(node: ir.Node, value: ir.Node) -> None:
    made = replaced(node, lambda inner: value if isinstance(inner, ir.ID) and inner.name == "a" else inner)
    uses = list(used_names(node))
    expected = [other for use in uses for other in (used_names(value) if use == "a" else [use])]
    assert list(used_names(made)) == expected
    assert (made is node) == ("a" not in uses)


def test_long_trees_are_walked_in_their_order() -> None:
    count = 2000  # more nodes than a tree keeps in order
    tree = expression(" + ".join(f"x{k}" for k in range(count)))
    assert [*used_names(tree)] == [f"x{k}" for k in range(count)] == [*used_names(tree)]
    assert sum(1 for _ in walk(tree)) == 2 * count - 1
