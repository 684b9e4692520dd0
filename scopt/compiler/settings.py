"""What the environment says: the real compiler, scopt's options, the cache."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scopt.compiler.command_line import is_input

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# Programs that start the compiler which is named after them.
_WRAPPERS = ("ccache", "sccache", "distcc", "icecc", "buildcache")
CACHE_SIZE = 1 << 30
SECONDS = 300.0


class Settings(NamedTuple):
    """compiler: the real one, with its first arguments. launched: it was named on the command line, so that the link
    may be done without scoptcc.

    flags: for scopt. remarks: a file that remarks are added to, empty for none. cache: folder, empty for none.
      cache_size: bytes.
    seconds: how long scopt may take for one file. openmp: 1 if threads may be used though the link isn't seen, 0 if
      they mustn't be; None: not said.
    disabled: everything goes straight through.
    """

    compiler: tuple[str, ...]
    launched: bool
    flags: tuple[str, ...] = ()
    remarks: str = ""
    cache: str = ""
    cache_size: int = CACHE_SIZE
    seconds: float = SECONDS
    openmp: bool | None = None
    disabled: bool = False


class SettingsError(Exception):
    """Something in the environment can't be used; the text says what."""


def read_settings(words: Sequence[str], environment: Mapping[str, str], own: str) -> tuple[Settings, list[str]]:
    """The settings, and the compiler's arguments.

    words: scoptcc's arguments. own: the path of the running program, which can't be the real compiler. Raises
      SettingsError.
    """
    started = next((k for k, word in enumerate(words) if os.path.basename(word) not in _WRAPPERS), 0)
    launched = (
        bool(words)
        and not words[0].startswith(("-", "@"))
        and not is_input(words[0])
        and bool(_program(words[0], environment, own))
    )
    compiler = list(words[: started + 1]) if launched else _split(environment.get("SCOPT_CC", ""), "SCOPT_CC") or ["cc"]
    path = _program(compiler[0], environment, own)
    if not path:
        raise SettingsError(f"the compiler '{compiler[0]}' was not found; name another one with SCOPT_CC")
    openmp = environment.get("SCOPT_OPENMP", "")
    settings = Settings(
        (path, *compiler[1:]),
        launched,
        tuple(_split(environment.get("SCOPT_FLAGS", ""), "SCOPT_FLAGS")),
        environment.get("SCOPT_REMARKS", ""),
        _cache_folder(environment),
        _size(environment.get("SCOPT_CACHE_SIZE", "")),
        _seconds(environment.get("SCOPT_TIMEOUT", "")),
        {"0": False, "1": True}.get(openmp),
        environment.get("SCOPT_DISABLE", "") not in ("", "0"),
    )
    return settings, list(words[started + 1 :] if launched else words)


def _split(text: str, name: str) -> list[str]:
    """Words as a shell would have them."""
    if not any(quote in text for quote in "\"'\\"):
        return text.split()
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}") from None


def _program(name: str, environment: Mapping[str, str], own: str) -> str:
    """The path of a program, empty if there is none. Where `name` is found as the running program itself, the next one
    in PATH is taken."""
    if "/" in name:
        return name if _is_program(name, own) else ""
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", name)
        if _is_program(path, own):
            return path
    return ""


def _is_program(path: str, own: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK) and os.path.realpath(path) != os.path.realpath(own)


def _cache_folder(environment: Mapping[str, str]) -> str:
    if "SCOPT_CACHE_DIR" in environment:
        return environment["SCOPT_CACHE_DIR"]
    home = environment.get("XDG_CACHE_HOME") or (environment["HOME"] + "/.cache" if environment.get("HOME") else "")
    return home + "/scopt" if home else ""


def _size(text: str) -> int:
    """Bytes: a number, with a unit of 1024 if one is given (500M)."""
    if not text:
        return CACHE_SIZE
    digits = text.rstrip("BbIi")
    factor = _UNITS.get(digits[-1:].upper(), 1)
    try:
        size = float(digits[:-1] if factor > 1 else digits)
    except ValueError:
        raise SettingsError(f"SCOPT_CACHE_SIZE: '{text}' is not a size such as 500M") from None
    return int(size * factor)


def _seconds(text: str) -> float:
    try:
        return float(text) if text else SECONDS
    except ValueError:
        raise SettingsError(f"SCOPT_TIMEOUT: '{text}' is not a number of seconds") from None
