"""What of a loop's statements a function can run for many iterations at a time: one with a loop that ends on data.

That loop changes nothing but numbers that an iteration has for itself, and reads these, numbers that all iterations
share, and cells that an iteration surely touches, or that C says are there.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.lower.ending_loops import EndingLoop, is_lane_type
from scopt.astgen.lower.lane_values import NoLanes
from scopt.ir.ctypes import plain_type, type_spelling
from scopt.ir.expr import names
from scopt.ir.nest import Call, For, Name
from scopt.ir.scop import Access, CType, Scop, Statement
from scopt.ir.trip_counts import ends_on_data
from scopt.ir.walks import changed, rebuilt, same_tree, used_names, walk, with_nodes
from scopt.machine.costs import has_loop
from scopt.poly.sure_cells import is_in_its_array, surely_touched

# Names of statements: those whose variables lie in buffers; those that fill buffers; calls of functions.
LANE, BEFORE, IN_LANES = "_lane", "_before", "_lanes"
_LOOPS = (ir.For, ir.While, ir.DoWhile)
_CALLED = ("fabs", "fabsf")
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
_ANSWERS = (*_COMPARED, "&&", "||")
# Conditions of an iteration: each is a vector operation in all lanes, and doubles the ways through it that the proof
# has to see.
_MOST_CONDITIONS = 7
_BASE = {
    "float": CType("float", floating=True, bits=32),
    "double": CType("double", floating=True, bits=64),
    "int": CType("int", integer=True, bits=32),
    "unsigned int": CType("unsigned int", integer=True, signed=False, bits=32),
    "unsigned": CType("unsigned int", integer=True, signed=False, bits=32),
}


class Ending(Struct, frozen=True, eq=False):
    """whole: the statement with the loop. others: those beside it. calls: in the loop around, in order. iterator: of
    the source's loop around; position: among the statement's. variables: that lie in buffers, by their arrays' names;
    listed: those that the function gets. given: what it reads besides, of each iteration; same: of all."""

    whole: Statement
    others: tuple[Statement, ...]
    calls: tuple[Call, ...]
    iterator: str
    position: int
    variables: tuple[tuple[str, CType], ...]
    listed: tuple[str, ...]
    given: tuple[tuple[ir.Node, CType], ...]
    same: tuple[tuple[ir.ID, CType], ...]
    function: EndingLoop

    def names_in(self, one: Statement) -> set[str]:
        """The arrays and variables of a statement."""
        return {access.array for access in one.accesses}


def ending_of(source: Scop, scop: Scop, loop: For) -> Ending | None:
    """Of a loop that runs in strips; None if it can't."""
    body = [one for one in loop.body.items if isinstance(one, Call)]
    plain = len(body) == len(loop.body.items) and not any(one.held or one.chosen or one.kept for one in body)
    if not plain or loop.step != 1 or len({one.statement for one in body}) < len(body):
        return None
    known = {one.name: one for one in source.statements}
    statements = [known.get(one.statement) for one in body]
    if None in statements or loop.mark.reductions or loop.mark.simd or loop.mark.jammed:
        return None
    inside = [one for one in statements if one is not None]
    loops = [one for one in inside if has_loop(one.body)]
    if len(loops) != 1 or not ends_on_data(loops[0].body):
        return None
    place = body[inside.index(loops[0])]
    moving = [k for k, one in enumerate(place.args) if loop.iterator in names(one)]
    if len(moving) != 1 or place.args[moving[0]] != Name(loop.iterator):
        return None
    return _Finder(source, loop, tuple(body), tuple(inside), loops[0], moving[0]).found()


