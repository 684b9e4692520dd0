"""What the user wants of a region's schedule: loops named in pragmas, and an influence constraint tree (a file's, an
optimizer's, or theirs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InputError, ScoptError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.isl_utils import sets_of
from scopt.poly.readback import nest_to_schedule
from scopt.scheduler.influence.honoured import complaint, loops_of_nest, loops_of_tree, unhonoured, wishes
from scopt.scheduler.influence.influence_tree import InfluenceTree

# In place of a file's name: trees made by the optimizer of Algorithm 2.
VECTORIZE = "vectorize"


class NotHonoured(ScoptError):
    """The generated loops are not those that pragmas ask for."""

    def __init__(self, missing: Sequence[LoopDirective]) -> None:
        super().__init__("the loops that pragmas ask for are not there")
        self.missing = tuple(missing)


class Guidance(Struct, frozen=True, eq=False):
    """loops: wishes of pragmas that count. tree: for the scheduler; empty if there is nothing to say."""

    loops: tuple[LoopDirective, ...]
    tree: InfluenceTree


def guidance(scop: Scop, deps: Dependences, options: Options, region: int) -> Guidance:
    """The guidance of a region, by its number in the file. Raises InputError for an unusable influence file."""
    # What makes trees is imported when asked for: few regions have one.
    loops = wishes(scop, options)
    if options.influence == VECTORIZE:
        from scopt.scheduler.influence.vectorize import vectorize_tree

        return Guidance(loops, vectorize_tree(scop, machine=options.machine))
    if options.influence:
        from scopt.scheduler.influence.tree_files import load_tree

        return Guidance(loops, load_tree(_text(options.influence), options.influence, scop, region))
    if loops:
        from scopt.scheduler.influence.wishes import directive_tree

        return Guidance(loops, directive_tree(scop, deps, loops) or InfluenceTree())
    return Guidance(loops, InfluenceTree())


def check_influence_file(options: Options, regions: int) -> None:
    """Raises InputError for a file that can't be read, or that has documents for regions that aren't there."""
    if options.influence not in ("", VECTORIZE):
        from scopt.scheduler.influence.tree_files import check_regions

        check_regions(_text(options.influence), options.influence, regions)


def check_wishes(
    scop: Scop, marked: MarkedSchedule, nest: LoopNest, stand_ins: Mapping[str, str], loops: Sequence[LoopDirective]
) -> None:
    """Raises NotHonoured unless the loops that are asked for are there.

    stand_ins: by name of a statement of the nest, the one of the SCoP in whose place it runs, several instances at a
    time perhaps: the tree says which loops those have, as far as the nest still has any.
    """
    if not loops:
        return
    read = nest_to_schedule(scop, nest)
    threads = (part for loop in read.loops if loop.mark.parallel for part in sets_of(loop.statements))
    shared = {stand_ins.get(str(part.get_tuple_name())) for part in threads}
    lowered = frozenset(stand_ins.values())
    tree = [
        replace(loop, parallel=loop.parallel and bool(shared & names), statements=isl.UnionSet.from_set(part))
        for loop in loops_of_tree(marked)
        for part in sets_of(loop.statements)
        if (names := {str(part.get_tuple_name())} & lowered)
    ]
    missing = unhonoured(scop, loops, (*loops_of_nest(read), *tree))
    if missing:
        raise NotHonoured(missing)


def complaints(scop: Scop, deps: Dependences, failure: NotHonoured) -> str:
    """The error for the user: which dependence forbids each loop, with an example."""
    return "\n".join(complaint(scop, deps, directive) for directive in failure.missing)


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"scopt: error: {path}: {getattr(error, 'strerror', None) or error}") from None
