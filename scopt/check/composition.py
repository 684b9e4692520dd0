"""What takes a region's place, read back from the file that will be written.

Its tokens are parsed into pieces that are known and the control around them, which runs for every outcome of its tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise, product

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.allocation import FREE, Allocation
from scopt.astgen.emit.loop_hints import BESIDE, KEPT, NOT_UNROLLED, UNROLLED, is_for_both, is_not_unrolled
from scopt.check.outcomes import If, Node, Pieces, World, check_runs
from scopt.diagnostics import InternalError
from scopt.frontend.text.tokens import RawToken, around_pragma, directive_words, is_line_directive, is_pragma, scan

# Token texts; a pragma is one, with its words apart.
Words = tuple[str, ...]

_VALUE = re.compile(r"\((\w+)\)==(-?\d+)u?\Z")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CHANGES = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"])


class Parts(Struct, frozen=True, dict=True):
    """What is known of the bytes that take a region's place.

    text: the region's verified text. original: the tokens of the region as it was. guard: C expression under which
    the text may run; empty: always. macros: values of macros under which it may. allocations: of arrays that it uses.
    prologue: declarations that text, guard and allocations need. reserved: names that mustn't be declared. bare: what
    takes the region's place has to be one statement. inner: what is known of `original`, where that is a text itself
    with the region as it was in it; left: the tokens of that text that the preprocessor leaves.
    """

    text: str
    original: Sequence[RawToken]
    guard: str = ""
    macros: Mapping[str, int] = field(default_factory=dict)
    allocations: tuple[Allocation, ...] = ()
    prologue: tuple[str, ...] = ()
    reserved: frozenset[str] = frozenset()
    bare: bool = False
    inner: Parts | None = None
    left: Words = ()

    @cached_property
    def words(self) -> dict[str, Words]:
        """The text, the original and the guard as tokens."""
        original = self.left or tuple(spelled(token) for token in self.original if token.kind != "comment")
        return {"text": tokens_of(self.text, hints=False), "original": original, "guard": tokens_of(self.guard)}


def check_composed(new: bytes | Sequence[RawToken], parts: Parts) -> None:
    """Raises InternalError unless, for all values of the macros and all outcomes of guard and allocations, exactly
    one of the region's text and the original runs, once: the text where all of them hold, in the scope of what it
    needs; and whatever is allocated is freed once, after that.

    new: the bytes, or their tokens where they stand. There may be ``#line`` directives among them.
    """
    tokens = scan(new).tokens if isinstance(new, bytes) else new
    if parts.inner is not None:
        check_composed(parts.original, replace(parts.inner, bare=False))
    for words in parts.words.values():
        _check_balance(words)
    pieces = _pieces(parts)
    for macros in (True, False) if parts.macros else (True,):
        words = tuple(_kept(tokens, parts.macros, macros))
        if parts.inner is not None:
            parts = replace(parts, left=tuple(_kept(parts.original, parts.macros, macros)))
        parses = list(_Parser(words, parts, pieces).parses())
        if not parses:
            raise InternalError("what takes the region's place isn't made of its text and the original statements")
        guard, memory = ((True, False) if tested else (True,) for tested in (parts.guard, pieces.memory))
        worlds = [World(macros, *outcomes) for outcomes in product(guard, memory)]
        failures = [failure for nodes in parses if (failure := check_runs(nodes, worlds, pieces))]
        if len(failures) == len(parses):
            raise InternalError(f"what takes the region's place is wrong: {failures[0]}")


def tokens_of(text: str, *, hints: bool = True) -> Words:
    """The tokens of C text, comments left out. hints: with what clang alone is told of loops."""
    tokens = [token for token in scan(text.encode("latin-1")).tokens if token.kind != "comment"]
    return tuple(map(spelled, tokens if hints else _without_hints(tokens)))


def spelled(token: RawToken) -> str:
    """A token's text; that of a directive with one space between its words."""
    if token.kind == "directive":
        return " ".join(("#", *directive_words(token.text)))
    return token.text.replace("\r\n", "\n") if token.kind == "string" else token.text


def _check_balance(words: Words) -> None:
    """Raises InternalError unless parentheses and braces match,
    so that the tokens mean the same wherever they stand."""
    opened: list[str] = []
    for word in words:
        if word in _CLOSING:
            opened.append(_CLOSING[word])
        elif word in _CLOSING.values() and (not opened or opened.pop() != word):
            raise InternalError(f"a {word} without its counterpart")
    if opened:
        raise InternalError(f"{opened[-1]} is missing")


