"""A transformed region with the original statements beside it, for where it can't run: other values of macros, no
memory, a guard that fails.

The original text stands there once, byte for byte, whatever the reasons are.
"""

from __future__ import annotations

import re
import textwrap

from msgspec import Struct

from scopt.astgen.allocation import FREE, Allocation, with_allocations
from scopt.astgen.emit.c_expr import THREADS, helper_name
from scopt.astgen.emit.helper_texts import KERNEL
from scopt.astgen.splice import as_bytes

_INDENT = "  "
_LINE = 110
# The variable that says whether the transformed region has run.
_DONE = "scopt_done"
# What compilers weigh by how likely they take it to be: branches on data, and calls. Beside the original they would
# give either of the two half of what they spend on one: gcc then has jumps where it had conditional moves.
# Nor is it said of register tiles, which are functions of their own: around their calls there are many values, and of
# what isn't likely gcc then keeps nearly none in registers (measured: a convolution's original took twice as long).
_BRANCHES = re.compile(rb"\bif\b|\?|&&|\b(?!(?:for|while|sizeof|if|return)\b)[A-Za-z_]\w*\s*\(")
# Nor where a test asks for values of an array's cells: rows of lists, some of which are long.
_WORD = re.compile(r"[A-Za-z_]\w*")
_CELL = re.compile(r"\b([A-Za-z_]\w*) = [^;=]*\[")
_KERNELS = re.compile(rf"\b{KERNEL}\w*\(")
# Of so many tests in a row compilers take each for a chance of its own: behind twice as many, gcc holds what usually
# runs for cold, and neither unswitches nor vectorizes its loops. With fewer, threads alone decide, as often as not.
_TESTS = 8


class Original(Struct, frozen=True):
    """The region's own bytes, without the comments around them, and where they stand.

    indent, newline, whole_lines: as in `splice.as_bytes`. reserved: identifiers that mustn't be declared.
    """

    text: bytes
    indent: str
    newline: str
    whole_lines: bool
    reserved: frozenset[str]

    @property
    def lines(self) -> bytes:
        """The bytes with lines of their own."""
        newline = self.newline.encode()
        return self.text if self.text.endswith(newline) else self.text.rstrip(b"\r\n") + newline


def with_original(
    text: str,
    original: Original,
    *,
    macros: str,
    guard: str,
    needed: tuple[Allocation, ...],
    prologue: tuple[str, ...] = (),
) -> bytes:
    """The bytes that take the region's place.

    macros: condition of the preprocessor, guard: C expression; under both `text` may run. Empty where nothing has to
    hold. needed: arrays that `text` uses. prologue: declarations that all of these need.
    """
    if guard:
        return _guarded(text, original, macros, guard, needed, prologue)
    lines = original.text.decode("latin-1").replace("\r\n", "\n")
    text = with_allocations(needed, text, lines)
    if prologue:
        body = textwrap.indent(text, _INDENT) if not needed else text
        text = "".join(["{\n", *(f"{_INDENT}{line}\n" for line in prologue), body, "}\n"])
    if macros:
        newline = "" if lines.endswith("\n") else "\n"  # text from inside a line has none of its own
        text = f"#if {macros}\n{text}#else\n{lines}{newline}#endif\n"
    return as_bytes(text, indent=original.indent, newline=original.newline, whole_lines=original.whole_lines)


def in_braces(text: bytes, original: Original) -> bytes:
    """The bytes as one statement: they take the place of a body that had no braces around it."""
    newline, indent = original.newline.encode(), original.indent.encode("latin-1")
    if original.whole_lines:
        return indent + b"{" + newline + text + indent + b"}" + newline
    return b"{ " + text.rstrip(b"\r\n") + newline + indent + b"}"


def _guarded(
    text: str, original: Original, macros: str, guard: str, needed: tuple[Allocation, ...], prologue: tuple[str, ...]
) -> bytes:
    condition = _folded(guard)
    cells = {name for line in prologue for name in _CELL.findall(line)}
    rare = _KERNELS.search(text) or not cells.isdisjoint(_WORD.findall(guard))
    weighed = _BRANCHES.search(original.text) and not rare
    threads = f"{helper_name(THREADS, original.reserved)}(" in guard
    if weighed and (not threads or guard.count("&&") >= _TESTS):
        condition = f"__builtin_expect({condition}, 1)"
    if needed:
        done = helper_name(_DONE, original.reserved)
        before = [
            "{",
            f"{_INDENT}int {done} = 0;",
            *_preprocessed(macros, _with_memory(text, condition, done, needed)),
            f"{_INDENT}if (!{done}) {{",
        ]
        after = [f"{_INDENT}}}", "}"]
    else:
        taken = [f"if ({condition}) {{", *textwrap.indent(text.rstrip("\n"), _INDENT).split("\n")]
        before = [f"#if {macros}", *taken, "} else", "#endif", "{"] if macros else [*taken, "} else {"]
        after = ["}"]
    if prologue:
        before = [
            "{",
            *(f"{_INDENT}{line}" for line in prologue),
            *(line if line.startswith("#") else f"{_INDENT}{line}" for line in before),
        ]
        after = [*(f"{_INDENT}{line}" for line in after), "}"]

    def part(lines: list[str], whole_lines: bool) -> bytes:
        return as_bytes("\n".join(lines), indent=original.indent, newline=original.newline, whole_lines=whole_lines)

    newline = original.newline.encode()
    head = part(before, original.whole_lines)
    end = part(after, True)
    return (
        (head if head.endswith(newline) else head + newline)
        + original.lines
        + (end if original.whole_lines else end.removesuffix(newline))
    )


def _with_memory(text: str, condition: str, done: str, needed: tuple[Allocation, ...]) -> list[str]:
    """The statement that runs the text under the condition, if there is memory, and notes that."""
    body = [line for one in needed for line in one.declaration.split("\n")]
    body += [
        f"if ({' && '.join(one.name for one in needed)}) {{",
        textwrap.indent(text.rstrip("\n"), _INDENT),
        f"{_INDENT}{done} = 1;",
        "}",
    ]
    body += [f"{FREE}({one.name});" for one in needed]
    return textwrap.indent(
        "\n".join([f"if ({condition}) {{", textwrap.indent("\n".join(body), _INDENT), "}"]), _INDENT
    ).split("\n")


def _preprocessed(macros: str, lines: list[str]) -> list[str]:
    return [f"#if {macros}", *lines, "#endif"] if macros else lines


def _folded(guard: str) -> str:
    """A long condition on several lines: one for each part, or each alternative of a long part."""
    if len(guard) <= _LINE:
        return guard
    lines = [
        line for part in _split(guard, " && ", 0) for line in (_split(part, " || ", 1) if len(part) > _LINE else [part])
    ]
    return "\n    ".join(lines)


def _split(text: str, operator: str, depth: int) -> list[str]:
    """The parts that an operator joins inside so many parentheses; each but the first begins with it."""
    parts, level, start = [], 0, 0
    for position, character in enumerate(text):
        level += {"(": 1, ")": -1}.get(character, 0)
        if level == depth and text.startswith(operator, position):
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
