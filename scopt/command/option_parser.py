"""The parser of the arguments, and what `--help` says besides the options."""

from __future__ import annotations

import argparse
from typing import NoReturn

from scopt.command.exit_codes import UNUSABLE
from scopt.command.loop_options import add_transformation_arguments
from scopt.command.option_groups import add_checking_arguments, add_compiler_arguments, add_file_arguments

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


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Paragraphs as they are written, and a fixed width: the help is the manual page, the same wherever it is read."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=27, width=100)


class _Parser(argparse.ArgumentParser):
    """A short error: the usage line of thirty options would bury it."""

    def error(self, message: str) -> NoReturn:
        self.exit(UNUSABLE, f"scopt: error: {message}\nTry 'scopt --help'.\n")


def make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="scopt",
        usage="scopt [options] FILE [-o FILE]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=False,
    )
    add_file_arguments(parser)
    add_compiler_arguments(parser)
    add_transformation_arguments(parser)
    add_checking_arguments(parser)
    return parser
