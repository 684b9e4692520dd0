"""A preprocessed file as a tree: the user's declarations, those of headers that they need,
and what isn't C to the parser left out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from scopt import ir
from scopt.diagnostics import InputError, Location, Remark
from scopt.frontend.text.chunks import Chunk, declared_names, needed, split
from scopt.frontend.text.columns import Moved, moved_columns, source_column
from scopt.frontend.text.gnu import OPAQUE_TYPE, PREAMBLE, clean, closing
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.frontend.text.preprocessor import check_syntax
from scopt.ir.from_pycparser import CSyntaxError, parse_c
from scopt.options import Options

# Characters of a declaration from which on its initial values are left out, and where these begin.
_HUGE = 20_000
_VALUES = re.compile(r"=\s*\{")
# An attribute of the whole declaration, before a body begins.
_COLD = re.compile(r"\A[^{]*\b(?:__attribute__|__attribute)\s*\(\((?:[^()]|\([^()]*\))*\b_*cold_*\b")


class _Piece(Struct):
    """A chunk on its way into the parser. text: what the parser gets. lines: the user's lines that it covers."""

    chunk: Chunk
    text: str
    name_hint: str
    blanked: bool = False
    first_line: int = 0
    last_line: int = 0


class FileParser(Struct):
    """The parsing of one translation unit: pieces that don't parse are taken out one by one."""

    result: Preprocessed
    source: bytes
    options: Options
    pure: dict[str, str] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    cold: frozenset[str] = frozenset()
    may_alias: bool = False
    remarks: list[Remark] = field(default_factory=list)
    unparsed_lines: list[range] = field(default_factory=list)
    checked: bool = False
    failed: list[_Piece] = field(default_factory=list)

    def parse(self) -> ir.FileAST:
        text = self.result.text
        pieces = [self.piece(chunk) for chunk in needed(text, split(self.result))]
        line_starts = [0]
        while (following := text.find("\n", line_starts[-1]) + 1) > 0:
            line_starts.append(following)
        for _ in range(len(pieces) + 1):
            assembled = _Assembled(self.result, pieces, line_starts)
            ast, error, line = _parsed(assembled.text, assembled.place)
            if ast is not None:
                return ast
            self.take_out(assembled.find(line, pieces), error)
            if len(self.failed) == 3:
                self.screen(pieces)
        raise InputError(f"{self.result.file}: could not be parsed")

    def piece(self, chunk: Chunk) -> _Piece:
        text = self.result.text[chunk.start : chunk.end]
        body = ""
        if chunk.body >= 0 and chunk.system:
            head = self.result.text[chunk.start : chunk.body]
            body = ";" + re.sub(r"[^\n]", " ", self.result.text[chunk.body : chunk.end])[1:]
            text = head
            self.defined |= _function_names(head)
        if chunk.body < 0 and len(text) > _HUGE:
            text = _without_values(text)
        cleaned = clean(text)
        if cleaned.purity:
            for name in _function_names(text):
                self.pure[name] = cleaned.purity
        if "cold" in text and _COLD.search(text):
            self.cold |= _function_names(text)
        piece = _Piece(chunk, cleaned.text + body, text)
        if cleaned.opaque:
            # What else declares such things isn't understood, and doesn't parse as it is.
            typedef = re.match(r"\s*(?:__extension__\s*)?typedef\b", text)
            piece.text = _opaque_typedefs(text) if typedef else text
        self.may_alias = self.may_alias or cleaned.may_alias
        return piece

    def take_out(self, piece: _Piece | None, error: str) -> None:
        """Blank what could not be parsed; the user's own text only after the compiler has said that it is C."""
        if piece is None:
            raise InputError(f"{self.result.file}: could not be parsed: {error}")
        if piece.chunk.user and not self.checked:
            message = check_syntax(self.source, self.result.file, self.options)
            if message:
                raise InputError(message)
            self.checked = True
        typedef = re.match(r"\s*(?:__extension__\s*)?typedef\b", piece.name_hint)
        if typedef and not piece.blanked:
            piece.text = _opaque_typedefs(piece.name_hint)
        else:
            piece.text = re.sub(r"[^\n]", " ", piece.text)
            self.remark(piece, error)
        piece.blanked = True
        self.failed.append(piece)

    def screen(self, pieces: list[_Piece]) -> None:
        """Where several pieces don't parse, look at each function alone,
        so that the whole isn't parsed once for each of them."""
        declarations = "\n".join(piece.text for piece in pieces if piece.chunk.body < 0)
        ast, _, _ = _parsed(f"{PREAMBLE}\n{declarations}")
        if ast is None:
            return
        types = "".join(f"typedef int {node.name};" for node in ast.ext if isinstance(node, ir.Typedef))
        for piece in pieces:
            if piece.chunk.body >= 0 and piece.text.strip():
                alone, error, _ = _parsed(types + piece.text)
                if alone is None:
                    self.take_out(piece, error)

    def remark(self, piece: _Piece, error: str) -> None:
        """Say that a function with a region can't be parsed."""
        lines = [p for p in self.result.pragmas if p.user and piece.first_line <= p.line <= piece.last_line]
        if not piece.chunk.user or not lines:
            return
        self.unparsed_lines.append(range(piece.first_line, piece.last_line + 1))
        for pragma in lines:
            if pragma.kind == "scop":
                self.remarks.append(
                    Remark(
                        "missed",
                        "parse.unsupported",
                        f"the function around this region uses C that is not supported ({error})",
                        Location(pragma.file, pragma.line),
                        "move the region into a function of its own",
                    )
                )


