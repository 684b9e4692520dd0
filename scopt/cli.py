"""The command `scopt`: arguments, files, exit codes. What is done with the text is the business of `scopt.pipeline`."""

from __future__ import annotations

import argparse
import gc
import math
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO, get_args

from scopt.diagnostics import InputError, Location, Remark
from scopt.machine import Machine
from scopt.options import Fusion, Options, VerifyLevel, Walk, check_options
from scopt.version import __version__

if TYPE_CHECKING:
    from scopt.tell.results import RegionResult, Result

DONE, REFUSED, UNUSABLE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

# Flags of the compiler that matter to its preprocessor. Longer names first: -include also starts with -i.
_WITH_VALUE = ("-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-I", "-D", "-U")
_ALONE = ("-std=", "-ansi", "-nostdinc", "-pthread", "-undef", "-f", "-m")
# Flags that change nothing here: taken, so that a build can pass its $(CFLAGS) as they are.
_IGNORED = ("-O", "-W", "-g", "-pedantic", "-pipe", "-w")

_DESCRIPTION = """\
Reads C, makes the loops between `#pragma scop` and `#pragma endscop` faster (tiled, vectorizable,
parallel with OpenMP), and writes C that computes the same results bit for bit (with --reassociate:
but for rounding). Everything outside these regions stays as it is, byte for byte. A region that
can't be handled stays as it is too, and a remark on stderr says what stood in the way and what
could be changed.
"""

_EPILOG = """\
exit codes:
  0  done, also if nothing was optimized
  1  with --strict: a marked region was left as it was; with --check: a listed loop lost something
  2  unusable input (no such file, syntax error) or wrong arguments; nothing is written
  130, 141  interrupted; nobody reads the output any more

examples:
  scopt gemm.c -o gemm.opt.c && gcc -O3 -fopenmp gemm.opt.c -lm
  scopt -Iinclude -DN=2000 -std=gnu11 kernel.c -o kernel.opt.c
  scopt --tile-size 64,64,16 --no-simd kernel.c -o kernel.opt.c
  scopt --report kernel.html kernel.c -o kernel.opt.c
  scopt --check loops.txt src/*.c
  cat kernel.c | scopt - --remarks=json 2>remarks.json | gcc -O3 -fopenmp -x c - -lm

In a marked region, arrays and pointers that are parameters are taken not to overlap. Give scopt
the same -D, -U, -I and -std= as the compiler.
"""


