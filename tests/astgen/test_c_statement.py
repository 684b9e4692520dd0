from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.c_statement import PlainGenerator, declaration_text, statement_text
from scopt.ir import expr as ex
from scopt.ir.nest import Call, Const, Expr, FloorDiv, Min, Name
from scopt.ir.scop import Access, CType, Scop
from scopt.ir.walks import same_tree
from tests.astgen.scops import HERE, INT, LONG, SIZE, UNSIGNED, S, make_scop, parse_statement

A, B = Name("a"), Name("b")
SKEWED = (A, ex.subtract(B, A))
SHORT = CType("short", integer=True, bits=16)


def scop_with(text: str, type: CType = INT) -> Scop:
    return make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < n", text, type), parameters={"n": INT, "u": UNSIGNED})


def printed(text: str, args: Sequence[Expr], type: CType = INT) -> str:
    scop = scop_with(text, type)
    return statement_text(scop.statements[0], Call("S0", tuple(args)), ExprPrinter.of(scop))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A[i][j] = 0;", "A[a][b - a] = 0;"),
        ("A[i - 1][j + i] = 0;", "A[a - 1][b] = 0;"),
        ("A[2 * i - (j - 1)][n] = 0;", "A[3 * a - b + 1][n] = 0;"),
        ("A[n - i][0] = 0;", "A[n - a][0] = 0;"),
        ("A[i + n - 1] = 0;", "A[a + n - 1] = 0;"),
        ("A[B[j]][i * i] = 0;", "A[B[b - a]][(int)a * (int)a] = 0;"),
        ("A[i % 2][j / 2] = 0;", "A[(int)a % 2][(int)(b - a) / 2] = 0;"),
        ("A[i] = i * 2.0;", "A[a] = (int)a * 2.0;"),
        ("A[i] = -j;", "A[a] = -(int)(b - a);"),
        ("A[i] = f(j, i);", "A[a] = f((int)(b - a), (int)a);"),
        ("A[i].i = s.j;", "A[a].i = s.j;"),
        ("p->i[j] = (double)j;", "p->i[b - a] = (double)(int)(b - a);"),
        ("A[i] += u * i;", "A[a] += u * (int)a;"),
        ("A[i + u] = 0;", "A[(int)a + u] = 0;"),
        ("A[i]++;", "A[a]++;"),
        ("A[010 + i] = 0;", "A[a + 8] = 0;"),
    ],
)
def test_iterators_are_replaced(text: str, expected: str) -> None:
    assert printed(text, SKEWED) == expected


@pytest.mark.parametrize(
    ("type", "args", "expected"),
    [
        (INT, (Const(3), Const(-2)), "x = 3 + (-2);"),
        (LONG, (Const(3), Const(-2)), "x = 3L + (-2L);"),
        (LONG, (A, ex.plus(B, -1)), "x = a + (b - 1);"),
        (LONG, (Name("n"), B), "x = ((long)n) + b;"),
        (SIZE, (A, ex.plus(B, -1)), "x = (size_t)a + (size_t)(b - 1);"),
        (SHORT, (Const(3), B), "x = (short)3 + (short)b;"),
        (INT, (ex.minimum((A, B)), FloorDiv(B, 2, nonnegative=True)), "x = (int)scopt_min(a, b) + (int)(b / 2);"),
    ],
)
def test_values_keep_their_type(type: CType, args: tuple[Expr, Expr], expected: str) -> None:
    assert printed("x = i + j;", args, type) == expected


@pytest.mark.parametrize("type", [UNSIGNED, SIZE])
def test_unsigned_subscripts_are_computed_as_they_were(type: CType) -> None:
    # i - 1 may wrap around, and then it is no linear expression
    assert printed("A[i - 1][j] = 0;", (A, B), type) == f"A[({type.spelling})a - 1][b] = 0;"


def test_an_exact_access_relation_proves_that_unsigned_subscripts_do_not_wrap() -> None:
    scop = scop_with("A[i - 1u][j + u] = 0;", UNSIGNED)
    (statement,) = scop.statements
    node = statement.body.lvalue

    def text(relation: str) -> str:
        access = Access(
            "A", "write", isl.Map(f"[n, u] -> {{ {relation} }}").intersect_domain(statement.domain), node, HERE
        )
        return statement_text(replace(statement, accesses=(access,)), Call("S0", (A, B)), ExprPrinter.of(scop))

    assert text("S0[i, j] -> A[i - 1, j + u]") == "A[a - 1][b + u] = 0;"
    assert text("S0[i, j] -> A[i - 1, k]") == "A[a - 1][(unsigned int)b + u] = 0;"
    assert text("S0[i, j] -> A[x, y]") == "A[(unsigned int)a - 1u][(unsigned int)b + u] = 0;"


