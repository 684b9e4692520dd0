"""The machine that scopt runs on, as Linux describes it in /sys and /proc.
What can't be read there is as in the default model."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from scopt.machine.processor import Cache, Machine
from scopt.machine.targets import FLAGS

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class NativeMachine(Struct, frozen=True):
    """A model. found: the fields that the system told; assumed:
    those of the default model, in the order of the fields."""

    machine: Machine
    found: tuple[str, ...]
    assumed: tuple[str, ...]

    def text(self) -> str:
        """What was found, in a line."""
        machine = self.machine
        caches = ", ".join(
            f"{cache.size >> 10} KiB/{cache.associativity}-way shared by {cache.shared}" for cache in machine.caches
        )
        known = {
            "caches": f"caches {caches}",
            "vector_bytes": f"{machine.vector_registers} vector registers of {machine.vector_bytes} bytes",
        }
        words = [
            known.get(name) or f"{name} {getattr(machine, name)}" for name in self.found if name != "vector_registers"
        ]
        found = f"read from this system: {', '.join(words)}" if words else "nothing could be read from this system"
        return f"{found}; as in the default model: {', '.join(self.assumed)}"


def native_machine(
    root: Path = Path("/"), processors: frozenset[int] | None = None, page_bytes: int | None = None
) -> NativeMachine:
    """The machine under a root folder.

    processors: that this process may run on, page_bytes: of a page; from the operating system where they aren't given.
    """
    if processors is None and hasattr(os, "sched_getaffinity"):
        processors = frozenset(os.sched_getaffinity(0))
    if page_bytes is None and hasattr(os, "sysconf"):
        page_bytes = os.sysconf("SC_PAGE_SIZE")
    system = root / "sys/devices/system/cpu"
    first = system / f"cpu{min(processors or {0})}"
    information = _information(root / "proc/cpuinfo")
    read: dict[str, Any] = {
        "cores": len(processors) if processors else None,
        **_vectors(information),
        "gigahertz": _gigahertz(first, information),
        "caches": _caches(first / "cache"),
        "page_bytes": page_bytes,
        "tlb_entries": _tlb_entries(information),
    }
    return _valid({name: value for name, value in read.items() if value is not None})


def _valid(values: Mapping[str, Any]) -> NativeMachine:
    """The model of those values that make sense: virtual machines make up some of theirs."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        try:
            Machine(**{name: value})
        except ValueError:
            continue
        kept[name] = value
    names = list(Machine.__struct_fields__)
    return NativeMachine(
        Machine(**kept), tuple(n for n in names if n in kept), tuple(n for n in names if n not in kept)
    )


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None


def _information(path: Path) -> dict[str, str]:
    """Keys and values of the first processor in /proc/cpuinfo."""
    block = (_text(path) or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in block.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _vectors(information: Mapping[str, str]) -> dict[str, int]:
    """x86 has flags, ARM features. Vectors of unknown length (SVE) count as
    those of fixed length that such processors have too."""
    flags = set(information.get("flags", information.get("Features", "")).split())
    for flag, width, count in FLAGS:
        if flag in flags:
            return {"vector_bytes": width, "vector_registers": count}
    return {}


def _gigahertz(first: Path, information: Mapping[str, str]) -> float | None:
    """The highest clock, else the present one (which virtual machines give as fixed), to a tenth."""
    highest = _text(first / "cpufreq/cpuinfo_max_freq")
    if highest is not None and highest.isdigit():
        return round(int(highest) / 1e6, 1)
    now = re.fullmatch(r"[\d.]+", information.get("cpu MHz", ""))
    return round(float(now[0]) / 1e3, 1) if now is not None and now[0].count(".") <= 1 and now[0] != "." else None


def _tlb_entries(information: Mapping[str, str]) -> int | None:
    """Of small pages, where the processor tells."""
    found = re.match(r"(\d+) 4K pages", information.get("TLB size", ""))
    return int(found[1]) if found is not None else None


def _caches(folder: Path) -> tuple[Cache, ...] | None:
    """Data and unified caches, innermost first; None if one of them can't be read as a whole."""
    found: dict[int, Cache] = {}
    for index in sorted(folder.glob("index*")):
        if _text(index / "type") not in ("Data", "Unified"):
            continue
        level, size, ways, line = (
            _text(index / name) or "" for name in ("level", "size", "ways_of_associativity", "coherency_line_size")
        )
        measured = re.fullmatch(r"(\d+)([KMG]?)", size)
        if measured is None or not (level.isdigit() and ways.isdigit() and line.isdigit()) or int(line) == 0:
            return None
        total = int(measured[1]) * _UNITS[measured[2]]
        # 0 ways is what fully associative caches have
        found[int(level)] = Cache(
            total, int(ways) or total // int(line), int(line), _listed(_text(index / "shared_cpu_list") or "")
        )
    return tuple(found[level] for level in sorted(found)) or None


def _listed(text: str) -> int:
    """How many processors a list such as ``0-3,8-11`` has; 1 if it can't be read."""
    count = 0
    for part in text.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if ends is None:
            return 1
        count += int(ends[2] or ends[1]) - int(ends[1]) + 1
    return max(count, 1)
