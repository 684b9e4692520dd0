"""Loops under pragmas of OpenMP that are read as if these weren't there, and what has to stay as it is below others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.diagnostics import Location, Remark
from scopt.frontend.text.openmp_clauses import (
    Obstacle,
    OpenmpLoop,
    clause_obstacle,
    governs,
    is_of_team,
    is_openmp,
    left,
    read_openmp,
)
from scopt.frontend.text.tokens import RawSource, RawToken, around_pragma, directive_words, is_pragma
from scopt.ir.effects import effects
from scopt.ir.walks import changed, mapped, walk

_LOOPS = (ir.For, ir.While, ir.DoWhile)
_NUMBER_OF_THREAD = "omp_get_thread_num"


class Openmp(Struct, frozen=True, eq=False):
    """loops: those whose pragma is gone from the tree, by their places. tokens: the pragmas of OpenMP in the source,
    by each of their lines; seen: the lines of those that the preprocessor leaves.

    conditional: those that stand alone between ``#if`` and ``#endif``, by their places, with these.
    teams: names of functions that a team of threads runs. remarks: on what stays as it is.
    """

    loops: Mapping[Any, OpenmpLoop] = field(default_factory=dict)
    tokens: Mapping[int, RawToken] = field(default_factory=dict)
    seen: frozenset[int] = frozenset()
    conditional: Mapping[int, tuple[RawToken, RawToken]] = field(default_factory=dict)
    teams: frozenset[str] = frozenset()
    remarks: tuple[Remark, ...] = ()

    def of(self, node: Any) -> OpenmpLoop | None:
        """What the pragma above a loop said."""
        return self.loops.get(node.coord) if isinstance(node, ir.For) else None

    def below(self, nodes: Sequence[Any]) -> Iterator[tuple[Any, OpenmpLoop]]:
        """The loops under pragmas among and inside some nodes."""
        return ((node, said) for node in walk(*nodes) if (said := self.of(node)) is not None)

    def conditions(self, nodes: Sequence[Any]) -> frozenset[int]:
        """Where the directives stand that are around nothing but one of these pragmas."""
        tokens = (self.tokens.get(said.line) for _, said in self.below(nodes))
        pairs = (self.conditional.get(token.start, ()) for token in tokens if token is not None)
        return frozenset(one.start for pair in pairs for one in pair)

    def start(self, node: Any) -> int | None:
        """Where the pragma above a loop begins in the source, with what is around it alone."""
        token = self.token(node)
        return None if token is None else self.conditional.get(token.start, (token,))[0].start

    def token(self, node: Any) -> RawToken | None:
        """The pragma above a loop in the source."""
        said = self.of(node)
        return self.tokens.get(said.line) if said is not None else None

    def hides(self, tokens: Sequence[RawToken], raw: RawSource) -> bool:
        """Whether a pragma of OpenMP is among some tokens that the preprocessor has left out."""
        lines = [
            range(raw.line(token.start), raw.line(token.end) + 1)
            for token in tokens
            if token.kind == "directive" and is_pragma(token, "omp")
        ]
        return any(self.seen.isdisjoint(span) for span in lines)


def without_taken(ast: ir.FileAST, file: str, raw: RawSource, macros: Collection[str]) -> tuple[ir.FileAST, Openmp]:
    """A translation unit without the pragmas of OpenMP above loops of a file that say nothing of what is computed."""
    code = [token for token in raw.tokens if token.kind != "comment"]
    pragmas = [k for k, token in enumerate(code) if token.kind == "directive" and is_pragma(token, "omp")]
    tokens = {line: code[k] for k in pragmas for line in range(raw.line(code[k].start), raw.line(code[k].end) + 1)}
    around = {k: found for k in pragmas if (found := around_pragma(code, k)) is not None}
    seen = {n.coord.line for n in walk(ast) if isinstance(n, ir.Pragma) and is_openmp(n.string) and n.coord is not None}
    if not (tokens or seen or _NUMBER_OF_THREAD in raw.text):
        return ast, Openmp()
    loops: dict[Any, OpenmpLoop] = {}
    remarks: list[Remark] = []
    teams: set[str] = set()
    hidden = {
        raw.line(code[end + 1].start): code[k]
        for k, (_, end) in around.items()
        if end + 1 < len(code) and seen.isdisjoint(range(raw.line(code[k].start), raw.line(code[k].end) + 1))
    }

    def function(node: Any) -> Any:
        if not isinstance(node, ir.FuncDef) or node.coord is None or node.coord.file != file:
            return node
        stepped = effects(*(inner for inner in walk(node.body) if isinstance(inner, _LOOPS))).assigned
        reader = _Reader(file, tokens, macros, stepped, hidden)
        body = reader.statement(node.body)
        loops.update(reader.loops)
        if reader.of_team:
            teams.add(node.decl.name)
        remarks.extend(reader.remarks)
        if reader.of_team and _has_loops(node.body) and not reader.remarks:
            remarks.append(_remark(file, reader.of_team[0], left("", _TEAM)))
        return changed(node, body=body) if body is not node.body else node

    made = mapped(ast, function)
    seen.update(said.line for said in loops.values())
    conditional = {code[k].start: (code[first], code[last]) for k, (first, last) in around.items()}
    return made, Openmp(loops, tokens, frozenset(seen), conditional, frozenset(teams), tuple(remarks))


_TEAM = "the function's loops are left as they were: a team of threads runs it"


class _Reader(Struct, frozen=True, eq=False):
    """Reads one function. stepped: variables that its loops assign to. hidden: pragmas that the preprocessor has left
    out, by the lines of the loops below, as long as these haven't been met.

    others: pragmas of OpenMP that stay. of_team: nodes that say that a team runs it all.
    """

    file: str
    tokens: Mapping[int, RawToken]
    macros: Collection[str]
    stepped: frozenset[str]
    hidden: dict[int, RawToken]
    loops: dict[Any, OpenmpLoop] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    others: list[tuple[Any, Obstacle]] = field(default_factory=list)
    of_team: list[Any] = field(default_factory=list)

    def statement(self, node: Any) -> Any:
        """A statement without the pragmas that can go."""
        match node:
            case ir.Compound():
                items = self.items(node.block_items or ())
                if len(items) == len(node.block_items or ()) and all(map(_same, items, node.block_items or ())):
                    return node
                return items[0] if len(items) == 1 and _lacks_braces(node) else changed(node, block_items=items)
            case ir.Case() | ir.Default():
                listed = [one for item in node.stmts or () for one in _spread(item)]
                return changed(node, stmts=self.items(listed, labelled=True))
            case ir.Label() if _lacks_braces(node.stmt):
                items = self.items(node.stmt.block_items, labelled=True)
                return changed(node, stmt=changed(node.stmt, block_items=items))
            case ir.For() if node.coord is not None and node.coord.line in self.hidden:
                return self.under_hidden(node, self.hidden.pop(node.coord.line))
            case ir.FuncCall(name=ir.ID(name=name)) if name == _NUMBER_OF_THREAD:
                self.of_team.append(node)
        return mapped(node, self.statement)

    def under_hidden(self, loop: Any, token: RawToken) -> Any:
        """A loop that has a pragma with some of the program's macros alone."""
        line = next(line for line, known in self.tokens.items() if known is token)
        said = read_openmp(" ".join(directive_words(token.text)[1:]), line, self.macros)
        if isinstance(said, Obstacle) or said.used & self.stepped:
            return mapped(loop, self.statement)
        inside = self.anew()
        made = inside.statement(loop)
        if inside.others or inside.of_team:
            return mapped(loop, self.statement)
        self.loops.update({loop.coord: said, **inside.loops})
        return made

    def anew(self) -> _Reader:
        """For what stands inside of a loop."""
        return _Reader(self.file, self.tokens, self.macros, self.stepped, self.hidden)

    def items(self, items: Sequence[Any], *, labelled: bool = False) -> list[Any]:
        """The items of a block. labelled: they stand behind a label, so that no pragma goes."""
        made: list[Any] = []
        position = 0
        while position < len(items):
            end = position
            while end < len(items) and isinstance(items[end], ir.Pragma):
                end += 1
            pragmas = items[position:end]
            below = items[end] if end < len(items) else None
            over = [one for one in pragmas if governs(one.string)]
            self.standing([one for one in pragmas if is_openmp(one.string) and one not in over])
            if over and below is not None:
                made += self.governed(pragmas, over, below, labelled=labelled)
            else:
                made += [*pragmas, *([self.statement(below)] if below is not None else [])]
            position = end + 1
        return made

    def standing(self, pragmas: Sequence[Any]) -> None:
        self.others.extend((one, left(one.string)) for one in pragmas)
        self.of_team.extend(one for one in pragmas if is_of_team(one.string))

    def governed(self, pragmas: Sequence[Any], over: Sequence[Any], below: Any, *, labelled: bool) -> list[Any]:
        """The pragmas above a statement with it. over: those of OpenMP that are about it."""
        found = self.taken(pragmas, over, below) if not labelled else left(over[0].string)
        if not isinstance(found, Obstacle):
            said, inside, made = found
            self.loops.update({below.coord: said, **inside.loops})
            return [*(one for one in pragmas if one is not over[0]), made]
        self.others.append((over[0], found))
        self.of_team.extend(one for one in over[:1] if is_of_team(one.string))
        if _has_loops(below):
            self.remarks.append(_remark(self.file, over[0], found))
        return [*pragmas, below]

    def taken(
        self, pragmas: Sequence[Any], over: Sequence[Any], below: Any
    ) -> Obstacle | tuple[OpenmpLoop, _Reader, Any]:
        """What a pragma says of the loop below, what was read inside of that, and the loop; or why it has to stay."""
        pragma = over[0]
        after = pragmas[next(k for k, one in enumerate(pragmas) if one is pragma) + 1 :]
        alone = len(over) == 1 and all(str(one.string).split()[:1] == ["scopt"] for one in after)
        if not alone or not isinstance(below, ir.For):
            return left(pragma.string)
        if pragma.coord.file != self.file or pragma.coord.line not in self.tokens:
            return left(pragma.string, "left as it was: the pragma of OpenMP above is no line of the file")
        said = read_openmp(pragma.string, pragma.coord.line, self.macros)
        if isinstance(said, Obstacle):
            return said
        if said.used & self.stepped:  # what loops leave in them is read by nothing that the tree has
            return clause_obstacle(f"the pragma reads '{min(said.used & self.stepped)}', which loops change")
        inside = self.anew()
        made = inside.statement(below)
        if inside.others:
            return inside.others[0][1]
        return left(pragma.string, _TEAM) if inside.of_team else (said, inside, made)


def left_below(pragma: Any, file: str) -> Remark:
    """That what is below a pragma stays."""
    return _remark(file, pragma, left(pragma.string))


def _same(one: Any, other: Any) -> bool:
    return one is other


def _lacks_braces(node: Any) -> bool:
    """Whether a compound is one only since a pragma stands above a statement: braces would stand above the pragma."""
    first = node.block_items[0] if isinstance(node, ir.Compound) and node.block_items else None
    if not isinstance(first, ir.Pragma) or node.coord is None or first.coord is None:
        return False
    return bool(node.coord.line >= first.coord.line)


def _spread(item: Any) -> Sequence[Any]:
    return item.block_items if _lacks_braces(item) else (item,)


def _has_loops(node: Any) -> bool:
    return any(isinstance(inner, _LOOPS) for inner in walk(node))


def _remark(file: str, node: Any, why: Obstacle) -> Remark:
    return Remark("missed", why.id, why.message, Location(file, node.coord.line if node.coord else 1), why.hint)
