"""GNU C is rewritten into what pycparser reads, line for line."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.frontend.text.gnu import OPAQUE_TYPE, PREAMBLE, clean
from scopt.ir.effects import OPAQUE, effects, opaque_words
from scopt.ir.from_pycparser import CSyntaxError, parse_c


def parsed(text: str) -> ir.FileAST:
    return parse_c(PREAMBLE + "\n" + clean(text).text)


@pytest.mark.parametrize(
    "text",
    [
        "extern int a __attribute__((aligned(16), unused)); int after;",
        "__extension__ typedef long long quad; int after;",
        (
            'char *f(char *__restrict a, const char *__restrict__ b) __asm__("" "g") '
            "__attribute__ ((__nothrow__, __leaf__)); int after;"
        ),
        "static __inline__ __signed__ int f(void) { return 1; } int after;",
        "__thread int t; int after;",
        "static __thread int t; int after;",
        "unsigned f(void) { return __alignof__(double) + _Alignof(int); } int after;",
        '_Static_assert(sizeof(int) == 4, "); {"); int after;',
        'struct s { int a; _Static_assert(1, ""); } x; int after;',
        '__asm__(".globl x"); int after;',
        'void f(void) { __asm__ volatile ("nop" ::: "memory"); asm("nop"); } int after;',
        (
            'int f(int x) { if (x) __asm__("nop"); else __asm__("nop"); do asm("nop"); while '
            "(x); return ({ int y = x; y + 1; }); } int after;"
        ),
        "int f(int x) { __typeof__(x) y; typeof(int *) p; __auto_type z = x; return 1; } int after;",
        "int f(void) { return __builtin_types_compatible_p(int, long); } int after;",
        "unsigned long f(void) { return __builtin_offsetof(struct s, x); } int after;",
        (
            "_Float128 a; __float128 b; _Float32x c; __int128 d; unsigned __int128 e; "
            "__int128_t g; _Complex _Float64x h; int after;"
        ),
        "_Complex double a; __complex__ float b; int after;",
        (
            "void f(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n);"
            " n = __builtin_va_arg(a, int); __builtin_va_end(a); } int after;"
        ),
        "_Noreturn void f(void); [[noreturn]] void g(void); [[gnu::const]] int h(int); int after;",
        "void f(void) { __label__ a, b; a: b: return; } int after;",
        "int f(int x) { switch (x) { case 1: __attribute__((fallthrough)); default: return 1; } } int after;",
        (
            "int f(int x) { return __builtin_expect(x, 1) ? __builtin_constant_p(x)"
            " : __builtin_choose_expr(1, 2, 3); } int after;"
        ),
        "int f(int x) { return _Generic(x, int: 1, default: 2); } int after;",
        (
            "int f(int x) { ({ if (x) ; else if (x++) ; }); ({ if (x) ; else while (x--) ; });"
            " ({ if (x) ; else return (1); }); ({ if (x) ; else f(1); }); return 2; } int after;"
        ),
        (
            "struct __attribute__((packed)) s { int a __attribute__((aligned(4))); "
            "} __attribute__((aligned(8))); int after;"
        ),
        "int a[3] = {1, 2, 3}; const char *s = \"__attribute__((x)) ({\"; char c = '('; int after;",
        "int f(int (a), int b[restrict static 3]); int after;",
    ],
)
def test_what_headers_hold_parses(text: str) -> None:
    assert any(getattr(node, "name", None) == "after" for node in parsed(text).ext)


@pytest.mark.parametrize(
    "text",
    [
        "int a\n__attribute__((\nunused\n))\n;",
        "int f(int x) {\n return ({\n int y = x;\n y; });\n}",
        'void f(void) {\n asm("a"\n "b");\n}',
        '_Static_assert(1,\n "x");',
        "__typeof__(\nint) x;",
    ],
)
def test_lines_stay_lines(text: str) -> None:
    assert clean(text).text.count("\n") == text.count("\n")


def test_columns_stay_where_advice_is_blanked() -> None:
    text = "__extension__ int a __attribute__((unused)), b; __inline int c;"
    assert clean(text).text.index("b;") == text.index("b;")
    assert clean(text).text.index("int c") == text.index("int c")


def test_strings_are_left_alone() -> None:
    text = 'char *s = "__attribute__((x)) __asm__(1) ({ })";'
    assert clean(text).text == text


@pytest.mark.parametrize(
    ("text", "purity"),
    [
        ("int f(int) __attribute__((const));", "const"),
        ("int f(int) __attribute__((__nothrow__, __pure__));", "pure"),
        ("__attribute__((pure)) int f(int);", "pure"),
        ("int f(int) __attribute__((pure)) __attribute__((const));", "const"),
        ("int f(int x __attribute__((const)));", ""),
        ("int f(int) __attribute__((noreturn));", ""),
        ("int f(const int);", ""),
        ("int f(int x) { int g(int) __attribute__((const)); return x; }", ""),
    ],
)
def test_purity(text: str, purity: str) -> None:
    assert clean(text).purity == purity


def test_types_that_c_has_no_words_for() -> None:
    assert clean("typedef double v __attribute__((vector_size(32)));").opaque
    assert clean("typedef int r __attribute__((__mode__(__word__)));").opaque
    assert not clean("typedef int r __attribute__((aligned(4)));").opaque
    assert clean("typedef float v [[gnu::vector_size(16)]];").opaque


@pytest.mark.parametrize("spelling", ["_Float16", "__float128", "_Complex _Float128", "_Float128 _Complex"])
def test_numbers_that_are_rounded_in_another_way_have_no_type_of_cs(spelling: str) -> None:
    tree = parsed(f"{spelling} a; _Complex _Float64 b;")
    opaque = {one.name for one in tree.ext if isinstance(one, ir.Typedef) and isinstance(one.type.type, ir.Struct)}
    opaque |= {one.name for one in tree.ext if OPAQUE_TYPE in getattr(one.type.type, "names", ())}
    first, second = tree.ext[-2:]
    assert " ".join(first.type.type.names) in opaque
    assert " ".join(second.type.type.names) in ("_Complex double", "double _Complex")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("typedef int word __attribute__((may_alias));", True),
        ("typedef int word [[gnu::__may_alias__]];", True),
        ('__attribute__((optimize("no-strict-aliasing"))) void f(void);', True),
        ('#pragma GCC optimize("no-strict-aliasing")\nint a;', True),
        ("typedef long long m __attribute__((__vector_size__(16), __may_alias__));", False),  # of no type of C's
        ("typedef int word __attribute__((aligned(2)));", False),
    ],
)
def test_types_whose_objects_others_may_be(text: str, found: bool) -> None:
    assert clean(text).may_alias is found


@pytest.mark.parametrize("attribute", ["cleanup(f)", 'alias("A")'])
def test_attributes_with_a_meaning_stay_and_do_not_parse(attribute: str) -> None:
    with pytest.raises(CSyntaxError):
        parsed(f"int a __attribute__(({attribute}));")


def test_a_variable_with_an_assembler_name_does_not_parse() -> None:
    with pytest.raises(CSyntaxError):
        parsed('extern double B[10] __asm__("A");')


def test_hidden_code_tells_its_words() -> None:
    body = parsed('void f(int x, int y) { asm volatile ("add" : "+r"(x) : "r"(&y)); }').ext[-1].body
    words = opaque_words(body.block_items[0])
    assert words is not None
    assert "x" in words
    assert "&y" in words
    assert effects(body).opaque


def test_jumps_of_assembler_are_told() -> None:
    body = parsed('void f(void) { asm goto ("" : : : : out); out: ; }').ext[-1].body
    assert "goto" in (opaque_words(body.block_items[0]) or [])


def test_other_calls_are_not_opaque() -> None:
    body = parsed('void f(void) { g("x"); }').ext[-1].body
    assert opaque_words(body.block_items[0]) is None
    assert OPAQUE not in clean('void f(void) { g("x"); }').text
