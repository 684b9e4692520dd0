"""Whether a printed statement is a given instance of an original statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from scopt import ir
from scopt.astgen.emit.c_expr import Kind
from scopt.astgen.emit.c_read import Reader, Unreadable, canonical
from scopt.astgen.emit.choice_value import choice_value, parts_of_subscripts
from scopt.astgen.emit.decided import Decided, held_by, undecided
from scopt.astgen.emit.flat import Meant, is_flat_subscript, reference_of
from scopt.astgen.emit.subscripts import exact_unsigned, folded, linear_subscript
from scopt.ir.ctypes import type_spelling
from scopt.ir.nest import Call, Const, Expr, Loaded, Name
from scopt.ir.scop import Array, CType, Scop
from scopt.ir.walks import same_node, same_tree, used_names


class StatementMatch(Struct, frozen=True):
    """Compares trees: the original with its iterators' values and types, the printed one read by `reader`.

    exact: subscripts with unsigned operands that don't wrap. held: names of the variables that stand for
      references, by the references. chosen: likewise, for parts of subscripts. kept: references, and variables that get
      what is there behind the statement.
    """

    name: str
    body: ir.Node
    values: Mapping[str, Expr]
    types: Mapping[str, CType]
    exact: frozenset[ir.Node]
    reader: Reader
    held: Mapping[ir.Node | None, str] = field(default_factory=dict)
    chosen: Mapping[ir.Node, str] = field(default_factory=dict)
    kept: tuple[tuple[ir.Node | None, str], ...] = ()

    @staticmethod
    def of(scop: Scop, call: Call, reader: Reader, known: Decided = frozenset()) -> StatementMatch:
        """known: what conditions around the instance say."""
        whole = scop.statement(call.statement)
        held = held_by(whole, call)
        statement = undecided(whole, known, held)
        values = dict(zip(statement.iterators, call.args, strict=True))
        types = dict(zip(statement.iterators, statement.iterator_types, strict=True))
        exact = exact_unsigned(statement, reader.parameters, reader.long_type)
        chosen = dict(call.chosen)
        for part, name in call.chosen:
            if (load := reader.loads.get(name)) is not None:
                _check_load(scop, call, part, load)
                continue
            value = choice_value(part, values, types, reader.parameters)
            meant = reader.choices.get(name)
            if value is None or meant is None or canonical(value) != canonical(meant):
                raise Unreadable(f"'{name}' is something else than what {statement.name} computes")
        parts = {part for part, name in call.chosen if name not in reader.loads}
        if not parts <= set(parts_of_subscripts(statement.body)):
            raise Unreadable(f"a variable stands for something else than a part of a subscript of {statement.name}")
        kept = tuple((statement.accesses[position].node, name) for position, name in call.kept)
        return StatementMatch(statement.name, statement.body, values, types, exact, reader, held, chosen, kept)

    def check(self, printed: ir.Node, behind: Iterator[ir.Node]) -> None:
        """Raise Unreadable unless `printed` is the instance. behind: the statements there, of which those are taken
        that give variables something."""
        self.match(self.body, printed)
        for reference, kept in self.kept:
            match next(behind, None):
                case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if name == kept and reference:
                    self.match(reference, value)
                case _:
                    raise Unreadable(f"'{kept}' doesn't get what {self.name} has written")

    def match(self, original: ir.Node, printed: ir.Node) -> None:
        if original in self.held:
            if not isinstance(printed, ir.ID) or printed.name != self.held[original]:
                raise Unreadable(f"{self.name} doesn't use '{self.held[original]}'")
            return
        if original in self.chosen:
            if not isinstance(printed, ir.ID) or printed.name != self.chosen[original]:
                raise Unreadable(f"{self.name} doesn't use '{self.chosen[original]}'")
            return
        match original:
            case ir.ExprList(exprs=[only]) if not isinstance(printed, ir.ExprList):
                self.match(only, printed)  # a list of one has no commas
                return
            case ir.ID(name=name) if name in self.values:
                self.value(name, printed)
                return
            case ir.ID(name=name) if name in self.reader.iterators or name in self.reader.loads:
                raise Unreadable(f"an iterator hides '{name}', which {self.name} uses")
            case ir.Decl(name=name) if name in self.reader.iterators or name in self.reader.loads:
                raise Unreadable(f"{self.name} declares '{name}', which is an iterator")
            case ir.BinaryOp() if (value := folded(original, self.values, self.types)) is not None:
                if self.is_constant(value, printed):
                    return
            case ir.ArrayRef() if (reference := reference_of(original, self.reader.flat)) is not None:
                self.flat(*reference, printed)
                return
            case ir.ArrayRef() if isinstance(printed, ir.ArrayRef) and self.same_subscript(
                original.subscript, printed.subscript
            ):
                self.match(original.name, printed.name)
                return
            case ir.StructRef() if isinstance(printed, ir.StructRef):
                self.match(original.name, printed.name)
                if (original.type, original.field) != (printed.type, printed.field):
                    raise Unreadable(f"{self.name} has another member")
                return
        if not same_node(original, printed):
            raise Unreadable(f"{self.name} is not as it was: {type(printed).__name__} for {type(original).__name__}")
        mine, theirs = original.children(), printed.children()
        if [role for role, _ in mine] != [role for role, _ in theirs]:
            raise Unreadable(f"{self.name} is not as it was: another number of operands in {type(original).__name__}")
        for (_, a), (_, b) in zip(mine, theirs, strict=True):
            self.match(a, b)

    def is_constant(self, value: int, printed: ir.Node) -> bool:
        """Whether an expression is this constant, of type int."""
        try:
            read = self.reader.usable(printed)
        except Unreadable:
            return False
        return read.kind is Kind.INT and canonical(read.value) == canonical(Const(value))

    def flat(self, array: Array, subscripts: Sequence[ir.Node], printed: ir.Node) -> None:
        """A reference to an array that C knows one dimension of."""
        meant = [Meant(self.linear(node), node) for node in subscripts]
        match printed:
            case ir.ArrayRef(name=ir.ID(name=array.variable), subscript=subscript) if (
                array.variable not in self.reader.iterators
            ):
                if is_flat_subscript(array, meant, subscript, self.reader, self.matches):
                    return
        raise Unreadable(f"{self.name} has another reference to '{array.variable}'")

    def matches(self, original: ir.Node, printed: ir.Node) -> bool:
        try:
            self.match(original, printed)
        except Unreadable:
            return False
        return True

    def linear(self, original: ir.Node) -> Expr | None:
        """A subscript as an expression over the new iterators; None where it isn't one."""
        if original in self.chosen:
            return Name(self.chosen[original])
        value = linear_subscript(
            original, self.values, self.types, self.reader.parameters, self.reader.long_type, exact=self.exact
        )
        if value is not None:
            return value
        match original:
            case ir.Constant(value=text) if text.isdecimal():
                return Const(int(text))
            case ir.ID(name=name) if name in self.reader.parameters:
                return Name(self.reader.parameters[name].name)
        return None

    def value(self, iterator: str, printed: ir.Node) -> None:
        """An iterator's value: a cast to its type, or an expression that has its type already."""
        ctype = self.types[iterator]
        wide = ctype.spelling == self.reader.long_type  # a cast may be the value's own, of a parameter
        match printed:
            case ir.Cast(to_type=to_type, expr=inner) if type_spelling(to_type) == ctype.spelling and not wide:
                found = self.reader.usable(inner).value
            case _:
                read = self.reader.usable(printed)
                literal = isinstance(read.value, Const) and ctype.spelling == "int" and abs(read.value.value) < 2**31
                if not literal and not wide:
                    raise Unreadable(f"the value of '{iterator}' in {self.name} isn't of type {ctype.spelling}")
                found = read.value
        if canonical(found) != canonical(self.values[iterator]):
            raise Unreadable(f"the value of '{iterator}' in {self.name} is {found}, not {self.values[iterator]}")

    def same_subscript(self, original: ir.Node, printed: ir.Node) -> bool:
        """Whether both are the same linear expression, and the original one has its mathematical value."""
        meant = linear_subscript(
            original, self.values, self.types, self.reader.parameters, self.reader.long_type, exact=self.exact
        )
        if meant is None:
            return False
        try:
            return canonical(self.reader.usable(printed).value) == canonical(meant)
        except Unreadable:
            return False


def _check_load(scop: Scop, call: Call, reference: ir.Node, load: Loaded) -> None:
    """Raise Unreadable unless a reference of a call is the one that a variable stands for, to the same cell."""
    own, other = scop.statement(call.statement), scop.statement(load.statement)
    used = set(used_names(reference))
    values = {
        name: (canonical(value), ctype)
        for name, value, ctype in zip(own.iterators, call.args, own.iterator_types, strict=True)
        if name in used
    }
    meant = {
        name: (canonical(value), ctype)
        for name, value, ctype in zip(other.iterators, load.args, other.iterator_types, strict=True)
        if name in used
    }
    if not same_tree(reference, load.reference) or values != meant:
        raise Unreadable(f"'{load.name}' stands for something else than what {own.name} reads")