@dataclass(frozen=True, slots=True)
class _Split:
    """Arguments sorted into flags for the preprocessor, in their order, and the rest;
    `missing` is a flag that lacks its value."""

    cpp_flags: tuple[str, ...]
    rest: tuple[str, ...]
    missing: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments (without the program's name; default: the process's);
    returns the exit code."""
    if argv is None:
        _settle_process()
    try:
        return _run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        print("scopt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more. The interpreter flushes stdout once more at its end; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    finally:
        if argv is None:
            gc.freeze()  # the interpreter looks through all objects at its end, too


def _settle_process() -> None:
    """What makes a process quick that runs this command and nothing else.

    Modules and syntax trees stay until the end: looking for garbage among them again and again takes a tenth of the
    time. numpy's linear algebra, which nothing uses, would start a thread for each core, and threads and forks don't
    go together.
    """
    gc.set_threshold(100_000, 50, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(argv: Sequence[str]) -> int:
    parser = _parser()
    split = _split_flags(argv)
    if split.missing:
        parser.error(f"argument {split.missing}: expected one argument")
    # What follows `--` are files; argparse forgets that where options and files may mix.
    before = split.rest.index("--") if "--" in split.rest else len(split.rest)
    arguments = parser.parse_intermixed_args(split.rest[:before])
    arguments.inputs += split.rest[before + 1 :]
    if arguments.cmake_dir:
        print(Path(__file__).resolve().parent / "cmake")
        return DONE
    if arguments.print_passes:
        return _print_passes()
    _check_inputs(parser, arguments)
    _check_step(parser, arguments)
    try:
        machine, found = _machine(arguments.machine)
        if arguments.print_machine:
            from scopt.machine_file import machine_text

            _write(machine_text(machine).encode(), arguments.output or "-")
            return DONE
        options = replace(_options(parser, arguments, (*_flags_of_build(arguments), *split.cpp_flags)), machine=machine)
        if arguments.report:
            _check_report(parser, arguments)
        check_options(options)
        if arguments.check is not None:
            return _check(arguments, options)
        source, name = _read(arguments.inputs[0])
        outcome = _optimize(source, options, name, arguments.emit)
        remarks = outcome.result.remarks
        if found:
            remarks = (Remark("analysis", "machine.native", found, Location(name, 1)), *remarks)
        if arguments.remarks_file:
            _write(_formatted(remarks, arguments), arguments.remarks_file)
        if arguments.report:
            from scopt.tell.report.page import page

            _write(page(source, outcome.result, name), arguments.report)
        explained = (
            (options.explain or options.print_after or options.report)
            and arguments.emit == "c"
            and arguments.output is None
        )
        if not explained:
            _write(outcome.text, arguments.output or "-")
    except InputError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    taken = arguments.report == "-" or (not explained and arguments.output in (None, "-"))
    _explain(outcome.explanation, sys.stderr if taken else sys.stdout)
    if not arguments.quiet and not arguments.remarks_file:
        sys.stderr.write(_formatted(remarks, arguments).decode())
    return REFUSED if arguments.strict and outcome.refused else DONE


def _check_inputs(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Ends the run where there are too many or too few files for what is asked."""
    if arguments.check is None:
        if arguments.update:
            parser.error("argument --update: only with --check")
        if len(arguments.inputs) > 1:
            parser.error(f"one FILE at a time, not {len(arguments.inputs)}; only --check takes several")
        if not arguments.inputs and not arguments.print_machine:
            parser.error("the following arguments are required: FILE")
    elif (
        "-" in arguments.inputs
        or arguments.output
        or arguments.report
        or arguments.remarks_file
        or arguments.emit != "c"
    ):
        parser.error("argument --check: it reads files and writes nothing but its list")


def _print_passes() -> int:
    from scopt.steps import STEPS

    width = max(len(name) for name, _ in STEPS)
    print("\n".join(f"{name:{width}}  {what}" for name, what in STEPS))
    return DONE


