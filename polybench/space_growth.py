"""How long the polyhedra of schedule spaces take: random constructions for each SCoP, each dimension's generators timed
(`--spaces`).

The dependences that a dimension carries are chosen as Ganser et al. do ("Iterative Schedule Optimization for
Parallelization in the Polyhedron Model", 2017). Every polyhedron is computed from nothing, as if it were the first of
its SCoP: in an exploration many parts of it are known from others before. Seconds are processor time, of one thread:
each is measured once, whatever else is running.
"""

from __future__ import annotations

import importlib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

import scopt
from scopt.diagnostics import Refusal
from scopt.ir.scop import Dependences, Scop
from scopt.isolation import Failed, run_isolated
from scopt.polybench.suite_command import save
from scopt.scheduler.space.construction import ConstructionMDP, random_construction
from scopt.scheduler.space.polytope import MAX_RAYS, Polytopes
from scopt.scheduler.space.space_problem import SpaceProblem, space_problem

# The regions of a file with their dependences. May raise Refusal.
Analysed = Callable[[], Sequence[tuple[Scop, Dependences]]]


class SpacePlan(Struct, frozen=True):
    """What is measured. episodes: constructions of each file. probability: that a dimension carries a dependence which
    it can carry.
    limit: seconds for one file's episodes together."""

    episodes: int = 20
    probability: float = 0.4
    limit: float = 600.0


class Generated(Struct, frozen=True):
    """One polyhedron.

    seconds: processor time for its generators. groups: components that it is a product of. partial: not all generators
      (see `Polytope`).
    """

    seconds: float
    vertices: int
    rays: int
    groups: int
    partial: bool


class Episode(Struct, frozen=True):
    """One construction of all regions.

    construction: processor seconds for choosing, emptiness tests included. polyhedra: of its dimensions, in order.
    """

    construction: float
    polyhedra: tuple[Generated, ...]


class MeasuredSpaces(Struct, frozen=True):
    """One file. statements, columns, dependences: of all its regions together; dependences as the space counts them.
    analysis: seconds for these.
    episodes: fewer than asked for if there is a failure, which is told in one line."""

    statements: int = 0
    columns: int = 0
    dependences: int = 0
    analysis: float = 0.0
    episodes: tuple[Episode, ...] = ()
    failure: str = ""

    @property
    def polyhedra(self) -> tuple[Generated, ...]:
        return tuple(one for episode in self.episodes for one in episode.polyhedra)


# --- measuring --------------------------------------------------------------------------------------------------------


def measure_spaces(name: str, analysed: Analysed, plan: SpacePlan) -> MeasuredSpaces:
    """All episodes of one file, each in a process of its own that is ended at the limit. name: seeds the choices."""
    started = time.perf_counter()
    try:
        problems = [space_problem(scop, deps) for scop, deps in analysed()]
    except Refusal as refusal:
        return MeasuredSpaces(failure=f"{refusal.remark.location}: {refusal.remark.message}")
    found = MeasuredSpaces(
        statements=sum(len(problem.statements) for problem in problems),
        columns=sum(problem.width for problem in problems),
        dependences=sum(len(problem.dependences) for problem in problems),
        analysis=time.perf_counter() - started,
    )
    deadline = time.perf_counter() + plan.limit
    for number in range(plan.episodes):
        rng = random.Random(f"{name} {number}")
        left = deadline - time.perf_counter()
        outcome = (
            run_isolated(partial(_episode, problems, plan.probability, rng), left)
            if left > 0
            else Failed("", timed_out=True)
        )
        if isinstance(outcome, Failed):
            reason = f"not finished after {plan.limit:g} s" if outcome.timed_out else outcome.message
            return replace(found, failure=f"episode {number + 1} of {plan.episodes}: {reason}")
        found = replace(found, episodes=(*found.episodes, outcome.value))
    return found


def _episode(problems: Iterable[SpaceProblem], probability: float, rng: random.Random) -> Episode:
    construction, polyhedra = 0.0, []
    for problem in problems:
        started = time.thread_time()  # a limit makes the process's time coarse
        state = random_construction(ConstructionMDP(Polytopes(problem)), probability, iter(rng.random, None))
        construction += time.thread_time() - started
        polyhedra += [_generated(problem, state.strong(dim), state.weak(dim)) for dim in range(1, state.dim + 1)]
    return Episode(construction, tuple(polyhedra))


