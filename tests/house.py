"""What `make lint` asks of the source tree beyond ruff: lengths, names of modules, who may import what.

usage: house.py [ROOT]
Prints a line ``file:line: what`` for each finding; the exit status is 1 if there are any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

# The source tree, where all rules hold; and where only functions are measured: a test module is a list.
SOURCES = ("scopt", "frontend", "scheduler", "astgen", "polybench")
OTHERS = ("tests", "examples")
FUNCTION_LINES = 60
MODULE_LINES = 400
# Names that many packages have.
SHARED_NAMES = ("__init__", "__main__")
# Who alone may import a package.
IMPORTERS: Mapping[str, Sequence[str]] = {"pycparser": ("scopt/ir/from_pycparser.py",)}
# What is longer for now, with its lines: ``file`` or ``file:function``. This list only gets shorter.
LONGER: Mapping[str, int] = {}


class Finding(Struct, frozen=True, order=True):
    """path: from the root. line: from 1."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


class Module(Struct, frozen=True):
    """A file of Python. path: from the root."""

    path: str
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        return Path(self.path).stem


class Length(Struct, frozen=True):
    """Of a module, or of a function. name: as in `LONGER`. line: where it begins."""

    path: str
    name: str
    line: int
    lines: int
    limit: int


def findings(root: Path, longer: Mapping[str, int]) -> list[Finding]:
    """All findings below a root, by place. longer: as `LONGER`."""
    sources = [module for folder in SOURCES for module in _modules(root, folder)]
    others = [module for folder in OTHERS for module in _modules(root, folder)]
    measured = [
        *(length for module in (*sources, *others) for length in _functions(module)),
        *(Length(module.path, module.path, 1, len(module.text.splitlines()), MODULE_LINES) for module in sources),
    ]
    return sorted(
        [
            *_too_long(measured, longer),
            *_same_names(sources),
            *(finding for module in sources for finding in _imports(module)),
        ]
    )


def _modules(root: Path, folder: str) -> Iterator[Module]:
    for file in sorted((root / folder).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        yield Module(file.relative_to(root).as_posix(), text, ast.parse(text))


def _functions(module: Module) -> Iterator[Length]:
    """From the `def` to the last line, the docstring with it."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            yield Length(module.path, f"{module.path}:{node.name}", node.lineno, lines, FUNCTION_LINES)


def _too_long(measured: Sequence[Length], longer: Mapping[str, int]) -> Iterator[Finding]:
    for one in measured:
        if one.lines > longer.get(one.name, one.limit):
            what = f"{one.lines} lines, more than {longer.get(one.name, one.limit)}"
            yield Finding(one.path, one.line, f"{one.name.rpartition(':')[2]} has {what}: take it apart")
    needed = {one.name for one in measured if one.lines > one.limit}
    for name in sorted(longer.keys() - needed):
        yield Finding("tests/house.py", 1, f"{name} is no longer too long: take it out of LONGER")


def _same_names(modules: Sequence[Module]) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for module in modules:
        if module.name in SHARED_NAMES:
            continue
        if module.name in first:
            yield Finding(module.path, 1, f"{first[module.name]} has the same name: one name for each module")
        first.setdefault(module.name, module.path)


def _imports(module: Module) -> Iterator[Finding]:
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(name), level=0):
                names = [name]
            case _:
                continue
        for package in {name.partition(".")[0] for name in names} & IMPORTERS.keys():
            if module.path not in IMPORTERS[package]:
                yield Finding(module.path, node.lineno, f"only {', '.join(IMPORTERS[package])} imports {package}")


def main(arguments: Sequence[str]) -> int:
    """Look at the tree of `arguments`, or at this one; the exit status."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = findings(root, LONGER)
    print("\n".join(map(str, found)), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
