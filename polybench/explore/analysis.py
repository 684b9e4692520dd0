"""A program's regions as schedule spaces."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InputError, Location, Refusal, Remark
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.polybench.explore.programs import Program, preprocessor_flags, unpack
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.space_problem import space_problem


class ExploredRegion(Struct, frozen=True, eq=False):
    """A region with its schedule space. polytopes: those computed so far, and the problem."""

    scop: Scop
    deps: Dependences
    polytopes: Polytopes


class Analysis(Struct, frozen=True, eq=False):
    """All marked regions in order, with their places. A region that scopt leaves as it is has None, and its remark is
    among `refused`.

    baked: for each region the macros whose values its text depends on.
    """

    regions: tuple[ExploredRegion | None, ...]
    locations: tuple[Location, ...]
    refused: tuple[Remark, ...]
    baked: tuple[Mapping[str, int], ...]


# A process that draws many samples of a program analyses it once, and keeps its polytopes. The value depends on nothing
# but the arguments.
@lru_cache(maxsize=2)
def analysed(program: Program, cc: str) -> Analysis:
    """The regions for the timed size, as scopt finds them. cc: the preprocessor. Raises InputError if the source isn't
    C or has no marked region."""
    with tempfile.TemporaryDirectory(prefix="scopt-explore-") as scratch:
        source = unpack(program, Path(scratch))
        options = Options(cc=cc, cpp_flags=preprocessor_flags(program, Path(scratch)))
        unit = parse(program.text, str(source), options)
        if not unit.regions:
            raise InputError(f"{program.shown}: there is no region between '#pragma scop' and '#pragma endscop'")
        expanded = parse(program.text, str(source), options, symbolic=False)
    by_start = {region.start: region for region in expanded.regions}
    found: list[ExploredRegion | None] = []
    refused: list[Remark] = []
    baked: list[Mapping[str, int]] = []
    for number, region in enumerate(unit.regions):
        # As the pipeline does: macros keep their names unless these stand in the way.
        made = _explored(unit, region, number, program.shown)
        if isinstance(made, Remark) and region.start in by_start:
            region = by_start[region.start]
            retried = _explored(expanded, region, number, program.shown)
            made = made if isinstance(retried, Remark) else retried
        found.append(None if isinstance(made, Remark) else made)
        refused += [made] if isinstance(made, Remark) else []
        baked.append(region.baked)
    locations = tuple(replace(region.location, file=program.shown) for region in unit.regions)
    return Analysis(tuple(found), locations, tuple(refused), tuple(baked))


def checkable(program: Program, cc: str) -> Program:
    """The program, with the check at the timed size where scopt's text is made for that size alone.

    The text that is timed is the one that is checked. A region that isn't affine in its macros' names is transformed
    for their values, and is its original where they have others: a check at another size would check nothing. Raises
    InputError.
    """
    if program.defines == program.check_defines:
        return program
    smaller = replace(program, size=program.check_size, defines=program.check_defines)
    if analysed(program, cc).baked == analysed(smaller, cc).baked:
        return program
    return replace(program, check_size=program.size, check_defines=program.defines)


def _explored(unit: TranslationUnit, region: Region, number: int, shown: str) -> ExploredRegion | Remark:
    """Or why the region stays as it is."""
    if region.directives:
        return Remark(
            "missed",
            "region.directives",
            "the region has preprocessor directives or text of other files",
            region.location,
        )
    try:
        scop = extract(unit, region, f"scop{number}")
        deps = dependences(scop)
        return ExploredRegion(scop, deps, Polytopes(space_problem(scop, deps)))
    except Refusal as refusal:
        return replace(refusal.remark, location=replace(refusal.remark.location, file=shown))
