"""The preprocessor's run: places, messages, includes, macros that stay symbolic."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.frontend.text.preprocess import preprocess
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.frontend.text.preprocessor import check_syntax
from scopt.options import Options

GCC = Options(cc="gcc")


def region_tokens(result: Preprocessed, number: int = 0) -> list[str]:
    region = result.regions[number]
    first, after = result.raw.line(region.start), result.raw.line(region.end)
    begin = next(p.text_line for p in result.pragmas if p.line == first - 1)
    end = next(p.text_line for p in result.pragmas if p.line == after)
    return " ".join(result.text.split("\n")[begin + 1 : end]).split()


def marked(body: str, before: str = "") -> bytes:
    return f"{before}\ndouble A[100];\nvoid f(int n) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".encode()


def another(body: str) -> bytes:
    return f"void g(int n) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n".encode()


def test_text_has_neither_markers_nor_definitions() -> None:
    result = preprocess(b"#include <stddef.h>\n#define N 3\nint a[N];\n", "x.c", GCC)
    assert "#" not in result.text
    assert "int a[3];" in result.text
    assert result.macros["N"].body == "3"
    assert not result.macros["N"].system
    assert result.macros["NULL"].system


def test_places_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("\n\nint in_header;\n")
    file = str(tmp_path / "a b.c")
    result = preprocess(b'/* \n */\n#include "x.h"\n\n\n\nint in_file;\n', file, GCC)
    lines = result.text.split("\n")
    assert result.place(next(k for k, line in enumerate(lines) if "in_header" in line)) == (str(tmp_path / "x.h"), 3)
    number = next(k for k, line in enumerate(lines) if "in_file" in line)
    assert result.place(number) == (file, 7)
    assert result.run(number).user


@pytest.mark.parametrize("name", ['quote".c', "back\\slash.c", "spa ce.c", "é.c", "\udcff.c"])
def test_odd_file_names(name: str) -> None:
    result = preprocess(b"int in_file;\n", name, GCC)
    number = next(k for k, line in enumerate(result.text.split("\n")) if "in_file" in line)
    assert result.place(number) == (name, 1)
    assert result.run(number).user


def test_file_macro_is_the_users_file() -> None:
    assert '"dir/x.c"' in preprocess(b"char *f = __FILE__;\n", "dir/x.c", GCC).text


def test_quoted_includes_are_searched_beside_the_file_not_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.h").write_text("int right;\n")
    (tmp_path / "x.h").write_text("int wrong;\n")
    monkeypatch.chdir(tmp_path)
    text = preprocess(b'#include "x.h"\n', os.path.join("sub", "a.c"), GCC).text
    assert "right" in text
    assert "wrong" not in text
    assert "wrong" in preprocess(b'#include "x.h"\n', "a.c", GCC).text


def test_flags_are_passed_on(tmp_path: Path) -> None:
    (tmp_path / "y.h").write_text("int from_y = A;\n")
    options = Options(cc="gcc", cpp_flags=(f"-I{tmp_path}", "-DA=7", "-UA", "-DA=8"))
    assert "from_y = 8" in preprocess(b"#include <y.h>\n", "x.c", options).text


def test_a_missing_include_is_reported_as_gcc_does(tmp_path: Path) -> None:
    file = tmp_path / "x.c"
    file.write_text('\n#include "nope.h"\n')
    with pytest.raises(InputError) as caught:
        preprocess(file.read_bytes(), str(file), GCC)
    message = str(caught.value)
    assert message.startswith(f"{file}:2:10: fatal error: nope.h: No such file or directory\n")
    assert '#include "nope.h"' in message


def test_an_error_directive_is_reported() -> None:
    with pytest.raises(InputError, match=r"x\.c:1:2: error: #error no"):
        preprocess(b"#error no\n", "x.c", GCC)


def test_a_missing_compiler_is_reported() -> None:
    with pytest.raises(InputError, match="no-such-cc"):
        preprocess(b"int a;\n", "x.c", Options(cc="no-such-cc"))


def test_the_compiler_may_have_options() -> None:
    assert "long" in preprocess(b"T x;\n", "x.c", Options(cc="gcc -DT=long")).text


def test_no_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    preprocess(marked("A[0] = N;", "#define N 3"), "x.c", GCC)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "source", [b"", b"\n", b"int a;", b"int a; \xff\xfe // \xe9", b"int\ta;\r\nint b;\r\n", b"\xef\xbb\xbfint a;\n"]
)
def test_odd_bytes(source: bytes) -> None:
    assert preprocess(source, "x.c", GCC).raw.text.encode("latin-1") == source


def test_own_line_directives_do_not_move_places() -> None:
    result = preprocess(b'#line 100 "y.y"\nint a;\n# 7 "z.y"\nint b;\n', "x.c", GCC)
    number = next(k for k, line in enumerate(result.text.split("\n")) if "int b" in line)
    assert result.place(number) == ("x.c", 4)


def test_check_syntax() -> None:
    assert check_syntax(b"int a;\n", "x.c", GCC) == ""
    assert "x.c:1:7: error: expected" in check_syntax(b"int a b;\n", "x.c", GCC)


# --- symbolic macros --------------------------------------------------------------------------------------------------


def test_an_integer_macro_stays_symbolic_in_the_region_only() -> None:
    result = preprocess(
        b"int before[N];\n" + marked("A[0] = N;") + b"int after = N;\n", "x.c", Options(cc="gcc", cpp_flags=("-DN=10",))
    )
    assert result.regions[0].symbolic == {"N": 10}
    assert region_tokens(result) == ["A[0]", "=", "N;"]
    assert "before[10]" in result.text
    assert "after = 10" in result.text
    number = next(k for k, line in enumerate(result.text.split("\n")) if "after" in line)
    assert result.place(number) == ("x.c", 9)


def test_not_symbolic_when_asked_so() -> None:
    result = preprocess(marked("A[0] = N;", "#define N 10"), "x.c", GCC, symbolic=False)
    assert region_tokens(result) == ["A[0]", "=", "10;"]
    assert result.regions[0].symbolic == {}
    assert result.regions[0].baked == {"N": 10}


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("N 10", 10),
        ("N (M*M)", 49),
        ("N -1", -1),
        ("N (M+0x10)", 23),
        ("N ((M))", 7),
        ("N M", 7),
        ("N (M > 3 ? 1 : 2)", 1),
        ("N 'a'", 97),
    ],
)
def test_values(definition: str, value: int) -> None:
    result = preprocess(marked("A[0] = N;", f"#define M 7\n# define {definition}"), "x.c", GCC)
    assert result.regions[0].symbolic == {"N": value}


@pytest.mark.parametrize(
    ("definition", "ctype"),
    [
        ("N 10u", "unsigned int"),
        ("N 10L", "long"),
        ("N (10 + 0ULL)", "unsigned long long"),
        ("N 3000000000", "long"),
        ("N 0xffffffff", "unsigned int"),
    ],
)
def test_types(definition: str, ctype: str) -> None:
    result = preprocess(marked("A[0] = N + M;", f"#define M 7\n#define {definition}"), "x.c", GCC)
    assert result.regions[0].types == {"N": ctype}


@pytest.mark.parametrize(
    "definition",
    ["N 2*5", "N 1.5", "N n", "N", "N(x) 3", "N (1/0)", "N 10uul", "N 1+2", "N sizeof(int)", "N (3,4)"],
)
def test_what_is_no_integer_operand_is_expanded(definition: str) -> None:
    source = marked("A[0] = 1;\n#ifdef NEVER\nN\n#endif\n", f"#define {definition}")
    assert preprocess(source, "x.c", GCC).regions[0].symbolic == {}
    used = preprocess(
        marked(
            "A[0] = 0 + N(1);" if "(x)" in definition else "A[0] = 1 N;" if definition == "N" else "A[0] = N;",
            f"#define {definition}",
        ),
        "x.c",
        GCC,
    )
    assert used.regions[0].symbolic == {}


def test_the_name_in_the_source_is_kept_not_what_it_is_made_of() -> None:
    before = "#define SIZE 5\n#define N SIZE\n#define BOUND(x, y) x"
    result = preprocess(marked("A[0] = BOUND(N, n);", before), "x.c", GCC)
    assert result.regions[0].symbolic == {"N": 5}
    assert region_tokens(result) == ["A[0]", "=", "N;"]


def test_macros_that_do_not_come_out_are_not_listed() -> None:
    result = preprocess(marked("A[0] = BOUND(N, n);", "#define N 5\n#define BOUND(x, y) y"), "x.c", GCC)
    assert result.regions[0].symbolic == {}
    baked = preprocess(marked("A[0] = BOUND(N, n);", "#define N 5\n#define BOUND(x, y) y"), "x.c", GCC, symbolic=False)
    assert baked.regions[0].baked == {}


@pytest.mark.parametrize("use", ["A[0] = CAT(1, N);", "A[0] = CAT2(N, 1);"])
def test_a_pasted_macro_is_expanded(use: str) -> None:
    before = "#define N 2\n#define CAT2(a, b) a ## b\n#define CAT(a, b) CAT2(a, b)"
    result = preprocess(marked(use, before + "\n#define N1 7"), "x.c", GCC)
    expanded = preprocess(marked(use, before + "\n#define N1 7"), "x.c", GCC, symbolic=False)
    # CAT(1, N) is 12 in the compiler's eyes; it must never be read as 1N.
    if "CAT(" in use:
        assert result.regions[0].symbolic == {}
        assert region_tokens(result) == region_tokens(expanded) == ["A[0]", "=", "12;"]
    else:
        assert "N" not in result.regions[0].symbolic


def test_system_macros_are_expanded() -> None:
    result = preprocess(marked("A[0] = INT_MAX;", "#include <limits.h>"), "x.c", GCC)
    assert result.regions[0].symbolic == {}
    assert region_tokens(result)[-1] == "0x7fffffff;"


def test_directives_in_the_region_bake() -> None:
    result = preprocess(marked("#if N > 3\nA[0] = M;\n#endif", "#define N 10\n#define M 4"), "x.c", GCC)
    assert result.regions[0].symbolic == {}
    assert result.regions[0].baked == {"M": 4, "N": 10}


def test_each_region_has_its_own_value() -> None:
    source = marked("A[0] = N;", "#define N 1") + b"#undef N\n#define N 2\n" + another("A[1] = N;")
    result = preprocess(source, "x.c", GCC)
    assert [dict(r.symbolic) for r in result.regions] == [{"N": 1}, {"N": 2}]


def test_a_sound_region_stays_symbolic_beside_one_that_is_not() -> None:
    cat = "#define N 2\n#define CAT2(a, b) a ## b\n#define CAT(a, b) CAT2(a, b)"
    source = marked("A[0] = CAT(1, N);", cat) + another("A[1] = N;")
    result = preprocess(source, "x.c", GCC)
    assert [dict(r.symbolic) for r in result.regions] == [{}, {"N": 2}]
    assert region_tokens(result, 0) == ["A[0]", "=", "12;"]
    assert region_tokens(result, 1) == ["A[1]", "=", "N;"]


@pytest.mark.parametrize(
    "source",
    [
        b"void f(void) {\n/*\n#pragma scop\n*/\n}\n",
        b"#if 0\n#pragma scop\n#pragma endscop\n#endif\n",
        b'char *s = "\\\n#pragma scop\\\n";\n',
        b"// \\\n#pragma scop\nint a;\n",
    ],
)
def test_what_only_looks_like_a_pragma(source: bytes) -> None:
    assert preprocess(source, "x.c", GCC).pragmas == ()


def test_pragmas_of_headers_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("static inline void g(int *a) {\n#pragma scop\na[0] = 1;\n#pragma endscop\n}\n")
    result = preprocess(b'#include "x.h"\n', str(tmp_path / "a.c"), GCC)
    assert [(p.kind, p.user, p.line) for p in result.pragmas] == [("scop", False, 2), ("endscop", False, 4)]
    assert "#pragma" not in result.text


@pytest.mark.parametrize("name", ["__COUNTER__", "__TIME__", "STAMP"])
def test_unstable_macros_are_noted(name: str) -> None:
    result = preprocess(marked(f"A[0] = {name}[0];", "#define STAMP __DATE__"), "x.c", GCC)
    assert result.regions[0].unstable & {"__COUNTER__", "__TIME__", "__DATE__"}


@pytest.mark.parametrize("other", ["enum { N = 5 };", "int N;", "struct { int N; } s;"])
def test_a_macro_with_the_name_of_something_else_is_expanded(other: str) -> None:
    result = preprocess(marked("A[0] = N;", f"{other}\n#define N 10"), "x.c", GCC)
    assert result.regions[0].symbolic == {}
    assert region_tokens(result) == ["A[0]", "=", "10;"]


def test_a_call_of_a_macro_over_several_lines_moves_nothing() -> None:
    source = (
        "#define F(a, b) a = b\nint x;\nvoid f(void) {\n  F(x,\n    3\n   ); x = 4;\n"
        "#pragma scop\n  F(x,\n  5);\n  x = 6;\n#pragma endscop\n}\n"
    )
    result = preprocess(source.encode(), "x.c", GCC)
    assert [p.line for p in result.pragmas] == [7, 11]
    number = next(k for k, line in enumerate(result.text.split("\n")) if "x = 6" in line)
    assert result.place(number) == ("x.c", 10)


CHOICE = "#define CHOICE(a, b) b\n#define BASE CHOICE(3, 40)\n"


@pytest.mark.parametrize(
    ("definition", "symbolic"),
    [
        ("N CHOICE(3, 40)", {"N": 40}),
        ("N CHOICE((1, 2), (40))", {"N": 40}),
        ("N (2 * BASE + 1)", {"BASE": 40}),
        ("N (BASE - BASE / 4)", {"N": 30}),
        ("N (2 * (BASE + 1))", {"N": 82}),
        ("N (BASE)", {"N": 40}),
        ("N CHOICE(3, x)", {}),
    ],
)
def test_macros_of_macros(definition: str, symbolic: dict[str, int]) -> None:
    """What calls of macros stand for is a number like any other; sums of macros are known to be that."""
    result = preprocess(marked("A[0] = N;", f"{CHOICE}#define {definition}"), "x.c", GCC)
    assert result.regions[0].symbolic == symbolic
    assert "N" in symbolic or "N" not in " ".join(region_tokens(result))
