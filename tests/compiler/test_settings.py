"""What the environment and the first argument say."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.compiler.settings import CACHE_SIZE, SettingsError, read_settings


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with programs that do nothing."""
    for name in ("cc", "gcc", "ccache", "scoptcc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def read(tools: Path, *words: str, **environment: str) -> tuple[tuple[str, ...], bool, list[str]]:
    settings, rest = read_settings(words, {"PATH": str(tools), **environment}, str(tools / "scoptcc"))
    return tuple(Path(word).name for word in settings.compiler), settings.launched, rest


def test_the_compiler(tools: Path) -> None:
    assert read(tools, "-c", "a.c") == (("cc",), False, ["-c", "a.c"])
    assert read(tools, "a.c", SCOPT_CC="gcc -m32 '-DX=a b'") == (("gcc", "-m32", "-DX=a b"), False, ["a.c"])
    assert read(tools, "gcc", "-c", "a.c") == (("gcc",), True, ["-c", "a.c"])
    assert read(tools, f"{tools}/gcc", "a.c", SCOPT_CC="cc") == (("gcc",), True, ["a.c"])
    assert read(tools, "ccache", "gcc", "-c", "a.c") == (("ccache", "gcc"), True, ["-c", "a.c"])
    assert read(tools, "a.c") == (("cc",), False, ["a.c"])
    assert read(tools, "object", "a.c") == (("cc",), False, ["object", "a.c"])
    assert read(tools) == (("cc",), False, [])


def test_it_never_runs_itself(tools: Path) -> None:
    with pytest.raises(SettingsError, match="SCOPT_CC"):
        read(tools, "a.c", SCOPT_CC="scoptcc")
    (tools / "first").mkdir()
    (tools / "first/cc").symlink_to(tools / "scoptcc")
    settings, _ = read_settings(["a.c"], {"PATH": f"{tools}/first:{tools}"}, str(tools / "scoptcc"))
    assert settings.compiler == (str(tools / "cc"),)


@pytest.mark.parametrize(
    ("text", "size"), [("", CACHE_SIZE), ("0", 0), ("500", 500), ("2K", 2048), ("1.5M", 3 << 19), ("3GiB", 3 << 30)]
)
def test_sizes(tools: Path, text: str, size: int) -> None:
    settings, _ = read_settings([], {"PATH": str(tools), "SCOPT_CACHE_SIZE": text}, "")
    assert settings.cache_size == size


@pytest.mark.parametrize(
    "wrong", [{"SCOPT_CACHE_SIZE": "big"}, {"SCOPT_TIMEOUT": "soon"}, {"SCOPT_FLAGS": "'"}, {"SCOPT_CC": "missing"}]
)
def test_what_cannot_be_used_is_said(tools: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"SCOPT_\w+"):
        read_settings(["a.c"], {"PATH": str(tools), **wrong}, "")
