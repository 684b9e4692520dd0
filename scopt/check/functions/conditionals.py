"""The directives of a text of our own: which configurations of the compiler it distinguishes, and what it is in each of
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product

from msgspec import Struct, field

from scopt.check.functions.faults import Fault

# A configuration's macros with their values; None for those that aren't defined.
Configuration = Mapping[str, int | None]
Condition = Callable[[Configuration], int]

# What a macro says about others: with it, the former are defined, and the latter aren't.
_IMPLIED = {
    "__AVX512VNNI__": ("__AVX512F__", "__AVX2__", "__AVX__", "__SSE2__"),
    "__AVX512BW__": ("__AVX512F__", "__AVX2__", "__AVX__", "__SSE2__"),
    "__AVX512F__": ("__AVX2__", "__AVX__", "__SSE2__"),
    "__AVX2__": ("__AVX__", "__SSE2__"),
}
_EXCLUDED = {"__aarch64__": ("__x86_64__", "__SSE2__", "__AVX__", "__AVX2__", "__AVX512F__", *_IMPLIED)}
_INCLUDES = ("<stdio.h>",)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)[ \t]*(.*)")
_DEFINE = re.compile(r"(\w+)(?:\(([\w, ]*)\))?(?:[ \t]+(.*))?$")
_PRAGMA = re.compile(r"GCC unroll \d+$")
_TOKEN = re.compile(r"\s*(?:(\w+)|(&&|\|\||[<>=!]=|[<>!()])|(\S))")
_NUMBER = re.compile(r"(\d+)[uUlL]*$")
_COMPARED: dict[str, Callable[[int, int], int]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class Macro(Struct, frozen=True):
    """parameters: None of one that stands for an object."""

    parameters: tuple[str, ...] | None
    body: str


class Selected(Struct, frozen=True):
    """A text without directives. macros: that it defines."""

    text: str
    macros: Mapping[str, Macro]


class Branches(Struct, frozen=True):
    """A text cut at its directives: each of these, and each piece between them, with its condition or macro. tests:
    values to try, by macro.
    """

    parts: tuple[tuple[str, str, Condition | Macro | None], ...]
    tests: Mapping[str, frozenset[int]]
    defined: frozenset[str]

    def configurations(self) -> Iterator[Configuration]:
        """All plausible ones that the conditions tell apart."""
        names = sorted(self.tests.keys() - self.defined)
        for values in product(*((None, *sorted(self.tests[name] or {1})) for name in names)):
            configuration = dict(zip(names, values, strict=True))
            if _is_plausible(configuration):
                yield configuration

    def select(self, configuration: Configuration) -> Selected:
        """What is left of the text. Raises Fault."""
        macros: dict[str, Macro] = {}
        values = dict(configuration)
        out: list[str] = []
        # of each open conditional: whether the text around it counts, whether a branch was taken, whether this one is,
        # whether it is the last
        stack: list[tuple[bool, bool, bool, bool]] = []
        active = True
        for kind, text, what in self.parts:
            if kind == "text":
                if active:
                    out.append(text)
            elif kind == "define":
                if active:
                    assert isinstance(what, Macro)
                    if macros.setdefault(text, what) != what:
                        raise Fault(f"the macro '{text}' is defined twice")
                    values[text] = _integer(what)
            elif kind == "if":
                holds = active and _holds(what, values)
                stack.append((active, holds, holds, False))
                active = holds
            elif not stack or (stack[-1][3] and kind != "endif"):
                raise Fault(f"#{kind} without #if")
            elif kind == "endif":
                active = stack.pop()[0]
            else:
                around, taken, _, _ = stack[-1]
                active = around and not taken and (kind == "else" or _holds(what, values))
                stack[-1] = (around, taken or active, active, kind == "else")
        if stack:
            raise Fault("#if without #endif")
        return Selected("".join(out), macros)


def _holds(condition: Condition | Macro | None, values: Configuration) -> bool:
    assert condition is not None
    assert not isinstance(condition, Macro)
    return bool(condition(values))


def _integer(macro: Macro) -> int:
    """The value in conditions. What is no integer is only asked for whether it is defined."""
    return int(macro.body) if macro.body.isdecimal() else 1


def _is_plausible(configuration: Configuration) -> bool:
    for name, implied in _IMPLIED.items():
        if configuration.get(name) is not None and any(configuration.get(other, 1) is None for other in implied):
            return False
    return not any(
        configuration.get(name) is not None and any(configuration.get(other) is not None for other in excluded)
        for name, excluded in _EXCLUDED.items()
    )


def branches(text: str) -> Branches:
    """A text cut at its directives. Raises Fault if it has others than such as the functions need."""
    parts: list[tuple[str, str, Condition | Macro | None]] = []
    tests: dict[str, frozenset[int]] = {}
    defined: set[str] = set()
    pending: list[str] = []
    unrolled = False
    for line in text.splitlines():
        if unrolled and not line.lstrip().startswith("for "):
            raise Fault("a pragma that isn't in front of a loop")
        match = _DIRECTIVE.match(line) if "#" in line else None
        if match is None:
            pending.append(f"{line}\n")
            unrolled = False
            continue
        word, rest = match.group(1), match.group(2).rstrip()
        if pending:
            parts.append(("text", "".join(pending), None))
            pending = []
        unrolled = word == "pragma" and _PRAGMA.match(rest) is not None
        if unrolled:
            continue
        if word == "include" and rest in _INCLUDES:
            continue
        parts.append(_directive(word, rest, tests))
        if word == "define":
            defined.add(parts[-1][1])
    if pending:
        parts.append(("text", "".join(pending), None))
    return Branches(tuple(parts), tests, frozenset(defined))


def _directive(word: str, rest: str, tests: dict[str, frozenset[int]]) -> tuple[str, str, Condition | Macro | None]:
    if word in ("if", "elif"):
        return word, "", _Reader(rest, tests).whole()
    if word in ("ifdef", "ifndef"):
        return "if", "", _Reader(f"{'!' if word == 'ifndef' else ''}defined({rest})", tests).whole()
    if word in ("else", "endif") and not rest:
        return word, "", None
    match = _DEFINE.match(rest) if word == "define" else None
    if match is None:
        raise Fault(f"a directive that isn't understood: #{word} {rest}")
    name, parameters, body = match.groups()
    names = None if parameters is None else tuple(p.strip() for p in parameters.split(","))
    if names is not None and len(set(names)) < len(names):
        raise Fault(f"the macro '{name}' has two parameters of a name")
    return "define", name, Macro(names, (body or "").strip())


class _Reader(Struct):
    """Reads the condition of a directive. tests: what its macros are compared with goes in here."""

    text: str
    tests: dict[str, frozenset[int]]
    tokens: list[str] = field(default_factory=list)

    def whole(self) -> Condition:
        for word, punctuator, other in _TOKEN.findall(self.text):
            if other:
                raise Fault(f"a condition that isn't understood: {self.text}")
            self.tokens.append(word or punctuator)
        self.tokens.append("")
        condition = self.either()
        if self.tokens != [""]:
            raise Fault(f"a condition that isn't understood: {self.text}")
        return condition

    def next(self, *expected: str) -> str:
        token = self.tokens.pop(0) if self.tokens else ""
        if expected and token not in expected:
            raise Fault(f"a condition that isn't understood: {self.text}")
        return token

    def either(self) -> Condition:
        left = self.both()
        while self.tokens[0] == "||":
            self.next()
            left = _either(left, self.both())
        return left

    def both(self) -> Condition:
        left = self.one()
        while self.tokens[0] == "&&":
            self.next()
            left = _both(left, self.one())
        return left

    def one(self) -> Condition:
        """A test; a comparison stands alone, or in parentheses."""
        token = self.next()
        if token == "!":
            inner = self.one()
            return lambda values: not inner(values)
        if token == "(":
            inner = self.either()
            self.next(")")
            return inner
        if token == "defined":
            self.next("(")
            name = self.next()
            self.next(")")
            self.tests.setdefault(name, frozenset())
            return lambda values: values.get(name) is not None
        if not token.isidentifier():
            raise Fault(f"a condition that isn't understood: {self.text}")
        return self.compared(token)

    def compared(self, name: str) -> Condition:
        compare = _COMPARED[self.next(*_COMPARED)]
        number = _NUMBER.match(self.next())
        if number is None:
            raise Fault(f"a condition that isn't understood: {self.text}")
        value = int(number.group(1))
        self.tests[name] = self.tests.get(name, frozenset()) | {value - 1, value, value + 1}
        return lambda values: compare(values.get(name) or 0, value)


def _either(left: Condition, right: Condition) -> Condition:
    return lambda values: left(values) or right(values)


def _both(left: Condition, right: Condition) -> Condition:
    return lambda values: left(values) and right(values)


def described(configuration: Configuration) -> str:
    """A configuration in the words of a compiler's options."""
    words = (f"-U{name}" if value is None else f"-D{name}={value}" for name, value in configuration.items())
    return " ".join(words) or "any compiler"