class _Finder(Struct, eq=False):
    """states, inputs: variables of an iteration that the inner loop changes, or reads alone."""

    source: Scop
    loop: For
    calls: tuple[Call, ...]
    statements: tuple[Statement, ...]
    whole: Statement
    position: int
    states: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    given: list[tuple[ir.Node, CType]] = field(default_factory=list)
    same: list[tuple[ir.ID, CType]] = field(default_factory=list)
    own: dict[str, CType] = field(default_factory=dict)

    def found(self) -> Ending | None:
        try:
            function = self.function()
        except NoLanes:
            return None
        others = tuple(one for one in self.statements if one is not self.whole)
        listed = (*self.states, *self.inputs)
        crossing = [name for name in self.private if name not in listed and self.crosses(name)]
        variables = [(name, self.number(self.source.arrays[name].type)) for name in (*listed, *crossing)]
        if any(not self.may_be_parted(one, {name for name, _ in variables}) for one in others):
            return None
        if any(self.is_in_parts(name) for name in self.loop.mark.private if self.source.arrays[name].rank):
            return None
        iterator = self.whole.iterators[self.position]
        about = (self.whole, others, self.calls, iterator, self.position, tuple(variables), listed)
        return Ending(*about, tuple(self.given), tuple(self.same), function)

    @property
    def private(self) -> list[str]:
        """Numbers that each iteration has for itself."""
        written = {access.array for one in self.statements for access in one.accesses if access.is_write}
        return [name for name in self.loop.mark.private if name in written and not self.source.arrays[name].rank]

    def crosses(self, name: str) -> bool:
        """Whether statements in front of the loop and behind it have a variable in common."""
        place = self.statements.index(self.whole)
        sides = (self.statements[:place], self.statements[place + 1 :])
        return all(any(access.array == name for one in side for access in one.accesses) for side in sides)

    def is_in_parts(self, name: str) -> bool:
        """Whether not only what stands in front of the inner loop, or behind it, uses an iteration's own array."""
        place = self.statements.index(self.whole)
        sides = (self.statements[:place], (self.whole,), self.statements[place + 1 :])
        before, inside, after = (any(a.array == name for one in side for a in one.accesses) for side in sides)
        return inside or (before and after)

    def may_be_parted(self, one: Statement, variables: set[str]) -> bool:
        """Whether cells can stand in the place of a statement's variables: nothing is read by where these are."""
        spelled = {self.source.arrays[name].spelling for name in variables}
        kept = {id(access.node) for access in one.accesses}
        declared = any(isinstance(node, ir.Decl) for node in walk(one.body))
        addressed = any(isinstance(node, ir.UnaryOp) and node.op == "&" for node in walk(one.body))
        for node in walk(one.body):
            if isinstance(node, ir.ArrayRef) and id(node) in kept and spelled & {*used_names(node)}:
                return False
        return not (spelled & {*used_names(one.body)} and (declared or addressed))

    # --- the function -------------------------------------------------------------------------------------------------

    def function(self) -> EndingLoop:
        """Raises NoLanes if there is none."""
        body = _only_loop(self.whole.body)
        if _conditions(body) > _MOST_CONDITIONS or _has_closed_form(body):
            raise NoLanes
        self.sort(body)
        for node in walk(body):
            if isinstance(node, ir.Decl):
                self.declare(node)
        named = self.renamed(body)
        types = [self.number(self.source.arrays[name].type) for name in (*self.states, *self.inputs)]
        states, inputs = tuple(types[: len(self.states)]), tuple(types[len(self.states) :])
        given = (*inputs, *(ctype for _, ctype in self.given))
        same, own = tuple(ctype for _, ctype in self.same), tuple(self.own.values())
        if not states:
            raise NoLanes
        bits = max([ctype.bits for ctype in (*states, *given, *own)], default=32)
        made = EndingLoop("scopt_ending", named, states, given, same, own, bits, self.source.long_type)
        _ = made.text  # raises NoLanes
        return made

    def sort(self, body: ir.Node) -> None:
        """What the loop's references are to."""
        inside = {id(node) for node in walk(body)}
        private, written = self.private, set[str]()
        for access in self.whole.accesses:
            if access.node is None or id(access.node) not in inside:
                raise NoLanes
            if access.is_write:
                written.add(access.array)
        if not written <= {*private}:
            raise NoLanes
        self.states += [name for name in private if name in written]
        for access in self.whole.accesses:
            if self.source.arrays[access.array].rank:
                self.cell(access)
            elif access.array in private and access.array not in self.states:
                self.inputs += [access.array] if access.array not in self.inputs else []

    def cell(self, access: Access) -> None:
        """A cell that stays the same while the loop runs, and is there."""
        known = surely_touched(self.source, self.whole, access) or is_in_its_array(self.source, self.whole, access)
        if not known or not isinstance(access.node, ir.ArrayRef):
            raise NoLanes
        if {*used_names(access.node)} & {self.source.arrays[name].spelling for name in self.states}:
            raise NoLanes
        if not any(same_tree(access.node, node) for node, _ in self.given):
            self.given.append((access.node, self.number(self.source.arrays[access.array].type)))

    def declare(self, node: ir.Decl) -> None:
        ctype = _BASE.get(type_spelling(node.type)) or self.long(type_spelling(node.type))
        if ctype is None or node.storage or node.name in self.own:
            raise NoLanes
        self.own[node.name] = ctype

    def long(self, spelling: str) -> CType | None:
        """A type of 64 bits, where it is one."""
        words = spelling.split()
        signed = "unsigned" not in words
        kind = " ".join(word for word in words if word != "unsigned")
        if kind != "long long" and kind != self.source.long_type:
            return None
        return CType(kind if signed else f"unsigned {kind}", integer=True, signed=signed, bits=64)

    def number(self, ctype: CType) -> CType:
        plain = plain_type(ctype, self.source.long_type)
        if plain is None or not is_lane_type(plain):
            raise NoLanes
        return CType(plain.spelling, plain.integer, plain.floating, plain.signed, plain.bits)

    # --- names --------------------------------------------------------------------------------------------------------

    def renamed(self, body: ir.Node) -> ir.Node:
        """The loop over the function's names."""
        cells: dict[ir.Node, ir.Node] = {}
        for node in walk(body):
            for k, (cell, _) in enumerate(self.given):
                if isinstance(node, ir.ArrayRef) and same_tree(node, cell):
                    cells[node] = ir.ID(f"given{len(self.inputs) + k}")
        body = with_nodes(body, cells)
        spelled = {self.source.arrays[name].spelling: name for name in self.private}
        own = {name: f"own{k}" for k, name in enumerate(self.own)}
        listed = {name: f"state{k}" for k, name in enumerate(self.states)}
        listed |= {name: f"given{k}" for k, name in enumerate(self.inputs)}
        made = {*cells.values()}

        def change(node: ir.Node) -> ir.Node:
            if isinstance(node, ir.Decl):
                return _declared(node, own[node.name])
            if not isinstance(node, ir.ID) or node in made:
                return node
            if node.name in own:
                return ir.ID(own[node.name])
            if node.name in spelled:
                return ir.ID(listed[spelled[node.name]])
            return self.shared(node)

        functions = {node.name for node in walk(body) if isinstance(node, ir.FuncCall)}
        if not all(isinstance(one, ir.ID) and self.is_library(one.name) for one in functions):
            raise NoLanes
        made_loop: ir.Node = rebuilt(body, lambda node: node if node in functions else change(node))
        return made_loop

    def is_library(self, name: str) -> bool:
        """Whether a function is C's own."""
        return name in _CALLED and name not in self.source.taken and self.source.library.get(name, {name}) <= {name}

    def shared(self, node: ir.ID) -> ir.ID:
        """What is the same in all iterations; what the iterations count is given."""
        if node.name == self.whole.iterators[self.position]:
            ctype = self.number(self.whole.iterator_types[self.position])
            place = next((k for k, (one, _) in enumerate(self.given) if same_tree(one, node)), len(self.given))
            if place == len(self.given):
                self.given.append((node, ctype))
            return ir.ID(f"given{len(self.inputs) + place}")
        place = next((k for k, (one, _) in enumerate(self.same) if one.name == node.name), len(self.same))
        if place == len(self.same):
            self.same.append((node, self.number(self.type_of(node.name))))
        return ir.ID(f"all{place}")

    def type_of(self, name: str) -> CType:
        """Of an iterator, a parameter or a variable."""
        for iterator, ctype in zip(self.whole.iterators, self.whole.iterator_types, strict=True):
            if iterator == name:
                return ctype
        for one in self.source.parameters:
            if one.spelling == name:
                return one.type
        for array in self.source.arrays.values():
            if array.spelling == name and not array.rank:
                return array.type
        raise NoLanes


