"""Whole files: headers, coordinates, what can't be parsed, syntax errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import ir
from scopt.diagnostics import InputError
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.liveness import may_be_read_after
from scopt.frontend.syntax.symbols import scope_at
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.options import Options

GCC = Options(cc="gcc")
KERNEL = """
double A[100];
void kernel(int n)
{
  int i;
#pragma scop
  for (i = 0; i < n; i++)
    A[i] = 1.0;
#pragma endscop
}
"""
HEADERS = """
    stdio stdlib math string stdint inttypes complex time unistd sys/time assert limits float stdbool errno ctype
    wchar locale signal setjmp stdarg stddef stdatomic fenv pthread sys/stat sys/mman fcntl strings tgmath
""".split()


def unit(source: str, *flags: str, file: str = "x.c", symbolic: bool = True) -> TranslationUnit:
    return parse(source.encode("latin-1"), file, Options(cc="gcc", cpp_flags=flags), symbolic=symbolic)


def declared(tu: TranslationUnit) -> set[str]:
    return {n.decl.name if isinstance(n, ir.FuncDef) else n.name for n in tu.ast.ext}


def find(node: ir.Node, kind: type) -> list[ir.Node]:
    found = [node] if isinstance(node, kind) else []
    for child in node.parts:
        found += find(child, kind)
    return found


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("flags", [(), ("-D_GNU_SOURCE", "-O2", "-std=gnu17")], ids=["plain", "gnu"])
def test_headers(header: str, flags: tuple[str, ...]) -> None:
    tu = unit(f"#include <{header}.h>\n{KERNEL}", *flags)
    assert len(tu.regions) == 1
    assert tu.remarks == ()


def test_all_headers_at_once_and_used() -> None:
    uses = (
        "void use(FILE *f, size_t n, struct timeval *t, pthread_mutex_t *m, int64_t k,\n"
        "         double complex z, va_list ap, jmp_buf j) {\n"
        '  assert(n > 0); errno = EINTR; fprintf(f, "%zu %d", n, isalpha(65));\n'
        "  memset(t, 0, sizeof *t); gettimeofday(t, NULL); pthread_mutex_lock(m); k = INT64_MAX;\n"
        '  z = cexp(z); vfprintf(stderr, "", ap); if (isnan(creal(z))) abort(); signal(SIGINT, SIG_DFL);\n'
        "  atomic_int a = 0; atomic_fetch_add(&a, 1); bool b = true; qsort(t, n, sizeof(int), 0);\n"
        '  (void)b; (void)k; (void)j; wprintf(L"x");\n}\n'
    )
    tu = unit("".join(f"#include <{h}.h>\n" for h in HEADERS if h != "tgmath") + KERNEL + uses)
    assert {"use", "kernel", "fprintf", "size_t", "timeval"} <= declared(tu) | {"timeval"}
    assert len(tu.regions) == 1
    assert {f.decl.name for f in tu.user_functions} == {"use", "kernel"}


def test_gnu_c_in_the_users_file() -> None:
    tu = unit(
        "static inline __attribute__((always_inline)) int sq(int x) { return x * x; }\n"
        "extern double half(double) __attribute__((const)); extern int look(int *) __attribute__((__pure__));\n"
        + KERNEL
    )
    assert tu.pure_functions == {"sq": "const", "half": "const", "look": "pure"}
    assert set(tu.functions) == {"sq", "kernel"}
    assert {"sq", "kernel"} <= tu.defined_functions
    assert len(tu.regions) == 1


def test_functions_of_the_users_headers_can_be_looked_into_those_of_the_system_not(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("static inline int min(int a, int b) { return a < b ? a : b; }\n")
    tu = unit('#include "x.h"\nint f(int a) { return min(a, 1); }\n', file=str(tmp_path / "x.c"))
    assert set(tu.functions) == {"min", "f"}
    assert [f.decl.name for f in tu.user_functions] == ["f"]


def test_coordinates_are_those_of_the_file() -> None:
    source = (
        "#define N 10\n#define T double\nint x; /* a\n b */ T  y;\n"
        "void f(void)\n{\n\tfor (int  i = 0;  i < N;\ti++)  x  =  i  +  y;\n}\n"
    )
    tu = unit(source)
    loop = find(tu.ast, ir.For)[0]
    assert (loop.coord.file, loop.coord.line, loop.coord.column) == ("x.c", 7, 2)
    line = source.split("\n")[6]
    uses = [(n.name, n.coord.line, n.coord.column) for n in find(loop.stmt, ir.ID)]
    assert uses == [("x", 7, line.index("x") + 1), ("i", 7, line.rindex("i") + 1), ("y", 7, line.index("y") + 1)]
    y = next(n for n in tu.ast.ext if getattr(n, "name", "") == "y")
    assert (y.coord.line, y.coord.column) == (4, 10)


def test_coordinates_with_carriage_returns_and_tabs() -> None:
    tu = unit("int x;\r\nvoid f(void) {\r\n\t\tx\t=\t1;\r\n}")
    assignment = find(tu.ast, ir.Assignment)[0]
    assert (assignment.coord.line, assignment.coord.column) == (3, 3)
    constant = find(assignment, ir.Constant)[0]
    assert constant.coord.column == 7


def test_coordinates_of_a_header(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("\n\nextern int from_header;\n")
    tu = unit('#include "x.h"\nint f(void) { return from_header; }\n', file=str(tmp_path / "x.c"))
    node = next(n for n in tu.ast.ext if getattr(n, "name", "") == "from_header")
    assert (node.coord.file, node.coord.line) == (str(tmp_path / "x.h"), 3)


@pytest.mark.parametrize(
    "source",
    [
        "int f(void) { return 1 }\n",
        "int a b;\n",
        "int f( { }\n",
        "void f(void) { {\n",
        "int x = ;\n",
        "}\n",
        "void f(void) { for (;; }\n",
        "typedef int;;\nint f(int a[) ;\n",
    ],
)
def test_a_syntax_error_is_reported_as_gcc_does(source: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.c"
    file.write_text(KERNEL + source)
    with pytest.raises(InputError) as caught:
        parse(file.read_bytes(), str(file), GCC)
    assert f"{file}:" in str(caught.value)
    assert "error: " in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        "int odd(int x) { switch (x) { case 1 ... 5: return 1; } return 0; }\n",
        "int odd(int x) { return x ?: 3; }\n",
        "int odd(void) { void *p = &&out; goto *p; out: return 1; }\n",
        "int odd(int x) { int inner(int y) { return x + y; } return inner(1); }\n",
        "int table[10] = { [0 ... 9] = 1 };\n",
        "double odd(double _Complex z) { return __real__ z; }\n",
    ],
)
def test_what_pycparser_cannot_read_does_not_stop_the_file(function: str) -> None:
    for source in (function + KERNEL, KERNEL + function):
        tu = unit(source)
        assert len(tu.regions) == 1
        assert tu.remarks == ()


def test_a_function_with_a_region_that_cannot_be_read_is_remarked() -> None:
    odd = "int odd(int x) {\n#pragma scop\n  A[0] = x ?: 3;\n#pragma endscop\n return 0; }\n"
    tu = unit(KERNEL + odd)
    assert [(r.id, r.kind, r.location.line) for r in tu.remarks] == [("parse.unsupported", "missed", 12)]
    assert len(tu.regions) == 1


def test_typedefs_that_cannot_be_read_remain_types() -> None:
    types = "typedef double v4 __attribute__((vector_size(32)));\ntypedef __typeof__(1 ?: 2) odd;\n"
    tu = unit(types + "v4 a; odd b;\nint f(void) { odd c; v4 *d = (v4 *)&a; return 1; }\n")
    assert {"v4", "odd"} <= tu.typedefs
    assert {"a", "b", "f"} <= declared(tu)


def test_reserved_names() -> None:
    source = (
        "#define MACRO 1\nint global; struct tag { int member; };\nint f(int param) { "
        "int local = 0; /* comment */ return local; }\n"
    )
    tu = unit("#include <stdio.h>\n" + source, "-DCMD=1")
    assert {
        "MACRO",
        "CMD",
        "global",
        "tag",
        "member",
        "param",
        "local",
        "printf",
        "FILE",
        "for",
        "while",
        "_Bool",
        "NULL",
    } <= tu.reserved


def test_macros_that_are_undefined_later_stay_reserved() -> None:
    assert "GONE" in unit("#define GONE 1\n#undef GONE\n").reserved


def test_symbolic_macros() -> None:
    source = KERNEL.replace("i < n", "i < N").replace("double A[100]", "#define N 100\ndouble A[N]")
    tu = unit(source)
    assert tu.regions[0].symbolic == {"N": 100}
    assert isinstance(tu.regions[0].items[0].cond.right, ir.ID)
    baked = unit(source, symbolic=False)
    assert baked.regions[0].symbolic == {}
    assert baked.regions[0].baked == {"N": 100}
    assert baked.regions[0].items[0].cond.right.value == "100"


def test_the_target() -> None:
    tu = unit("int a;\n")
    assert tu.target["int"].type.bits == 32
    assert (tu.long_type, tu.long_suffix) == (("long", "L") if tu.target["long"].size == 8 else ("long long", "LL"))


def test_odd_bytes_survive() -> None:
    source = b'/* \xe9\xff */ char *s = "\xe9";\r\n#define G "\xe8"\r\nchar *t = G;'
    tu = parse(source, "x.c", GCC)
    assert tu.source == source
    strings = [n.init.value for n in tu.ast.ext if isinstance(n, ir.Decl)]
    assert [s.encode("latin-1") for s in strings] == [b'"\xe9"', b'"\xe8"']


def test_old_style_functions() -> None:
    tu = unit("int f(a, b) int a; double b; { return a; }\nmain() { return f(1, 2.0); }\n" + KERNEL)
    assert [f.decl.name for f in tu.user_functions] == ["f", "main", "kernel"]


def test_an_empty_file() -> None:
    assert unit("").ast.ext is not None
    assert unit("").regions == ()


def test_a_huge_initializer_is_no_burden() -> None:
    numbers = ",".join(str(k) for k in range(3000))
    tu = unit(f"int table[] = {{ {numbers} }};\n" + KERNEL)
    assert len(tu.regions) == 1


def test_long_expressions() -> None:
    tu = unit(KERNEL.replace("int i;", "int i; double s = " + " + ".join(["1.0"] * 3000) + ";"))
    assert len(tu.regions) == 1
    assert "s" in scope_at(tu, tu.regions[0])
    assert not may_be_read_after(FunctionFacts.of(tu.regions[0].function), tu.regions[0], "i")


def test_deep_nesting_does_not_stop_the_file() -> None:
    tu = unit("int deep(int x) { return " + "(" * 400 + "x" + ")" * 400 + "; }\n" + KERNEL)
    assert len(tu.regions) == 1


def test_many_functions_that_cannot_be_read() -> None:
    odd = "".join(
        f"typedef int t{k}; t{k} odd{k}(t{k} x) {{ return x ?: {k}; }} t{k} even{k}(t{k} x) {{ return x; }}\n"
        for k in range(40)
    )
    tu = unit(odd + KERNEL)
    assert [f.decl.name for f in tu.user_functions] == [*(f"even{k}" for k in range(40)), "kernel"]
    assert len(tu.regions) == 1
