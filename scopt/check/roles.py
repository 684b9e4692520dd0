"""What each statement of the text does, read from its body: whose instances it runs, and which buffers stand for which
cells.

Nothing that the lowering stages noted about their statements is believed: they say which statement is meant for which,
and the bodies have to agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.subscripts import exact_in
from scopt.astgen.passes.own_choices import picks_own, without_own_picks
from scopt.astgen.transformed_program import Program
from scopt.check.forms import Carrier, Choice, Copy, Moved, Roles, cell, operand_content
from scopt.check.kernel_calls import step_carriers
from scopt.check.subscript_functions import Subscripts, base_of, function_of, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.chosen_values import as_ways, conditions, element_type
from scopt.ir.scop import Access, Statement
from scopt.ir.walks import same_node, same_tree
from scopt.poly.isl_utils import IN, OUT


def roles_of(program: Program, dates: isl.UnionMap) -> Roles:
    """The roles of all statements that run. dates: ``{ text[…] -> [date] }``.
    Raises InternalError for one that has none."""
    return _Reader(program, dates).all()


class _Reader(Struct, frozen=True, eq=False):
    program: Program
    dates: isl.UnionMap
    carriers: list[Carrier] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)

    def all(self) -> Roles:
        original = {statement.name: statement for statement in self.program.source.statements}
        running: list[isl.Set] = []
        self.dates.domain().foreach_set(running.append)
        for instances in sorted(running, key=lambda one: str(one.get_tuple_name())):
            name = str(instances.get_tuple_name())
            if name not in self.program.buffered.expansions and self.program.scop.statement(name).exact:
                self.refuse(f"{name} has subscripts that may wrap")
            if name in original:
                if self.program.scop.statement(name) is not original[name]:
                    self.refuse(f"{name} is another statement than it was")
                self.carriers.append(Carrier(name, name, instances.identity()))
            elif name in self.program.buffered.expansions:
                self.carriers.append(self.renamed(name, instances))
            elif name in self.program.lowered.steps:
                self.carriers.extend(step_carriers(self.program, name, instances))
            else:
                self.assignment(self.program.scop.statement(name), instances)
        return Roles(tuple(self.carriers), tuple(self.copies), tuple(self.choices))

    # --- originals with buffers in place of arrays --------------------------------------------------------------------

    def renamed(self, name: str, running: isl.Set) -> Carrier:
        original = self.program.source.statement(self.program.buffered.expansions[name].get_tuple_name(IN))
        statement = self.program.scop.statement(name)
        more = len(statement.iterators) - len(original.iterators)
        if more < 0 or statement.iterators[more:] != original.iterators:
            self.refuse(f"{name} has other iterators than {original.name}")
        expansion = isl.Map.from_domain_and_range(original.domain, isl.Set.universe(running.get_space()))
        for position in range(len(original.iterators)):
            expansion = expansion.equate(IN, position, OUT, more + position)
        expansion = expansion.intersect_params(self.program.source.context)
        if not running.intersect_params(self.program.source.context).is_subset(expansion.range()):
            self.refuse(f"{name} runs where {original.name} has no instance")
        if not statement.exact <= exact_in(self.program.source, original):
            self.refuse(f"{name} has subscripts that may wrap")
        return Carrier(original.name, name, expansion, tuple(self.moved(original, statement, expansion)))

    def moved(self, original: Statement, statement: Statement, expansion: isl.Map) -> list[Moved]:
        """The references to buffers of a statement that stands for an original one, or for it with choices in place of
        a condition: of values that nobody else looks at, or that it assigns whatever holds."""
        if picks_own(self.program.source, original):
            plain = without_own_picks(self.program.scop, statement.body, self.type_of)
            statement = replace(statement, body=plain)
        for body in conditions(statement.body, self.type_of) if isinstance(original.body, ir.If) else ():
            walk = _Walk(self, original, statement, expansion)
            try:
                walk.same(original.body, body)
            except InternalError:
                continue
            own = {position for one in walk.moved for position in one.accesses}
            written = {
                k for k, access in enumerate(original.accesses) if access.is_write and not self.is_private(access)
            }
            if written <= own:
                return walk.moved
        walk = _Walk(self, original, statement, expansion)
        whole = isinstance(original.body, ir.If) and not isinstance(statement.body, ir.If)
        ways = as_ways(original.body, statement.body, self.type_of) if whole else None
        walk.same(original.body, statement.body if ways is None else ways)
        return walk.moved

    def is_private(self, access: Access) -> bool:
        """Whether it is to a scalar that nobody has a use of outside of its region, nor another thread in it."""
        array = self.program.source.arrays[access.array]
        return array.private and array.rank == 0

    def type_of(self, reference: ir.Node) -> str | None:
        """How the type of a scalar, or of an array's element, is spelled; None of anything else."""
        return element_type(self.program.scop.arrays.values(), reference)

    # --- copies -------------------------------------------------------------------------------------------------------

    def assignment(self, statement: Statement, running: isl.Set) -> None:
        """``buffer[…] = value``, ``array[…] = buffer[…]``, or a choice of a thread's part."""
        match statement.body:
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if self.is_choice(name):
                self.choices.append(Choice(statement.name, name, self.opens(name, value, statement)))
                return
            case ir.Assignment(op="=", lvalue=ir.ArrayRef() as target, rvalue=value):
                if self.array(target) in self.program.source.arrays:
                    slot, through = self.slot(value, statement, running)
                    content = self.content(target, statement, running)
                    self.copies.append(Copy(statement.name, slot, content, False, through))
                    return
                slot, through = self.slot(target, statement, running)
                zero = isinstance(value, ir.Constant) and value.value == "0"
                own = None if zero else self.content(value, statement, running)
                self.copies.append(Copy(statement.name, slot, own, True, through))
                return
        self.refuse(f"{statement.name} is no copy")

    def content(self, value: ir.Node, statement: Statement, running: isl.Set) -> isl.Map:
        """What a copy takes, or puts: a cell of an array of the SCoP, or an operand."""
        array = self.array(value)
        if array in self.program.source.arrays and array is not None and self.program.source.arrays[array].rank:
            function = function_of(value, Subscripts.of(self.program.source, statement))
            if function is not None and not self.program.lowered.is_pack(statement.name):
                return isl.Map.from_multi_pw_aff(function).intersect_domain(running).set_tuple_name(OUT, cell(array))
        return operand_content(value, statement.iterators, running)

    def slot(self, node: ir.Node, statement: Statement, running: isl.Set) -> tuple[isl.Map, str | None]:
        """``{ text[…] -> buffer[…] }``, the thread's part left out."""
        base, through, node = self.buffer(node)
        function = function_of(node, Subscripts.of(self.program.source, statement))
        if function is None:
            self.refuse(f"{statement.name}: a subscript of '{base}' isn't linear")
        return isl.Map.from_multi_pw_aff(function).intersect_domain(running).set_tuple_name(OUT, base), through

    def buffer(self, node: ir.Node) -> tuple[str, str | None, ir.Node]:
        """A buffer's name, what says which part of it is the thread's, and the reference without that."""
        subscripts: list[ir.Node] = []
        base = node
        while isinstance(base, ir.ArrayRef):
            subscripts.insert(0, base.subscript)
            base = base.name
        if (
            not isinstance(base, ir.ID)
            or base.name in self.program.source.arrays
            or base.name not in self.program.scop.arrays
        ):
            self.refuse("a copy between two arrays")
        through: str | None = base.name if base.name in self.program.buffered.pointers.values() else None
        if (
            subscripts
            and isinstance(subscripts[0], ir.ID)
            and subscripts[0].name in self.program.buffered.pointers.values()
        ):
            through = subscripts.pop(0).name
        inner: ir.Node = base
        for subscript in subscripts:
            inner = ir.ArrayRef(inner, subscript)
        return str(base.name), through, inner

    def array(self, node: ir.Node) -> str | None:
        """The name of the array that a reference is to; None for anything else."""
        base = base_of(node)
        if isinstance(base, ir.ID):
            spelled = (name for name, one in self.program.source.arrays.items() if one.spelling == base.name)
            return next(spelled, str(base.name) if base.name in self.program.scop.arrays else None)
        # through a pointer to it, for example: told by the original references
        own = (
            (access.node, access.array)
            for statement in self.program.source.statements
            for access in statement.accesses
            if access.node is not None
        )
        return next((array for node, array in own if same_tree(base_of(node), base)), None)

    # --- threads' parts -----------------------------------------------------------------------------------------------

    def is_choice(self, name: str) -> bool:
        return name in self.program.buffered.pointers.values()

    def opens(self, name: str, value: ir.Node, statement: Statement) -> bool:
        """Whether a value is the thread's number, or its part of an array;
        else it is 0. Raises InternalError for any other."""
        number = self.program.scop.name.removeprefix("scop")
        call = ir.FuncCall(ir.ID(f"scopt_thread_{number}"), ir.ExprList([ir.ID(f"scopt_threads_{number}")]))
        match value:
            case ir.Constant(value="0") if statement.name not in self.program.buffered.pointers:
                return False
            case ir.ArrayRef(name=ir.ID(name=memory), subscript=thread):
                if self.program.buffered.parts.get(name) == memory and same_tree(thread, call):
                    return True
            case ir.FuncCall() if self.program.scop.arrays[name].type.spelling == "int" and same_tree(value, call):
                return True
        self.refuse(f"{statement.name} sets '{name}' to something else")

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.program.source.location}: generated loops: {what}")


