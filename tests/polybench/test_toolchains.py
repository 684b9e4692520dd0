from __future__ import annotations

from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.toolchains import (
    POLLY,
    Compiler,
    Configuration,
    find_compiler,
    find_peer,
    own_configurations,
    scopt_command,
)

GCC = Compiler("gcc", "/usr/bin/gcc", False, "gcc 12")
CLANG = Compiler("clang", "/usr/bin/clang", True, "clang 19")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def program(folder: Path, name: str, script: str) -> str:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_the_newest_version_is_taken(path: Path) -> None:
    for version in (9, 19, 15):
        program(path, f"clang-{version}", f"echo Debian clang version {version}.0")
    program(path, "clang-format-20", "echo no compiler")
    found = find_compiler("clang")
    assert (found.path, found.clang, found.version) == (str(path / "clang-19"), True, "Debian clang version 19.0")


def test_an_exact_name_comes_first(path: Path) -> None:
    program(path, "gcc", "echo gcc 12")
    program(path, "gcc-13", "echo gcc 13")
    assert find_compiler("gcc").version == "gcc 12"
    assert not find_compiler("gcc-13").clang


def test_no_compiler(path: Path) -> None:
    with pytest.raises(InputError, match="compiler 'gcc' is not on the PATH"):
        find_compiler("gcc")


def test_no_working_compiler(path: Path) -> None:
    program(path, "gcc", "exit 1")
    with pytest.raises(InputError, match="--version fails: exit code 1"):
        find_compiler("gcc")


def test_one_compiler() -> None:
    original, ours = own_configurations([GCC], [], [])
    assert original == Configuration("gcc", GCC)
    assert (ours.name, ours.flags, ours.transform[1:3]) == ("scopt", ("-fopenmp",), ("-m", "scopt"))
    assert Path(ours.pythonpath, "scopt", "__init__.py").is_file()


def test_compilers_times_schedulers() -> None:
    names = [configuration.name for configuration in own_configurations([GCC, CLANG], ["isl", "identity"], [])]
    assert names == ["gcc", "clang", "scopt:isl+gcc", "scopt:identity+gcc", "scopt:isl+clang", "scopt:identity+clang"]


def test_a_column_with_another_order_of_sums() -> None:
    *_, exact, loose = own_configurations([GCC], [], ["-q"], reassociate=True)
    assert (exact.name, exact.tolerance) == ("scopt", 0)
    assert (loose.name, loose.transform) == ("scopt-reassociate", (*exact.transform, "--reassociate"))
    assert 0 < loose.tolerance <= 1e-6


def test_a_column_without_marks() -> None:
    _, marked, found, *loose = own_configurations([GCC], [], ["-q"], autodetect=True, reassociate=True)
    assert (marked.name, marked.unmarked) == ("scopt", False)
    assert (found.name, found.unmarked, found.tolerance) == ("scopt-autodetect", True, 0)
    assert found.transform == (*marked.transform, "--autodetect")
    assert [(one.name, one.unmarked) for one in loose] == [
        ("scopt-reassociate", False),
        ("scopt-autodetect-reassociate", True),
    ]


def test_scopt_command() -> None:
    assert scopt_command("isl", ["--tile-size", "16"], ["my-scopt", "-x"]) == (
        *("my-scopt", "-x", "{source}", "-o", "{output}", "--cc", "{cc}", "{flags}"),
        *("--scheduler", "isl", "--tile-size", "16"),
    )


def test_missing_peers(path: Path) -> None:
    assert find_peer("pluto", [GCC], 2) == "pluto: polycc is not on the PATH"
    assert find_peer("polly", [GCC], 2) == "polly: compiler 'clang' is not on the PATH"
    assert find_peer("graphite", [CLANG], 2) == "graphite: compiler 'gcc' is not on the PATH"


def test_a_compiler_without_the_peer(path: Path) -> None:
    clang = program(path, "clang", "echo \"clang: error: unknown argument '-polly'\" >&2; exit 1")
    found = find_peer("polly", [GCC, Compiler("clang", clang, True, "")], 2)
    assert found == f"polly: {clang} can't: clang: error: unknown argument '-polly'"


def test_peers(path: Path) -> None:
    gcc = Compiler("gcc", program(path, "gcc", "exit 0"), False, "")
    clang = Compiler("clang", program(path, "clang", "exit 0"), True, "")
    polycc = program(path, "polycc", "exit 0")
    assert find_peer("polly", [gcc, clang], 2) == Configuration("polly", clang, POLLY)
    assert find_peer("graphite", [gcc], 4) == Configuration(
        "graphite", gcc, ("-floop-nest-optimize", "-ftree-parallelize-loops=4")
    )
    pluto = find_peer("pluto", [gcc], 2)
    assert isinstance(pluto, Configuration)
    assert pluto.transform == (polycc, "{source}", "--tile", "--parallel", "-o", "{output}")
