"""Whether the function that runs a loop that ends on data does for each item what the loop does.

Without vectors its text has the loop itself. With vectors, around the iterations stands what is known to be right: the
buffers' cells are loaded, as many as lanes, and what the items' variables have become is stored, when no lane goes on.
In between, each lane is shown to do what C does with an item: before the first iteration, and in one iteration, from
whatever its variables are, in each way that conditions let it go; and, once it has ended, to stay as it is. Then lanes
that go on longer change nothing, and by induction each has in the end what the loop leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from scopt import ir
from scopt.astgen.lower.body_syntax import substituted
from scopt.astgen.lower.ending_loops import UNITS, EndingLoop
from scopt.check.functions.faults import Fault
from scopt.check.functions.lane_terms import LaneTerms, Oracle, Term, Undecided, Ways
from scopt.check.functions.one_lane import Item
from scopt.check.functions.values import size
from scopt.check.functions.vector_lane import Lane
from scopt.check.functions.workshop import Form, Workshop, check_forms
from scopt.ir.from_pycparser import parse_c
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType
from scopt.ir.walks import same_tree, walk


def check_ending(workshop: Workshop, function: EndingLoop, text: str) -> None:
    """Raise Fault unless the function of that name in the text runs the loop for each item."""
    check_forms(workshop, function, text, lambda form: _check_form(workshop, function, form))


def _check_form(workshop: Workshop, function: EndingLoop, form: Form) -> None:
    found = [one for one in workshop.trees.of(form.source).ext if not isinstance(one, ir.Typedef)]
    match found:
        case [ir.FuncDef(decl=ir.Decl(storage=("static",)) as declaration, param_decls=None, body=body)]:
            names = [*form.source.vectors]
            expected = _parsed(names, f"static void {function.name}({', '.join(_parameters(function))}) {{}}")
            if not same_tree(declaration, expected.decl):
                raise Fault("other parameters")
            items = list(body.block_items or [])
            if not names:
                meant = _singles(function)
                if len(items) != len(meant) or not all(map(same_tree, items, meant)):
                    raise Fault("another loop")
                return
            _Vectors(function, form, items, workshop.right).check()
            return
    raise Fault("something else than one function")


def _parsed(types: Sequence[str], text: str) -> ir.Node:
    """The last declaration of a text that uses names of types."""
    found: ir.Node = parse_c("".join(f"typedef int {name};\n" for name in types) + text).ext[-1]
    return found


def _parameters(function: EndingLoop) -> list[str]:
    buffers = [f"{ctype.spelling} *restrict {name}" for name, ctype in function.buffers]
    return [
        f"{function.long_type} count",
        *buffers,
        *(f"{ctype.spelling} {name}" for name, ctype in function.scalars),
    ]


def _singles(function: EndingLoop) -> list[ir.Node]:
    """Items one by one: the loop over variables that are loaded before, and stored behind it."""
    load = "".join(f"{ctype.spelling} {name}_at = {name}[i];" for name, ctype in function.buffers)
    store = "".join(f"{name}[i] = {name}_at;" for name, _ in function.buffers[: len(function.states)])
    text = f"void f(void) {{ for ({function.long_type} i = 0; i < count; i++) {{ {load} ; {store} }} }}"
    (loop,) = _parsed((), text).body.block_items
    item = substituted(function.body, {name: f"{name}_at" for name, _ in function.buffers})
    if isinstance(item, ir.For):
        item = ir.For(_alone(item.init), item.cond, _alone(item.next), item.stmt)
    inside = [item if isinstance(one, ir.EmptyStatement) else one for one in loop.stmt.block_items]
    return [ir.For(loop.init, loop.cond, loop.next, ir.Compound(inside))]


def _alone(node: ir.Node | None) -> ir.Node | None:
    """What is listed alone, as it is when it is read again."""
    return node.exprs[0] if isinstance(node, ir.ExprList) and len(node.exprs) == 1 else node


class _Vectors(Struct, frozen=True, eq=False):
    """The text with vectors. items: the function's statements. right: what was found to be right."""

    function: EndingLoop
    form: Form
    items: Sequence[ir.Node]
    right: set[object]

    @property
    def terms(self) -> LaneTerms:
        return LaneTerms(self.function.bits)

    @property
    def letters(self) -> dict[str, str]:
        """Of the types of vectors. Raises Fault if one isn't what its letter says."""
        function, found = self.function, dict[str, str]()
        wide = function.bits == 64
        elements = {"f": "double" if wide else "float", "i": "long long" if wide else "int", "w": "long long"}
        elements["u"] = f"unsigned {elements['i']}"
        bytes_, lanes = set(), self.form.source.integers.get(f"{function.name}_lanes", 0)
        for name, vector in self.form.source.vectors.items():
            letter = name.removeprefix(f"{function.name}_")
            if vector.element != elements.get(letter):
                raise Fault(f"vectors '{name}' of {vector.element}")
            bytes_.add(vector.bytes)
            found[name] = letter
        if len(bytes_) != 1 or lanes * function.bits // 8 != max(bytes_) or size("long long") != 8:
            raise Fault("vectors of another length")
        return found

    def check(self) -> None:
        letters, function = self.letters, self.function
        *constants, fill, loop = self.items
        fixed = self.constants(letters, constants)
        frame = self.statements(
            f"for ({function.long_type} i = count; i % ({UNITS} * {function.name}_lanes) != 0; i++) {{"
            f" {' '.join(f'{name}[i] = {name}[0];' for name, _ in function.buffers)} }}"
            f"for ({function.long_type} i = 0; i < count; i += {UNITS} * {function.name}_lanes) {{"
            f" {self.loads()} while (0); {self.stores()} }}"
        )
        place = next(k for k, one in enumerate(frame[1].stmt.block_items) if isinstance(one, ir.While))
        behind = len(frame[1].stmt.block_items) - place - 1
        match loop:
            case ir.For(stmt=ir.Compound(block_items=inside)) if len(inside) > place + behind:
                *start, rounds = inside[place : len(inside) - behind]
                around = [*inside[:place], *inside[len(inside) - behind :]]
                known = ir.For(loop.init, loop.cond, loop.next, ir.Compound(around))
                meant = [one for one in frame[1].stmt.block_items if not isinstance(one, ir.While)]
                expected = ir.For(frame[1].init, frame[1].cond, frame[1].next, ir.Compound(meant))
                if not same_tree(fill, frame[0]) or not same_tree(known, expected):
                    raise Fault("something else stands around the iterations")
                self.check_rounds(letters, fixed, start, rounds)
                return
        raise Fault("a loop over vectors is missing")

    def check_rounds(
        self,
        letters: Mapping[str, str],
        fixed: Mapping[str, tuple[Term, str]],
        start: Sequence[ir.Node],
        rounds: ir.Node,
    ) -> None:
        going = " | ".join(f"on_{unit}" for unit in range(UNITS))
        whole = next(one.bytes for one in self.form.source.vectors.values()) // 8
        any_ = " | ".join(f"(({self.function.name}_w)({going}))[{k}]" for k in range(whole))
        (meant,) = self.statements(f"do {{}} while ({any_});")
        match rounds:
            case ir.DoWhile(cond=condition, stmt=ir.Compound(block_items=blocks)) if len(blocks or ()) == UNITS:
                if same_tree(condition, meant.cond) and all(isinstance(one, ir.Compound) for one in blocks):
                    self.check_units(letters, fixed, start, [list(one.block_items or []) for one in blocks])
                    return
        raise Fault("something else than iterations")

    def check_units(
        self,
        letters: Mapping[str, str],
        fixed: Mapping[str, tuple[Term, str]],
        start: Sequence[ir.Node],
        blocks: Sequence[Sequence[ir.Node]],
    ) -> None:
        """The first vector does what an item does, and the others do the same with their own variables."""
        texts = []
        for unit, block in enumerate(blocks):
            own = [one for one in start if _changed(one).endswith(f"_{unit}")]
            printed = "\n//\n".join(CPrinter().visit(ir.Compound([*some])) for some in (own, block))
            if unit and re.search(r"_0\b", printed):
                raise Fault("variables of another vector")
            texts.append(re.sub(rf"_{unit}\b", "_0", printed))
            if unit:
                continue
            key = self.function, printed, tuple(fixed.items())
            if key not in self.right:
                _Unit(self, letters, fixed, unit).check(own, block)
                self.right.add(key)
        if len({*texts}) > 1 or not all(re.search(r"_[01]$", _changed(one)) for one in start):
            raise Fault("vectors that do different things")

    def constants(self, letters: Mapping[str, str], nodes: Sequence[ir.Node]) -> dict[str, tuple[Term, str]]:
        """What is the same in all lanes."""
        found: dict[str, tuple[Term, str]] = {}
        lane = self.lane(letters, Oracle(), {}, "", {})
        for node in nodes:
            match node:
                case ir.Decl(name=name, quals=("const",), init=ir.Node()) if name not in found:
                    lane.statement(node)
                    found[name] = lane.values[name]
                case _:
                    raise Fault("something else than a constant")
        return found

    def lane(
        self,
        letters: Mapping[str, str],
        oracle: Oracle,
        fixed: Mapping[str, tuple[Term, str]],
        suffix: str,
        values: dict[str, tuple[Term, str]],
    ) -> Lane:
        shared: dict[str, Term] = {name: ("all", name) for name, _ in self.function.scalars}
        item = Item(self.terms, self.function.types, oracle, shared, self.function.long_type)
        return Lane(self.terms, letters, oracle, item, fixed, values, suffix)

    def statements(self, text: str) -> list[ir.Node]:
        names = [*self.form.source.vectors]
        return list(_parsed(names, f"void f(void) {{ {text} }}").body.block_items or [])

    def vector(self, ctype: CType) -> str:
        return f"{self.function.name}_{_letter(ctype)}"

    def element(self, ctype: CType) -> str:
        return self.form.source.vectors[self.vector(ctype)].element

    def loads(self) -> str:
        """The vectors of all buffers, from copies of those with narrower cells."""
        name, long, texts = self.function.name, self.function.long_type, []
        for buffer, ctype in self.function.buffers:
            place, kind = f"{buffer} + i", self.vector(ctype)
            if ctype.bits < self.function.bits:
                texts.append(f"{self.element(ctype)} {buffer}_wide[{UNITS} * {name}_lanes];")
                texts.append(f"for ({long} l = 0; l < {UNITS} * {name}_lanes; l++) {buffer}_wide[l] = {buffer}[i + l];")
                place = f"{buffer}_wide"
            texts += [f"{kind} {buffer}_0 = *(const {kind} *)({place});"]
            texts += [f"{kind} {buffer}_1 = *(const {kind} *)({place} + {name}_lanes);"]
        return " ".join(texts)

    def stores(self) -> str:
        name, long, texts = self.function.name, self.function.long_type, []
        for buffer, ctype in self.function.buffers[: len(self.function.states)]:
            narrow, kind = ctype.bits < self.function.bits, self.vector(ctype)
            place = f"{buffer}_wide" if narrow else f"{buffer} + i"
            texts += [f"*({kind} *)({place}) = {buffer}_0;", f"*({kind} *)({place} + {name}_lanes) = {buffer}_1;"]
            if narrow:
                cell = f"{buffer}[i + l] = ({ctype.spelling}){buffer}_wide[l];"
                texts.append(f"for ({long} l = 0; l < {UNITS} * {name}_lanes; l++) {cell}")
        return " ".join(texts)


