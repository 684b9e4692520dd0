"""A ``#pragma omp`` as data: what it says of the loop below, or why a loop has to stay under it.

What a program means is what it computes with one thread and without the pragma. A pragma whose clauses leave that as it
is says nothing that has to be believed; one that says more keeps its loop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from msgspec import Struct

from scopt.diagnostics import Location, Remark

# Directives about a loop that starts its own threads or none: of others a team runs the loop.
_LOOPS = (("parallel", "for"), ("parallel", "for", "simd"), ("simd",))
_WORDS = frozenset("parallel for simd".split())
# Directives that no statement belongs to.
_ALONE = re.compile(
    r"omp\s+(?:barrier|flush|taskwait|taskyield|threadprivate|declare|end|begin|requires|assumes|allocate|depobj|error"
    r"|cancel|cancellation|scan|nothing|interop|section|target\s+(?:update|enter|exit))\b"
)
# Of these only the functions tell that a team of threads runs them.
_OF_TEAM = re.compile(r"omp\s+(?:for|barrier|single|sections|master|masked|loop|cancel|cancellation|ordered|scope)\b")
# Clauses that change nothing, or only how loops run.
_HARMLESS = frozenset("shared collapse schedule if default safelen simdlen aligned nontemporal order".split())
_NAMES = frozenset("private firstprivate lastprivate reduction".split())
_TOKEN = re.compile(r"\s*([A-Za-z_$][\w$]*|.)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_ACTS = re.compile(r"(?<![=!<>])=(?!=)|\+\+|--|[\w$\])]\s*\(")
_UPDATES = frozenset("+ - * & | ^ && || min max".split())
_ALL_LOOPS = 99


class OpenmpLoop(Struct, frozen=True):
    """What a pragma says of a loop. line: of the pragma, as the tree has it. parallel: the loop runs in threads.

    depth: so many loops in one another are meant; 0 if their iterators are no variables of the threads. private, first:
    variables of the threads that begin with no value, and with the one from outside. reduced: names with the operator
    by which they are updated. used: names that the pragma itself reads.
    """

    line: int
    parallel: bool
    depth: int = 0
    private: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    reduced: tuple[tuple[str, str], ...] = ()
    used: frozenset[str] = frozenset()


class Obstacle(Struct, frozen=True):
    """Why the statement below a pragma stays as it is. id, message, hint: of the remark."""

    id: str
    message: str
    hint: str


def is_openmp(text: object) -> bool:
    """Whether a pragma, by what follows ``#pragma``, is one of OpenMP's."""
    return isinstance(text, str) and text.split()[:1] == ["omp"]


def governs(text: object) -> bool:
    """Whether a pragma of OpenMP is about the statement below."""
    return isinstance(text, str) and is_openmp(text) and not _ALONE.match(text.strip())


def is_of_team(text: object) -> bool:
    """Whether a pragma of OpenMP, with no other one around, says that a team of threads runs its function."""
    return isinstance(text, str) and bool(_OF_TEAM.match(text.strip()))


def left(text: str, message: str = "") -> Obstacle:
    """That what is below a pragma stays, as the pragma has threads run it in a way that loops don't say."""
    said = message or f"left as it was: '#pragma {' '.join(_directive(text))}' says how threads run what is below"
    return Obstacle("openmp.construct", said, "put '#pragma omp parallel for' right above the loop")


