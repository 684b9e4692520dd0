"""What an environment schedules: a kernel of the suite or a C file of the user's,
one region of it, and its schedule space."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InputError, Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.space.construction import ConstructionMDP
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.space_problem import SpaceProblem, space_problem

if TYPE_CHECKING:
    from scopt.polybench.catalog import Kernel


class Program(Struct, frozen=True, eq=False):
    """A SCoP and where it comes from.

    file, text: the C source. options: whose `cc` and `cpp_flags` preprocess it. region, regions: which of how many
      marked regions.
    kernel: of the suite; None for a file of the user's.
    """

    name: str
    file: Path
    text: bytes
    options: Options
    region: int
    regions: int
    kernel: Kernel | None
    scop: Scop
    deps: Dependences
    polytopes: Polytopes
    construction: ConstructionMDP

    @property
    def problem(self) -> SpaceProblem:
        return self.polytopes.problem


def kernel_program(name: str, size: str, options: Options, suite: str | Path | None = None) -> Program:
    """A kernel of `suite`, which is a name or the root of a tree (None: scopt's own PolyBench kernels).
    size: of its data set, MINI to EXTRALARGE. Raises InputError."""
    from scopt.polybench.catalog import load_suite, named_suite, own_suite, select

    kernel = select(load_suite(named_suite(str(suite)) if suite else own_suite()), [name])[0]
    flags = (*options.cpp_flags, *(f"-I{folder}" for folder in kernel.includes), f"-D{size}_DATASET")
    return _program(name, kernel.source, 0, replace(options, cpp_flags=flags), kernel)


def source_program(source: str | Path, region: int, options: Options) -> Program:
    """A marked region of a C file, counted from 0. Raises InputError."""
    path = Path(source)
    return _program(path.stem, path, region, options, None)


def _program(name: str, file: Path, region: int, options: Options, kernel: Kernel | None) -> Program:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"scopt: error: {file}: {error.strerror or error}") from None
    try:
        scop, regions = _extracted(text, file, region, options, symbolic=True)
    except Refusal:
        try:
            scop, regions = _extracted(text, file, region, options, symbolic=False)
        except Refusal as refusal:
            raise InputError(f"{refusal.remark.location}: error: {refusal.remark.message}") from None
    deps = dependences(scop)
    polytopes = Polytopes(space_problem(scop, deps))
    return Program(
        name, file, text, options, region, regions, kernel, scop, deps, polytopes, ConstructionMDP(polytopes)
    )


def _extracted(text: bytes, file: Path, region: int, options: Options, *, symbolic: bool) -> tuple[Scop, int]:
    """The region's SCoP, and how many regions the file has. symbolic: integer macros keep their names."""
    unit = parse(text, str(file), options, symbolic=symbolic)
    if region >= len(unit.regions):
        raise InputError(
            f"{file}:1:1: error: there is no region {region}: {len(unit.regions)} "
            f"between '#pragma scop' and '#pragma endscop'"
        )
    return extract(unit, unit.regions[region], f"scop{region}"), len(unit.regions)
