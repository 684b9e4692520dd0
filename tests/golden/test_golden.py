"""Golden C: what scopt makes of each file in inputs/ stands in expected/.

The first line of an input holds the options: `// scopt: --tile-size none`. After a change that is meant to show:
`pytest tests/golden --update-golden`, and read the diff.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scopt import cli

HERE = Path(__file__).parent
INPUTS = sorted((HERE / "inputs").glob("*.c"))


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.stem)
def test_output_is_as_expected(
    source: Path,
    golden: Callable[[Path, bytes], None],
    cc: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    # Messages name the file as it was given: relative, so that they are the same everywhere.
    monkeypatch.chdir(HERE)
    output = tmp_path / "out.c"
    assert cli.main([f"inputs/{source.name}", "-o", str(output), "--cc", cc, *_options(source)]) == 0
    golden(HERE / "expected" / source.name, output.read_bytes())
    golden(HERE / "expected" / f"{source.stem}.remarks", capfd.readouterr().err.encode())
    # An iterator declared before its loop is not used any more, and stays.
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-variable")
    command = [cc, "-std=gnu11", "-O1", *warnings, "-fopenmp", "-c", "-o", str(tmp_path / "out.o"), str(output)]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr


def _options(source: Path) -> list[str]:
    first, _, _ = source.read_text().partition("\n")
    marker, _, options = first.partition("scopt:")
    assert marker == "// ", f"{source.name}: the first line is `// scopt: OPTIONS`"
    return shlex.split(options)