def test_compound_statements() -> None:
    text = "if (A[i] > 0) { A[i] = j; B[j] = 0; } else if (i) A[i] = 1; else { A[0] = 2; }"
    assert printed(text, SKEWED).splitlines() == [
        "if (A[a] > 0) {",
        "  A[a] = (int)(b - a);",
        "  B[b - a] = 0;",
        "} else if ((int)a)",
        "  A[a] = 1;",
        "else {",
        "  A[0] = 2;",
        "}",
    ]


ROUND_TRIP = [
    "x = a + (b + c);",
    "x = a + b + c;",
    "x = a - (b - c);",
    "x = a * (b * c) / d;",
    "x = (a + b) * c;",
    "x = a / (b / c) % d;",
    "x = -(-a) - -b;",
    "x = - -a;",
    "x = !(a && b) || (c && d) || e;",
    "x = a || (b || c);",
    "x = (a < b) == (c < d);",
    "x = a & b | c ^ d << 2 + e;",
    "x = (a, b);",
    "x = a ? b : c ? d : e;",
    "x = (a ? b : c) ? d : e;",
    "x = (a ? b : c) + d;",
    "x = a ? (b = c) : (d = e);",
    "x = (y = z);",
    "x += (double)a * (float)(b + c) / (double)-d;",
    "x = (double)(int)a;",
    "x = *p + &y[3] - *(p + 1);",
    "x = sizeof(int) + sizeof(a[0]);",
    "x = f(a, (b, c)) + s.f[2] + t->u.v;",
    "(*p)[i] = (*q).r;",
    "while (a) if (b) x = 1; else x = 2;",
    "for (k = 0, l = 1; k < n; k++) { x = k; }",
    "for (int k = 0; k < n; k++) if (k) x = k;",
    "x = f(\"a b\", 'c', 1.5e-3f, 0x1F, 10UL);",
    "{ int t = a; x = t; }",
    ";",
]


@pytest.mark.parametrize("text", ROUND_TRIP)
def test_printing_keeps_the_tree(text: str) -> None:
    original = parse_statement(text)
    assert same_tree(original, parse_statement(PlainGenerator()._generate_stmt(original)))


def test_the_association_of_sums_shows() -> None:
    assert (
        PlainGenerator().visit(parse_statement("x = (a + b) + (c + d) * (e * f);")) == "x = a + b + (c + d) * (e * f)"
    )


def test_a_difference_in_the_tree_is_seen() -> None:
    assert not same_tree(parse_statement("x = a + (b + c);"), parse_statement("x = a + b + c;"))
    assert not same_tree(parse_statement("x = a + 1;"), parse_statement("x = a + 1.0;"))
    assert not same_tree(parse_statement("f(a, b);"), parse_statement("f(a);"))


@pytest.mark.parametrize("text", ["double t;", "double t[10][n];", "const float *p;", "unsigned long t;"])
def test_declarations_lose_their_initializer(text: str) -> None:
    declaration = parse_statement(text)
    assert isinstance(declaration, ir.Decl)
    assert declaration_text(declaration) == text
    initialized = parse_statement(text.replace(";", " = {0};"))
    assert declaration_text(initialized) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const double t;", "double t;"),
        ("double const t[3][2];", "double t[3][2];"),
        ("volatile const int t;", "volatile int t;"),
        ("const float *const p;", "const float *p;"),
    ],
)
def test_declarations_lose_const(text: str, expected: str) -> None:
    assert declaration_text(parse_statement(text)) == expected


def test_the_statement_is_not_modified() -> None:
    scop = scop_with("A[i][j] = i;")
    (statement,) = scop.statements
    before = parse_statement("A[i][j] = i;")
    statement_text(statement, Call("S0", (Const(1), Min((A, B)))), ExprPrinter.of(scop))
    assert same_tree(before, statement.body)