class _Walk(Struct, eq=False):
    """The bodies of an original and of a statement that stands for it, side by side.
    expansion: ``{ S[…] -> text[…] }``."""

    reader: _Reader
    original: Statement
    statement: Statement
    expansion: isl.Map
    moved: list[Moved] = field(default_factory=list)

    def same(self, mine: ir.Node, theirs: ir.Node) -> None:
        """Raise InternalError unless both are alike, references to buffers apart."""
        own = [k for k, access in enumerate(self.original.accesses) if access.node is mine]
        if own and not same_tree(mine, theirs) and not self.stays(mine, theirs):
            self.moved.append(self.elsewhere(own, theirs))
            return
        if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
            self.reader.refuse(f"{self.statement.name} is another statement than {self.original.name}")
        for (role, a), (other, b) in zip(mine.children(), theirs.children(), strict=True):
            if role != other:
                self.reader.refuse(f"{self.statement.name} is another statement than {self.original.name}")
            self.same(a, b)

    def stays(self, mine: ir.Node, theirs: ir.Node) -> bool:
        """Whether both refer to the same array: then each part of their subscripts is looked at, of which some may have
        moved, ``a[bin_rows[x]]`` for ``a[bin]``."""
        both = isinstance(mine, ir.ArrayRef) and isinstance(theirs, ir.ArrayRef)
        return both and same_tree(base_of(mine), base_of(theirs))

    def elsewhere(self, own: Sequence[int], theirs: ir.Node) -> Moved:
        """A reference to a buffer in place of one to an array."""
        access = self.original.accesses[own[0]]
        base, through, node = self.reader.buffer(theirs)
        relations = [self.original.accesses[k].relation for k in own]
        if not all(one.is_single_valued() for one in relations) or any(
            self.original.accesses[k].array != access.array for k in own
        ):
            self.reader.refuse(f"{self.statement.name}: a reference to '{access.array}' touches several cells")
        subscripts = Subscripts.of(self.reader.program.source, self.statement, self.known(access))
        function = function_of(node, subscripts)
        if function is None:
            self.reader.refuse(f"{self.statement.name}: a subscript of '{base}' isn't linear")
        slot = self.expansion.range_map().apply_range(isl.Map.from_multi_pw_aff(function)).set_tuple_name(OUT, base)
        for other in relations[1:]:
            if not other.is_equal(access.relation):
                self.reader.refuse(f"{self.statement.name}: a reference to '{access.array}' touches several cells")
        return Moved(tuple(own), access.relation.set_tuple_name(OUT, cell(access.array)), slot, through)

    def known(self, access: Access) -> Iterator[tuple[ir.Node, isl.PwAff]]:
        """The subscripts of the original reference, as functions of the new statement's iterators."""
        own = subscripts_of(access.node) if access.node is not None else []
        if len(own) != access.relation.dim(OUT):
            return
        back = self.expansion.reverse()
        moved = back.apply_range(access.relation).as_pw_multi_aff()
        for k, node in enumerate(own):
            yield node, moved.get_pw_aff(k)
