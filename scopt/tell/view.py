"""What a page shows of one region: plain data, without integer sets,
so that it can travel from the process that has them."""

from __future__ import annotations

from msgspec import Struct

Cell = tuple[int, int]


class StatementView(Struct, frozen=True):
    """name: ``S0``. around: the loops around it, ``for i, j: 0 <= i < n``;
    empty without any. text: its C text in one line."""

    name: str
    line: int
    around: str
    text: str


class DependenceView(Struct, frozen=True):
    """Some dependences that are alike. kinds: ``flow, anti``. carried: by which loop, or ``loop-independent``.
    distance: empty or ``distance (1, 0)``."""

    kinds: str
    array: str
    between: str
    carried: str
    distance: str


class Edge(Struct, frozen=True):
    """All dependences from one statement to another, or to itself.
    labels: ``flow A, B``, one a kind, the strongest first."""

    source: str
    sink: str
    labels: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.labels[0].partition(" ")[0]


class TreeNode(Struct, frozen=True):
    """A node of a schedule tree. badges: what it is, in a word each:
    ``parallel``, ``vector loop``. notes: why, in sentences."""

    title: str
    badges: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    children: tuple[TreeNode, ...] = ()


class Point(Struct, frozen=True):
    """An iteration. at: (row, column) in its drawing. tile: of which tile,
    one coordinate a tile function; () if it isn't tiled."""

    at: Cell
    tile: tuple[int, ...] = ()


class Arrow(Struct, frozen=True):
    """A dependence between two iterations of a drawing.
    kind: the strongest of its kinds, ``indirect`` for flow through another statement."""

    source: Cell
    sink: Cell
    kind: str


class Drawing(Struct, frozen=True):
    """Iterations of one statement in a plane, or on a line.

    rows, columns: names of the iterators that run downwards (empty on a line) and to the right. first: their smallest
      values drawn.
    setting: the values chosen for parameters and other iterators, ``n = 12``. clipped: there are more iterations than
      those drawn.
    tiles: what the tile loops compute and how large tiles really are, ``i by 32``; drawn: the edge of the tiles in the
      drawing, 0 without tiles.
    waves: positions of a tile's coordinates whose sum says when it runs: tiles with the same sum run at the same time;
      () if there are none.
    left_out: arrows that aren't drawn.
    """

    statement: str
    rows: str
    columns: str
    first: Cell
    setting: tuple[str, ...]
    points: tuple[Point, ...]
    arrows: tuple[Arrow, ...]
    clipped: bool = False
    tiles: tuple[str, ...] = ()
    drawn: int = 0
    waves: tuple[int, ...] = ()
    left_out: int = 0


class RegionView(Struct, frozen=True):
    """One transformed region. arrays, reuse, regrouped: lines of text.
    left_out: what was too large to be shown, a sentence each."""

    parameters: tuple[str, ...]
    statements: tuple[StatementView, ...]
    arrays: tuple[str, ...]
    dependences: tuple[DependenceView, ...]
    reuse: tuple[str, ...]
    edges: tuple[Edge, ...]
    drawings: tuple[Drawing, ...]
    before: tuple[TreeNode, ...]
    after: tuple[TreeNode, ...]
    regrouped: tuple[str, ...]
    left_out: tuple[str, ...] = ()
