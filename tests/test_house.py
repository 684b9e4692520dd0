"""The check of the house: each rule with a fault planted in a small tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import FUNCTION_LINES, MODULE_LINES, findings, main


def tree(root: Path, **files: str) -> Path:
    """A source tree that keeps all rules, and these files: ``scopt_a`` is ``scopt/a.py``."""
    given = {"scopt___init__": "", "frontend___init__": "", "scopt_clean": "import ast\n", **files}
    for name, text in given.items():
        folder, _, stem = name.partition("_")
        (root / folder).mkdir(exist_ok=True)
        (root / folder / f"{stem}.py").write_text(text)
    return root


def told(root: Path) -> list[str]:
    return [str(finding) for finding in findings(root, {})]


def function(lines: int) -> str:
    return "def long():\n" + "    pass\n" * (lines - 1)


def test_what_keeps_the_rules(tmp_path: Path) -> None:
    limits = tree(tmp_path, scopt_a=function(FUNCTION_LINES), scopt_b="\n" * MODULE_LINES)
    assert told(tree(limits, tests_clean=function(9), tests_b="\n" * (MODULE_LINES + 1))) == []


def test_a_long_function(tmp_path: Path) -> None:
    found = told(tree(tmp_path, scopt_a="\n" + function(FUNCTION_LINES + 1)))
    assert found == [f"scopt/a.py:2: long has {FUNCTION_LINES + 1} lines, more than {FUNCTION_LINES}: take it apart"]


def test_a_long_method_of_a_test(tmp_path: Path) -> None:
    method = "".join(f"    {line}\n" for line in function(FUNCTION_LINES + 1).splitlines())
    (found,) = told(tree(tmp_path, tests_a="class A:\n" + method))
    assert found.startswith("tests/a.py:2: long has ")


def test_a_long_module(tmp_path: Path) -> None:
    found = told(tree(tmp_path, scopt_a="\n" * (MODULE_LINES + 1)))
    assert found == [f"scopt/a.py:1: scopt/a.py has {MODULE_LINES + 1} lines, more than {MODULE_LINES}: take it apart"]


def test_exceptions_only_get_shorter(tmp_path: Path) -> None:
    root = tree(tmp_path, scopt_a="\n" * (MODULE_LINES + 7))
    exceptions = {"scopt/a.py": MODULE_LINES + 7}
    assert findings(root, exceptions) == []
    assert [f.line for f in findings(root, {"scopt/a.py": MODULE_LINES + 6})] == [1]
    (unneeded,) = findings(root, {**exceptions, "scopt/clean.py": MODULE_LINES + 1})
    assert "scopt/clean.py" in unneeded.what
    (gone,) = findings(root, {**exceptions, "scopt/gone.py:f": FUNCTION_LINES + 1})
    assert "scopt/gone.py:f" in gone.what


def test_two_modules_of_one_name(tmp_path: Path) -> None:
    found = told(tree(tmp_path, scopt_a="", frontend_a="", tests_a="", scopt___main__="", frontend___main__=""))
    assert found == ["frontend/a.py:1: scopt/a.py has the same name: one name for each module"]


@pytest.mark.parametrize("line", ["import pycparser", "from pycparser import c_ast", "import os, pycparser.c_ast as c"])
def test_who_may_import_the_parser(line: str, tmp_path: Path) -> None:
    (found,) = told(tree(tmp_path, frontend_a=f"def f():\n    {line}\n", tests_a=line))
    assert found.startswith("frontend/a.py:2: only ")
    assert "pycparser" in found


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.house.LONGER", {})
    assert main([str(tree(tmp_path))]) == 0
    assert capsys.readouterr().out == ""
    assert main([str(tree(tmp_path, scopt_a=function(99)))]) == 1
    assert capsys.readouterr().out.startswith("scopt/a.py:1: ")
