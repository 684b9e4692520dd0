"""What a file gives the names of the library's functions to, and what of that matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.taken_functions import taken_functions
from scopt.options import Options

MOST, OWN = "omp_get_max_threads", "omp_get_thread_num"


def taken(text: str, *flags: str) -> frozenset[str]:
    return taken_functions(parse(text.encode(), "in.c", Options(cpp_flags=flags)))


@pytest.mark.parametrize(
    "text",
    [
        "#include <stdlib.h>\n#include <omp.h>\nvoid *f(int n) { return aligned_alloc(64, malloc(n) ? n : 64); }",
        "void f(double *free, int malloc) { int aligned_alloc = malloc; free[0] = aligned_alloc; }",
        "struct s { double *free; void *(*malloc)(int); }; struct free { int aligned_alloc; };",
        "void *malloc(unsigned long), free(void *); extern void *(malloc)(unsigned long n);",
        "static void *own(int) __attribute__((malloc));\nvoid *other(int) __attribute__((__malloc__, malloc(own, 1)));",
        f"extern int {MOST}(void);\nint {OWN}();",
        f"#define {MOST}() 1\n#define {OWN}() 0\n#define malloc mine\n#define free(x) (void)x",
        'const char *text = "malloc(free)"; int f(void) { static int free; return free; }',
    ],
)
def test_what_does_no_harm(text: str) -> None:
    assert not taken(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("static int free(int x) { return x; }", {"free"}),
        ("static int free(int x);", {"free"}),
        ("void *malloc(unsigned long n) { return 0; }", {"malloc"}),
        ("static double x, free[100];", {"free"}),
        ("static void (*free)(void *);", {"free"}),
        ("enum { malloc = 3 };", {"malloc"}),
        ("void *aligned_alloc(int);", {"aligned_alloc"}),
        ("typedef int aligned_alloc;", {"aligned_alloc"}),
        ("#define aligned_alloc mine", {"aligned_alloc"}),
        (f"#define {MOST} 1", {MOST}),
        (f"static int {OWN}(void) {{ return 0; }}", {OWN}),
        (f"extern long {OWN}(void);", {OWN}),
        (f"int {MOST};", {MOST}),
    ],
)
def test_what_takes_a_name(text: str, names: set[str]) -> None:
    assert taken(text) == names


def test_headers_of_the_programs_own_are_the_file_s(tmp_path: Path) -> None:
    """Though nothing in the file asks for them."""
    (tmp_path / "own.h").write_text(f"static inline int {OWN}(void) {{ return 0; }}\n")
    text = '#include "own.h"\nint x;\n'
    assert taken(text, f"-I{tmp_path}") == {OWN}
    assert taken(text, "-isystem", str(tmp_path)) == frozenset()
