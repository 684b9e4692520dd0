"""The compiler's flags among the arguments: those that its preprocessor needs, in the order in which they stand."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

# Flags of the compiler that matter to its preprocessor. Longer names first: -include also starts with -i.
_WITH_VALUE = ("-idirafter", "-imacros", "-include", "-iquote", "-isystem", "-I", "-D", "-U")
_ALONE = ("-std=", "-ansi", "-nostdinc", "-pthread", "-undef", "-f", "-m")
# Flags that change nothing here: taken, so that a build can pass its $(CFLAGS) as they are.
_IGNORED = ("-O", "-W", "-g", "-pedantic", "-pipe", "-w")


class SplitArguments(Struct, frozen=True):
    """Arguments sorted into flags for the preprocessor, in their order, and the rest;
    `missing` is a flag that lacks its value."""

    cpp_flags: tuple[str, ...]
    rest: tuple[str, ...]
    missing: str = ""


def split_flags(argv: Sequence[str]) -> SplitArguments:
    """Take the compiler's flags out of the arguments, joined (-DN=3) or apart (-D N=3),
    in the order in which they stand."""
    flags: list[str] = []
    rest: list[str] = []
    arguments = iter(argv)
    for argument in arguments:
        name = next((flag for flag in _WITH_VALUE if argument.startswith(flag)), None)
        if argument == "--":
            return SplitArguments(tuple(flags), (*rest, argument, *arguments))
        if name is not None:
            value = argument[len(name) :] or next(arguments, None)
            if value is None:
                return SplitArguments(tuple(flags), tuple(rest), missing=name)
            flags += [name + value] if len(name) == 2 else [name, value]
        elif argument.startswith(_ALONE):
            flags.append(argument)
        elif not argument.startswith(_IGNORED):
            rest.append(argument)
    return SplitArguments(tuple(flags), tuple(rest))
