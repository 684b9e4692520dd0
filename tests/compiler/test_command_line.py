"""The command line of a C compiler: what is a flag, a value, an input."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from scopt.compiler.command_line import read_command, response_words


def described(text: str) -> str:
    """The inputs with their languages, the mode and the output."""
    command = read_command(text.split())
    inputs = " ".join(f"{a.value}:{a.language}" for a in command.inputs)
    return f"{command.mode} {command.output or '-'} {inputs}".strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.c", "link - a.c:c"),
        ("-c a.c", "object - a.c:c"),
        ("-S a.c -o -", "assembly - a.c:c"),
        ("-c a.c -o out/a.o", "object out/a.o a.c:c"),
        ("-c a.c -oout/a.o", "object out/a.o a.c:c"),
        ("a.c b.c main.o -lm -L lib.c", "link - a.c:c b.c:c main.o:"),
        (
            "-I inc.c -D x.c -U y.c -include z.c -isystem s.c -iquote q.c -idirafter d.c -imacros m.c -c a.c",
            "object - a.c:c",
        ),
        ("-MD -MF a.c -MT b.c -MQ c.c -MP -c d.c", "object - d.c:c"),
        ("-Xlinker a.c -Xassembler b.c -T c.c -u d.c -z e.c --param f.c -Xclang g.c -mllvm h.c k.c", "link - k.c:c"),
        ("-x c a.inc -x none b.o -", "link - a.inc:c b.o: -:"),
        ("-xc -", "link - -:c"),
        (
            "a.C b.cpp c.S d.s e.i f.f90 g.h",
            "link - a.C:other b.cpp:other c.S:other d.s:other e.i:other f.f90:other g.h:other",
        ),
        ("--sysroot /x.c -isysroot y.c --sysroot=z.c -target t.c a.c", "link - a.c:c"),
        ("-funknown-flag -Wunknown -Wl,-rpath,a.c -Wp,-MD,b.c -march=c.c a.c", "link - a.c:c"),
        ("-undef -ansi -emit-llvm -c a.c", "object - a.c:c"),
        ("/d/libx.a libm.so.6 ./a.c -o", "link - /d/libx.a: libm.so.6: ./a.c:c"),
    ],
)
def test_inputs(text: str, expected: str) -> None:
    assert described(text) == expected


@pytest.mark.parametrize(
    "flag",
    [
        "-E",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-###",
        "-v",
        "--version",
        "-dumpversion",
        "-dumpmachine",
        "-print-file-name=x",
        "-print-search-dirs",
        "--print-sysroot",
        "--coverage",
        "-fprofile-arcs",
        "--help=warnings",
        "-fpreprocessed",
        "-xc++",
        "-save-temps=obj",
    ],
)
def test_what_goes_straight_through(flag: str) -> None:
    assert read_command([flag, "a.c"]).straight


@pytest.mark.parametrize(
    "flag",
    ["-MD", "-MMD", "-g", "-O3", "-save-temps", "-fopenmp", "-fdump-tree-all", "-pthread", "-Werror", "-flto", "-pipe"],
)
def test_what_does_not(flag: str) -> None:
    assert not read_command([flag, "-c", "a.c"]).straight


def test_flags_for_the_preprocessor() -> None:
    text = (
        "-O2 -g3 -Wall -I a -Ib -DX=1 -MD -MF d -Wp,-MD,f,-DY -Wp,-MMD,g -std=c99 -fwrapv "
        "-lm -L. -Wl,-s -o x -c -pipe -save-temps -m32 k.c"
    )
    command = read_command(text.split())
    taken = [" ".join(words) for words in command.for_preprocessor()]
    assert taken == ["-O2", "-I a", "-Ib", "-DX=1", "-Wp,-DY", "-std=c99", "-fwrapv", "-m32"]
    assert ("-g3",) in command.for_preprocessor(debugging=True)


def test_response_files(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text('\'-DX=a b\' "-DY=\\"q\\""\n-c\\ d')
    outer.write_text(f"-O2 @{inner} @{tmp_path}/missing")
    words = [word for a in read_command([f"@{outer}", "a.c"]).arguments for word in a.words]
    assert words == ["-O2", "-DX=a b", '-DY="q"', "-c d", f"@{tmp_path}/missing", "a.c"]


@given(st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0\r"), max_size=8), max_size=5))
def test_response_words_of_quoted_words(words: list[str]) -> None:
    quoted = " ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in words)
    assert response_words(quoted) == words


@given(st.lists(st.from_regex(r"[A-Za-z0-9_=,./+-]{1,9}", fullmatch=True), max_size=6))
def test_every_word_is_kept_in_its_place(words: list[str]) -> None:
    assert [word for a in read_command(words).arguments for word in a.words] == words
    assert shlex.split(" ".join(words)) == response_words(" ".join(words))
