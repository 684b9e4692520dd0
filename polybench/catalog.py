"""The kernels of a suite: one of this folder's own, or those of any tree in PolyBench's style."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from scopt.diagnostics import InputError

HARNESS = "polybench.c"
# The suites that come with scopt: name and folder.
OWN_SUITES = {"polybench": ".", "general": "general"}


class Kernel(Struct, frozen=True):
    """One program of a suite.

    name: the source's stem. source: the C file with the marked region.
    includes: folders for -I, in order. harness: the suite's polybench.c, compiled and linked with every kernel.
    """

    name: str
    source: Path
    includes: tuple[Path, ...]
    harness: Path


def own_suite() -> Path:
    """The root of scopt's own PolyBench kernels; below it lie the other suites that come with scopt."""
    return Path(__file__).resolve().parent


def named_suite(text: str) -> Path:
    """The root of a suite that comes with scopt, by its name (`OWN_SUITES`); any other text is a root's path."""
    return own_suite() / OWN_SUITES[text] if text in OWN_SUITES else Path(text)


def load_suite(root: Path) -> tuple[Kernel, ...]:
    """All kernels below `root`, sorted by name.

    A kernel is a C file with ``#pragma scop``, apart from templates and ``*.orig.c``. A folder below that of the
    suite's polybench.c with a polybench.c of its own is another suite. Raises InputError if `root` is no folder, has no
    polybench.c, no kernel, or two kernels of one name.
    """
    root = root.resolve()
    if not root.is_dir():
        raise InputError(f"suite {root}: no such folder")
    harnesses = sorted(root.rglob(HARNESS), key=lambda path: (len(path.parts), path))
    if not harnesses:
        raise InputError(f"suite {root}: there is no {HARNESS} in it; give the root of a tree in PolyBench's style")
    harness = harnesses[0]
    nested = [other.parent for other in harnesses if harness.parent in other.parent.parents]
    kernels: dict[str, Kernel] = {}
    for source in sorted(root.rglob("*.c")):
        if any(folder in source.parents for folder in nested) or not _is_kernel(source):
            continue
        kernel = Kernel(source.stem, source, tuple(dict.fromkeys((harness.parent, source.parent))), harness)
        other = kernels.setdefault(kernel.name, kernel)
        if other is not kernel:
            raise InputError(f"suite {root}: two kernels are called {kernel.name}: {other.source} and {source}")
    if not kernels:
        raise InputError(f"suite {root}: no C file in it has a '#pragma scop'")
    return tuple(kernels[name] for name in sorted(kernels))


def select(kernels: Sequence[Kernel], names: Iterable[str]) -> tuple[Kernel, ...]:
    """The kernels called `names`, in that order and once each; all if there are no names.
    Raises InputError for an unknown name."""
    by_name = {kernel.name: kernel for kernel in kernels}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else f"the suite has {', '.join(sorted(by_name))}"
            raise InputError(f"unknown kernel '{name}'; {hint}")
    return tuple(by_name[name] for name in wanted) if wanted else tuple(kernels)


def _is_kernel(source: Path) -> bool:
    if source.name == HARNESS or source.name.endswith(".orig.c") or source.name.startswith("template"):
        return False
    return "#pragma scop" in source.read_text(encoding="utf-8", errors="replace")
