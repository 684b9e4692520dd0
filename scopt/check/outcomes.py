"""Runs of the control around a region's text: what happens, step by step, for given outcomes of its tests."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from scopt.diagnostics import InternalError


class If(Struct, frozen=True):
    """condition: ``guard``, ``memory``, or ``not`` and the name of a variable."""

    condition: str
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


# ``text``, ``original``, ``prologue`` or ``allocate`` with a number, ``int``, ``set`` or ``free`` with a name; a tuple
# is a block.
Node = str | If | tuple["Node", ...]


class Pieces(Struct, frozen=True):
    """What may stand around a region's text, by its names.

    text: ``text``, or nothing where that is empty. prologue: that its declarations declare, in order. declared: by each
    allocation. memory: the arrays. uses: the other names of these that each allocation needs.
    """

    text: tuple[str, ...]
    prologue: tuple[str, ...]
    declared: tuple[tuple[str, ...], ...]
    memory: tuple[str, ...]
    uses: tuple[frozenset[str], ...]


class World(Struct, frozen=True):
    """Outcomes of tests: whether the macros have the values that the text was made for, the guard holds, and all
    memory could be had."""

    macros: bool
    guard: bool
    memory: bool

    @property
    def all(self) -> bool:
        return self.macros and self.guard and self.memory


def check_runs(nodes: tuple[Node, ...], worlds: Sequence[World], pieces: Pieces) -> str:
    """What is wrong with the run in one of the worlds; empty if nothing is."""
    if _count(nodes, "text") > 1 or _count(nodes, "original") > 1:
        return "the region's statements stand there twice"
    for world in worlds:
        run = _Run(world, pieces)
        try:
            run.block(nodes)
        except InternalError as error:
            return str(error)
        if run.done != ([*pieces.text] if world.all else ["original"]):
            where = "all tests hold" if world.all else "a test fails"
            return f"{' and '.join(run.done) or 'nothing'} would run where {where}"
    return ""


def _count(node: Node, piece: str) -> int:
    if isinstance(node, If):
        return _count(node.then, piece) + _count(node.otherwise, piece)
    return sum(_count(inner, piece) for inner in node) if isinstance(node, tuple) else node == piece


class _Run(Struct, eq=False):
    """One run. scopes: names that are declared, outermost block first. values: of the control's own variables. held:
    memory that wasn't freed yet. done: which of text and original has run."""

    world: World
    pieces: Pieces
    scopes: list[set[str]] = field(default_factory=list)
    values: dict[str, bool] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)

    def block(self, nodes: tuple[Node, ...]) -> None:
        self.scopes.append(set())
        for node in nodes:
            self.step(node)
        if lost := self.held & self.scopes.pop():
            raise InternalError(f"the memory of {min(lost)} isn't freed")

    def step(self, node: Node) -> None:
        if isinstance(node, tuple):
            self.block(node)
        elif isinstance(node, If):
            self.block(node.then if self.holds(node.condition) else node.otherwise)
        else:
            kind, _, what = node.partition(" ")
            match kind:
                case "prologue":
                    self.need(self.pieces.prologue[: int(what)])
                    self.declare(self.pieces.prologue[int(what)])
                case "allocate":
                    self.allocate(int(what))
                case "int":
                    self.declare(what)
                    self.values[what] = False
                case "set":
                    self.need([what])
                    self.values[what] = True
                case "free":
                    self.free(what)
                case _:
                    self.run(node)

    def holds(self, condition: str) -> bool:
        match condition.split():
            case ["guard"]:
                self.need(self.pieces.prologue)
                return self.world.guard
            case ["memory"]:
                self.need(self.pieces.memory)
                return self.world.memory
            case ["not", name]:
                self.need([name])
                return not self.values[name]
        raise InternalError(f"the condition {condition}")

    def allocate(self, number: int) -> None:
        if not (self.world.macros and self.world.guard) or self.done:
            raise InternalError("memory is asked for that isn't needed")
        self.need([*self.pieces.prologue, *self.pieces.uses[number]])
        for name in self.pieces.declared[number]:
            self.declare(name)
        self.held.add(self.pieces.memory[number])

    def free(self, name: str) -> None:
        self.need([name])
        if name not in self.held or not self.world.macros:
            raise InternalError(f"the memory of {name} is freed twice")
        self.held.remove(name)

    def run(self, piece: str) -> None:
        if piece == "text":
            self.need([*self.pieces.prologue, *(name for one in self.pieces.declared for name in one)])
            if not self.held.issuperset(self.pieces.memory):
                raise InternalError("memory is freed before it is used")
        self.done.append(piece)

    def declare(self, name: str) -> None:
        if any(name in scope for scope in self.scopes):
            raise InternalError(f"{name} is declared twice")
        self.scopes[-1].add(name)

    def need(self, names: Sequence[str]) -> None:
        for name in names:
            if not any(name in scope for scope in self.scopes):
                raise InternalError(f"{name} is used where it isn't declared")
