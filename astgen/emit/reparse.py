"""The printed C, parsed again, is the loop nest: loops, guards, pragmas,
and each statement with its iterators replaced."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.asking_loops import asked, asking
from scopt.astgen.emit.braces import in_braces, inline
from scopt.astgen.emit.c_expr import APART, AROUND, SCALAR, helper_name
from scopt.astgen.emit.c_read import Reader, Unreadable, canonical, canonical_condition
from scopt.astgen.emit.c_statement import assignable
from scopt.astgen.emit.decided import INSIDE, Decided, condition_text, decided_by
from scopt.astgen.emit.emit_c import Emitted, parted, together
from scopt.astgen.emit.flat import Meant, is_flat_subscript
from scopt.astgen.emit.inner_declarations import Inner, copied_names, inner_declarations, outer_declarations
from scopt.astgen.emit.interiors import Interior, interior_of
from scopt.astgen.emit.lane_texts import in_lanes
from scopt.astgen.emit.loop_directives import copyable, reduced_names
from scopt.astgen.emit.loop_work import last_iteration
from scopt.astgen.emit.narrow_texts import narrow_declarations, stands_twice, two_widths
from scopt.astgen.emit.printed import expect, expression_of, parsed, statements_of, step_of
from scopt.astgen.emit.read_lanes import read_lanes
from scopt.astgen.emit.read_pragmas import Directive, directive_of
from scopt.astgen.emit.statement_match import StatementMatch
from scopt.astgen.emit.strip_texts import in_strips
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import type_spelling
from scopt.ir.expr import plus
from scopt.ir.from_pycparser import CSyntaxError
from scopt.ir.nest import Block, Call, For, Held, Hold, If, LoopMark, LoopNest
from scopt.ir.scop import Scop
from scopt.ir.walks import same_tree

_STORES = ("=", "+=")
_SCHEDULE = re.compile(r"(static|dynamic|guided)(, [1-9][0-9]*)?")


def check_printed(scop: Scop, nest: LoopNest, emitted: Emitted, *, openmp: bool = True) -> None:
    """Raise InternalError unless `emitted`, parsed again, is `nest`; openmp: as it was given to `emit`.

    Bounds and guards are compared after normalization, statements as trees; 64-bit evaluation of all index arithmetic
    is checked too.
    """
    try:
        inner = inner_declarations(scop, nest)
        items = _without_declarations(scop, nest, parsed(scop, emitted.text), inner)
        _Checker(scop, openmp, inner=inner).block(nest.body, items, Reader.of(scop))
    except (Unreadable, CSyntaxError) as error:
        raise InternalError(f"{scop.location}: the printed C is not the loop nest: {error}") from error


def _without_declarations(scop: Scop, nest: LoopNest, items: list[ir.Node], inner: Inner) -> list[ir.Node]:
    """Check the locals' declarations at the top of the block, and return what follows them."""
    wanted = outer_declarations(scop, inner)
    if not wanted and not inline(scop, nest.body):
        return items
    match items:
        case [ir.Compound(block_items=found)] if found is not None:
            return _behind_declarations(wanted, found)
    raise Unreadable("the declarations of locals are missing")


def _declared_type(declared: ir.Node) -> str:
    """The spelling of a variable's type, which may be a pointer to such."""
    match declared:
        case ir.PtrDecl(type=ir.TypeDecl(quals=quals, type=ir.IdentifierType(names=words)), quals=[]):
            return f"{' '.join((*quals, *words))} *"
    return type_spelling(declared)


def _behind_declarations(wanted: Sequence[ir.Decl], printed: Sequence[ir.Node]) -> list[ir.Node]:
    """Check some declarations, and return what follows them."""
    if len(printed) < len(wanted):
        raise Unreadable("the declarations of locals are missing")
    for declaration, node in zip(wanted, printed, strict=False):
        same = isinstance(node, ir.Decl) and node.name == declaration.name and node.init is None
        if not same or not same_tree(node.type, assignable(declaration.type)):
            raise Unreadable(f"the declaration of '{declaration.name}'")
    return list(printed[len(wanted) :])


