"""What statements read and write."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import ir
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.text.gnu import PREAMBLE, clean
from scopt.ir.effects import Effects, changes_of, effects, targets
from scopt.ir.from_pycparser import parse_c
from scopt.options import Options

KERNELS = Path(__file__).parents[2] / "polybench" / "kernels"


def body_of(text: str) -> ir.Node:
    """A block of the statements."""
    body: ir.Node = parse_c(f"{PREAMBLE}\ntypedef struct s {{ int x; }} s; void f(void) {{ {text} }}").ext[-1].body
    return body


def understood(text: str) -> ir.Node:
    """A block of the statements, in GNU C, as the parser gets it."""
    body: ir.Node = parse_c(f"{PREAMBLE}\n{clean(f'void f(void) {{ {text} }}').text}").ext[-1].body
    return body


def found(text: str) -> Effects:
    return effects(body_of(text))


@pytest.mark.parametrize(
    ("text", "assigned", "through"),
    [
        ("a = 1;", "a", ""),
        ("a += b;", "a", ""),
        ("a++; --b;", "a b", ""),
        ("a = b = c;", "a b", ""),
        ("a[i] = 1;", "", "a"),
        ("a[i][j++] *= 2;", "j", "a"),
        ("3[a] = 1;", "", "a"),
        ("*a = 1;", "", "a"),
        ("*(a + 1) = 2;", "", "a"),
        ("*(1 + a) = 2;", "", "a"),
        ("*(a + b) = 2;", "", "a b"),
        ("*a++ = 1;", "a", "a"),
        ("*(c ? a : b) = 1;", "", "a b"),
        ("*(double *)a = 1;", "", "a"),
        ("(*a)[3] = 1;", "", "a"),
        ("a.x = 1;", "", "a"),
        ("a->x = 1;", "", "a"),
        ("a.x[i].y++;", "", "a"),
        ("*&a = 1;", "", "a"),
        ("x[y[z = 1]] = 2;", "z", "x"),
        ("b = ({ r = 1; r; });", "b r", ""),
        ("if (a = b) ; else while (c--) ;", "a c", ""),
        ("for (i = 0; i < n; i += 2) a[i] = 0;", "i", "a"),
        ("switch (a) { case 1: b = 2; default: c[0] = 1; }", "b", "c"),
        ("g(&a);", "a", ""),
        ("g(a, b + 1, &c[i]);", "", ""),
        ("g((char *)&a);", "a", ""),
        ("b = sqrt(a[i]);", "b", ""),
        ("s t = { .x = a = 3 };", "a", ""),
        ("int v[3] = { [a++] = b };", "a", ""),
        ("b = ((s) { .x = ++a }).x;", "a b", ""),
        ("b = a, c = d;", "b c", ""),
    ],
)
def test_what_is_written(text: str, assigned: str, through: str) -> None:
    effect = found(text)
    assert effect.assigned == set(assigned.split())
    assert effect.through == set(through.split())
    assert not effect.unnamed
    assert not effect.opaque


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a = b;", "b"),
        ("a += b;", "a b"),
        ("a++;", "a"),
        ("a[i] = b[j];", "a b i j"),
        ("a = a + 1;", "a"),
        ("a.x = b->y;", "a b"),
        ("a = g(b);", "b"),
        ("s t = { .x = a };", "a"),
        ("a = b ? c : d;", "b c d"),
        ("int a = b;", "b"),
    ],
)
def test_what_is_read(text: str, read: str) -> None:
    assert found(text).read == set(read.split())


def test_assembler_may_read_and_write_its_operands() -> None:
    effect = effects(understood('asm volatile ("add" : "+r"(a) : "r"(b), "r"(&c));'))
    assert effect.opaque
    assert {"a", "b", "c"} <= effect.assigned & effect.through & effect.read
    assert effect.taken == {"c"}
    assert changes_of("a", understood('asm ("x" : "+r"(a)); a = 1;')) == 2


def test_what_has_no_name() -> None:
    assert found("*g(a) = 1;").unnamed
    assert found("*(int *)16 = 1;").unnamed
    assert found("g(a); (*h)(b); p->q(c);").called == {"g", ""}


def test_declarations() -> None:
    effect = found("int a, b = 1; { double c[3]; typedef int t; }")
    assert effect.declared == {"a", "b", "c", "t"}
    assert effect.changed == effect.declared
    assert effect.written == effect.declared


def test_addresses() -> None:
    assert found("p = &a; q = &b[i].x; r = &*c;").taken == {"a", "b", "c"}


def test_what_calls_get() -> None:
    assert found("g(a, b + 1, &c[i], 3); h(&d, e[1].x);").passed == {"a", "b", "c", "d", "e"}


def test_how_often_a_variable_changes() -> None:
    body = body_of("int a = 0; a = 1; a++; b[a] = 2; *a = 3; a.x = 4; if (b) a -= 2;")
    assert changes_of("a", body) == 4
    assert changes_of("b", body) == 0
    assert [type(one) for one in targets(body)] == [ir.ID, ir.ID, ir.ArrayRef, ir.UnaryOp, ir.StructRef, ir.ID]


def test_nothing_does_nothing() -> None:
    assert effects() == effects(None) == found("; (void)0;") == Effects()


@pytest.mark.parametrize("kernel", sorted(KERNELS.glob("*.c")), ids=lambda path: path.stem)
def test_accesses_are_among_the_effects(kernel: Path) -> None:
    options = Options(cpp_flags=(f"-I{KERNELS}", f"-I{KERNELS.parent}"))
    tu = parse(kernel.read_bytes(), str(kernel), options)
    for region in tu.regions:
        for statement in extract(tu, region, "scop").statements:
            effect = effects(statement.body)
            for access in statement.accesses:
                name = access.array.split("__")[0]
                assert name in (effect.written if access.is_write else effect.read), (statement.name, access.array)
