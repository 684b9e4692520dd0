"""Which scopt this is, and what it reads besides the source: what has been made by another, or from other files, is not
found in the cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import scopt

# What decides about texts together with scopt's own code.
_LIBRARIES = ("islpy", "pycparser")


@cache
def of_program(roots: tuple[str, ...] = tuple(scopt.__path__)) -> bytes:
    """A digest of scopt's own modules (their contents, wherever they are installed) and the installed versions of the
    libraries under it.

    roots: the folders that the package's parts lie in, in which other folders than packages are passed over.
    """
    digest = hashlib.sha256()
    for path in sorted({module.resolve() for root in roots for module in _modules(Path(root))}):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for library in _LIBRARIES:
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            # Their metadata lies beside them, with the version in its name: reading it properly would take longer than
            # all the rest.
            digest.update(
                repr(
                    sorted(
                        name for name in os.listdir(Path(spec.origin).parent.parent) if name.startswith(f"{library}-")
                    )
                ).encode()
            )
    return digest.digest()


def _modules(folder: Path) -> Iterator[Path]:
    """The modules of the packages in a folder, and of the packages in those."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py") and (folder / "__init__.py").is_file():
            yield Path(entry.path)
        elif entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py")):
            yield from _modules(Path(entry.path))


def of_options(flags: Sequence[str]) -> Iterator[bytes]:
    """What options for scopt name: the contents of files (a machine, constraints, a schedule), and this machine where
    they say `native`."""
    for flag in flags:
        value = flag.partition("=")[2] if flag.startswith("--") and "=" in flag else flag
        if value == "native":
            from scopt.machine.machine_file import machine_text
            from scopt.machine.machine_native import native_machine

            yield machine_text(native_machine().machine).encode()
        elif os.path.isfile(value):
            try:
                yield Path(value).read_bytes()
            except OSError:
                continue  # scopt will say why
