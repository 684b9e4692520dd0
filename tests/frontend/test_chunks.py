"""External declarations: where they end, what they declare, which are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.frontend.text.chunks import declared_names, needed, split
from scopt.frontend.text.preprocess import preprocess
from scopt.options import Options

GCC = Options(cc="gcc")


def chunks(source: str) -> list[str]:
    result = preprocess(source.encode(), "x.c", GCC)
    return [result.text[c.start : c.end].strip() for c in split(result)]


@pytest.mark.parametrize(
    "pieces",
    [
        ["int a;", "int f(void) { if (1) { } return 0; }", "int b;"],
        ["struct s { int a; } x, *y;", "enum e { A, B = 3 };", "union u { int a; };"],
        ["int a[] = { 1, 2 };", "struct s x = (struct s) { 1 };", "int b;"],
        ["struct __attribute__((packed)) s { int a; } x;", "int b;"],
        ["struct s { int a; } f(void) { return x; }", "int b;"],
        ["int f(void) __attribute__((pure));", "__attribute__((noinline)) int f(void) { return 1; }", "int b;"],
        ['char *s = "; { ";', "char c = '}';", "int b;"],
        ["int (*f(int a))(int) { return g; }", "int b;"],
        ["typedef int (*fn)(int, struct { int x; } *);", "int b;"],
    ],
)
def test_split(pieces: list[str]) -> None:
    assert chunks("\n".join(pieces) + "\n") == pieces


def test_an_unclosed_brace_is_one_chunk() -> None:
    assert chunks("int a;\nint f(void) { {\n") == ["int a;", "int f(void) { {"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("extern int printf (const char *__restrict __format, ...);", {"printf"}),
        ("typedef unsigned long size_t;", {"size_t"}),
        ("extern void (*signal (int sig, void (*handler)(int)))(int);", {"signal"}),
        ("typedef int (*__compar_fn_t) (const void *, const void *);", {"__compar_fn_t"}),
        ("extern int a, b[3], *c;", {"a", "b", "c"}),
        ("struct tag { int m; };", {"tag"}),
        ("struct _IO_FILE;", {"_IO_FILE"}),
        ("typedef struct { int m; } name, *pointer;", {"name", "pointer"}),
        ("enum e { A, B = 1 << 3, C };", {"e", "A", "B", "C"}),
        ("int (isalnum)(int);", {"isalnum"}),
        ("size_t (strlen2)(const char *);", {"strlen2"}),
        ("size_t (*pointer)(const char *);", {"pointer"}),
        ('extern int f (int) __asm__ ("" "g") __attribute__ ((__nothrow__));', {"f"}),
        ("int f(int), g(void);", {"f", "g"}),
        ("struct s *f(struct s *);", {"f"}),
        ("_Complex double cexp(_Complex double z);", {"cexp"}),
        ("extern __attribute__((x)) int v __attribute__((y(1)));", {"v"}),
        ("double d = 1.0;", {"d"}),
    ],
)
def test_declared_names(text: str, names: set[str]) -> None:
    assert names <= declared_names(text)


def test_a_prototype_declares_no_type_of_its_parameters() -> None:
    assert "size_t" not in declared_names(
        "extern void *memcpy (void *__restrict d, const void *__restrict s, size_t) ;"
    )


def test_only_what_is_used_is_needed(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text(
        "typedef unsigned long word;\nstruct pair { word a; };\nstruct pair *make(void);\nint unused(struct other *);\n"
        "enum { SIX = 6 };\ntypedef int (*callback)(word w);\n"
    )
    result = preprocess(
        b'#include "x.h"\nint main(void) { return make() != 0 ? SIX : 0; }\n', str(tmp_path / "a.c"), GCC
    )
    texts = [result.text[c.start : c.end].strip() for c in needed(result.text, split(result))]
    assert texts == [
        "typedef unsigned long word;",
        "struct pair { word a; };",
        "struct pair *make(void);",
        "enum { SIX = 6 };",
        "int main(void) { return make() != 0 ? SIX : 0; }",
    ]


def test_bodies_of_the_systems_functions_are_not_looked_into() -> None:
    result = preprocess(
        b'#include <stdlib.h>\nint main(void) { return atoi("1"); }\n', "x.c", Options(cc="gcc", cpp_flags=("-O2",))
    )
    assert len(needed(result.text, split(result))) < 20
