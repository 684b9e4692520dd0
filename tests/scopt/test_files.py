"""Atomic writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from scopt.files import write_atomically


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(tmp_path / "new", b"data\r\n")
    assert (tmp_path / "new").read_bytes() == b"data\r\n"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_bytes(b"old")
    file.chmod(0o640)
    write_atomically(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    target = tmp_path / "sub" / "target"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "sub") == ["target"]


def test_a_failure_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.c"
    file.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.c"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "a.c", b"")


def test_a_name_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_atomically("a.c", b"x")
    assert (tmp_path / "a.c").read_bytes() == b"x"


def test_devices_are_written_directly() -> None:
    write_atomically(os.devnull, b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
