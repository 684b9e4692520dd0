"""A text in one configuration as a syntax tree, without what is only advice to the compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, field

from scopt import ir
from scopt.check.functions.conditionals import Configuration, Macro, Selected
from scopt.check.functions.faults import Fault
from scopt.check.functions.instructions import named
from scopt.check.functions.values import BARRIER, Vector, size, spelling
from scopt.ir.from_pycparser import CSyntaxError, parse_c

# Types that the texts take from headers; the layout of a file doesn't matter.
_PRELUDE = "typedef unsigned long __SIZE_TYPE__; typedef struct FILE FILE;\n"
_ROUNDS = 10
_WORD = re.compile(r"[A-Za-z_]\w*")
_VECTOR = re.compile(
    r"^typedef ([\w ]+?) (\w+) __attribute__\(\(vector_size\((\w+)\), aligned\((\w+)\), may_alias\)\);$", re.MULTILINE
)
# Attributes that change nothing about what is computed.
_ADVICE = (
    r"noinline, noclone|always_inline|destructor|min_vector_width\((?:\d+|\d+ \* \w+)\)"
    r"|target\(\"prefer-vector-width=512\"\)"
)
_LONG = "prefer-vector-width"
_ATTRIBUTE = re.compile(rf"__attribute__\(\((?:{_ADVICE})\)\)[ \t]*\n?")
# Assembler without instructions: of operands that it may read and write, or of all memory.
_ASM = re.compile(r'__asm__ volatile ?\(""(?: : (?P<operands>"\+[vw]"\(\w+\)(?:, "\+[vw]"\(\w+\))*)| ::: "memory")?\);')
_NOTHING = "((void)0);"
_LETTERS = {"v": "__x86_64__", "w": "__aarch64__"}


class Source(Struct, frozen=True):
    """text: C that the parser reads. vectors: types, by name; prelude: they as ordinary ones. integers: macros that
    stand for constants.
    """

    text: str
    prelude: str
    vectors: Mapping[str, Vector]
    integers: Mapping[str, int]

    @property
    def key(self) -> tuple[object, ...]:
        """The same for texts that compute the same."""
        return self.text, tuple(self.vectors.items()), tuple(self.integers.items())


class Trees(Struct):
    """Syntax trees, by text: most configurations have the text of others."""

    known: dict[str, ir.FileAST] = field(default_factory=dict)

    def of(self, source: Source) -> ir.FileAST:
        """Raises Fault where the text is no C."""
        text = source.prelude + source.text
        if text not in self.known:
            try:
                self.known[text] = parse_c(text)
            except (CSyntaxError, AssertionError) as error:
                raise Fault(f"no C: {error}") from error
        return self.known[text]


def read(selected: Selected, configuration: Configuration, expansions: dict[object, str]) -> Source:
    """The text with its macros expanded and advice taken out. Raises Fault for what the compiler of the configuration
    doesn't have.

    expansions: those so far, by text and macros.
    """
    integers = {
        name: int(macro.body)
        for name, macro in selected.macros.items()
        if macro.parameters is None and macro.body.isdecimal()
    }
    key = selected.text, tuple(selected.macros.items())
    if key not in expansions:
        expansions[key] = _expanded(
            selected.text, {name: macro for name, macro in selected.macros.items() if name not in integers}
        )
    text = expansions[key]
    is_gnu = configuration.get("__GNUC__") is not None or configuration.get("__clang__") is not None
    vectors: dict[str, Vector] = {}
    for match in _VECTOR.finditer(text):
        vector = _vector(match.group(1), match.group(2), match.group(3), match.group(4), integers)
        if not is_gnu or vectors.setdefault(vector.name, vector) != vector:
            raise Fault(f"the type '{vector.name}' where there is none such")
    if _LONG in text and (configuration.get("__AVX512F__") is None or configuration.get("__clang__") is not None):
        raise Fault("an attribute that the compiler doesn't know")
    text = _ATTRIBUTE.sub("", _VECTOR.sub("", text))
    text = _ASM.sub(lambda match: _no_code(match.group("operands") or "", configuration, text), text).replace(
        _NOTHING, ";"
    )
    text = named(text, configuration, vectors)
    if (
        "__builtin_shufflevector" in text
        and configuration.get("__clang__") is None
        and (configuration.get("__GNUC__") or 0) < 12
    ):
        raise Fault("shuffles of vectors for a compiler that has none")
    if BARRIER in text and (configuration.get("__clang__") is not None or (configuration.get("__GNUC__") or 0) < 12):
        raise Fault("a barrier for a compiler that has none")
    prelude = "".join(f"typedef {vector.element} {vector.name};" for vector in vectors.values())
    return Source(text, f"{_PRELUDE}{prelude}\n", vectors, integers)


def _vector(element: str, name: str, vector_bytes: str, alignment: str, integers: Mapping[str, int]) -> Vector:
    element = spelling(element.split())
    total, aligned = (int(word) if word.isdecimal() else integers.get(word, 0) for word in (vector_bytes, alignment))
    if total & (total - 1) or total < size(element):
        raise Fault(f"vectors of {total} bytes")
    if not aligned or aligned & (aligned - 1) or aligned > size(element):
        raise Fault(f"vectors that are aligned to {aligned} bytes, their elements to {size(element)}")
    return Vector(name, element, total)


def _no_code(operands: str, configuration: Configuration, text: str) -> str:
    for name in re.findall(r"\((\w+)\)", operands):
        if f" {name} = " not in text:
            raise Fault(f"an operand '{name}' of assembler that isn't declared")
    for letter, target in _LETTERS.items():
        if f'"+{letter}"' in operands and configuration.get(target) is None:
            raise Fault(f"operands '{letter}' of assembler for another processor")
    return ";"


def _expanded(text: str, macros: Mapping[str, Macro]) -> str:
    if not macros:
        return text
    names = re.compile(rf"\b(?:{'|'.join(macros)})\b")
    for _ in range(_ROUNDS):
        out, position = [], 0
        for match in names.finditer(text):
            if match.start() < position:
                continue
            body, end = _use(text, match.end(), match.group(), macros[match.group()])
            out += [text[position : match.start()], body]
            position = end
        if not out:
            return text
        text = "".join((*out, text[position:]))
    raise Fault("macros that are made of each other")


def _use(text: str, end: int, name: str, macro: Macro) -> tuple[str, int]:
    """What stands for a macro's use, and where that ends."""
    if macro.parameters is None:
        return macro.body, end
    arguments, position = _arguments(text, end)
    if len(arguments) != len(macro.parameters):
        raise Fault(f"the macro '{name}' has {len(macro.parameters)} parameters")
    values = dict(zip(macro.parameters, arguments, strict=True))
    return _WORD.sub(lambda word: values.get(word.group(), word.group()), macro.body), position


def _arguments(text: str, position: int) -> tuple[list[str], int]:
    """The arguments that begin at an offset, and where they end."""
    if text[position : position + 1] != "(":
        raise Fault("a macro without its arguments")
    depth, start, found = 0, position + 1, []
    for k in range(position, len(text)):
        character = text[k]
        depth += (character == "(") - (character == ")")
        if (character == "," and depth == 1) or depth == 0:
            found.append(text[start:k].strip())
            start = k + 1
            if not depth:
                return found, k + 1
    raise Fault("a macro's arguments that don't end")