def _generated(problem: SpaceProblem, strong: frozenset[int], weak: frozenset[int]) -> Generated:
    started = time.thread_time()
    polytope = Polytopes(problem).polytope(strong, weak)
    seconds = time.thread_time() - started
    return Generated(seconds, len(polytope.vertices), len(polytope.rays), len(set(polytope.groups)), polytope.partial)


# --- figures ----------------------------------------------------------------------------------------------------------

TITLES = (
    "statements",
    "columns",
    "dependences",
    "dimensions",
    "polyhedra",
    "median\nseconds",
    "max\nseconds",
    "vertices\nmedian, max",
    "rays\nmedian, max",
    "in several\ngroups",
    "partial",
)


def space_lines(results: Mapping[str, MeasuredSpaces]) -> list[list[str]]:
    """A line of the table for each file, its name first."""
    found = []
    for name, measured in results.items():
        head = [name, *map(str, (measured.statements, measured.columns, measured.dependences))]
        if not measured.polyhedra:
            found.append([*head, *(["failed"] + [""] * (len(TITLES) - 4))])
            continue
        lengths = [len(episode.polyhedra) for episode in measured.episodes]
        found.append([*head, f"{min(lengths)}–{max(lengths)}", *_cells(measured.polyhedra)])
    return found


def overall(results: Mapping[str, MeasuredSpaces]) -> list[str]:
    """The line below: all polyhedra of all files; empty cells if there are none."""
    polyhedra = [one for measured in results.values() for one in measured.polyhedra]
    return ["all", "", "", "", "", *(_cells(polyhedra) if polyhedra else [""] * (len(TITLES) - 4))]


def _cells(polyhedra: Sequence[Generated]) -> list[str]:
    seconds, vertices, rays = zip(*((one.seconds, one.vertices, one.rays) for one in polyhedra), strict=True)
    counts = [f"{statistics.median_low(values)}, {max(values)}" for values in (vertices, rays)]
    products, cut_short = sum(one.groups > 1 for one in polyhedra), sum(one.partial for one in polyhedra)
    return [
        str(len(polyhedra)),
        f"{statistics.median(seconds):.4f}",
        f"{max(seconds):.3f}",
        *counts,
        str(products),
        str(cut_short),
    ]


def spaces_as_json(results: Mapping[str, MeasuredSpaces], plan: SpacePlan) -> str:
    """The results as a JSON object: settings, and the files with all their polyhedra."""
    settings = {"scopt": scopt.__version__, **to_builtins(plan), "max_rays": MAX_RAYS}
    return json.dumps(
        {
            "format": 1,
            "settings": settings,
            "files": {name: to_builtins(measured) for name, measured in results.items()},
        },
        indent=1,
    )


def print_spaces(results: Mapping[str, MeasuredSpaces], plan: SpacePlan) -> None:
    """With rich, to stdout; the failures below the table."""
    table_module: Any = importlib.import_module("rich.table")
    console_module: Any = importlib.import_module("rich.console")
    chosen = f"{plan.episodes} constructions each, with probability {plan.probability:g}."
    told = (
        f"Processor seconds of a polyhedron. Partial: more than {MAX_RAYS} "
        f"generators on the way, some of which have to do."
    )
    table = table_module.Table(caption=f"{chosen} {told}")
    table.add_column("", overflow="fold")
    for title in TITLES:
        table.add_column(title, justify="right", overflow="fold")
    for row in space_lines(results):
        table.add_row(*row)
    table.add_section()
    table.add_row(*overall(results))
    # A table that goes into a file isn't fitted into the 80 columns of a terminal that isn't there.
    width = None if sys.stdout.isatty() else 200
    console_module.Console(width=width, markup=False, highlight=False).print(table)
    for name, measured in results.items():
        if measured.failure:
            print(f"{name}: {measured.failure}")


def run_spaces(files: Mapping[str, Analysed], plan: SpacePlan, path: Path | None) -> int:
    """Measure, tell and save all; the exit status: 1 if something failed.
    path: of the JSON file, complete after each file."""
    results: dict[str, MeasuredSpaces] = {}
    save(path, spaces_as_json(results, plan))
    for number, (name, analysed) in enumerate(files.items(), 1):
        results[name] = measure_spaces(name, analysed, plan)
        print(f"[{number:2}/{len(files)}] {name}", file=sys.stderr, flush=True)
        save(path, spaces_as_json(results, plan))
    print_spaces(results, plan)
    return int(any(measured.failure for measured in results.values()))