def _pieces(parts: Parts) -> Pieces:
    """The names that are declared, and those that have to be. Raises InternalError if one of them isn't new."""
    declared = list[str]()
    for line in parts.prologue:
        declared.append(_declared(tokens_of(line), parts.reserved | set(declared)))
    memory = [_allocated(one, parts.reserved) for one in parts.allocations]
    names = [*declared, *(name for one in memory for name in one)]
    if len(set(names)) != len(names) or not parts.reserved.isdisjoint(names):
        raise InternalError("a name that is declared around the region's text isn't new")
    uses = tuple(
        frozenset(tokens_of(one.declaration)) & set(names) - set(own)
        for one, own in zip(parts.allocations, memory, strict=True)
    )
    text = ("text",) if parts.words["text"] else ()
    return Pieces(text, tuple(declared), tuple(memory), tuple(one.name for one in parts.allocations), uses)


def _declared(words: Words, known: frozenset[str]) -> str:
    """The name that a declaration of the prologue declares; its initializer must change nothing."""
    if words.count(";") != 1 or words[-1] != ";" or "=" not in words:
        raise InternalError("a part of the prologue isn't a declaration")
    place = words.index("=")
    if "{" in words:
        words = (*words[: place + 1], *_listed(words[place + 1 : -1]), ";")
    others = known | {"__typeof__"}
    new = [word for word in words[:place] if re.match(r"[A-Za-z_$]", word) and word not in others]
    value = words[place + 1 :]
    calls = any(after == "(" and re.match(r"[A-Za-z_$]", word) and word != "sizeof" for word, after in pairwise(value))
    if len(new) != 1 or calls or not _CHANGES.isdisjoint(value):
        raise InternalError("a declaration of the prologue declares no new name, or more than that")
    return new[0]


def _listed(words: Words) -> Words:
    """A list in braces, without the signs behind its designators."""
    depths = list(accumulate((word == "{") - (word == "}") for word in words))
    if depths[-1] != 0 or 0 in depths[:-1]:
        raise InternalError("a part of the prologue isn't a declaration")
    return tuple(
        word
        for k, word in enumerate(words)
        if word != "=" or not (words[k - 1] == "]" or (words[k - 2] == "." and words[k - 3] in ("{", ",")))
    )


def _allocated(allocation: Allocation, reserved: frozenset[str]) -> tuple[str, ...]:
    """The names that an allocation declares: that of the array, and before it perhaps one for a number."""
    words = tokens_of(allocation.declaration)
    ends = [k for k, word in enumerate(words) if word == ";"]
    starts = [0, *(end + 1 for end in ends)]
    if not 1 <= len(ends) <= 2 or ends[-1] != len(words) - 1 or "{" in words:
        raise InternalError("an allocation isn't a declaration")
    found = []
    for start, end in zip(starts, ends, strict=False):
        part = words[start:end]
        before = part[: part.index("=")] if "=" in part else ()
        number = len(before) == 3 and before[:2] == ("const", "int") and start < starts[len(ends) - 1]
        found.append(before[2] if number else allocation.name if allocation.name in before else "")
    if "" in found or found[-1] != allocation.name or found.count(allocation.name) != 1:
        raise InternalError("an allocation doesn't declare its array")
    return tuple(found)


# --- directives -------------------------------------------------------------------------------------------------------


def _kept(tokens: Sequence[RawToken], macros: Mapping[str, int], hold: bool) -> Iterator[str]:
    """The tokens that the preprocessor leaves where all macros have their values, or where one has another."""
    active, opened = True, ""
    code = [token for token in tokens if token.kind != "comment"]
    plain = _around_pragmas(code)
    for token in _without_hints(code):
        if token.start in plain:
            if active:
                yield spelled(token)
            continue
        words = directive_words(token.text) if token.kind == "directive" else []
        word = words[0] if words else ""
        if word == "if" and not opened and _values("".join(words[1:])) == macros:
            active, opened = hold, "if"
        elif words == ["else"] and opened == "if":
            active, opened = not hold, "else"
        elif words == ["endif"] and opened:
            active, opened = True, ""
        elif token.kind == "directive" and not (
            word == "pragma" or (word == "line" and len(words) == 2 and words[1].isdecimal())
        ):
            raise InternalError(f"an unexpected directive: {token.text}")
        elif active and word != "line":
            yield spelled(token)
    if opened:
        raise InternalError("a conditional directive isn't closed")


def _around_pragmas(tokens: Sequence[RawToken]) -> frozenset[int]:
    """Where the original has a pragma of OpenMP between ``#if`` and ``#endif``: the places of these two, which leave
    out no code."""
    pragmas = (k for k, token in enumerate(tokens) if token.kind == "directive" and is_pragma(token, "omp"))
    found = (around_pragma(tokens, k) for k in pragmas)
    return frozenset(tokens[k].start for places in found if places is not None for k in places)


