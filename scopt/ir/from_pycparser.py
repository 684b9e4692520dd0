"""The only place that knows pycparser: it reads a text, and its tree becomes nodes of `scopt.ir`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pycparser import c_ast, c_lexer, c_parser

from scopt import ir

_ERROR = re.compile(r"[^:]*:(?P<line>\d+)(?::\d+)?: (?P<message>.*)", re.DOTALL)
# Numbers that may be followed by what makes them imaginary, and how these end: ``1.0iF``, ``2.5j``, ``.5fi``, ``3i``.
_NUMBERS = ("FLOAT_CONST", "HEX_FLOAT_CONST", "INT_CONST_DEC", "INT_CONST_OCT")
_IMAGINARY = re.compile(r"(?:[ijIJ][fFlL]?|[fFlL][ijIJ])\Z")
# Octal numbers, but for 0.
_OCTAL = re.compile(r"0([0-7]+)([uUlL]*)")
_PARTS = {"f": "float", "l": "long double"}
_CLASSES: dict[str, type[ir.Node]] = {
    name: made
    for name in dir(ir)
    if isinstance(made := getattr(ir, name), type)
    and issubclass(made, ir.Node)
    and made not in (ir.Node, ir.FieldDesignator)
}
# Fields that pycparser has besides are those of C23, which isn't read.
_FIELDS = {name: made.fields for name, made in _CLASSES.items()}


class CSyntaxError(Exception):
    """A text that isn't C, or C that can't be read.
    line: where, as far as is known; message: why, without the place."""

    def __init__(self, text: str, line: int, message: str) -> None:
        super().__init__(text)
        self.line, self.message = line, message


def parse_c(text: str, place: Callable[[ir.Coord], ir.Coord] | None = None) -> ir.FileAST:
    """The translation unit that a preprocessed text is.

    place: where something stands in the source, from where it stands in the text; the text has no file name. Raises
    CSyntaxError.
    """
    parser = c_parser.CParser(lexer=_Lexer)
    try:
        tree = parser.parse(text, "")
    except c_parser.ParseError as error:
        match = _ERROR.match(str(error))
        if match is not None:
            raise CSyntaxError(str(error), int(match.group("line")), match.group("message")) from error
        raise CSyntaxError(str(error), parser.clex.last_line, str(error).lstrip(": ")) from error
    except (AssertionError, RecursionError, AttributeError, TypeError) as error:
        # A fault of the parser itself.
        message = f"{type(error).__name__} in the parser"
        raise CSyntaxError(message, parser.clex.last_line, message) from error
    made: ir.FileAST = _Conversion(place).tree(tree)
    return made


class _Lexer(c_lexer.CLexer):  # type: ignore[misc]
    """A lexer that remembers how far it came: not every error of the parser says where it is. It knows GNU C's
    imaginary numbers, which pycparser takes for a number and a name behind it: what `I` of ``<complex.h>`` is made
    of."""

    last_line = 1
    following: tuple[c_lexer.Token | None, ...] = ()

    def token(self) -> c_lexer.Token | None:
        token = self.next()
        if token is not None:
            self.last_line = token.lineno
        if token is not None and token.type.startswith(_NUMBERS):
            behind = self.next()
            if behind is not None and _is_suffix(token, behind):
                token.type, token.value = "FLOAT_CONST", token.value + behind.value
            else:
                self.following = (behind,)
        return token

    def next(self) -> c_lexer.Token | None:
        """The next one that pycparser sees."""
        if not self.following:
            return super().token()
        (token,), self.following = self.following, ()
        return token


def _is_suffix(number: c_lexer.Token, behind: c_lexer.Token) -> bool:
    """Whether a name is what makes the number in front of it an imaginary one."""
    adjacent = (number.lineno, number.column + len(number.value)) == (behind.lineno, behind.column)
    return behind.type == "ID" and adjacent and _IMAGINARY.search(number.value + behind.value) is not None


def _constant_type(value: str, plain: str) -> str:
    """The type of a constant as it is spelled, from that without regard for imaginary numbers, sizes, and prefixes of
    characters. Of imaginary integers, which gcc computes with as such, it is what they become in expressions of
    others."""
    if plain == "char" and not value.startswith("'"):
        return "wide"
    suffix = _IMAGINARY.search(value) if plain not in ("char", "string") else None
    if suffix is None:
        return _without_suffix(value) if plain == "int" else plain
    return f"{_PARTS.get(suffix.group().lower().strip('ij'), 'double')} _Complex"


def _without_suffix(value: str) -> str:
    """The type of an integer without a suffix, which its size tells (C11, 6.4.4.1). Several characters are one, too."""
    number = 0 if "'" in value[:1] else int(value.replace("'", ""), 0)
    if number < 1 << 31:
        return "int"
    decimal = value[0] != "0"
    if number < 1 << 32 and not decimal:
        return "unsigned int"
    return "long int" if decimal or number < 1 << 63 else "unsigned long int"


def _in_tens(value: str, plain: str) -> str:
    """An octal number as one that nobody takes for a decimal one, of the same type."""
    octal = _OCTAL.fullmatch(value) if "int" in plain else None
    if octal is None:
        return value
    number, suffix = int(octal.group(1), 8), octal.group(2)
    return f"{number if number < 1 << 31 else hex(number)}{suffix}"


class _Conversion:
    """Of one tree. What pycparser has once, such as the type that several names are declared with, is made once."""

    def __init__(self, place: Callable[[ir.Coord], ir.Coord] | None) -> None:
        self.place = place
        self.made: dict[int, Any] = {}
        self.places: dict[int, ir.Coord] = {}

    def tree(self, root: c_ast.Node) -> Any:
        """The node for a node; children come first, and long expressions are deeper than calls could be."""
        below = [root]
        for node in below:  # grows on the way
            for field in _FIELDS[type(node).__name__]:
                value = getattr(node, field)
                if isinstance(value, c_ast.Node):
                    below.append(value)
                elif type(value) is list:
                    below += [item for item in value if isinstance(item, c_ast.Node)]
        made = self.made
        for node in reversed(below):
            if id(node) not in made:
                made[id(node)] = self.node(node)
        return made[id(root)]

    def node(self, node: c_ast.Node) -> ir.Node:
        """The node for one whose children are made."""
        kind, made = type(node).__name__, self.made
        values: list[Any] = []
        for field in _FIELDS[kind]:
            value = getattr(node, field)
            values.append(
                tuple([made.get(id(item), item) for item in value])
                if type(value) is list
                else made.get(id(value), value)
            )
        if kind == "Constant":
            spelled = _in_tens(node.value, node.type)
            values[_FIELDS[kind].index("value")] = spelled
            values[_FIELDS[kind].index("type")] = _constant_type(spelled, node.type)
        # Names of members are no names of variables.
        elif kind == "StructRef":
            values[_FIELDS[kind].index("field")] = node.field.name
        elif kind == "NamedInitializer":
            place = _FIELDS[kind].index("name")
            values[place] = tuple(
                ir.FieldDesignator(one.name, one.coord) if isinstance(one, ir.ID) else one for one in values[place]
            )
        return _CLASSES[kind](*values, None if node.coord is None else self.coord(node.coord))

    def coord(self, coord: Any) -> ir.Coord:
        """Where something stands in the source."""
        known = self.places.get(id(coord))
        if known is None:
            known = ir.Coord(coord.file, coord.line, coord.column)
            known = self.places[id(coord)] = known if self.place is None else self.place(known)
        return known
