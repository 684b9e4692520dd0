"""Where statements of the tree stand in the bytes of the user's file: a structure parser for raw C, checked against the
preprocessed text.

Inside the lines of a statement the raw tokens and the preprocessed ones must agree on everything that makes statements
(keywords of control flow, braces, semicolons), and no macro there may expand to any of it, unless it expands to whole
statements between the braces of a loop. Otherwise the place is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.syntax.loop_macros import loop_macros, with_heads
from scopt.frontend.text.macros import reachable_words, split_tokens
from scopt.frontend.text.tokens import RawToken
from scopt.ir.walks import walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.unit import TranslationUnit

_STRUCTURAL = frozenset("for if else while do switch case default goto return break continue asm __asm__ { } ;".split())
_KEYWORDS = frozenset("if while do switch case default goto return break continue else asm __asm__".split())
_LOOPS = {ir.For: "for", ir.While: "while", ir.DoWhile: "do"}


class _Statement(Struct, frozen=True):
    """A raw statement: kind is ``for``, ``while``, ``do``, ``if``, ``simple`` or ``other``; first and last are indices
    of its tokens.

    single: it has no comma.
    """

    kind: str
    first: int
    last: int
    single: bool = False


def extents_of(tu: TranslationUnit) -> dict[Any, tuple[int, int]]:
    """Byte extents by the node, for `for` loops and simple statements of compounds in the user's functions,
    where they are sure."""
    return tu.worked_out("extents", lambda: _extents(tu))


def _extents(tu: TranslationUnit) -> dict[Any, tuple[int, int]]:
    raw = tu.preprocessed.raw
    code = [t for t in raw.tokens if t.kind not in ("comment", "directive")]
    macros = tu.preprocessed.all_macros
    heads = loop_macros(macros, (t.text for t in code))
    tokens = with_heads(code, heads, macros)
    places = _Lines(tu, tokens, heads)
    lists = _statement_lists(tokens)
    found: dict[Any, tuple[int, int]] = {}
    # A loop that stands in a list among others is better known than as another statement's whole body.
    loops = {
        (s.kind, places.line(s.first), places.order_in_line(s.first)): (statements, k)
        for statements in (*_alone(tokens), *lists)
        for k, s in enumerate(statements)
        if s.kind in _LOOPS.values()
    }
    for function in tu.user_functions:
        for compound in _compounds(function.body):
            _match(tu, compound, loops, places, found)
    return found


def _match(
    tu: TranslationUnit,
    compound: Any,
    loops: Mapping[tuple[str, int, int], tuple[Sequence[_Statement], int]],
    places: _Lines,
    found: dict[Any, tuple[int, int]],
) -> None:
    """Find the raw statements of a compound's items: the loops by line,
    the simple statements by standing next to a loop."""
    items = compound.block_items or ()
    for index, item in enumerate(items):
        # What was found from a loop beside it lies in a stretch that was walked to both of its ends.
        if type(item) not in _LOOPS or item.coord.file != tu.file or item in found:
            continue
        place = loops.get((_LOOPS[type(item)], item.coord.line, places.order_of_node(item)))
        if place is None:
            continue
        statements, position = place
        for step in (1, -1):
            here, raw = index, position
            while 0 <= here < len(items) and 0 <= raw < len(statements):
                node, statement = items[here], statements[raw]
                if (
                    not _same_kind(node, statement)
                    or places.line(statement.first) != node.coord.line
                    or not places.sure(statement)
                ):
                    break
                found[node] = places.extent(statement)
                here, raw = here + step, raw + step


def _same_kind(node: Any, statement: _Statement) -> bool:
    if statement.kind == "if":
        return isinstance(node, ir.If)
    if statement.kind in _LOOPS.values():
        return _LOOPS.get(type(node)) == statement.kind
    # Declarators that share a declaration are several nodes for one statement.
    simple = isinstance(node, (ir.Assignment, ir.UnaryOp)) or (isinstance(node, ir.Decl) and statement.single)
    return simple and statement.kind == "simple"


def _compounds(root: Any) -> Iterable[Any]:
    return (node for node in walk(root) if isinstance(node, ir.Compound))


class _Lines:
    """The raw tokens and the preprocessed structural tokens of each line of the user's file. heads: the tokens of
    macros that are the heads of loops, in whose place ``for`` stands."""

    def __init__(self, tu: TranslationUnit, tokens: list[RawToken], heads: Mapping[str, list[str]]) -> None:
        self.tu, self.tokens, self.raw, self.heads = tu, tokens, tu.preprocessed.raw, heads
        self.raw_by_line: dict[int, list[int]] = {}
        for index, token in enumerate(tokens):
            self.raw_by_line.setdefault(self.raw.line(token.start), []).append(index)
        self.structure: dict[int, list[str]] = {}
        self.loop_nodes: dict[Any, int] = {}
        result = tu.preprocessed
        for number, line in enumerate(result.text.split("\n")):
            run = result.run(number)
            if run.user and not line.lstrip().startswith("#"):
                words = [t for t in split_tokens(line) if t in _STRUCTURAL]
                self.structure.setdefault(run.number + number - run.first, []).extend(words)
        self.count_nodes()

    def count_nodes(self) -> None:
        """Number the loops of each kind of each line in the order of the text. (The ``while`` of a ``do`` would be
        counted as a loop's.)"""
        counts: dict[tuple[str, int], int] = {}
        nodes: list[Any] = [node for function in self.tu.user_functions for node in _loop_nodes(function.body)]
        for node in nodes:
            key = _LOOPS[type(node)], node.coord.line
            self.loop_nodes[node] = counts.get(key, 0)
            counts[key] = self.loop_nodes[node] + 1
        for node in nodes:
            line = node.coord.line
            texts = (self.tokens[k].text for k in self.raw_by_line.get(line, ()))
            if isinstance(node, ir.While) and sum(text == "while" for text in texts) != counts["while", line]:
                self.loop_nodes[node] = -1

    def line(self, index: int) -> int:
        return self.raw.line(self.tokens[index].start)

    def order_in_line(self, index: int) -> int:
        keyword = self.tokens[index].text
        before = (k for k in self.raw_by_line[self.line(index)] if k < index)
        return sum(self.structure_of(k).count(keyword) for k in before)

    def structure_of(self, index: int) -> list[str]:
        """The structural tokens that one of the source is, or expands to as the head of loops."""
        token = self.tokens[index]
        name = self.raw.text[token.start : token.end]
        texts = self.heads[name] if name in self.heads and token.text == "for" else [token.text]
        return [text for text in texts if text in _STRUCTURAL]

    def order_of_node(self, node: Any) -> int:
        return self.loop_nodes.get(node, -1)

    def extent(self, statement: _Statement) -> tuple[int, int]:
        return self.tokens[statement.first].start, self.tokens[statement.last].end

    def sure(self, statement: _Statement) -> bool:
        """Whether macros leave the structure of the statement's lines alone, or that between the braces of a loop."""
        return (
            self.same_structure(statement.first, statement.last)
            or self.sure_braces(statement)
            or self.sure_call(statement)
        )

    def same_structure(self, first: int, last: int) -> bool:
        """Whether that is so of the lines from one token to another."""
        words: set[str] = set()
        for line in range(self.line(first), self.line(last) + 1):
            places = self.raw_by_line.get(line, ())
            words.update(self.tokens[k].text for k in places)
            if [text for k in places for text in self.structure_of(k)] != self.structure.get(line, []):
                return False
        return not any(_STRUCTURAL & set(body) or not _balanced(body) for body in self.bodies(words))

    def sure_braces(self, statement: _Statement) -> bool:
        """Whether a loop's body stands in braces that match whatever the macros between them expand to: each to nothing
        that opens or closes others, and to no loop that could be taken for one of the lines' own."""
        header = self.headers_end(statement)
        if header is None or self.tokens[header + 1].text != "{":
            return False
        if _closing(self.tokens, header + 1) != statement.last or not self.same_structure(statement.first, header):
            return False
        texts = [self.tokens[k].text for k in range(header + 1, statement.last + 1)]
        # what a macro is given may be left out, and ends at commas between braces, too
        if not _balanced(texts, nested=False):
            return False
        words = set(texts)
        return not any("for" in body or not _balanced(body) for body in self.bodies(words))

    def sure_call(self, statement: _Statement) -> bool:
        """Whether a loop's body is one macro, which expands to one statement: ``do { … } while (0)``. What it is given
        has no statements."""
        header = self.headers_end(statement)
        if header is None or not self.same_structure(statement.first, header):
            return False
        name, macros = self.tokens[header + 1].text, self.tu.preprocessed.all_macros
        if name not in macros or _closing(self.tokens, header + 2) != statement.last - 1:
            return False
        lines = range(self.line(header + 1), self.line(statement.last) + 1)
        behind = statement.last + 1
        if self.line(header) in lines or (behind < len(self.tokens) and self.line(behind) in lines):
            return False
        given = [self.tokens[k].text for k in range(header + 3, statement.last - 1)]
        body = split_tokens(macros[name].body)
        others = [token for one in self.bodies({*given, *body} - {name}) for token in one]
        expanded = [*(token for token in body if token in _STRUCTURAL), ";"]
        return (
            macros[name].parameters is not None
            and _STRUCTURAL.isdisjoint((*given, *others))
            and [token for line in lines for token in self.structure.get(line, [])] == expanded
            and "for" not in body
            and body[:2] == ["do", "{"]
            and body[-5:] == ["}", "while", "(", "0", ")"]
            and _balanced(body[2:-5])
        )

    def headers_end(self, statement: _Statement) -> int | None:
        """The last token of the headers of a loop, and of those that are its only statement; None without any."""
        header: int | None = statement.first - 1
        while header is not None and header + 2 < statement.last and self.tokens[header + 1].text == "for":
            header = _closing(self.tokens, header + 2)
        return None if header is None or header < statement.first else header

    def bodies(self, words: set[str]) -> Iterable[list[str]]:
        """The tokens of all macros that words lead to."""
        macros = self.tu.preprocessed.all_macros
        return (split_tokens(macros[word].body) for word in reachable_words(words, macros) & macros.keys())


def _balanced(tokens: Iterable[str], *, nested: bool = True) -> bool:
    """Whether parentheses and braces match. nested: braces may stand between parentheses."""
    opened: list[str] = []
    for token in tokens:
        if token in ("(", "{"):
            if token == "{" and "(" in opened and not nested:
                return False
            opened.append(token)
        elif token in (")", "}") and (not opened or opened.pop() + token not in ("()", "{}")):
            return False
    return not opened


def _loop_nodes(root: Any) -> Iterable[Any]:
    """The loops in the order of the text."""
    return (node for node in walk(root) if type(node) in _LOOPS)


# --- the structure of raw tokens --------------------------------------------------------------------------------------


def _statement_lists(tokens: Sequence[RawToken]) -> list[list[_Statement]]:
    """The statements of every pair of braces, as far as they look like statements."""
    lists: list[list[_Statement]] = []
    for index, token in enumerate(tokens):
        if token.text != "{":
            continue
        statements: list[_Statement] = []
        position = index + 1
        while position < len(tokens) and tokens[position].text != "}":
            end = _statement_end(tokens, position)
            if end is None:
                break
            text = tokens[position].text
            kind = (
                text if text == "if" or text in _LOOPS.values() else "other" if text in _KEYWORDS | {"{"} else "simple"
            )
            single = kind == "simple" and all(token.text != "," for token in tokens[position:end])
            statements.append(_Statement(kind, position, end, single))
            position = end + 1
        lists.append(statements)
    return lists


def _alone(tokens: Sequence[RawToken]) -> Iterable[list[_Statement]]:
    """Every loop in a list of its own."""
    for index, token in enumerate(tokens):
        if token.text == "for" and (end := _statement_end(tokens, index)) is not None:
            yield [_Statement("for", index, end)]


def _statement_end(tokens: Sequence[RawToken], position: int) -> int | None:
    """Index of the last token of the statement that begins at `position`; None if it doesn't end."""
    if position >= len(tokens):
        return None
    text = tokens[position].text
    if text == "{":
        return _closing(tokens, position)
    if text in ("for", "while", "if", "switch"):
        header = (
            _closing(tokens, position + 1) if position + 1 < len(tokens) and tokens[position + 1].text == "(" else None
        )
        body = _statement_end(tokens, header + 1) if header is not None else None
        if body is not None and text == "if" and body + 1 < len(tokens) and tokens[body + 1].text == "else":
            return _statement_end(tokens, body + 2)
        return body
    if text == "do":
        body = _statement_end(tokens, position + 1)
        return _to_semicolon(tokens, body + 1) if body is not None else None
    return _to_semicolon(tokens, position)


def _to_semicolon(tokens: Sequence[RawToken], position: int) -> int | None:
    while position < len(tokens):
        text = tokens[position].text
        if text == ";":
            return position
        if text in ("(", "[", "{"):
            closed = _closing(tokens, position)
            if closed is None:
                return None
            position = closed
        elif text in (")", "]", "}"):
            return None
        position += 1
    return None


def _closing(tokens: Sequence[RawToken], position: int) -> int | None:
    depth = 0
    for index in range(position, len(tokens)):
        text = tokens[index].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth == 0:
            return index
    return None