def _without_hints(tokens: Sequence[RawToken]) -> Iterator[RawToken]:
    """Without what one compiler alone is told of a loop, which changes nothing that is computed."""
    size, hints = len(NOT_UNROLLED), set[int]()
    rest = [k for k, token in enumerate(tokens) if not is_line_directive(token)]
    lines = [tokens[k].text.strip() if tokens[k].kind == "directive" else "" for k in rest]
    for k in (place for place, line in enumerate(lines) if line):
        if is_not_unrolled(lines[k : k + size]):
            hints.update(rest[k : k + size])
        elif is_for_both(lines[k : k + 5]):
            hints.update((rest[k], rest[k + 1], rest[k + 2], rest[k + 4]))
        elif lines[k] in (UNROLLED, BESIDE) and k + 1 < len(rest) and tokens[rest[k + 1]].text == "for":
            hints.add(rest[k])
        elif lines[k : k + 3] == list(KEPT) and k + 3 < len(rest) and tokens[rest[k + 3]].text == "for":
            hints.update(rest[k : k + 3])
    yield from (token for k, token in enumerate(tokens) if k not in hints)


def _values(condition: str) -> dict[str, int] | None:
    """The macros' values that a condition asks for; None if it asks for anything else."""
    found = [_VALUE.match(part) for part in condition.split("&&")]
    values = {match[1]: int(match[2]) for match in found if match is not None}
    return values if len(values) == len(found) else None


# --- control ----------------------------------------------------------------------------------------------------------


class _Parser(Struct, frozen=True, eq=False):
    """Parses tokens into the region's pieces and what stands around them;
    every way to do so, since the pieces may begin alike."""

    words: Words
    parts: Parts
    pieces: Pieces

    def parses(self) -> Iterator[tuple[Node, ...]]:
        for nodes, end in self.nodes(0):
            if end == len(self.words) and (not self.parts.bare or (len(nodes) == 1 and isinstance(nodes[0], tuple))):
                yield nodes

    def nodes(self, start: int) -> Iterator[tuple[tuple[Node, ...], int]]:
        """Sequences of nodes, the longest ones first."""
        for node, end in self.node(start):
            for others, last in self.nodes(end):
                yield (node, *others), last
        yield (), start

    def node(self, start: int) -> Iterator[tuple[Node, int]]:
        for piece in ("text", "original"):
            words = self.parts.words[piece]
            if words and self.words[start : start + len(words)] == words:
                yield piece, start + len(words)
        for kind, texts in self.declarations.items():
            for k, words in enumerate(texts):
                if self.words[start : start + len(words)] == words:
                    yield f"{kind} {k}", start + len(words)
        match self.words[start : start + 5]:
            case ("int", name, "=", "0", ";") if self.is_new(name):
                yield f"int {name}", start + 5
            case (name, "=", "1", ";", *_) if self.is_new(name):
                yield f"set {name}", start + 4
            case (word, "(", name, ")", ";") if word == FREE and name in self.pieces.memory:
                yield f"free {name}", start + 5
            case ("if", "(", *_):
                yield from self.choice(start)
            case ("{", *_):
                yield from self.block(start)

    @property
    def declarations(self) -> dict[str, list[Words]]:
        return {
            "prologue": [tokens_of(line) for line in self.parts.prologue],
            "allocate": [tokens_of(one.declaration) for one in self.parts.allocations],
        }

    def is_new(self, name: str) -> bool:
        """Whether it can only be a variable of the control's own."""
        known = {*self.parts.reserved, *self.pieces.prologue, *(name for one in self.pieces.declared for name in one)}
        return (
            re.match(r"[A-Za-z_]\w*\Z", name) is not None
            and name not in known
            and not any(name in words for words in self.parts.words.values())
        )

    def block(self, start: int) -> Iterator[tuple[tuple[Node, ...], int]]:
        if self.words[start : start + 1] == ("{",):
            for nodes, end in self.nodes(start + 1):
                if self.words[end : end + 1] == ("}",):
                    yield nodes, end + 1

    def choice(self, start: int) -> Iterator[tuple[Node, int]]:
        """``if (condition) { … }``, perhaps with ``else { … }``: braces have to be there,
        or the pieces might be parsed otherwise."""
        for condition, end in self.conditions(start + 2):
            for then, last in self.block(end):
                if self.words[last : last + 1] == ("else",):
                    for otherwise, behind in self.block(last + 1):
                        yield If(condition, then, otherwise), behind
                else:
                    yield If(condition, then, ()), last

    def conditions(self, start: int) -> Iterator[tuple[str, int]]:
        """Conditions that are known, and where what follows their closing parenthesis begins."""
        told = self.parts.words["guard"]
        for guard in ((*told, ")"), ("__builtin_expect", "(", *told, ",", "1", ")", ")")):
            if self.parts.guard and self.words[start : start + len(guard)] == guard:
                yield "guard", start + len(guard)
        there = (*(word for name in self.pieces.memory for word in ("&&", name)), ")")[1:]
        if self.pieces.memory and self.words[start : start + len(there)] == there:
            yield "memory", start + len(there)
        match self.words[start : start + 3]:
            case ("!", name, ")") if self.is_new(name):
                yield f"not {name}", start + 3
