"""The notation of influence rows: ``2*T[S0,1,i] + T[S1,1,j] >= 1``, read and written.

Grammar (white space is free)::

    row         = sum relation sum           relation = "=" | "==" | "<=" | ">=" | "<" | ">"
    sum         = ["+" | "-"] term {("+" | "-") term}
    term        = [INTEGER "*"] coefficient | INTEGER
    coefficient = "T" "[" STATEMENT "," [DIMENSION ","] COLUMN "]"

COLUMN is an iterator of the statement, a parameter of the SCoP, or `1`. The notation T[S,d,c] is that of the constraint
injection paper, Fig. 3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NoReturn

from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.scheduler.influence.influence_tree import CONSTANT, Coefficient, InfluenceRow

# Schedule coefficients are small; integer programs with longer numbers are not worth solving.
MAX_DIGITS = 9
RELATIONS = ("=", "==", "<=", ">=", "<", ">")
_TOKEN = re.compile(r"\s*(?P<number>[0-9]+)?(?P<word>[^\W\d]\w*)?(?P<sign>==|<=|>=|[-+*=<>\[\],])?")


class RowError(Exception):
    """A row that can't be read. offset: of the offending character in the row's text, from 0."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


class Vocabulary(Struct, frozen=True):
    """What rows may speak of. iterators: of each statement. lines: where each statement stands in the source.
    parameters: of the SCoP."""

    iterators: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]
    parameters: tuple[str, ...]

    @classmethod
    def of(cls, scop: Scop) -> Vocabulary:
        return cls(
            {statement.name: statement.iterators for statement in scop.statements},
            {statement.name: statement.location.line for statement in scop.statements},
            tuple(parameter.name for parameter in scop.parameters),
        )


class _Token(Struct, frozen=True):
    """kind: ``number``, ``word``, ``end``, or the sign itself."""

    kind: str
    text: str
    offset: int


def parse_row(text: str, depth: int, vocabulary: Vocabulary) -> InfluenceRow:
    """The row that a text says, in a node of this depth. Raises RowError; among others, if no schedule can fulfil the
    row, or every one does."""
    reader = _Reader(text, depth, vocabulary, _tokens(text))
    left_terms, left = reader.sum()
    relation = reader.take()
    if relation.kind not in RELATIONS:
        reader.fail(relation, "expected one of " + ", ".join(RELATIONS))
    right_terms, right = reader.sum()
    if reader.peek().kind in RELATIONS:
        reader.fail(reader.peek(), "a row has one relation: write two rows")
    if reader.peek().kind != "end":
        reader.fail(reader.peek(), "expected + or - or the end of the row")
    if not left_terms and not right_terms:
        raise RowError(0, "the row names no coefficient T[statement,dimension,column]")
    difference = _minus(left_terms, right_terms)
    if relation.kind in ("<", "<="):
        row = _row({c: -f for c, f in difference.items()}, right - left - (relation.kind == "<"), ">=")
    elif relation.kind in (">", ">="):
        row = _row(difference, left - right - (relation.kind == ">"), ">=")
    else:
        row = _row(difference, left - right, "=")
    _check_sense(row)
    return row


def _row(factors: Mapping[Coefficient, int], constant: int, relation: str) -> InfluenceRow:
    terms = tuple((factor, coefficient) for coefficient, factor in factors.items() if factor)
    return InfluenceRow(terms, constant, "=" if relation == "=" else ">=")


def _minus(left: Mapping[Coefficient, int], right: Mapping[Coefficient, int]) -> dict[Coefficient, int]:
    result = dict(left)
    for coefficient, factor in right.items():
        result[coefficient] = result.get(coefficient, 0) - factor
    return result


def _check_sense(row: InfluenceRow) -> None:
    """Raises RowError for a row that is true or false whatever the (integer) coefficients are."""
    if not row.terms:
        holds = row.constant == 0 if row.relation == "=" else row.constant >= 0
        sense = "always holds" if holds else "can never hold"
        raise RowError(0, f"the coefficients cancel out: the row says 0 {row.relation} {-row.constant}, which {sense}")
    common = math.gcd(*(factor for factor, _ in row.terms))
    if row.relation == "=" and row.constant % common:
        raise RowError(
            0, f"the row can never hold: coefficients are integers, and {common} doesn't divide {abs(row.constant)}"
        )


def _tokens(text: str) -> tuple[_Token, ...]:
    found: list[_Token] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        assert match is not None  # all of the pattern is optional
        kinds = [kind for kind in ("number", "word", "sign") if match.group(kind)]
        start = match.start(kinds[0]) if kinds else match.end()
        if kinds == ["number"] and text[match.end() : match.end() + 1] == ".":
            raise RowError(start, "coefficients are integers: there are no fractions")
        if not kinds:
            raise RowError(start, f"unexpected '{text[start]}'")
        if len(match.group("number") or "") > MAX_DIGITS:
            raise RowError(start, f"the number is too large: {MAX_DIGITS} digits at most")
        for kind in kinds:
            spelling = match.group(kind)
            found.append(_Token(spelling if kind == "sign" else kind, spelling, match.start(kind)))
        position = match.end()
    return (*found, _Token("end", "", end))