def _check_step(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """`--print-after` names a step."""
    if arguments.print_after:
        from scopt.steps import STEPS

        if arguments.print_after not in {name for name, _ in STEPS}:
            parser.error(
                f"argument --print-after: there is no step '{arguments.print_after}'; --print-passes lists them"
            )


def _check(arguments: argparse.Namespace, options: Options) -> int:
    """`--check`: 0 if all listed loops have what they had, 1 if not; the messages go to stderr."""
    from scopt import loop_list

    def optimized(path: str) -> Result:
        source, name = _read(path)
        return _optimize(source, options, name, "c").result

    if arguments.update:
        number = loop_list.update(arguments.check, arguments.inputs, optimized)
        told = [f"scopt: {arguments.check}: {number} loops"]
        failed = False
    else:
        verdict = loop_list.check(arguments.check, arguments.inputs, optimized)
        print("\n".join(verdict.lost), end="\n" if verdict.lost else "", file=sys.stderr)
        told, failed = [*verdict.gained, verdict.summary()], bool(verdict.lost)
    if not arguments.quiet:
        print("\n".join(told), file=sys.stderr)
    return REFUSED if failed else DONE


def _flags_of_build(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The flags that the build given by -p has for the file. Raises InputError."""
    if not arguments.build:
        return ()
    from scopt.compiler.compile_commands import flags_of

    return flags_of(arguments.build, arguments.inputs[0])


def _machine(name: str) -> tuple[Machine, str]:
    """The machine model of a name or in a file, and what the running system told of it. Raises InputError for a file
    that isn't one."""
    if name == "default":
        return Machine(), ""
    if name == "native":
        from scopt.machine_native import native_machine

        native = native_machine()
        return native.machine, native.text()
    from scopt.machine_file import read_machine

    return read_machine(name), ""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What is written and told. refused: a marked region stayed as it was. explanation: empty unless asked for. result:
    all that is known."""

    text: bytes
    result: Result
    refused: bool = False
    explanation: str = ""


def _optimize(source: bytes, options: Options, name: str, emit: str) -> _Outcome:
    """Transform the source. A fault of scopt itself, outside of any region,
    costs nobody their file: it goes through unchanged."""
    from scopt.pipeline import optimize  # isl takes a while to load: --help and --version do without
    from scopt.tell.results import Result  # isl takes a while to load: --help and --version do without

    try:
        result = optimize(source, options, file=name)
    except InputError:
        raise
    except Exception as error:
        remark = Remark(
            "missed",
            "internal.error",
            f"internal error, the file is left as it was: {type(error).__name__}: {error}",
            Location(name, 1),
            "please report this with the input",
        )
        return _Outcome(source if emit == "c" else b"", Result(source, (remark,), (), {}), refused=True)
    refused = any(region.marked and not region.transformed for region in result.regions)
    text = result.text if emit == "c" else _schedules(result.regions, final=emit == "schedule-final")
    told = options.explain or options.print_after
    explanation = "\n".join(_explanation(region) for region in result.regions) if told else ""
    return _Outcome(text, result, refused, explanation)


def _schedules(regions: Iterable[RegionResult], *, final: bool) -> bytes:
    """A schedule file with a document for each region; an empty one for a region that stays as it was."""
    from scopt.schedule_file import document

    return "".join((r.final if final else r.proposal) or document(r.location, "") for r in regions).encode()


def _explanation(region: RegionResult) -> str:
    """What was found and done in one region, or why nothing was."""
    if region.transformed:
        return region.explanation
    reasons = [f"\n  {remark.location}: {remark.message}" for remark in region.remarks if remark.kind == "missed"]
    return f"{region.location}: left as it was:{''.join(reasons)}\n"


def _explain(text: str, stream: TextIO) -> None:
    stream.write(text)
    stream.flush()


def _read(path: str) -> tuple[bytes, str]:
    """The source and the name it has in messages; `-` is stdin."""
    if path == "-":
        return sys.stdin.buffer.read(), "<stdin>"
    try:
        return Path(path).read_bytes(), path
    except OSError as error:
        raise InputError(f"scopt: error: {path}: {error.strerror or error}") from None


def _write(text: bytes, path: str) -> None:
    if path == "-":
        # With PYTHONUNBUFFERED this is a raw file, which may write less than it is given.
        left = memoryview(text)
        while left:
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
        return
    from scopt.files import write_atomically

    try:
        write_atomically(Path(path), text)
    except OSError as error:
        raise InputError(f"scopt: error: {path}: {error.strerror or error}") from None


def _check_report(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Raises InputError without Pygments; ends the run if two outputs would be one file."""
    from scopt.tell.report.source_page import check_highlighter

    check_highlighter()
    if arguments.report == (arguments.output or "") or (arguments.report == "-" and arguments.emit != "c"):
        parser.error(f"argument --report: {arguments.report!r} is where the result goes already")


def _formatted(remarks: tuple[Remark, ...], arguments: argparse.Namespace) -> bytes:
    from scopt.tell.remark_formats import formatted

    return formatted(remarks, arguments.remarks)


def _options(parser: argparse.ArgumentParser, arguments: argparse.Namespace, cpp_flags: tuple[str, ...]) -> Options:
    if arguments.scheduler is not None:
        from scopt.options import SCHEDULERS

        if arguments.scheduler not in SCHEDULERS:
            parser.error(
                f"argument --scheduler: there is no scheduler {arguments.scheduler!r}, only {', '.join(SCHEDULERS)}"
            )
    tile, sizes = arguments.tile_size
    return Options(
        cc=arguments.cc,
        cpp_flags=cpp_flags,
        autodetect=arguments.autodetect,
        eager=arguments.eager,
        file_budget=arguments.file_budget,
        jobs=arguments.jobs,
        memory=arguments.memory << 20,
        assume=tuple(arguments.assume),
        count_guards=arguments.count_guards,
        scheduler=arguments.scheduler or Options().scheduler,
        tile=tile,
        tile_sizes=sizes,
        parallel=not arguments.no_parallel,
        simd=not arguments.no_simd,
        register_tile=not arguments.no_register_tile,
        reassociate=arguments.reassociate,
        verify=arguments.verify,
        budget=arguments.budget,
        fusion=arguments.fusion,
        influence=arguments.influence,
        quasi_affine=arguments.quasi_affine,
        seed=arguments.seed,
        walk=arguments.walk,
        inputs=arguments.input_dependences,
        schedule_file=arguments.schedule,
        line_directives=arguments.line_directives,
        explain=arguments.explain,
        print_after=arguments.print_after,
        report=arguments.report is not None,
    )


def _split_flags(argv: Sequence[str]) -> _Split:
    """Take the compiler's flags out of the arguments, joined (-DN=3) or apart (-D N=3),
    in the order in which they stand."""
    flags: list[str] = []
    rest: list[str] = []
    arguments = iter(argv)
    for argument in arguments:
        name = next((flag for flag in _WITH_VALUE if argument.startswith(flag)), None)
        if argument == "--":
            return _Split(tuple(flags), (*rest, argument, *arguments))
        if name is not None:
            value = argument[len(name) :] or next(arguments, None)
            if value is None:
                return _Split(tuple(flags), tuple(rest), missing=name)
            flags += [name + value] if len(name) == 2 else [name, value]
        elif argument.startswith(_ALONE):
            flags.append(argument)
        elif not argument.startswith(_IGNORED):
            rest.append(argument)
    return _Split(tuple(flags), tuple(rest))


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Paragraphs as they are written, and a fixed width: the help is the manual page, the same wherever it is read."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=27, width=100)


class _Parser(argparse.ArgumentParser):
    """A short error: the usage line of thirty options would bury it."""

    def error(self, message: str) -> NoReturn:
        self.exit(UNUSABLE, f"scopt: error: {message}\nTry 'scopt --help'.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="scopt",
        usage="scopt [options] FILE [-o FILE]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    _add_file_arguments(parser)
    _add_compiler_arguments(parser)
    _add_transformation_arguments(parser)
    _add_checking_arguments(parser)
    return parser


def _add_file_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs", metavar="FILE", nargs="*", help="the C file to read; - is stdin; several only with --check"
    )
    group = parser.add_argument_group("files and messages")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write, all at once or not at all; may be the input (default: -, stdout)",
    )
    group.add_argument(
        "--line-directives",
        action="store_true",
        help=(
            "write #line before and after the text that changed: diagnostics, __LINE__ "
            "and debuggers then see the lines of FILE"
        ),
    )
    group.add_argument(
        "--emit",
        choices=("c", "schedule", "schedule-final"),
        default="c",
        help=(
            "what is written: c, the source with its new loops; schedule, the scheduler's "
            "tree of each region as isl's YAML, to edit and give to --schedule; "
            "schedule-final, the tree after the band passes, to look at (default: c)"
        ),
    )
    group.add_argument(
        "--explain",
        action="store_true",
        help=(
            "tell of each region its statements, dependences, schedule and loops, and why: on stdout, where "
            "the C is not written then unless -o names a file; with -o - or another --emit on stdout, on stderr"
        ),
    )
    group.add_argument(
        "--print-after",
        metavar="STEP",
        default="",
        help=(
            "tell what a step makes of each region, as a schedule tree or as C, in the "
            "way of --explain; --print-passes names the steps"
        ),
    )
    group.add_argument(
        "--print-passes", action="store_true", help="list the steps from a region to its text, in their order, and exit"
    )
    group.add_argument(
        "--report",
        metavar="FILE",
        help=(
            "write a page (HTML) about FILE's loops: the source beside the result, dependences, iterations and tiles "
            "drawn, and why loops were left alone; like --explain, the C is not written then unless -o names a file"
        ),
    )
    group.add_argument(
        "--remarks",
        choices=("text", "json", "sarif", "yaml"),
        default="text",
        help=(
            "how remarks are written: text, a line each; json, one array; sarif, SARIF 2.1.0 for "
            "code hosts and editors; yaml, LLVM's optimization records for opt-viewer (default: text)"
        ),
    )
    group.add_argument(
        "--remarks-file", metavar="FILE", help="write the remarks to FILE, all at once, instead of stderr"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no remarks; errors are still shown")
    group.add_argument("--strict", action="store_true", help="exit with 1 if a marked region was left as it was")
    group.add_argument(
        "--cmake-dir",
        action="store_true",
        help="show where the files for CMake's find_package(scopt) are, and do nothing else",
    )
    group.add_argument("--version", action="version", version=f"scopt {__version__}", help="show the version and exit")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")


def _add_compiler_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "compiler",
        "The source goes through the real preprocessor. These flags are handed to it in their order,\n"
        "joined (-DN=3) or apart (-D N=3). So are -f… and -m…; -O…, -g and -W… are taken and ignored,\n"
        "so that a build can pass its $(CFLAGS).",
    )
    group.add_argument(
        "-p",
        dest="build",
        metavar="DIR",
        help="take these flags for FILE from DIR/compile_commands.json; those given here come after them",
    )
    group.add_argument("--cc", default=Options().cc, metavar="CC", help="the C compiler (default: %(default)s)")
    # Documentation only: `_split_flags` has taken these out before argparse sees the arguments, to keep their order.
    for flag, metavar, text in (
        ("-I", "DIR", "look for headers in DIR"),
        ("-D", "NAME[=VALUE]", "define a macro"),
        ("-U", "NAME", "undefine a macro"),
        ("-std", "STANDARD", "the language standard, such as -std=gnu11"),
        ("-include", "FILE", "read FILE first"),
        ("-isystem", "DIR", "look for system headers in DIR"),
        ("-iquote", "DIR", 'look for #include "…" in DIR'),
    ):
        group.add_argument(flag, metavar=metavar, help=text, dest=argparse.SUPPRESS, default=argparse.SUPPRESS)


def _add_transformation_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is done")
    group.add_argument(
        "--autodetect",
        action="store_true",
        help=(
            "also find regions without pragmas, as large as possible; where pointers "
            "may overlap, the program tests that before it runs the new loops"
        ),
    )
    group.add_argument(
        "--assume",
        action="append",
        choices=("noalias",),
        default=[],
        help=(
            "noalias: different pointers lead to different memory in regions without "
            "pragmas too, which is then not tested (a wrong assumption makes wrong programs)"
        ),
    )
    group.add_argument(
        "--count-guards",
        action="store_true",
        help=(
            "the program counts how often what it tests before new loops holds and fails, and appends that "
            "to the file named by the environment variable SCOPT_GUARDS (default: stderr) when it ends"
        ),
    )
    group.add_argument(
        "--eager",
        action="store_true",
        help="with --autodetect: transform regions even where the cost model sees no gain, and whatever their size",
    )
    _add_schedule_arguments(group)
    _add_loop_arguments(group)


def _add_schedule_arguments(group: argparse._ArgumentGroup) -> None:
    """How the order of the instances is found."""
    group.add_argument(
        "--scheduler",
        metavar="NAME",
        help=(
            "pluto (permutable bands, small reuse distances), isl (isl's own), feautrier (minimal latency), "
            f"sample (a random legal one, see --seed), identity (keeps the order); default: {Options().scheduler}"
        ),
    )
    group.add_argument(
        "--fusion",
        choices=get_args(Fusion),
        default=Options().fusion,
        help=(
            "which statements share loops (pluto, feautrier): max, as many as legal; smart, those "
            "in nests of the same depth; typed, parallel loops with parallel ones; no, only those "
            "that depend on each other in a cycle; auto (default), what was measured to be good"
        ),
    )
    group.add_argument(
        "--influence",
        metavar="FILE|vectorize",
        default=Options().influence,
        help=(
            "steer the scheduler by the influence constraint trees in FILE (YAML, see "
            "docs/influence.md), or by trees made for vector loops"
        ),
    )
    group.add_argument(
        "--quasi-affine",
        action="store_true",
        help="feautrier may round quotients down, dates such as i/2, where that lowers the latency",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=Options().seed,
        help="which schedule the scheduler sample takes: the same seed, the same one (default: %(default)s)",
    )
    group.add_argument(
        "--walk",
        choices=get_args(Walk),
        default=Options().walk,
        help=(
            "how sample draws: all actions alike; few dimensions; few coefficients that aren't 0 (default: %(default)s)"
        ),
    )
    group.add_argument(
        "--input-dependences", action="store_true", help="keep reads of the same cell close together too (pluto)"
    )
    group.add_argument(
        "--schedule",
        metavar="FILE",
        default="",
        help=(
            "take the regions' schedule trees from FILE, as --emit=schedule writes it, instead of the scheduler's; "
            "an empty document leaves its region to the scheduler. A tree that breaks a dependence is an error"
        ),
    )


def _add_loop_arguments(group: argparse._ArgumentGroup) -> None:
    """What is made of the loops of that order."""
    group.add_argument(
        "--tile-size",
        metavar="N[,N…]|none",
        type=_tile_sizes,
        default=(True, ()),
        help=(
            "tile sizes from the outermost level on, the last one repeated; none: no "
            "tiling (default: from the machine's caches)"
        ),
    )
    group.add_argument(
        "--machine",
        metavar="default|native|FILE",
        default="default",
        help=(
            "the processor that tile sizes and costs are computed for: default, a fixed model of "
            "server cores, so that output doesn't depend on the host; native, the one that scopt "
            "runs on, as far as it tells (Linux); or a model in FILE (TOML, see --print-machine)"
        ),
    )
    group.add_argument(
        "--print-machine", action="store_true", help="write the machine model as TOML, and do nothing else"
    )
    group.add_argument(
        "--no-register-tile",
        action="store_true",
        help="no register tiles over packed operands for contractions, such as matrix products",
    )
    group.add_argument(
        "--reassociate",
        action="store_true",
        help=(
            "compute sums, products and extrema in another order where that makes loops parallel or vector loops: "
            "floating-point results then differ in their last digits, and signed sums may overflow on the way"
        ),
    )
    group.add_argument("--no-parallel", action="store_true", help="no `omp parallel for`")
    group.add_argument("--no-simd", action="store_true", help="no `omp simd`")


def _add_checking_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("checks")
    group.add_argument(
        "--check",
        metavar="LIST",
        help=(
            "compare what the loops of the FILEs (none: of all that LIST names) get "
            "with what LIST says, and exit with 1 if one lost something; no C is written"
        ),
    )
    group.add_argument("--update", action="store_true", help="with --check: write LIST instead, for these FILEs")
    group.add_argument(
        "--verify",
        choices=get_args(VerifyLevel),
        default=Options().verify,
        help=(
            "schedule: every dependence is kept in order, parallel loops carry none; full: the "
            "emitted loops and the printed C are read back and compared as well (default: %(default)s)"
        ),
    )
    group.add_argument(
        "--budget",
        metavar="SECONDS",
        type=_seconds,
        default=Options().budget,
        help=(
            "processor time that one region may take before it is left as it was; 0: "
            "as long as it needs (default: %(default)g)"
        ),
    )
    group.add_argument(
        "--file-budget",
        metavar="SECONDS",
        type=_seconds,
        default=Options().file_budget,
        help=(
            "how long the file may take: regions whose turn comes later are left as they were, "
            "those with the deepest loops come first; 0: as long as it needs (default: %(default)g)"
        ),
    )
    group.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_positive,
        default=Options().jobs,
        help="regions that are worked on at a time (default: %(default)s)",
    )
    group.add_argument(
        "--memory",
        metavar="MIB",
        type=_natural,
        default=Options().memory >> 20,
        help=(
            "how much memory the work on one region may take before it is left as it was, "
            "in MiB; 0: what there is (default: %(default)s)"
        ),
    )


def _tile_sizes(text: str) -> tuple[bool, tuple[int, ...]]:
    """(whether to tile, the sizes)."""
    if text == "none":
        return False, ()
    try:
        sizes = tuple(int(size) for size in text.split(","))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a list of positive numbers such as 32,64 nor 'none'")
    return True, sizes


def _natural(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a natural number")
    return int(text)


def _positive(text: str) -> int:
    if (number := _natural(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
