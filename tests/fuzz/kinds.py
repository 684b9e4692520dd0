"""The kinds of random programs: which constructs each is about, and how often they occur. Percentages are of the places
where one may stand."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tests.fuzz.arrays import Form
from tests.fuzz.expressions import DataType


class Kind(Struct, frozen=True):
    """share: of all programs, in parts of the sum of all shares. Tuples are drawn from evenly, so that what is likely
    stands there several times.

    statements, spices: how many statements, and of the constructs that isl takes long for. depth: of loops.
    iterators, parameters: C types. structures: percent of arrays of structures. members: of parameters and scalars in a
      structure.
    macros: percent of programs whose bounds have macros. lookups: of subscripts that are read from an array.
    control: of loops in other forms, and of jumps. inductions: of loops with a second variable. streams: of statements
      with a pointer that they step. exchanges: of loops whose iterations exchange buffers.
    followed: of statements that write through a pointer of their own.
    reductions: of statements.
    exact: floating-point data are small integers, and sums are reordered. restrict: of pointers.
    aliases: of arguments that overlap with others, in programs without pragmas. kernels: functions in a file.
    autodetect: of programs without pragmas.
    """

    share: int
    statements: tuple[int, ...] = (1, 2, 2, 3)
    spices: tuple[int, ...] = (0, 0, 0, 1)
    depth: int = 3
    forms: tuple[Form, ...] = ("global", "global", "parameter", "vla", "pointer")
    types: tuple[DataType, ...] = ("double", "double", "double", "unsigned", "int")
    iterators: tuple[str, ...] = ("int",)
    parameters: tuple[str, ...] = ("int",)
    structures: int = 0
    members: int = 0
    macros: int = 0
    lookups: int = 0
    control: int = 0
    inductions: int = 0
    streams: int = 0
    exchanges: int = 0
    followed: int = 0
    reductions: int = 0
    exact: bool = False
    aliases: int = 0
    restrict: int = 0
    kernels: tuple[int, ...] = (1,)
    autodetect: int = 12


_TYPES: tuple[DataType, ...] = ("double", "double", "float", "unsigned", "int", "long long", "unsigned char", "short")
_ITERATORS = ("int", "unsigned", "size_t", "long", "int64_t", "short", "unsigned char", "unsigned short")
_ANY: tuple[Form, ...] = ("global", "parameter", "vla", "pointer", "rows", "flat", "flat", "flat")

KINDS: Mapping[str, Kind] = {
    "nests": Kind(
        5,
        statements=(1, 2, 2, 3, 3, 4, 6),
        spices=(0, 1, 1, 2, 2, 3, 4),
        depth=4,
        iterators=("int", "int", "int", "long"),
    ),
    "pointers": Kind(
        3,
        forms=("flat", "flat", "flat", "rows", "pointer"),
        restrict=30,
        iterators=("int", "int", "long", "size_t"),
        followed=25,
    ),
    "aliasing": Kind(
        3,
        forms=("flat", "flat", "rows", "pointer", "global"),
        types=("double", "double", "unsigned"),
        aliases=60,
        exchanges=15,
        followed=15,
        reductions=15,
        autodetect=100,
    ),
    "macros": Kind(2, macros=70, iterators=("int", "int", "long", "unsigned"), autodetect=50),
    "iterators": Kind(
        3, iterators=_ITERATORS, parameters=_ITERATORS, types=_TYPES, forms=("global", "parameter", "flat")
    ),
    "structures": Kind(
        2,
        structures=60,
        members=50,
        forms=("global", "parameter", "pointer", "flat", "member", "member"),
        types=_TYPES,
        followed=20,
    ),
    "control": Kind(2, control=45, inductions=20),
    "steps": Kind(
        3,
        depth=2,
        inductions=50,
        streams=50,
        exchanges=25,
        control=25,
        forms=("global", "flat", "flat"),
        iterators=("int", "int", "long", "unsigned"),
        types=("double", "unsigned", "unsigned char"),
        autodetect=80,
    ),
    "lookups": Kind(2, lookups=35, forms=("global", "global", "parameter", "flat")),
    "reductions": Kind(3, reductions=65, types=_TYPES, lookups=12),
    "reassociate": Kind(
        2, reductions=75, exact=True, types=("double", "double", "float", "unsigned", "int", "long long"), lookups=8
    ),
    "histograms": Kind(
        1,
        (1, 1, 2, 2),
        depth=2,
        reductions=92,
        lookups=60,
        forms=("global", "global", "global", "pointer"),
        exact=True,
        types=("unsigned", "int", "unsigned", "long long", "double"),
    ),
    "units": Kind(
        1,
        kernels=(2, 2, 3),
        autodetect=85,
        forms=("global", "flat", "flat", "rows", "pointer"),
        restrict=60,
        control=8,
        reductions=10,
    ),
    "mixed": Kind(
        4,
        forms=(*_ANY, "member"),
        types=_TYPES,
        iterators=("int", "int", *_ITERATORS),
        parameters=("int", "int", *_ITERATORS),
        structures=12,
        members=15,
        macros=15,
        lookups=8,
        control=8,
        inductions=6,
        streams=5,
        exchanges=6,
        reductions=15,
        aliases=15,
        restrict=15,
        autodetect=40,
        kernels=(1, 1, 1, 2),
    ),
}