class _Reader(Struct):
    """Recursive descent over the tokens."""

    text: str
    depth: int
    vocabulary: Vocabulary
    tokens: tuple[_Token, ...]
    position: int = 0

    def peek(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.peek()
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def expect(self, kind: str, what: str) -> _Token:
        token = self.take()
        if token.kind != kind:
            self.fail(token, f"expected {what}")
        return token

    def fail(self, token: _Token, message: str) -> NoReturn:
        raise RowError(token.offset, f"{message}, not " + (f"'{token.text}'" if token.text else "the end of the row"))

    def sum(self) -> tuple[dict[Coefficient, int], int]:
        """Factors by coefficient, and the constant."""
        factors: dict[Coefficient, int] = {}
        constant = 0
        sign = self.sign(first=True)
        while sign:
            factor, coefficient = self.term()
            if coefficient is None:
                constant += sign * factor
            else:
                factors[coefficient] = factors.get(coefficient, 0) + sign * factor
            sign = self.sign(first=False)
        return factors, constant

    def sign(self, *, first: bool) -> int:
        """±1 before a term; 0 if none follows."""
        if self.peek().kind in ("+", "-"):
            return -1 if self.take().kind == "-" else 1
        return int(first)

    def term(self) -> tuple[int, Coefficient | None]:
        if self.peek().kind != "number":
            return 1, self.coefficient()
        factor = int(self.take().text)
        if self.peek().kind == "*":
            self.take()
            return factor, self.coefficient()
        return factor, None

    def coefficient(self) -> Coefficient:
        head = self.take()
        if (head.kind, head.text) != ("word", "T"):
            self.fail(head, "expected a coefficient T[statement,dimension,column] or an integer")
        self.expect("[", "[ after T")
        statement = self.statement()
        self.expect(",", ", after the statement")
        if self.peek().kind == "-":
            self.fail(self.peek(), "dimensions are counted from 0: expected one, or a column")
        parts = [self.take()]
        if self.peek().kind == ",":
            self.take()
            parts.append(self.take())
        if self.peek().kind == "," and len(parts) == 2:
            self.fail(self.peek(), "expected ] after statement, dimension and column")
        self.expect("]", "] or ," if len(parts) == 1 else "]")
        dimension = self.dimension(parts[0]) if len(parts) == 2 else self.depth
        return Coefficient(statement, dimension, self.column(statement, parts[-1]))

    def statement(self) -> str:
        token = self.expect("word", "a statement's name")
        if token.text not in self.vocabulary.iterators:
            known = ", ".join(f"{name} (line {line})" for name, line in self.vocabulary.lines.items())
            raise RowError(token.offset, f"there is no statement '{token.text}'; there are: {known}")
        return token.text

    def dimension(self, token: _Token) -> int:
        if token.kind != "number":
            self.fail(token, "expected a schedule dimension, counted from 0")
        if int(token.text) > self.depth:
            allowed = f"0 to {self.depth}" if self.depth else "0 only"
            raise RowError(
                token.offset,
                f"dimension {token.text} is deeper than this node: at depth {self.depth}, rows may speak of {allowed}",
            )
        return int(token.text)

    def column(self, statement: str, token: _Token) -> str:
        iterators, parameters = self.vocabulary.iterators[statement], self.vocabulary.parameters
        if token.kind not in ("word", "number"):
            self.fail(token, "expected an iterator, a parameter or 1")
        if token.text not in (*iterators, *parameters, CONSTANT):
            known = (
                f"iterators {', '.join(iterators) or '(none)'}; parameters "
                f"{', '.join(parameters) or '(none)'}; 1 for the constant"
            )
            raise RowError(token.offset, f"{statement} has no column '{token.text}'; it has: {known}")
        return token.text


def format_row(row: InfluenceRow) -> str:
    """A text that `parse_row` reads as the same row: terms with positive factors on the left, if they come first; the
    others on the right."""
    negative = [factor < 0 for factor, _ in row.terms]
    split = negative.index(True) if True in negative and all(negative[negative.index(True) :]) else len(row.terms)
    left = _sum(row.terms[:split], 0)
    right = _sum(tuple((-factor, coefficient) for factor, coefficient in row.terms[split:]), -row.constant)
    return f"{left} {row.relation} {right}"


def _sum(terms: tuple[tuple[int, Coefficient], ...], constant: int) -> str:
    text = ""
    for factor, coefficient in terms:
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + (f"{abs(factor)}*" if abs(factor) != 1 else "") + str(coefficient)
    if not text:
        return str(constant)
    return text + (f" {'-' if constant < 0 else '+'} {abs(constant)}" if constant else "")
