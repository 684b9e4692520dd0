"""Machine models in TOML: a key for each number of `Machine`, and a table ``[[cache]]`` for each level, innermost
first.

What isn't there is as in the default, except that caches replace all of the default's.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from msgspec.structs import fields

from scopt.diagnostics import InputError
from scopt.machine.processor import Cache, Machine

_UNITS = {
    "cores": "hardware threads that a program may use",
    "vector_bytes": "of a vector register",
    "vector_registers": "of the instruction set",
    "fma_per_cycle": "vector multiply-adds that can start in a cycle",
    "fma_latency": "cycles, of additions and multiplications too",
    "division_latency": "cycles, of doubles",
    "gigahertz": "the clock",
    "streams": "sequences of lines that the prefetcher follows",
    "page_bytes": "of a page of memory",
    "tlb_entries": "pages whose addresses are known without a walk",
    "bandwidth": "of the memory, GB/s",
    "fork_nanoseconds": "of starting and joining threads",
}


def read_machine(path: str) -> Machine:
    """The model in a file. Raises InputError with the file, and the line and column where they are known."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"scopt: error: {path}: {reason}") from None
    return parse_machine(text, path)


def parse_machine(text: str, path: str = "<machine>") -> Machine:
    """The model that a text in TOML describes. path: for messages. Raises InputError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(_syntax_error(text, path, str(error))) from None
    keys = {field.name for field in fields(Machine)} - {"caches"}
    for key in data:
        if key not in keys | {"cache"}:
            raise _error(text, path, key, f"unknown key '{key}': a machine has {', '.join(sorted(keys))} and [[cache]]")
    values: dict[str, Any] = {key: value for key, value in data.items() if key != "cache"}
    if "cache" in data:
        values["caches"] = _caches(data["cache"], text, path)
    try:
        return Machine(**values)
    except ValueError as error:
        name, _, reason = str(error).partition(": ")
        raise _value_error(text, path, name, reason) from None


def _caches(tables: object, text: str, path: str) -> tuple[Cache, ...]:
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise _error(text, path, "cache", "caches are tables [[cache]], one for each level")
    keys = [field.name for field in fields(Cache)]
    needed = [field.name for field in fields(Cache) if field.required]
    found = []
    for level, table in enumerate(tables):
        for key in table:
            if key not in keys:
                raise _error(text, path, key, f"unknown key '{key}': a cache has {', '.join(keys)}", level)
        missing = [key for key in needed if key not in table]
        if missing:
            raise _error(text, path, "", f"the cache has no {missing[0]}", level)
        found.append(Cache(**table))
    return tuple(found)


def machine_text(machine: Machine) -> str:
    """A file's text that `parse_machine` reads as this machine."""
    lines = ["# A machine model for `scopt --machine FILE`."]
    lines += [f"{key} = {getattr(machine, key)!r}  # {unit}" for key, unit in _UNITS.items()]
    for level, cache in enumerate(machine.caches, start=1):
        lines += ["", f"[[cache]]  # level {level}"]
        lines += [f"size = {cache.size}  # bytes, {_size(cache.size)}", f"associativity = {cache.associativity}"]
        lines += [f"line = {cache.line}  # bytes", f"shared = {cache.shared}  # hardware threads that share it"]
    return "\n".join(lines) + "\n"


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size / 1024:.1f} KiB"


# --- errors -----------------------------------------------------------------------------------------------------------


def _syntax_error(text: str, path: str, message: str) -> str:
    """tomllib says where in its message's last words."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    if found is None:
        return f"{path}: error: {message}"
    lines = text.split("\n")
    line, column = (found[1], found[2]) if found[1] else (len(lines), len(lines[-1]) + 1)
    return f"{path}:{line}:{column}: error: {message[: found.start()]}"


def _value_error(text: str, path: str, name: str, reason: str) -> InputError:
    """name: of a field, as `Machine` calls it."""
    inside = re.fullmatch(r"caches\[(\d+)\]\.(\w+)", name)
    if inside is not None:
        return _error(text, path, inside[2], f"{inside[2]}: {reason}", int(inside[1]))
    key = "cache" if name == "caches" else name
    return _error(text, path, key, f"{key}: {reason}")


def _error(text: str, path: str, key: str, message: str, level: int | None = None) -> InputError:
    """An error at a key: of a cache's table, or of the file itself.
    Without a place where the key is written in an unusual way."""
    place = _place(text, key, level)
    where = f"{path}:{place[0]}:{place[1]}" if place is not None else path
    return InputError(f"{where}: error: {message}")


def _place(text: str, key: str, level: int | None) -> tuple[int, int] | None:
    table = -1
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.lstrip()
        column = len(line) - len(stripped) + 1
        if stripped.startswith("["):
            table += 1
            if (level is not None and table == level and not key) or (
                level is None and re.match(rf"\[+\s*[\"']?{re.escape(key)}\b", stripped)
            ):
                return number, column
        elif (
            key
            and (table == level if level is not None else table < 0)
            and re.match(rf"[\"']?{re.escape(key)}[\"']?\s*[=.]", stripped)
        ):
            return number, column
    return None
