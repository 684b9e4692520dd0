"""What the cache's keys say of scopt itself and of what its options name."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.compiler import fingerprint as identity


def test_edited_modules_make_another_program(tmp_path: Path) -> None:
    package = tmp_path / "scopt" / "stage"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "emit.py").write_text("WIDTH = 8\n")
    (tmp_path / "setup.py").write_text("")
    roots = (str(package.parent), str(tmp_path))
    first = identity.of_program.__wrapped__(roots)
    (tmp_path / "setup.py").write_text("no part of it")
    (package / "notes.txt").write_text("nor this")
    assert identity.of_program.__wrapped__(roots) == first
    (package / "emit.py").write_text("WIDTH = 4\n")
    assert identity.of_program.__wrapped__(roots) != first


def test_every_stage_is_part_of_the_program() -> None:
    import scopt

    names = {path.resolve().name for root in scopt.__path__ for path in identity._modules(Path(root))}
    assert {"cli.py", "extract.py", "pluto_scheduler.py", "emit_c.py", "identity.py"} <= names
    assert "conftest.py" not in names


@pytest.mark.parametrize("words", [("--machine=m.toml",), ("--machine", "m.toml")])
def test_contents_of_named_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    assert list(identity.of_options(words)) == []
    Path("m.toml").write_bytes(b"cores = 2\n")
    assert list(identity.of_options(words)) == [b"cores = 2\n"]


def test_the_machine_that_native_means() -> None:
    (text,) = identity.of_options(["--machine=native"])
    assert b"cores" in text
