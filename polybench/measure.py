"""One kernel in all configurations: built, checked against the original, and timed round-robin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from scopt.polybench.bench_results import Cell, Failure
from scopt.polybench.builds import CHECK_FLAGS, TIMED_FLAGS, BuildError, Built, build
from scopt.polybench.catalog import Kernel
from scopt.polybench.compare import Dump, DumpError, first_difference, largest_difference, parse_dump
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler, Configuration


class Plan(Struct, frozen=True):
    """How kernels are measured.

    defines, check_defines: -D flags for the timed and the checked program. runs: timed runs of each program.
    threads: OMP_NUM_THREADS, and the same for OpenBLAS. timeout: seconds for each transformation, compilation and run.
    """

    defines: tuple[str, ...]
    check_defines: tuple[str, ...]
    runs: int
    threads: int
    timeout: float

    @property
    def environment(self) -> dict[str, str]:
        return {
            "OMP_NUM_THREADS": str(self.threads),
            "OPENBLAS_NUM_THREADS": str(self.threads),
            "OMP_PROC_BIND": "true",
        }


Activity = Callable[[str], None]


def measure(
    kernel: Kernel,
    configurations: Sequence[Configuration],
    plan: Plan,
    folder: Path,
    activity: Activity,
    references: Mapping[str, Built | Failure] | None = None,
) -> Iterator[tuple[str, Cell]]:
    """Yield the name of a configuration with its cell each time that there is news of it, so that an interrupted caller
    has the rest.

    folder: for all files, made if it isn't there. activity: called with what is being done. A configuration that fails
    at a stage gets a cell with the reason and takes no part in the later ones; a leaf whose text another one has, a
    note. references: programs of other origin, by name: timed with the others, but not checked.
    """
    cells: dict[str, Cell] = {}
    programs: dict[str, Path] = {}
    texts: dict[tuple[str, bytes], str] = {}
    originals = _Originals(kernel, plan, folder)
    for configuration in configurations:
        name = configuration.name
        activity(f"checking {name}")
        checked = _check(kernel, configuration, plan, folder, originals)
        failure = checked if isinstance(checked, Failure) else None
        if not isinstance(checked, Failure):
            activity(f"building {name}")
            try:
                built = build(kernel, configuration, plan.defines, TIMED_FLAGS, folder / name / "timed", plan.timeout)
            except BuildError as error:
                failure = error.failure
            else:
                notes = [checked, _note(built)]
                same = texts.setdefault((configuration.compiler.path, built.text), name)
                if configuration.leaf and same != name:
                    notes.append(f"the text of {same}")
                else:
                    programs[name] = built.program
                cells[name] = Cell((), built.transform_seconds, built.compile_seconds, "; ".join(filter(None, notes)))
        if failure is not None:
            cells[name] = Cell(failure=failure)
        yield name, cells[name]
    for name, reference in (references or {}).items():
        if isinstance(reference, Failure):
            cells[name] = Cell(failure=reference)
        else:
            programs[name] = reference.program
            cells[name] = Cell(compile_seconds=reference.compile_seconds)
        yield name, cells[name]
    for number in range(1, plan.runs + 1):
        for name in tuple(programs):
            activity(f"run {number} of {plan.runs}: {name}")
            cells[name] = _timed_run(cells[name], programs[name], plan)
            if cells[name].failure:
                del programs[name]
            yield name, cells[name]


class _Originals:
    """The original's dump for each compiler, made once:
    constants folded by another compiler may differ in the last bit."""

    def __init__(self, kernel: Kernel, plan: Plan, folder: Path) -> None:
        self._kernel, self._plan, self._folder = kernel, plan, folder
        self._known: dict[str, Dump | Failure] = {}

    def get(self, compiler: Compiler) -> Dump | Failure:
        if compiler.path not in self._known:
            folder = self._folder / "reference" / str(len(self._known))
            self._known[compiler.path] = _dump(self._kernel, Configuration("original", compiler), self._plan, folder)
        return self._known[compiler.path]


def _check(
    kernel: Kernel, configuration: Configuration, plan: Plan, folder: Path, originals: _Originals
) -> Failure | str:
    """What there is to know of a program that prints what the original prints,
    to the configuration's tolerance: mostly nothing, ""."""
    expected = originals.get(configuration.compiler)
    if isinstance(expected, Failure):
        return (
            expected
            if _is_original(configuration)
            else Failure("check", f"the original fails: {expected.stage}: {expected.reason}")
        )
    if _is_original(configuration):
        return ""
    actual = _dump(kernel, configuration, plan, folder / configuration.name / "check")
    if isinstance(actual, Failure):
        return actual
    difference = first_difference(expected, actual, configuration.tolerance)
    if difference:
        return Failure("check", f"wrong result: {difference}")
    largest = largest_difference(expected, actual) if configuration.tolerance else 0.0
    return f"largest relative difference {largest:.1e}" if largest else ""


def _is_original(configuration: Configuration) -> bool:
    return not configuration.transform and not configuration.flags


def _dump(kernel: Kernel, configuration: Configuration, plan: Plan, folder: Path) -> Dump | Failure:
    try:
        program = build(kernel, configuration, plan.check_defines, CHECK_FLAGS, folder, plan.timeout).program
    except BuildError as error:
        return error.failure
    done = run([program], plan.timeout, environment=plan.environment)
    if not done.ok:
        return Failure("check", done.reason())
    try:
        return parse_dump(done.errors)
    except DumpError as error:
        return Failure("check", str(error))


def _timed_run(cell: Cell, program: Path, plan: Plan) -> Cell:
    done = run([program], plan.timeout, environment=plan.environment)
    if not done.ok:
        return replace(cell, failure=Failure("run", done.reason()))
    seconds = parse_seconds(done.output)
    if seconds is None:
        return replace(cell, failure=Failure("run", "it printed no time"))
    return replace(cell, seconds=(*cell.seconds, seconds))


def parse_seconds(output: str) -> float | None:
    """The time that a program built with POLYBENCH_TIME printed: the last word of its output."""
    words = output.split()
    try:
        return float(words[-1]) if words else None
    except ValueError:
        return None


def _note(built: Built) -> str:
    """Why a transformation left everything as it was, by its first message."""
    if not built.unchanged:
        return ""
    lines = built.messages.strip().splitlines()
    return f"left unchanged: {lines[0]}" if lines else "left unchanged"
