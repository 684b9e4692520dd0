"""What the arguments ask for: the options of a run, the machine, and whether they fit together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scopt.command.compiler_flags import split_flags
from scopt.machine import DEFAULT, Machine
from scopt.options import SCHEDULERS, Options


def parsed(parser: argparse.ArgumentParser, argv: Sequence[str]) -> tuple[argparse.Namespace, tuple[str, ...]]:
    """The arguments, and the compiler's flags among them; ends the run if they can't be understood."""
    split = split_flags(argv)
    if split.missing:
        parser.error(f"argument {split.missing}: expected one argument")
    # What follows `--` are files; argparse forgets that where options and files may mix.
    before = split.rest.index("--") if "--" in split.rest else len(split.rest)
    arguments = parser.parse_intermixed_args(split.rest[:before])
    arguments.inputs += split.rest[before + 1 :]
    return arguments, split.cpp_flags


def check_inputs(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
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


def check_step(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """`--print-after` names a step."""
    if arguments.print_after:
        from scopt.steps import STEPS

        if arguments.print_after not in {name for name, _ in STEPS}:
            parser.error(
                f"argument --print-after: there is no step '{arguments.print_after}'; --print-passes lists them"
            )


def check_report(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Raises InputError without Pygments; ends the run if two outputs would be one file."""
    from scopt.tell.report.source_page import check_highlighter

    check_highlighter()
    if arguments.report == (arguments.output or "") or (arguments.report == "-" and arguments.emit != "c"):
        parser.error(f"argument --report: {arguments.report!r} is where the result goes already")


def options_of(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace, cpp_flags: tuple[str, ...], machine: Machine
) -> Options:
    """The options of a run for a machine; `cpp_flags` come after those of the build. Ends the run if there is no such
    scheduler. Raises InputError for a build that can't be read."""
    flags_of_build = _flags_of_build(arguments)
    if arguments.scheduler is not None and arguments.scheduler not in SCHEDULERS:
        parser.error(
            f"argument --scheduler: there is no scheduler {arguments.scheduler!r}, only {', '.join(SCHEDULERS)}"
        )
    tile, sizes = arguments.tile_size
    return Options(
        cc=arguments.cc,
        cpp_flags=(*flags_of_build, *cpp_flags),
        machine=machine,
        autodetect=arguments.autodetect,
        eager=arguments.eager,
        file_budget=arguments.file_budget,
        jobs=arguments.jobs,
        memory=arguments.memory << 20,
        assume=tuple(arguments.assume),
        count_guards=arguments.count_guards,
        ignore_openmp=arguments.ignore_openmp,
        decide_conditionals=arguments.decide_conditionals,
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
        decisions=arguments.decisions,
        tell_decisions=arguments.emit == "decisions",
        line_directives=arguments.line_directives,
        explain=arguments.explain,
        print_after=arguments.print_after,
        report=arguments.report is not None,
    )


def _flags_of_build(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The flags that the build given by -p has for the file. Raises InputError."""
    if not arguments.build:
        return ()
    from scopt.compiler.compile_commands import flags_of

    return flags_of(arguments.build, arguments.inputs[0])


def machine_of(name: str) -> tuple[Machine, str]:
    """The machine model of a name or in a file, and what the running system told of it.
    Raises InputError for a file that isn't one."""
    if name == "default":
        return DEFAULT, ""
    if name == "native":
        from scopt.machine.machine_native import native_machine

        native = native_machine()
        return native.machine, native.text()
    from scopt.machine.machine_file import read_machine

    return read_machine(name), ""