def read_openmp(text: str, line: int, macros: Collection[str]) -> OpenmpLoop | Obstacle:
    """What a pragma, by what follows ``#pragma``, says of the loop below.

    macros: names that may stand for something else in it.
    """
    directive = _directive(text)
    if tuple(directive[1:]) not in _LOOPS or not macros_free(directive, macros):
        return left(text)
    found: dict[str, list[str]] = {}
    for word, argument in _clauses(text, len(directive)):
        if word not in _HARMLESS | _NAMES or word in macros:
            return _clause(word)
        if not (_is_harmless(word, argument) if word in _HARMLESS else _is_list(word, argument, macros)):
            return _clause(word, argument)
        found.setdefault(word, []).append(argument)
    parallel = "parallel" in directive
    reduced = [
        (name, operator.strip())
        for one in found.get("reduction", ())
        for operator, _, names in [one.rpartition(":") if "[" not in one else one.partition(":")]
        for name in _names(names)
    ]
    return OpenmpLoop(
        line,
        parallel,
        _depth(found.get("collapse", ["1"])[0]) if parallel else 0,
        tuple(name for one in found.get("private", ()) for name in _names(one)),
        tuple(name for one in found.get("firstprivate", ()) for name in _names(one)),
        tuple(reduced),
        clause_words(text) - {*directive},
    )


def clause_words(text: str) -> frozenset[str]:
    """The names that a pragma itself uses: those of lists of variables say whose they are, and read nothing."""
    directive = _directive(text)
    if tuple(directive[1:]) not in _LOOPS:
        return frozenset(_NAME.findall(text))
    used = (_NAME.findall(inside) for word, inside in _clauses(text, len(directive)) if word not in _NAMES | {"shared"})
    return frozenset(name for names in used for name in names)


def macros_free(words: Collection[str], macros: Collection[str]) -> bool:
    """Whether none of some words is a macro's name."""
    return not any(word in macros for word in words)


def _clause(word: str, argument: str = "") -> Obstacle:
    shown = f"{word}({argument.strip()})" if argument else word
    return clause_obstacle(f"the clause '{shown}' may say more than how the loop runs")


def clause_obstacle(why: str) -> Obstacle:
    """That a loop stays because of a clause of its pragma."""
    return Obstacle("openmp.clause", f"left as it was: {why}", "leave the clause out, or declare variables in the loop")


def sequential(location: Location) -> Remark:
    """That a loop stays which the program runs in threads or vectors, and scopt wouldn't."""
    message = "left as it was: the program's own pragma runs in threads, or sums up in vectors, what scopt would not"
    hint = "with --reassociate sums need not be computed in order"
    return Remark("missed", "openmp.sequential", message, location, hint)


def _directive(text: str) -> list[str]:
    """``omp`` and the words of the directive's name."""
    words = text.split("(")[0].replace(",", " ").split()
    found = words[:1]
    for word in words[1:]:
        if word not in _WORDS and len(found) > 1:
            break
        found.append(word)
    return found


def _clauses(text: str, skipped: int) -> Iterator[tuple[str, str]]:
    """The clauses with what stands in their parentheses. skipped: words in front of them."""
    tokens = [found.group() for found in _TOKEN.finditer(text.strip())]
    position = skipped
    while position < len(tokens):
        word, argument = tokens[position].strip(), []
        position += 1
        if position < len(tokens) and tokens[position].strip() == "(":
            depth, position = 1, position + 1
            while position < len(tokens):
                depth += {"(": 1, ")": -1}.get(tokens[position].strip(), 0)
                position += 1
                if not depth:
                    break
                argument.append(tokens[position - 1])
        if word and word != ",":
            yield word, "".join(argument)


def _is_harmless(word: str, argument: str) -> bool:
    if _ACTS.search(argument):
        return False
    if word == "schedule":
        kind = argument.split(",")[0].rpartition(":")[2].strip()
        return kind in ("static", "dynamic", "guided", "auto")
    return argument.strip() in ("none", "shared") if word == "default" else bool(argument.strip())


def _is_list(word: str, argument: str, macros: Collection[str]) -> bool:
    names = argument
    if word == "reduction":
        operator, _, names = argument.partition(":")
        if operator.strip() not in _UPDATES:
            return False
        names = re.sub(r"\[[^][]*\]", "", names)
    listed = [name.strip() for name in names.split(",")]
    return all(_NAME.fullmatch(name) for name in listed) and macros_free(listed, macros)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in re.sub(r"\[[^][]*\]", "", listed).split(",")]


def _depth(argument: str) -> int:
    return int(argument) if argument.strip().isdecimal() else _ALL_LOOPS
