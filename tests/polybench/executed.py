"""A marked region executed loop by loop, without its data: which cells each instance reads and writes. What counts made
from sets have to agree with.

The region's loops and conditions on integers become Python; nothing of isl or of the SCoP is involved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.ir.printing import CPrinter

Cell = tuple[str, tuple[int, ...]]


class Trace(Struct, dict=True):
    """What happened. instances: of each assignment. first: the time of its first. reads: what it read together, by its
    expressions for it.
    exposed: cells read before they were written. last_write: the time, by array."""

    data: frozenset[str]
    instances: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    reads: dict[int, set[tuple[Cell, ...]]] = field(default_factory=dict)
    touched: set[Cell] = field(default_factory=set)
    written: set[Cell] = field(default_factory=set)
    exposed: set[Cell] = field(default_factory=set)
    last_write: dict[str, int] = field(default_factory=dict)
    assignments: list[ir.Assignment] = field(default_factory=list)
    now: int = 0

    def hit(self, number: int, reads: tuple[Cell, ...], written: Cell) -> None:
        self.now += 1
        self.instances[number] = self.instances.get(number, 0) + 1
        self.first.setdefault(number, self.now)
        self.reads.setdefault(number, set()).add(reads)
        self.exposed.update(cell for cell in reads if cell not in self.written)
        self.touched.update((*reads, written))
        self.written.add(written)
        self.last_write[written[0]] = self.now

    def operations(self) -> tuple[dict[str, int], dict[str, int]]:
        """Written and needed operations by kind, as `scopt.polybench.limits.kernel_work.Work` defines them."""
        written: dict[str, int] = {}
        needed: dict[str, int] = {}
        for number, node in enumerate(self.assignments):
            if number not in self.instances:
                continue
            order = references(node, self.data)
            for (kind, _), (operands, certain) in expressions(node, self.data).items():
                written[kind] = written.get(kind, 0) + self.instances[number]
                settled = all(self.last_write.get(name.split("[")[0], 0) < self.first[number] for name in operands)
                places = [order.index(name) for name in sorted(operands)]
                distinct = len({tuple(reads[place] for place in places) for reads in self.reads[number]})
                if certain:
                    needed[kind] = needed.get(kind, 0) + (distinct if settled else self.instances[number])
        return written, needed


def execute(items: tuple[Any, ...], data: frozenset[str]) -> Trace:
    """Run the statements. data: the arrays' and scalars' names; all other variables are integers that loops set."""
    trace = Trace(data)
    source = [line for item in items for line in _python(item, trace)]
    exec("\n".join(source), {"hit": trace.hit})
    return trace


def text(node: Any) -> str:
    return str(CPrinter().visit(node))


def references(node: ir.Assignment, data: frozenset[str]) -> list[str]:
    """The texts of what an assignment reads, each once."""
    parts = [*_references(node.rvalue, data), *(_references(node.lvalue, data) if node.op != "=" else ())]
    return sorted(set(parts))


def expressions(
    node: Any, data: frozenset[str], certain: bool = True
) -> dict[tuple[str, str], tuple[frozenset[str], bool]]:
    """Operations of an assignment: (kind, text) to what they depend on, and whether every instance does them."""
    found: dict[tuple[str, str], tuple[frozenset[str], bool]] = {}

    def note(kind: str, part: Any, certain: bool) -> None:
        operands = frozenset(_references(part, data))
        if operands:
            key = kind, text(part)
            found[key] = operands, certain or found.get(key, (operands, False))[1]

    def visit(part: Any, certain: bool) -> None:
        if isinstance(part, ir.ArrayRef):
            return
        if isinstance(part, ir.BinaryOp) and part.op not in ("&&", "||"):
            note("divisions" if part.op == "/" else "flops", part, certain)
        if isinstance(part, ir.FuncCall):
            note("roots" if part.name.name.startswith("sqrt") else "calls", part, certain)
        if isinstance(part, ir.Assignment) and part.op != "=":
            note("divisions" if part.op == "/=" else "flops", part, certain)
        for name, child in part.children():
            visit(child, certain and name not in ("iftrue", "iffalse"))

    visit(node, certain)
    return found


def _references(node: Any, data: frozenset[str]) -> Iterator[str]:
    """Texts of the array elements and scalars in an expression;
    of an assignment all, its target only where it is read."""
    if isinstance(node, ir.Assignment) and node.op == "=":
        yield from _references(node.rvalue, data)
    elif isinstance(node, ir.ArrayRef) or (isinstance(node, ir.ID) and node.name in data):
        yield text(node)
    else:
        for child in node.parts:
            yield from _references(child, data)


def _cell(reference: str) -> str:
    """Python for a cell, from the text of its reference."""
    name, *subscripts = reference.split("[")
    return f"({name!r}, ({''.join(subscript.rstrip(']') + ',' for subscript in subscripts)}))"


def _python(node: Any, trace: Trace, indent: str = "") -> Iterator[str]:
    deeper = indent + " "
    if isinstance(node, ir.Compound):
        for item in node.block_items or ():
            yield from _python(item, trace, indent)
    elif isinstance(node, ir.For):
        up = node.next.op in ("p++", "++")
        assert up or node.next.op in ("p--", "--")
        start = node.init.decls[0] if isinstance(node.init, ir.DeclList) else node.init
        name, value = (start.name, start.init) if isinstance(start, ir.Decl) else (start.lvalue.name, start.rvalue)
        yield f"{indent}{name} = {text(value)}"
        yield f"{indent}while {text(node.cond)}:"
        yield from _python(node.stmt, trace, deeper)
        yield f"{deeper}{name} {'+' if up else '-'}= 1"
    elif isinstance(node, ir.If):
        yield f"{indent}if {text(node.cond).replace('&&', 'and').replace('||', 'or')}:"
        yield from _python(node.iftrue, trace, deeper)
        if node.iffalse is not None:
            yield f"{indent}else:"
            yield from _python(node.iffalse, trace, deeper)
    else:
        assert isinstance(node, ir.Assignment)
        if isinstance(node.rvalue, ir.Assignment):
            yield from _python(node.rvalue, trace, indent)
            node = ir.Assignment("=", node.lvalue, node.rvalue.lvalue, node.coord)
        reads = "".join(_cell(reference) + "," for reference in references(node, trace.data))
        yield f"{indent}hit({len(trace.assignments)}, ({reads}), {_cell(text(node.lvalue))})"
        trace.assignments.append(node)
