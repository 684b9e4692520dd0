"""The processor that code is made for: what tile sizes and costs are computed from.

The default is fixed, so that output doesn't depend on the host that scopt runs on. Others come from a file
(`scopt.machine.machine_file`) or from the running system (`scopt.machine.machine_native`).
"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite

from msgspec import Struct
from msgspec.structs import FieldInfo, fields

# Nothing that is counted here is larger; it keeps sums of products of sizes far from any trouble.
LARGEST = 1 << 50


class Cache(Struct, frozen=True):
    """One level of data cache.

    size: bytes. associativity: lines of a set. line: bytes. shared: hardware threads that share it.
    """

    size: int
    associativity: int
    line: int = 64
    shared: int = 1

    @property
    def share(self) -> int:
        """Bytes for one hardware thread where all of them run."""
        return self.size // self.shared

    @property
    def sets(self) -> int:
        """Sets; addresses that differ by a multiple of sets · line bytes compete for the lines of one set."""
        return max(self.size // (self.associativity * self.line), 1)


# The caches of the default: those of server cores with AVX-512 have at least 32 KiB / 8 ways and 1 MiB / 16 ways
# (Skylake-SP and Zen 4; later ones 48 KiB and 2 MiB), so that tiles fit on all of them. Of last caches, 4 MiB for each
# of four cores is what clusters of
# cores have (Zen 2 to 4).
_DEFAULT_CACHES = (Cache(32 << 10, 8), Cache(1 << 20, 16), Cache(16 << 20, 16, shared=4))


class Machine(Struct, frozen=True):
    """A shared-memory machine of equal cores.

    cores: hardware threads that a program may use. vector_bytes: of a vector register; vector_registers: how many the
    instruction set has. fma_per_cycle: vector multiply-adds that can start in a cycle; fma_latency: cycles until one,
    or an addition or a multiplication, is done; division_latency: until a division of doubles is. gigahertz: the clock.
    streams: sequences of lines that the prefetcher follows at a time. caches: innermost first. page_bytes: of a page of
    memory; tlb_entries: pages whose addresses are known without a walk through the page table. bandwidth: of the memory
    for all cores, in gigabytes (10⁹) a second.
    fork_nanoseconds: starting and joining the threads of a parallel loop, with what their first misses cost.
    Raises ValueError for values that can't be: the message names the field.
    """

    cores: int = 4
    vector_bytes: int = 64
    vector_registers: int = 32
    fma_per_cycle: int = 2
    fma_latency: int = 4
    # Fog, "Instruction tables": 13 on Zen 2 to 4, 13 to 14 on Skylake and later ones.
    division_latency: int = 13
    gigahertz: float = 3.0
    # Prefetchers follow 16 to 32. Loops over several rows at a time ran best with 16 of them, when 8, 16, 24, 32 and
    # more were measured.
    streams: int = 16
    caches: tuple[Cache, ...] = _DEFAULT_CACHES
    page_bytes: int = 4096
    tlb_entries: int = 1536
    bandwidth: float = 20.0
    fork_nanoseconds: int = 25_000

    def __post_init__(self) -> None:
        _check_values(self)
        if not self.caches:
            raise ValueError("caches: there has to be one")
        for level, cache in enumerate(self.caches):
            _check_cache(cache, level)
        for level in range(1, len(self.caches)):
            if self.caches[level].size <= self.caches[level - 1].size:
                raise ValueError(f"caches[{level}].size: not larger than that of the level before")
        if self.page_bytes & (self.page_bytes - 1):
            raise ValueError(f"page_bytes: {self.page_bytes} is no power of two")
        if self.vector_bytes & (self.vector_bytes - 1):
            raise ValueError(f"vector_bytes: {self.vector_bytes} is no power of two")

    def cache(self, level: int) -> Cache:
        """The cache of a level that counts from 1; the last one where there are fewer."""
        return self.caches[min(level, len(self.caches)) - 1]

    def lanes(self, element: int) -> int:
        """Elements of so many bytes in a vector register, at least 1."""
        return max(self.vector_bytes // element, 1)


@lru_cache
def _fields(kind: type[Machine | Cache]) -> tuple[FieldInfo, ...]:
    """Those of a kind of values: finding out their types takes longer than all checks."""
    return fields(kind)


def _check_values(owner: Machine | Cache, prefix: str = "") -> None:
    """All fields that are numbers, of the types that they are annotated with."""
    for field in _fields(type(owner)):
        value = getattr(owner, field.name)
        name = f"{prefix}{field.name}"
        if field.type is int and (not isinstance(value, int) or isinstance(value, bool)):
            raise ValueError(f"{name}: {value!r} is no integer")
        if field.type is float and (
            not isinstance(value, (int, float)) or isinstance(value, bool) or not isfinite(value)
        ):
            raise ValueError(f"{name}: {value!r} is no finite number")
        if field.type in (int, float) and not 0 < value <= LARGEST:
            raise ValueError(
                f"{name}: {value!r} is not between 1 and 2^50"
                if field.type is int
                else f"{name}: {value!r} is not positive and sane"
            )


def _check_cache(cache: Cache, level: int) -> None:
    prefix = f"caches[{level}]."
    _check_values(cache, prefix)
    if cache.line & (cache.line - 1):
        raise ValueError(f"{prefix}line: {cache.line} is no power of two")
    if cache.size < cache.line * cache.associativity:
        raise ValueError(
            f"{prefix}size: {cache.size} bytes have no room for {cache.associativity} lines of {cache.line} bytes"
        )


# What sizes and costs are computed for unless the user says otherwise.
DEFAULT = Machine()
