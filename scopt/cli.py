"""The command `scopt`: arguments, files, exit codes. What is done with the text is the business of `scopt.pipeline`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from scopt.command.exit_codes import BROKEN_PIPE, DONE, INTERRUPTED, REFUSED, UNUSABLE
from scopt.command.option_parser import make_parser
from scopt.command.outcome import outcome_of
from scopt.command.request import check_inputs, check_report, check_step, machine_of, options_of, parsed
from scopt.diagnostics import InputError, Location, Remark
from scopt.options import Options, check_options

if TYPE_CHECKING:
    from scopt.tell.results import Result


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments (without the program's name; default: the process's);
    returns the exit code. Where the arguments are the process's, that ends with it."""
    if argv is not None:
        return _code(argv)
    _settle_process()
    code = _code(sys.argv[1:])
    _end_process(code)
    return code


def _code(argv: Sequence[str]) -> int:
    try:
        return _run(argv)
    except KeyboardInterrupt:
        print("scopt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more. The interpreter flushes stdout once more at its end; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE


def _settle_process() -> None:
    """What makes a process quick that runs this command and nothing else.

    Modules and syntax trees stay until the end: looking for garbage among them again and again takes a tenth of the
    time. numpy's linear algebra, which nothing uses, would start a thread for each core, and threads and forks don't
    go together.
    """
    gc.set_threshold(100_000, 50, 100)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _end_process(code: int) -> None:
    """End it at once: the interpreter would take apart one by one what the system takes back as a whole. Where that
    can't be, since what was written can't get out, it returns, and the interpreter says so."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        gc.freeze()  # the interpreter looks through all objects at its end, too
        return
    os._exit(code)


def _run(argv: Sequence[str]) -> int:
    parser = make_parser()
    arguments, cpp_flags = parsed(parser, argv)
    if arguments.cmake_dir:
        print(Path(__file__).resolve().parent / "cmake")
        return DONE
    if arguments.print_passes:
        return _print_passes()
    check_inputs(parser, arguments)
    check_step(parser, arguments)
    try:
        machine, found = machine_of(arguments.machine)
        if arguments.print_machine:
            from scopt.machine.machine_file import machine_text

            _write(machine_text(machine).encode(), arguments.output or "-")
            return DONE
        options = options_of(parser, arguments, cpp_flags, machine)
        if arguments.report:
            check_report(parser, arguments)
        check_options(options)
        if arguments.check is not None:
            return _check(arguments, options)
        source, name = _read(arguments.inputs[0])
        outcome = outcome_of(source, options, name, arguments.emit)
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


def _print_passes() -> int:
    from scopt.steps import STEPS

    width = max(len(name) for name, _ in STEPS)
    print("\n".join(f"{name:{width}}  {what}" for name, what in STEPS))
    return DONE


def _check(arguments: argparse.Namespace, options: Options) -> int:
    """`--check`: 0 if all listed loops have what they had, 1 if not; the messages go to stderr."""
    from scopt import loop_list

    def optimized(path: str) -> Result:
        source, name = _read(path)
        return outcome_of(source, options, name, "c").result

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


def _formatted(remarks: tuple[Remark, ...], arguments: argparse.Namespace) -> bytes:
    from scopt.tell.remark_formats import formatted

    return formatted(remarks, arguments.remarks)