class _Unit(Struct, frozen=True, eq=False):
    """One of the vectors that run together."""

    whole: _Vectors
    letters: Mapping[str, str]
    fixed: Mapping[str, tuple[Term, str]]
    number: int

    @property
    def lasting(self) -> list[str]:
        """The item's variables from one iteration to the next: those in buffers that it changes, and those that the
        loop declares itself."""
        function = self.whole.function
        own = []
        if isinstance(function.body, ir.For) and isinstance(function.body.init, ir.DeclList):
            own = [one.name for one in function.body.init.decls]
        return [*(name for name, _ in function.buffers[: len(function.states)]), *own]

    def check(self, start: Sequence[ir.Node], iteration: Sequence[ir.Node]) -> None:
        declared = {node.name for node in walk(self.whole.function.body) if isinstance(node, ir.Decl)}
        if not {*self.lasting} <= declared | {name for name, _ in self.whole.function.buffers}:
            raise Fault("variables that aren't there")
        self.each_way(lambda oracle: self.check_start(oracle, start))
        self.each_way(lambda oracle: self.check_iteration(oracle, iteration))
        self.each_way(lambda oracle: self.check_ended(oracle, iteration))

    def each_way(self, check: Callable[[Oracle], None]) -> None:
        ways = Ways.of(Oracle())
        for oracle in ways:
            try:
                check(oracle)
            except Undecided as undecided:
                ways.further(oracle, undecided)

    def check_start(self, oracle: Oracle, start: Sequence[ir.Node]) -> None:
        item, lane = self.item(oracle, self.buffers()), self.lane(oracle, self.buffers(), None)
        item.start(self.whole.function.body)
        for node in start:
            lane.statement(node)
        if lane.values.get(f"on_{self.number}") != (self.whole.terms.number(-1), "i"):
            raise Fault("a lane doesn't begin")
        self.compare(item, lane)

    def check_iteration(self, oracle: Oracle, iteration: Sequence[ir.Node]) -> None:
        item, lane = self.item(oracle, self.variables()), self.lane(oracle, self.variables(), -1)
        goes_on = item.iteration(self.whole.function.body)
        for node in iteration:
            lane.statement(node)
        if lane.values[f"on_{self.number}"][0] != self.whole.terms.number(-int(goes_on)):
            raise Fault(f"a lane {'ends' if goes_on else 'goes on'} where the loop doesn't")
        self.compare(item, lane)

    def check_ended(self, oracle: Oracle, iteration: Sequence[ir.Node]) -> None:
        lane = self.lane(oracle, self.variables(), 0)
        for node in iteration:
            lane.statement(node)
        if lane.values[f"on_{self.number}"][0] != self.whole.terms.number(0):
            raise Fault("a lane that has ended goes on")
        self.compare(self.item(oracle, self.variables()), lane)

    def buffers(self) -> dict[str, Term]:
        """Before the loop, an item has what is in buffers."""
        return {name: ("before", name) for name, _ in self.whole.function.buffers}

    def variables(self) -> dict[str, Term]:
        """Anything."""
        given = [name for name, _ in self.whole.function.buffers]
        return {name: ("now", name) for name in dict.fromkeys((*given, *self.lasting))}

    def item(self, oracle: Oracle, values: Mapping[str, Term]) -> Item:
        shared: dict[str, Term] = {name: ("all", name) for name, _ in self.whole.function.scalars}
        own = self.whole.function
        return Item(self.whole.terms, own.types, oracle, {**shared, **values}, own.long_type)

    def lane(self, oracle: Oracle, values: Mapping[str, Term], on: int | None) -> Lane:
        """on: the mask at first, if there is one."""
        types, suffix = self.whole.function.types, f"_{self.number}"
        found = {f"{name}{suffix}": (value, _letter(types[name])) for name, value in values.items()}
        if on is not None:
            found[f"on{suffix}"] = self.whole.terms.number(on), "i"
        return self.whole.lane(self.letters, oracle, self.fixed, suffix, found)

    def compare(self, item: Item, lane: Lane) -> None:
        for name in self.lasting:
            found = lane.values.get(f"{name}_{self.number}")
            if found is None or found[0] != item.values.get(name):
                raise Fault(f"'{name}' becomes {found and found[0]}, not {item.values.get(name)}")
        for name, _ in self.whole.function.buffers[len(self.whole.function.states) :]:
            if lane.values[f"{name}_{self.number}"][0] != item.values[name]:
                raise Fault(f"'{name}' is changed")


def _changed(node: ir.Node) -> str:
    """The variable that a statement changes."""
    match node:
        case ir.Decl(name=name) | ir.Assignment(lvalue=ir.ID(name=name)):
            return str(name)
    return ""


def _letter(ctype: CType) -> str:
    return "f" if ctype.floating else "i" if ctype.signed else "u"