def _only_loop(body: ir.Node) -> ir.Node:
    """The one loop that a statement is. Raises NoLanes."""
    if isinstance(body, ir.Compound) and len(body.block_items or ()) == 1:
        return _only_loop(body.block_items[0])
    if not isinstance(body, _LOOPS) or any(isinstance(one, _LOOPS) for one in _below(body)):
        raise NoLanes
    return body


def _conditions(body: ir.Node) -> int:
    """How many comparisons there are, or numbers that are compared with 0."""
    compared = sum(isinstance(node, ir.BinaryOp) and node.op in _COMPARED for node in walk(body))
    asked = (node.cond for node in walk(body) if isinstance(node, ir.If | ir.TernaryOp | ir.While | ir.DoWhile))
    return compared + sum(not isinstance(one, ir.BinaryOp) or one.op not in _ANSWERS for one in asked)


def _has_closed_form(body: ir.Node) -> bool:
    """Whether all that a loop changes are counters, and bits that move or go: compilers know where those end (measured:
    bits that are counted by ``v &= v - 1`` take five times as long in lanes)."""
    steps = [node for node in walk(body) if isinstance(node, ir.Assignment)]
    return not any(isinstance(node, ir.If | ir.Decl | ir.TernaryOp) for node in walk(body)) and all(map(_moves, steps))


def _moves(step: ir.Assignment) -> bool:
    """Whether an assignment counts on, or shifts bits, or takes the lowest one away."""
    match step:
        case ir.Assignment(op="+=" | "-=" | ">>=" | "<<=" | "=", rvalue=ir.Constant(type=kind)):
            return bool(kind not in ("float", "double"))
        case ir.Assignment(op="&=", lvalue=ir.ID(name=name), rvalue=value):
            pass
        case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=ir.BinaryOp(op=op, left=left, right=value)):
            if not isinstance(left, ir.ID) or left.name != name:
                return False
            if op in ("+", "-", ">>", "<<"):
                return isinstance(value, ir.Constant) and value.type not in ("float", "double")
            if op != "&":
                return False
        case _:
            return False
    return same_tree(value, ir.BinaryOp("-", ir.ID(name), ir.Constant("int", "1")))


def _below(node: ir.Node) -> Iterator[ir.Node]:
    for part in node.parts:
        yield from walk(part)


def _declared(node: ir.Decl, name: str) -> ir.Decl:
    return changed(node, name=name, type=changed(node.type, declname=name, quals=()), quals=())
