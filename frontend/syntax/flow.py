"""Where in a function a local variable is live: its value may still be read before it is overwritten.

Liveness as in every book on compilers (Aho, Lam, Sethi, Ullman, *Compilers*, section 9.2.5), backwards along the tree
instead of a flow graph. A loop's head and a label have what is known of them so far; passes over the function are
repeated until nothing is added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.syntax.mentioned import identifiers
from scopt.ir.walks import walk

Position = tuple[Any, int]
# Stands for the whole statement, and for the place behind it.
SEEN, BEHIND = -1, -2


def live_positions(function: Any, decl: Any, mentioned: dict[Any, frozenset[str]]) -> frozenset[Position] | None:
    """Positions in compound statements, as these and index of the item that comes next, where the local or parameter of
    a declaration is live.

    With the index `SEEN` for each compound statement and loop that was walked through, and `BEHIND` for loops behind
    which it is live.
    mentioned: the names in parts of the tree, as far as they are known; others are added.
    None where it isn't clear which variable the name means. Only what its own name does is seen, and only control flow
    that statements spell out.
    """
    variable = _Variable(decl.name, decl, mentioned)
    body = function.body
    visible = not _declared_inside(body, decl)
    while True:
        variable.changed = False
        variable.statement(body, _Around(after=False, visible=visible))
        if not variable.changed:
            return None if variable.unclear else frozenset(variable.live)


def live_heads(
    items: Sequence[Any], name: str, mentioned: dict[Any, frozenset[str]], *, after: bool
) -> tuple[bool, frozenset[Any]]:
    """Whether a variable is live before some statements, and the loops at whose heads it is.

    All that has its name is the variable. after: whether it is live behind the statements. mentioned: as above.
    """
    variable = _Variable(name, None, mentioned)
    while True:
        variable.changed = False
        before = variable.sequence(None, items, _Around(after=after, visible=True))
        if not variable.changed:
            return before or variable.unclear, frozenset(variable.at_heads)


def passes_into(function: Any, decl: Any, mentioned: dict[Any, frozenset[str]], harmless: Collection[str]) -> bool:
    """Whether a call may read what another one has left in a static local, where it begins or behind a call of a
    function that isn't one of the `harmless` ones, which may have come back here. True where that isn't clear."""
    variable = _Variable(decl.name, decl, mentioned, harmless=frozenset(harmless))
    body = function.body
    while True:
        variable.changed = False
        before = variable.statement(body, _Around(after=False, visible=not _declared_inside(body, decl)))
        if before or variable.across or variable.unclear:
            return True
        if not variable.changed:
            return False


class _Around(Struct, frozen=True):
    """What surrounds a statement. after: whether the variable is live behind it; breaks, continues: where these lead.

    visible: whether the name is the variable's here, not another one's of an inner scope. cases: gathers what the
      labels of the innermost ``switch``
    find: whether it is live at one of them, and whether there is a ``default``.
    """

    after: bool
    visible: bool
    breaks: bool = False
    continues: bool = False
    cases: list[bool] = field(default_factory=lambda: [False, False])


class _Variable(Struct, eq=False):
    """One variable. mentioned, live: as in `live_positions`, so far; at_heads, at_labels: loops and labels where it is
    live.

    harmless: of a static variable, what may be called while it is live; across: something else is. None of a variable
      that every call has anew."""

    name: str
    decl: Any
    mentioned: dict[Any, frozenset[str]]
    harmless: frozenset[str] | None = None
    live: set[Position] = field(default_factory=set)
    at_heads: set[Any] = field(default_factory=set)
    at_labels: set[str] = field(default_factory=set)
    changed: bool = False
    unclear: bool = False
    across: bool = False

    def statement(self, node: Any, around: _Around) -> bool:
        """Whether the variable is live before a statement or expression."""
        match node:
            case None:
                return around.after
            case ir.Compound():
                return self.compound(node, around)
            case ir.If():
                chosen = self.statement(node.iftrue, around) | self.statement(node.iffalse, around)
                return self.expression(node.cond, replace(around, after=chosen))
            case ir.For() | ir.While() | ir.DoWhile():
                return self.loop(node, around)
            case ir.Switch():
                return self.switch(node, around)
            case ir.Case() | ir.Default():
                before = self.sequence(None, node.stmts or (), around)
                around.cases[0] |= before
                around.cases[1] |= isinstance(node, ir.Default)
                return before
            case ir.Label():
                before = self.statement(node.stmt, around)
                self.add(before, node.name, self.at_labels)
                return before
            case ir.Goto():
                return node.name in self.at_labels
            case ir.Break():
                return around.breaks
            case ir.Continue():
                return around.continues
            case ir.Return():
                return self.expression(node.expr, replace(around, after=False))
        return self.expression(node, around)

    def compound(self, node: Any, around: _Around) -> bool:
        self.live.add((node, SEEN))
        return self.sequence(node, node.block_items or (), around)

    def sequence(self, compound: Any, items: Sequence[Any], around: _Around) -> bool:
        """Before some statements; those of a compound statement are noted with
        what is live before each, and behind the last."""
        visible = self.visibility(items, around.visible)
        live = around.after
        for index in range(len(items), -1, -1):
            if index < len(items):
                live = self.statement(items[index], replace(around, after=live, visible=visible[index]))
            if compound is not None:
                self.add(live, (compound, index), self.live)
        return live

    def visibility(self, items: Sequence[Any], before: bool) -> list[bool]:
        """Whether the name is the variable's, for each item.
        A declaration belongs to what it declares, but for an initializer."""
        found = []
        for item in items:
            if isinstance(item, (ir.Decl, ir.Typedef)) and item.name == self.name:
                found.append(before)
                before = item is self.decl
            else:
                found.append(before)
        return found

    def loop(self, node: Any, around: _Around) -> bool:
        self.live.add((node, SEEN))
        self.add(around.after, (node, BEHIND), self.live)
        declared = node.init.decls if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList) else ()
        visible = around.visible
        for decl in declared:
            visible = decl is self.decl if decl.name == self.name else visible
        inside = replace(around, visible=visible, breaks=around.after)
        leaves = around.after and not _always_holds(node.cond)
        if isinstance(node, ir.DoWhile):
            # Its head is the condition, behind the body.
            again = self.expression(node.cond, replace(inside, after=leaves or node in self.at_heads))
            before = self.statement(node.stmt, replace(inside, after=again, continues=again))
            self.add(before, node, self.at_heads)
            return before
        step = node.next if isinstance(node, ir.For) else None
        again = self.expression(step, replace(inside, after=node in self.at_heads))
        body = self.statement(node.stmt, replace(inside, after=again, continues=again))
        head = self.expression(node.cond, replace(inside, after=body or leaves))
        self.add(head, node, self.at_heads)
        return self.initial(node.init, declared, head, around) if isinstance(node, ir.For) else head

    def initial(self, init: Any, declared: Sequence[Any], head: bool, around: _Around) -> bool:
        if not declared:
            return self.expression(init, replace(around, after=head))
        return self.sequence(None, declared, replace(around, after=head))

    def switch(self, node: Any, around: _Around) -> bool:
        cases = [False, False]
        self.statement(node.stmt, replace(around, breaks=around.after, cases=cases))
        self.unclear = self.unclear or self.name in _declared_behind_labels(node.stmt)
        chosen = cases[0] or (around.after and not cases[1])
        return self.expression(node.cond, replace(around, after=chosen))

    def expression(self, node: Any, around: _Around) -> bool:
        """Before an expression, a declaration, a pragma, or whatever else has no control flow that matters here."""
        if self.harmless is not None and node is not None:
            alive = around.after or self.mentions(node)
            self.across = self.across or (alive and _calls(node, self.harmless))
            if node is self.decl:
                return around.after  # set once, before the program begins
        match node:
            case None:
                return around.after
            case ir.ExprList():
                live = around.after
                for part in reversed(node.exprs):
                    live = self.expression(part, replace(around, after=live))
                return live
            case ir.Assignment(op="=", lvalue=ir.ID(name=self.name)) if around.visible:
                return self.mentions(node.rvalue)
        if node is self.decl:
            return self.mentions(node.init)
        # A name in the initializer of what hides it is the hidden one's or the new one's; which is left open.
        return around.after or (self.mentions(node) and (around.visible or isinstance(node, ir.Decl)))

    def mentions(self, node: Any) -> bool:
        if node is None:
            return False
        if node not in self.mentioned:
            self.mentioned[node] = identifiers(node)
        return self.name in self.mentioned[node]

    def add(self, live: bool, place: Any, places: set[Any]) -> None:
        if live and place not in places:
            places.add(place)
            self.changed = True


def _calls(node: Any, harmless: frozenset[str]) -> bool:
    """Whether an expression calls what may come back to the function, or may do anything, as assembly does."""
    return any(
        isinstance(one, ir.FuncCall) and not (isinstance(one.name, ir.ID) and one.name.name in harmless)
        for one in walk(node)
    )


def _always_holds(condition: Any) -> bool:
    return condition is None or (isinstance(condition, ir.Constant) and condition.value == "1")


def _declared_behind_labels(body: Any) -> frozenset[str]:
    """Names that are declared among the statements of a switch's labels: their scope goes on behind the next label."""
    items = (body.block_items or ()) if isinstance(body, ir.Compound) else (body,)
    statements = [
        statement for label in items if isinstance(label, (ir.Case, ir.Default)) for statement in label.stmts or ()
    ]
    return frozenset(item.name for item in statements if isinstance(item, (ir.Decl, ir.Typedef)) and item.name)


def _declared_inside(body: Any, decl: Any) -> bool:
    return any(node is decl for node in walk(body))
