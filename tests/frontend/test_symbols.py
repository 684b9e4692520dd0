"""Names at a region: scopes, types, dimensions, constants."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.symbols import (
    addresses_taken,
    constant_value,
    ctype_of,
    is_value,
    scope_at,
    symbol_of,
    typed_constant,
)
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.frontend.text.macros import Macro
from scopt.ir.ctypes import Symbol, canonical, target_of
from scopt.ir.from_pycparser import parse_c
from scopt.options import Options

GCC = Options(cc="gcc")
REGION = "\n#pragma scop\n  ;\n#pragma endscop\n"


def unit(source: str) -> TranslationUnit:
    return parse(source.encode(), "x.c", GCC)


def scope(before: str = "", params: str = "void", local: str = "", after: str = "") -> dict[str, Symbol]:
    tu = unit(f"{before}\nvoid f({params})\n{{\n{local}{REGION}{after}\n}}\n")
    assert len(tu.regions) == 1
    return dict(scope_at(tu, tu.regions[0]))


def dims(symbol: Symbol, names: dict[str, Symbol]) -> list[object]:
    """Extents as numbers where they are constants, else names."""
    found: list[object] = []
    for extent in symbol.dims:
        value = constant_value(extent, names) if extent is not None else None
        found.append(value if value is not None else extent.name if isinstance(extent, ir.ID) else None)
    return found


# --- types ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "spelling"),
    [
        ("long unsigned int", "unsigned long"),
        ("int", "int"),
        ("unsigned", "unsigned int"),
        ("signed", "int"),
        ("short int", "short"),
        ("long int long", "long long"),
        ("unsigned char", "unsigned char"),
        ("char signed", "signed char"),
        ("char", "char"),
        ("long double", "long double"),
        ("_Complex double", "double _Complex"),
        ("double", "double"),
        ("unsigned __int128", "unsigned __int128"),
        ("size_t", "size_t"),
        ("long long unsigned", "unsigned long long"),
    ],
)
def test_canonical_spellings(words: str, spelling: str) -> None:
    assert canonical(words.split()) == spelling


@pytest.mark.parametrize(
    ("declaration", "integer", "floating", "signed", "bits"),
    [
        ("int x", True, False, True, 32),
        ("unsigned x", True, False, False, 32),
        ("unsigned char x", True, False, False, 8),
        ("signed char x", True, False, True, 8),
        ("short x", True, False, True, 16),
        ("long long x", True, False, True, 64),
        ("_Bool x", True, False, False, 1),
        ("float x", False, True, True, 32),
        ("double x", False, True, True, 64),
        ("small x", True, False, False, 16),
        ("real x", False, True, True, 64),
        ("enum e x", True, False, False, 32),
        ("enum n x", True, False, True, 32),
        ("enum { P, Q } x", True, False, False, 32),
        ("struct s x", False, False, True, 0),
        ("__int128 x", True, False, True, 128),
    ],
)
def test_element_types(declaration: str, integer: bool, floating: bool, signed: bool, bits: int) -> None:
    before = (
        "typedef unsigned short tiny; typedef tiny small; typedef double real; enum e { "
        "A, B }; enum n { C = -1 }; struct s { int m; };"
    )
    ctype = scope(before, local=f"{declaration};")["x"].type
    assert (ctype.integer, ctype.floating, ctype.signed, ctype.bits) == (integer, floating, signed, bits)


def test_a_typedef_of_a_floating_point_type_is_that_type() -> None:
    names = scope(
        "typedef double real; typedef real vec[4]; typedef int count;",
        local="real a; const volatile real b; vec c; _Atomic int d; const int e = 1; count f;",
    )
    assert names["a"].type.spelling == "double"
    assert (names["b"].type.const, names["b"].type.volatile) == (True, True)
    assert names["c"].type.spelling == "double"
    assert names["f"].type.spelling == "count"
    assert names["d"].type.atomic
    assert names["e"].type.const


def test_a_typedef_of_pointers_to_rows_leads_to_numbers() -> None:
    names = scope("typedef double **matrix; typedef matrix field;", "matrix a, const field b")
    for name in "ab":
        assert names[name].row == (names["double"].type, 8)


def test_qualifiers_of_pointers() -> None:
    names = scope(
        "typedef double *ptr;",
        "double *restrict a, const double *b, double *const c, double *volatile d, double "
        "e[restrict static 4], ptr restrict g, double *__restrict h",
    )
    assert [names[n].restrict for n in "abcdegh"] == [True, False, False, False, True, True, True]
    assert names["b"].type.const
    assert not names["c"].type.const
    assert names["d"].type.volatile


@pytest.mark.parametrize(
    ("param", "expected", "depth"),
    [
        ("double x", [], 0),
        ("double *x", [None], 1),
        ("double x[]", [None], 1),
        ("double x[10]", [10], 1),
        ("double x[n]", ["n"], 1),
        ("double x[n][m]", ["n", "m"], 1),
        ("double x[][m]", [None, "m"], 1),
        ("double (*x)[m]", [None, "m"], 1),
        ("double (*x)[3][5]", [None, 3, 5], 1),
        ("double **x", [None], 2),
        ("double *x[5]", [5], 2),
        ("row x[2]", [2, 4], 1),
        ("row x", [4], 1),
        ("double x[*]", [None], 1),
    ],
)
def test_dimensions_of_parameters(param: str, expected: list[object], depth: int) -> None:
    names = scope("typedef double row[4];", f"int n, int m, {param}")
    symbol = names["x"]
    assert symbol.kind == "parameter"
    assert dims(symbol, names) == expected
    assert symbol.pointer_depth == depth
    assert symbol.pointer == (depth > 0)


@pytest.mark.parametrize(
    ("local", "expected", "pointer"),
    [
        ("double x;", [], False),
        ("double x[3];", [3], False),
        ("double x[n][2*4];", ["n", 8], False),
        ("double *x;", [None], True),
        ("double (*x)[3][5];", [None, 3, 5], True),
        ("double (*x)[n];", [None, "n"], True),
        ("row x;", [4], False),
        ("row x[2], y;", [2, 4], False),
        ("row *x;", [None, 4], True),
        ("double y, *x, z;", [None], True),
        ("static double x[7];", [7], False),
    ],
)
def test_dimensions_of_locals(local: str, expected: list[object], pointer: bool) -> None:
    names = scope("typedef double row[4];", "int n", local)
    symbol = names["x"]
    assert symbol.kind == "local"
    assert dims(symbol, names) == expected
    assert symbol.pointer == pointer
    assert symbol.type.floating
    assert symbol.static == local.startswith("static")


def test_arrays_of_pointers_and_functions() -> None:
    names = scope(
        "double g(double); typedef void (*handler)(int);",
        "double (*h)(double), handler k",
        "double *x[5], *y; (void) x; (void) y;",
    )
    assert not names["x"].pointer
    assert names["x"].pointer_depth == 1
    assert not names["x"].type.floating
    assert names["g"].kind == "function"
    assert names["h"].pointer
    assert not names["h"].type.floating
    assert names["k"].pointer


# --- scopes -----------------------------------------------------------------------------------------------------------


def test_kinds_and_storage() -> None:
    names = scope(
        "int g; static int s; extern double e[10]; _Thread_local int t;"
        " enum { A = 3, B }; typedef int number; double h(void);",
        "int p",
        "int l; static int k; extern int o; register int r; number n; k++;",
    )
    kinds = {name: names[name].kind for name in ("g", "s", "e", "A", "h", "p", "l", "k", "o", "r", "number", "f")}
    assert kinds == {
        "g": "global",
        "s": "global",
        "e": "global",
        "A": "enum-constant",
        "h": "function",
        "p": "parameter",
        "l": "local",
        "k": "local",
        "o": "global",
        "r": "local",
        "number": "typedef",
        "f": "function",
    }
    assert names["s"].static
    assert names["k"].static
    assert names["e"].extern
    assert names["t"].thread_local
    assert names["g"].address_taken
    assert not names["l"].address_taken
    assert names["B"].value == 4


def test_variables_that_threads_may_copy() -> None:
    names = scope(
        "int g; typedef struct { int x; } pair; enum { A }; void h(int *);",
        "int p, double *q, double v[p], pair s, pair *t, double m[p][p]",
        "int l, taken; static int k; extern int o; double array[3], *to; volatile int w; h(&taken); k++;",
    )
    assert {name for name, symbol in names.items() if is_value(symbol)} == {"p", "q", "v", "t", "m", "l", "to"}


def test_shadowing() -> None:
    tu = unit(
        "float x; double y; char z;\nvoid f(int x)\n{\n  long y;\n"
        "  for (short z = 0; z < 3; z++) {\n    { unsigned x; }\n    unsigned char w;\n"
        "#pragma scop\n    ;\n#pragma endscop\n    double w2; int x;\n  }\n  float after;\n}\n"
    )
    names = scope_at(tu, tu.regions[0])
    spelled = {name: names[name].type.spelling for name in "xyzw"}
    assert spelled == {"x": "int", "y": "long", "z": "short", "w": "unsigned char"}
    assert "after" not in names
    assert "w2" not in names


def test_only_what_is_declared_before_is_visible() -> None:
    tu = unit(f"int a;\nvoid f(void) {{\n  int c;{REGION}  int d;\n}}\nint b;\n")
    names = scope_at(tu, tu.regions[0])
    assert {"a", "c", "f"} <= names.keys()
    assert not {"b", "d"} & names.keys()


def test_a_shadowed_typedef() -> None:
    names = scope("typedef int t;", local="int t = 3;")
    assert names["t"].kind == "local"


def test_old_style_parameters() -> None:
    tu = unit(f"void f(n, a) int n; double a[10];\n{{{REGION}}}\n")
    names = scope_at(tu, tu.regions[0])
    assert (names["n"].kind, names["n"].type.spelling) == ("parameter", "int")
    assert (names["a"].kind, names["a"].pointer) == ("parameter", True)


def test_two_declarations_of_a_global_say_what_both_know() -> None:
    names = scope("double a[10]; extern double a[]; extern double b[]; double b[5]; static int c; extern int c;")
    assert dims(names["a"], names) == [10]
    assert dims(names["b"], names) == [5]
    assert names["c"].static


def test_symbol_of_a_declaration_inside() -> None:
    names = scope("typedef float real; enum { N = 4 };")
    ast = parse_c("typedef int real; void f(void) { real t[N][3]; static int s; }".replace("N", "4"))
    body = ast.ext[1].body.block_items
    symbol = symbol_of(body[0], names)
    assert (symbol.kind, symbol.name, dims(symbol, names), symbol.type.bits) == ("local", "t", [4, 3], 32)
    assert symbol_of(body[1], names).static


def test_ctype_of() -> None:
    names = scope("typedef unsigned long word;")
    ast = parse_c("typedef int word; int a = (word) 1; int b = (int *) 0; int c = (unsigned char) 2;")
    casts = [n.init.to_type for n in ast.ext[1:]]
    word, pointer, byte = (ctype_of(c, names) for c in casts)
    assert word is not None
    assert (word.spelling, word.signed, word.bits) == ("word", False, names["unsigned long"].type.bits)
    assert pointer is None
    assert byte is not None
    assert byte.bits == 8


# --- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "taken"),
    [
        ("x = 1;", set()),
        ("g(&x);", {"x"}),
        ("p = &x;", {"x"}),
        ("a[0] = x;", set()),
        ("g(a);", {"a"}),
        ("p = a + 1;", {"a"}),
        ("p = &a[3];", {"a"}),
        ("b[1][2] = a[0];", set()),
        ("g(b[1]);", {"b"}),
        ("x = sizeof(a);", set()),
        ("x = (&s)->m;", set()),
        ("s.m = 1;", set()),
        ("p = &s.m;", {"s"}),
        ("x = *&p[3];", set()),
        ("g(&q[1], q + 1);", {"q"}),
        ("g(&p);", {"p"}),
        ("({ p = &x; });", {"x"}),
        ('asm("" : "+r"(x));', set()),
        ("x = x & a[0];", set()),
        ("x = *a;", {"a"}),
        ("({ x & y; });", set()),
    ],
)
def test_addresses(statement: str, taken: set[str]) -> None:
    local = "int x, y, *p, a[9], b[3][4], *q[2]; struct { int m; } s;"
    names = scope("int g();", local=f"{local}", after=statement)
    assert {n for n in ("x", "y", "p", "q", "a", "b", "s") if names[n].address_taken} == taken


def test_addresses_taken_by_rank() -> None:
    body = parse_c("void f(void) { g(a[1]); }").ext[0].body
    assert addresses_taken(body, {"a": 1}) == frozenset()
    assert addresses_taken(body, {"a": 2}) == {"a"}


# --- constants --------------------------------------------------------------------------------------------------------


def value(expression: str, names: dict[str, Symbol] | None = None) -> int | None:
    ast = parse_c(f"typedef int word; int x = {expression};")
    return constant_value(ast.ext[1].init, names if names is not None else target_of({}))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 / -2", -3),
        ("7 % -2", 1),
        ("1 << 4", 16),
        ("-1 >> 1", -1),
        ("0x10 | 3", 19),
        ("5 & 6", 4),
        ("5 ^ 1", 4),
        ("~0", -1),
        ("!3", 0),
        ("!0", 1),
        ("3 < 4", 1),
        ("3 == 4", 0),
        ("1 ? 2 : 3", 2),
        ("0 ? 2 : 3", 3),
        ("'a'", 97),
        ("'\\n'", 10),
        ("'\\0'", 0),
        ("'\\x41'", 65),
        ("010", 8),
        ("0b101", 5),
        ("1u - 2", 2**32 - 1),
        ("-1 < 0u", 0),
        ("2147483647 + 1", None),
        ("2147483648", 2147483648),
        ("0xffffffff + 1", 0),
        ("4294967295u + 1", 0),
        ("1 / 0", None),
        ("1 % 0", None),
        ("(char) 300", 44),
        ("(unsigned char) -1", 255),
        ("(_Bool) 5", 1),
        ("sizeof(int)", 4),
        ("sizeof(double[3])", 24),
        ("sizeof(int *)", 8),
        ("sizeof(long) * 2", 16),
        ("0 && (1/0)", 0),
        ("1 || (1/0)", 1),
        ("1.5", None),
        ('"a"', None),
        ("f(1)", None),
        ("unknown", None),
        ("1 << 31", None),
        ("1 << 32", None),
        ("1u << 31", 2**31),
        ("-2147483647 - 1", -(2**31)),
        ("(-2147483647 - 1) / -1", None),
        ("1'000", 1000),
        ("(long) 1 << 40", 2**40),
        ("10L", 10),
        ("10ull", 10),
        ("+5", 5),
        ("- -5", 5),
        ("(1, 2)", None),
        ("(double) 1", None),
        ("1 ? 1 : 2u", 1),
        ("(1 ? -1 : 0u) > 0", 1),
    ],
)
def test_constant_expressions(expression: str, expected: int | None) -> None:
    assert value(expression) == expected


def test_constants_with_names() -> None:
    before = "enum color { RED, GREEN = 5, BLUE, NEXT = BLUE * 2, LAST }; typedef short word; int a[6];"
    names = scope(before, "double p[4]", "int n = 3; const int c = 4;")
    assert value("RED + GREEN + BLUE + LAST", names) == 0 + 5 + 6 + 13
    assert value("sizeof(word)", names) == 2
    assert value("sizeof(a)", names) == 24
    assert value("sizeof(p)", names) == 8
    assert value("sizeof a / sizeof(int)", names) == 6
    assert value("n", names) is None
    assert value("c", names) is None


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ("A = 1, B = -1", {"A": "int", "B": "int"}),
        ("B = 0x80000000", {"B": "unsigned int"}),
        ("B = 0xffffffff, C", {"B": "unsigned long", "C": "unsigned long"}),
        ("B = 3000000000, C = -3000000000", {"B": "long", "C": "long"}),
        ("A = 1, B = 0x80000000", {"B": "unsigned int"}),  # C23 has another type for A
    ],
)
def test_types_of_enumerators(values: str, types: dict[str, str]) -> None:
    names = scope(f"enum {{ {values} }};")
    known = {name: typed_constant(ir.ID(name), names) for name in ("A", "B", "C") if name in names}
    assert {name: one[1].spelling for name, one in known.items() if one is not None} == types


def test_types_of_constants() -> None:
    names = target_of({})
    ast = parse_c("int a = 1; int b = 1u; int c = 2147483648; int d = sizeof(int); int e = 'a'; int g = 1 < 2u;")
    spelled = [constant[1].spelling for n in ast.ext if (constant := typed_constant(n.init, names)) is not None]
    assert spelled == ["int", "unsigned int", "long", "unsigned long", "int", "int"]


def test_another_target() -> None:
    sizes = {"__SIZEOF_LONG__": "4", "__SIZEOF_POINTER__": "4", "__SIZEOF_INT__": "4", "__CHAR_UNSIGNED__": "1"}
    names = target_of({name: Macro(name, None, body) for name, body in sizes.items()})
    assert value("sizeof(long)", names) == 4
    assert value("2147483648", names) == 2**31
    assert not names["char"].type.signed
    assert typed_constant(parse_c("int a = sizeof(int);").ext[0].init, names)[1].spelling == "unsigned int"  # type: ignore[index]