class _Checker(Struct, frozen=True):
    """known: what the printed conditions around a loop say. inner: what is declared in loops."""

    scop: Scop
    openmp: bool
    known: Decided = frozenset()
    inner: Inner = field(default_factory=dict)

    def block(self, block: Block, printed: Sequence[ir.Node], reader: Reader) -> None:
        if inline(self.scop, block):
            for item in block.items:
                if isinstance(item, Hold):
                    self.hold(item, printed, reader)
                elif isinstance(item, For):
                    self.opened(item, printed, reader)
            return
        rest = iter(printed)
        for item in block.items:
            node = next(rest, None)
            pragma = None
            if isinstance(node, ir.Pragma):
                pragma, node = directive_of(node), next(rest, None)
            if node is None:
                raise Unreadable("a statement is missing")
            if pragma is not None and not isinstance(item, For):
                raise Unreadable("a pragma in front of something that is no loop")
            match item:
                case For() if in_braces(self.scop, item) and pragma is None:
                    self.opened(item, statements_of(node), reader)
                case For() if decided := decided_by(self.scop, item, self.known):
                    self.decided(item, decided, node, reader)
                case For():
                    self.loop(item, node, pragma, reader)
                case If():
                    self.branch(item, node, reader)
                case Call():
                    StatementMatch.of(self.scop, item, reader, self.known).check(node, rest)
                case Hold():
                    self.hold(item, statements_of(node), reader)
        if next(rest, None) is not None:
            raise Unreadable("there is one statement too many")

    def decided(self, loop: For, decided: Decided, node: ir.Node, reader: Reader) -> None:
        """``if (holds) for (…) …``"""
        meant = expression_of(self.scop, condition_text(decided))
        if not isinstance(node, ir.If) or node.iffalse is not None or not same_tree(node.cond, meant):
            raise Unreadable(f"what decides about the loop over '{loop.iterator}' is not there")
        if any(name in reader.iterators for name, _ in decided):
            raise Unreadable(f"an iterator hides what decides about the loop over '{loop.iterator}'")
        inner = replace(self, known=self.known | decided)
        match statements_of(node.iftrue):
            case [ir.Pragma() as pragma, one]:
                inner.loop(loop, one, directive_of(pragma), reader)
            case [one]:
                inner.loop(loop, one, None, reader)
            case _:
                raise Unreadable(f"the loop over '{loop.iterator}' is not there")

    def opened(self, loop: For, printed: Sequence[ir.Node], reader: Reader) -> None:
        """A loop with what stands in front of it in the same braces."""
        if loop.mark.looked or loop.mark.fetched:
            strips = in_strips(self.scop, loop)
            match _behind_declarations(strips.nodes, printed):
                case [ir.For() as node]:
                    self.loop(strips.loop, node, None, reader)
                case _:
                    raise Unreadable(f"the strips of the loop over '{loop.iterator}' are not there")
        elif loop.mark.parted is not None:
            self.lanes(loop, printed, reader)
        elif (inside := interior_of(self.scop, loop)) is not None:
            self.interior(loop, inside, printed, reader)
        elif stands_twice(loop):
            self.twice(loop, printed, reader)
        else:
            self.search(loop, printed, reader)

    def search(self, loop: For, printed: Sequence[ir.Node], reader: Reader) -> None:
        """``int found = 0; for (…) …; if (found) for (…) …;``"""
        match printed:
            case [
                ir.Decl(name=name, type=ctype, init=ir.Constant(type="int", value="0"), storage=[], quals=[]),
                ir.For() as first,
                ir.If(cond=ir.ID(name=tested), iftrue=ir.For() as second, iffalse=None),
            ] if name == tested == loop.mark.searched and type_spelling(ctype) == "int":
                self.loop(asking(self.scop, loop), first, None, reader)
                self.loop(asked(loop), second, None, reader)
            case _:
                raise Unreadable(f"the search over '{loop.iterator}' is not there")

    def twice(self, loop: For, printed: Sequence[ir.Node], reader: Reader) -> None:
        """The lines in front of a loop with narrower variables, that loop, and the one with the usual ones."""
        both = two_widths(self.scop, loop)
        total, copies = (parsed(self.scop, "\n".join((*lines, ""))) for lines in (both.total, both.copies))
        match printed:
            case [*first, ir.If(cond=cond, iftrue=ir.Compound(block_items=[*then]), iffalse=ir.Node() as otherwise)]:
                lines = [*first, cond, *then[: len(copies)]]
                meant = [*total, expression_of(self.scop, both.test), *copies]
                same = len(first) == len(total) and len(lines) == len(meant) and all(map(same_tree, lines, meant))
                match then[len(copies) :], statements_of(otherwise):
                    case [ir.Pragma() as one, narrow], [ir.Pragma() as other, wide] if same:
                        self.loop(both.narrow, narrow, directive_of(one), reader)
                        self.loop(both.wide, wide, directive_of(other), reader)
                        return
        raise Unreadable(f"the loop over '{loop.iterator}' with narrower variables is not there")

    def lanes(self, loop: For, printed: Sequence[ir.Node], reader: Reader) -> None:
        """Strips in which lanes have copies, behind a test, and what is left over."""
        made, own = in_lanes(self.scop, loop), self.inner.get(id(loop), ())
        (strips, along), (rest, behind) = read_lanes(self.scop, made, printed, reader)
        inner = replace(self, inner={**self.inner, id(made.vector): own, id(made.rest): own})
        replace(inner, scop=made.scop).block(Block((made.vector,)), strips, along)
        inner.loop(made.rest, rest, None, behind)

    def interior(self, loop: For, inside: Interior, printed: Sequence[ir.Node], reader: Reader) -> None:
        """The question at both ends of a strip, and its two forms."""
        meant = parsed(self.scop, "\n".join((*inside.lines, "")))
        count = len(meant)
        match printed[-1] if len(printed) > count and all(map(same_tree, printed[:count], meant)) else None:
            case ir.If(cond=ir.ID(name=name), iftrue=then, iffalse=ir.Node() as otherwise) if name == INSIDE:
                ends = replace(self, known=self.known | {(INSIDE, False)})
                ends.block(Block(inside.ends), printed[count:-1], reader)
                whole = replace(self, known=self.known | {(INSIDE, True)})
                match statements_of(then), statements_of(otherwise):
                    case [*first, ir.For() as one], [*second, ir.For() as other] if len(first) == len(second) <= 1:
                        marks = [self.directive(some) for some in (first, second)]
                        whole.loop(loop, one, marks[0], reader)
                        self.loop(loop, other, marks[1], reader)
                        return
        raise Unreadable(f"the two forms of the loop over '{loop.iterator}' are not there")

    def directive(self, printed: Sequence[ir.Node]) -> Directive | None:
        """The pragma in front of a loop, if there is something."""
        for one in printed:
            if isinstance(one, ir.Pragma):
                return directive_of(one)
            raise Unreadable("something else than a pragma in front of a loop")
        return None

    def hold(self, hold: Hold, printed: Sequence[ir.Node], reader: Reader) -> None:
        """Declarations with loads, the body, stores."""
        for one, node in zip(hold.choices, printed, strict=False):
            match node:
                case ir.Decl(name=one.name, type=ctype, init=ir.Node() as init, storage=[], quals=[]):
                    expect(type_spelling(ctype), self.scop.long_type, f"type of '{one.name}'")
                    expect(canonical(reader.usable(init).value), canonical(one.value), f"value of '{one.name}'")
                case _:
                    raise Unreadable(f"the declaration of '{one.name}' is not there")
        reader, printed = self.with_choices(hold, reader), printed[len(hold.choices) :]
        for load, node in zip(hold.loads, printed, strict=False):
            match node:
                case ir.Decl(name=load.name, type=ctype, init=ir.Node() as init, storage=[]):
                    expect(_declared_type(ctype), load.type, f"type of '{load.name}'")
                    StatementMatch.of(self.scop, Call(load.statement, load.args), reader).match(load.reference, init)
                case _:
                    raise Unreadable(f"the declaration of '{load.name}' is not there")
            reader = reader.with_load(load)
        printed = printed[len(hold.loads) :]
        stored = [cell for cell in hold.cells if cell.stored]
        if (first := len(hold.cells)) > (last := len(printed) - len(stored)):
            raise Unreadable("a load or store of a held cell is missing")
        for cell, node in zip(hold.cells, printed[:first], strict=True):
            match node:
                case ir.Decl(name=cell.name, type=ctype, init=ir.Node() as init, storage=[], quals=[]):
                    kind = cell.part or self.scop.arrays[cell.array].type.spelling
                    expect(type_spelling(ctype), kind, f"type of '{cell.name}'")
                    if not cell.part:
                        self.cell(cell, init, reader)
                    elif not same_tree(init, ir.Constant("int", "0")):
                        raise Unreadable(f"'{cell.name}' doesn't begin at 0")
                case _:
                    raise Unreadable(f"the declaration of '{cell.name}' is not there")
        self.block(hold.body, printed[first:last], reader)
        for cell, node in zip(stored, printed[last:], strict=True):
            match node:
                case ir.Assignment(op=op, lvalue=target, rvalue=ir.ID(name=cell.name)) if (
                    op == _STORES[bool(cell.part)]
                ):
                    self.cell(cell, target, reader)
                case _:
                    raise Unreadable(f"'{cell.name}' is not stored")

    def with_choices(self, hold: Hold, reader: Reader) -> Reader:
        for one in hold.choices:
            reader = reader.with_choice(one.name, one.value)
        return reader

    def cell(self, cell: Held, node: ir.Node, reader: Reader) -> None:
        """The cell that a variable stands for."""
        array = self.scop.arrays[cell.array]
        if array.flat:
            if not isinstance(node, ir.ArrayRef):
                raise Unreadable(f"the cell of '{cell.name}'")
            meant = [Meant(subscript, node) for subscript in cell.subscripts]
            if not is_flat_subscript(array, meant, node.subscript, reader, lambda *_: False):
                raise Unreadable(f"the cell of '{cell.name}' is another one")
            node = node.name
        for subscript in () if array.flat else reversed(cell.subscripts):
            if not isinstance(node, ir.ArrayRef):
                raise Unreadable(f"the cell of '{cell.name}'")
            expect(canonical(reader.usable(node.subscript).value), canonical(subscript), f"cell of '{cell.name}'")
            node = node.name
        spelling = array.spelling
        if not isinstance(node, ir.ID) or node.name != spelling or spelling in reader.iterators:
            raise Unreadable(f"the array of '{cell.name}'")

    def loop(self, loop: For, node: ir.Node, pragma: Directive | None, reader: Reader) -> None:
        match node:
            case ir.For(
                init=ir.DeclList(decls=[ir.Decl(name=iterator, type=ctype, init=start, storage=[], quals=[])]),
                cond=ir.BinaryOp(op="<" | "<=" | ">=" as op, left=ir.ID(name=tested), right=bound),
                next=step,
            ) if iterator == tested == loop.iterator and start is not None:
                # the initializer and the bound are read where the iterator isn't declared: they must not use it
                first, last = reader.usable(start).value, reader.usable(bound).value
                if op == ">=":
                    expect(loop.mark.parallel, True, f"order of the iterations of '{iterator}'")
                    expect(canonical(first), canonical(last_iteration(loop)), f"last iteration of '{iterator}'")
                    expect(canonical(last), canonical(loop.lower), f"lower bound of '{iterator}'")
                    expect(step_of(step, iterator), -loop.step, f"step of '{iterator}'")
                else:
                    expect(canonical(first), canonical(loop.lower), f"lower bound of '{iterator}'")
                    expect(
                        canonical(plus(last, -1) if op == "<" else last),
                        canonical(loop.upper),
                        f"upper bound of '{iterator}'",
                    )
                    expect(step_of(step, iterator), loop.step, f"step of '{iterator}'")
                if op == ">=":
                    expect(type_spelling(ctype), self.scop.long_type, f"type of '{iterator}'")
                inner = reader.within(iterator, type_spelling(ctype), loop.lower, loop.upper, loop.step)
                self.pragma(loop, pragma, reader)
                own = [one.declaration for one in self.inner.get(id(loop), ()) if one.declaration is not None]
                own += narrow_declarations(self.scop, loop)
                body = _behind_declarations(own, self.without_calls(loop, statements_of(node.stmt)))
                self.block(loop.body, body, inner)
                return
        raise Unreadable(f"the loop over '{loop.iterator}' is not there")

    def without_calls(self, loop: For, printed: list[ir.Node]) -> list[ir.Node]:
        """The statements of a loop's body, without the calls that only stand between them."""
        for helper, wanted in ((SCALAR, loop.mark.scalar), (AROUND, loop.mark.around)):
            if wanted:
                match printed:
                    case [ir.FuncCall(name=ir.ID(name=name), args=None), *printed]:
                        expect(name, helper_name(helper, self.scop.reserved), "call in a loop that is no vector loop")
                    case _:
                        raise Unreadable("a call in a loop that is no vector loop is missing")
        if not parted(loop):
            return printed
        size = together(loop)
        for position, node in enumerate(printed):
            match node:
                case ir.FuncCall(name=ir.ID(name=name), args=None) if position % (size + 1) == size:
                    expect(name, helper_name(APART, self.scop.reserved), "call between two statements")
                case _ if position % (size + 1) == size:
                    raise Unreadable("a call between two statements is missing")
        return [node for position, node in enumerate(printed) if position % (size + 1) != size]

    def branch(self, item: If, node: ir.Node, reader: Reader) -> None:
        if not isinstance(node, ir.If):
            raise Unreadable("an if is not there")
        condition = reader.work(node.cond)
        expect(canonical_condition(condition), canonical_condition(item.condition), "condition of an if")
        self.block(item.then, statements_of(node.iftrue), reader.where(condition))
        if (node.iffalse is None) != (item.otherwise is None):
            raise Unreadable("an else is missing or too many")
        if item.otherwise is not None:
            self.block(item.otherwise, statements_of(node.iffalse), reader)

    def pragma(self, loop: For, pragma: Directive | None, reader: Reader) -> None:
        mark = loop.mark if self.openmp else LoopMark()
        if not (mark.parallel or mark.simd):
            if pragma is not None:
                raise Unreadable(f"a pragma in front of the loop over '{loop.iterator}', which has no mark")
            return
        if pragma is None or (pragma.parallel, pragma.simd) != (mark.parallel, mark.simd):
            raise Unreadable(f"the pragma of the loop over '{loop.iterator}' is not its mark")
        clauses = dict(pragma.clauses)
        expect(clauses.pop("collapse", "1"), str(mark.collapse), "collapse clause")
        expect(clauses.pop("simdlen", ""), str(mark.lanes or mark.wide or ""), "simdlen clause")
        private = tuple(clauses.pop("private").split(", ")) if "private" in clauses else ()
        copied = copied_names(loop, self.inner.get(id(loop), ()))
        expect(private, tuple(self.scop.arrays[name].spelling for name in copied), "private list")
        values = clauses.pop("firstprivate", "") if mark.parallel else ""
        if values and not copyable(self.scop, loop).issuperset(values.split(", ")):
            raise Unreadable(f"firstprivate list of '{loop.iterator}'")
        for operator, names in reduced_names(self.scop, mark).items():
            expect(clauses.pop(f"reduction {operator}", ""), ", ".join(names), f"reduction clause of '{loop.iterator}'")
        if mark.parallel and not _SCHEDULE.fullmatch(clauses.pop("schedule", "")):
            raise Unreadable("the schedule clause of a parallel loop")
        if mark.parallel and loop.work is not None:
            condition = clauses.pop("if", "")
            if mark.simd and not condition.startswith("parallel: "):
                raise Unreadable("an if clause that is meant for the simd construct too")
            work = reader.work(expression_of(self.scop, condition.removeprefix("parallel: ")))
            expect(canonical_condition(work), canonical_condition(loop.work), "if clause")
        if clauses:
            raise Unreadable(f"the clauses {', '.join(clauses)}")