def _parsed(text: str, place: Callable[[ir.Coord], ir.Coord] | None = None) -> tuple[ir.FileAST | None, str, int]:
    """The tree of a text; or None, and the message and line of the error."""
    try:
        return parse_c(text, place), "", 0
    except CSyntaxError as error:
        return None, error.message, error.line


class _Assembled:
    """The text for the parser: pieces one after the other,
    with line numbers of its own that are mapped back afterwards."""

    def __init__(self, result: Preprocessed, pieces: list[_Piece], line_starts: list[int]) -> None:
        self.result, self.line_starts = result, line_starts
        self.lines = result.text.split("\n")
        self.moved: dict[int, tuple[Moved, ...]] = {}
        parts = [PREAMBLE + "\n"]
        self.origins: list[int] = [-1]
        self.owners: list[_Piece | None] = [None]
        for piece in pieces:
            first = bisect_right(line_starts, piece.chunk.start) - 1
            column = piece.chunk.start - line_starts[first]
            parts.append(" " * column + piece.text + "\n")
            count = piece.text.count("\n") + 1
            self.origins.extend(range(first, first + count))
            self.owners.extend([piece] * count)
            places = (
                [result.place(k) for k in range(first, first + count) if result.run(k).user] if piece.chunk.user else []
            )
            if places:
                piece.first_line, piece.last_line = min(line for _, line in places), max(line for _, line in places)
        self.text = "".join(parts)

    def find(self, line: int, pieces: list[_Piece]) -> _Piece | None:
        """The piece that an error at a line of the text is about."""
        owner = self.owners[min(line - 1, len(self.owners) - 1)]
        index = next((k for k, piece in enumerate(pieces) if piece is owner), 0)
        # The parser looks ahead, so the line may be that of the next piece:
        # blame this one only if all is well without it.
        while index > 0 and _parsed(_Assembled(self.result, pieces[:index], self.line_starts).text)[0] is None:
            index -= 1
        while index < len(pieces) and not pieces[index].text.strip():
            index += 1
        return pieces[index] if index < len(pieces) else None

    def place(self, coord: ir.Coord) -> ir.Coord:
        """Where the text at a place of the assembled one came from."""
        origin = self.origins[min(coord.line - 1, len(self.origins) - 1)]
        if origin < 0:
            return coord
        column = coord.column
        if self.result.run(origin).user and column is not None:
            if origin not in self.moved:
                self.moved[origin] = moved_columns(self.result, origin, self.lines[origin])
            column = source_column(self.moved[origin], column)
        return ir.Coord(*self.result.place(origin), column)


def _function_names(text: str) -> frozenset[str]:
    """The names of the functions that a declaration declares."""
    head = re.match(r"[^({=]*", re.sub(r"\b(?:__attribute__|__attribute)\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text))
    word = re.search(r"([A-Za-z_$][\w$]*)\s*\Z", head.group()) if head is not None else None
    return frozenset({word.group(1)}) if word is not None else frozenset()


def _without_values(text: str) -> str:
    """A declaration without its lists of initial values, as many lines long: tables of constants can be long, and
    nobody looks at them."""
    while (start := _VALUES.search(text)) is not None:
        end = closing(text, start.end() - 1)
        text = text[: start.start()] + "\n" * text.count("\n", start.start(), end) + text[end:]
    return text


def _opaque_typedefs(text: str) -> str:
    """A typedef of the same names to a type that nothing is known of, as many lines long."""
    names: Iterable[str] = sorted(declared_names(text) - {"__extension__"})
    newlines = text.count("\n")
    tail = re.sub(r"\{[\s\S]*\}", " ", text)
    last = re.findall(r"[A-Za-z_$][\w$]*", re.sub(r"\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", tail))
    chosen = [name for name in names if name in last] or list(names)
    return "\n" * newlines + " ".join(f"typedef {OPAQUE_TYPE} {name};" for name in chosen)
