"""Faults in what the lowering stages make: statements, buffers, kernels, memory, and what they note about these."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.register_lowering import Lowered
from scopt.astgen.lower.strip_lowering import Buffered
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.ir.walks import changed, rewritten, walk
from tests.mutate.texts import text_edits
from tests.mutate.trees import Edit, tree_edits

T = TypeVar("T")
_TURNED = {"+": "-", "-": "+", "*": "+", "/": "*", "<": "<=", ">": ">=", "<=": "<", ">=": ">"}


def buffered_edits(scop: Scop, buffered: Buffered) -> Iterator[Edit[Buffered]]:
    """Faults in strips and panels. scop: without them."""
    yield from tree_edits(
        buffered.schedule.tree, lambda tree: replace(buffered, schedule=replace(buffered.schedule, tree=tree))
    )
    for kind, place, edited in _buffered_edits(scop, buffered):
        yield kind, place, partial(_as_it_is, edited)


def lowered_edits(scop: Scop, lowered: Lowered) -> Iterator[Edit[Lowered]]:
    """Faults in register tiles. scop: without them."""
    yield from tree_edits(
        lowered.schedule.tree, lambda tree: replace(lowered, schedule=replace(lowered.schedule, tree=tree))
    )
    for kind, place, edited in _lowered_edits(scop, lowered):
        yield kind, place, partial(_as_it_is, edited)


def _as_it_is(made: T) -> T:
    return made


def _buffered_edits(scop: Scop, buffered: Buffered) -> Iterator[tuple[str, str, Buffered]]:
    for kind, place, edited in scop_edits(scop, buffered.scop):
        yield kind, place, replace(buffered, scop=edited)
    for k, one in enumerate(buffered.allocations):
        before, behind = buffered.allocations[:k], buffered.allocations[k + 1 :]
        yield "allocation dropped", one.name, replace(buffered, allocations=before + behind)
        for kind, _, text in text_edits(one.declaration):
            yield (
                f"allocation: {kind}",
                one.name,
                replace(buffered, allocations=(*before, replace(one, declaration=text), *behind)),
            )
    for k, definition in enumerate(buffered.definitions):
        for kind, place, text in text_edits(definition):
            yield (
                f"definition: {kind}",
                place,
                replace(buffered, definitions=(*buffered.definitions[:k], text, *buffered.definitions[k + 1 :])),
            )
    for name in sorted(buffered.expansions):
        others = {key: value for key, value in buffered.expansions.items() if key != name}
        yield "expansion forgotten", name, replace(buffered, expansions=others)
        for other in sorted(others)[:2]:
            yield (
                "another expansion",
                name,
                replace(buffered, expansions={**buffered.expansions, name: buffered.expansions[other]}),
            )
    for name, turned in buffered.turned.items():
        for kind, other in (
            ("row and step exchanged", replace(turned, row=turned.step, step=turned.row)),
            ("rows that begin at other steps", replace(turned, skew=turned.skew + 1)),
        ):
            yield kind, name, replace(buffered, turned={**buffered.turned, name: other})
    for k, function in enumerate(buffered.transposed):
        others = (*buffered.transposed[:k], replace(function, width=function.width + 1), *buffered.transposed[k + 1 :])
        yield "width of a copy", function.name, replace(buffered, transposed=others)
    for name in sorted(buffered.packed):
        yield "packed forgotten", name, replace(buffered, packed=buffered.packed - {name})
    for name in sorted(buffered.made - buffered.packed):
        yield "packed claimed", name, replace(buffered, packed=buffered.packed | {name})
    for name in sorted(buffered.pointers):
        yield (
            "pointer forgotten",
            name,
            replace(buffered, pointers={key: value for key, value in buffered.pointers.items() if key != name}),
        )


def _lowered_edits(scop: Scop, lowered: Lowered) -> Iterator[tuple[str, str, Lowered]]:
    for kind, place, edited in scop_edits(scop, lowered.scop):
        yield kind, place, replace(lowered, scop=edited)
    yield from _kernel_edits(lowered)
    yield from _step_edits(lowered)
    for name, turned in lowered.turned.items():
        yield (
            "row and step exchanged",
            name,
            replace(lowered, turned={**lowered.turned, name: replace(turned, row=turned.step, step=turned.row)}),
        )
    for k, one in enumerate(lowered.transposed):
        before, behind = lowered.transposed[:k], lowered.transposed[k + 1 :]
        for more in (1, -1):
            yield (
                f"width of a copy {more:+}",
                one.name,
                replace(lowered, transposed=(*before, replace(one, width=one.width + more), *behind)),
            )
        yield (
            "subscript of a copy",
            one.name,
            replace(lowered, transposed=(*before, replace(one, subscript=1 - one.subscript), *behind)),
        )
    for k, choice in enumerate(lowered.choices):
        before, behind = lowered.choices[:k], lowered.choices[k + 1 :]
        everything = isl.Set.universe(choice.condition.get_space())
        for kind, edited in (
            ("whole tiles always", replace(choice, condition=everything)),
            ("whole tiles never", replace(choice, condition=everything.complement())),
            ("whole tiles where they lack cells", replace(choice, condition=choice.condition.complement())),
            ("a part of the other form dropped", replace(choice, others=choice.others[1:])),
        ):
            yield kind, choice.whole, replace(lowered, choices=(*before, edited, *behind))
        yield "choice forgotten", choice.whole, replace(lowered, choices=before + behind)
    for name in sorted(lowered.packs):
        yield "pack forgotten", name, replace(lowered, packs=lowered.packs - {name})
    for name in sorted(lowered.made - lowered.packs):
        yield "pack claimed", name, replace(lowered, packs=lowered.packs | {name})


def _kernel_edits(lowered: Lowered) -> Iterator[tuple[str, str, Lowered]]:
    for kernel in lowered.kernels:
        for kind, edited in _kernels(kernel):
            kernels = tuple(edited if one is kernel else one for one in lowered.kernels)
            steps = {
                name: replace(step, kernel=edited) if step.kernel is kernel else step
                for name, step in lowered.steps.items()
            }
            yield kind, kernel.name, replace(lowered, kernels=kernels, steps=steps)
            yield f"{kind} in the text", kernel.name, replace(lowered, kernels=kernels)
            yield f"{kind} in the steps", kernel.name, replace(lowered, steps=steps)


def _kernels(kernel: Kernel) -> Iterator[tuple[str, Kernel]]:
    for name in ("rows", "columns"):
        for more in (1, -1, getattr(kernel, name)):
            yield f"kernel's {name} {more:+}", replace(kernel, **{name: getattr(kernel, name) + more})
    operation = kernel.operation
    for op in ("+=", "-=", "*=", "="):
        if op != operation.op:
            yield "kernel's operator", replace(kernel, operation=replace(operation, op=op))
    for kind, expression in _node_edits(operation.expression, ()):
        yield f"kernel's expression: {kind}", replace(kernel, operation=replace(operation, expression=expression))
    if operation.extremum is not None:
        for other in ("<", "<=", ">", ">="):
            if other != operation.extremum.op:
                yield (
                    "kernel's extremum",
                    replace(kernel, operation=replace(operation, extremum=replace(operation.extremum, op=other))),
                )
        turned = replace(operation.extremum, keeps=not operation.extremum.keeps)
        yield "kernel's extremum keeps the other", replace(kernel, operation=replace(operation, extremum=turned))
    wrong = CType("float", floating=True, bits=32)
    if operation.type.spelling != "float":
        yield "kernel's type", replace(kernel, operation=replace(operation, type=wrong))


def _step_edits(lowered: Lowered) -> Iterator[tuple[str, str, Lowered]]:
    for name, step in lowered.steps.items():
        others = [one for other, one in lowered.steps.items() if other != name]
        changes: list[tuple[str, Any]] = [
            ("corner exchanged", replace(step, corner=step.corner[::-1])),
            ("position + 1", replace(step, position=step.position + 1)),
            ("position - 1", replace(step, position=step.position - 1)),
            ("many of itself", replace(step, many=name)),
        ]
        changes += [("another copy", replace(step, copy=one.copy)) for one in others if one.copy is not step.copy][:1]
        changes += [("another statement for many", replace(step, many=one.many)) for one in others][:1]
        for kind, edited in changes:
            yield f"step: {kind}", name, replace(lowered, steps={**lowered.steps, name: edited})
        yield (
            "step forgotten",
            name,
            replace(lowered, steps={key: value for key, value in lowered.steps.items() if key != name}),
        )


# --- statements and arrays --------------------------------------------------------------------------------------------


def scop_edits(before: Scop, scop: Scop) -> Iterator[tuple[str, str, Scop]]:
    """Faults in the statements and arrays that a stage has added. before: without them."""
    old = {statement.name for statement in before.statements}
    arrays = [array for name, array in scop.arrays.items() if name not in before.arrays]
    names = [array.spelling for array in (*arrays, *before.arrays.values()) if array.rank or array in arrays]
    for k, statement in enumerate(scop.statements):
        if statement.name in old:
            continue
        for kind, edited in statement_edits(statement, names):
            yield (
                f"statement: {kind}",
                statement.name,
                replace(scop, statements=(*scop.statements[:k], edited, *scop.statements[k + 1 :])),
            )
    for array in arrays:
        for kind, other in _array_edits(array):
            yield f"buffer: {kind}", array.name, replace(scop, arrays={**scop.arrays, array.name: other})
    for one, other in pairwise(arrays):
        exchanged = replace(one, spelling=other.spelling), replace(other, spelling=one.spelling)
        yield (
            "buffers exchanged",
            one.name,
            replace(scop, arrays={**scop.arrays, one.name: exchanged[0], other.name: exchanged[1]}),
        )


def statement_edits(statement: Statement, names: list[str]) -> Iterator[tuple[str, Statement]]:
    """names: of arrays."""
    count = len(list(walk(statement.body)))
    for position in range(count):
        for variant in range(100):
            found = _edited(statement.body, position, variant, (*statement.iterators,), names)
            if found is None:
                break
            kind, body, become = found
            accesses = tuple(
                replace(one, node=become.get(one.node, one.node) if one.node is not None else None)
                for one in statement.accesses
            )
            yield kind, replace(statement, body=body, accesses=accesses)
    for k in range(len(statement.iterators) - 1):
        iterators = list(statement.iterators)
        iterators[k], iterators[k + 1] = iterators[k + 1], iterators[k]
        yield "iterators exchanged", replace(statement, iterators=tuple(iterators))


def _node_edits(node: ir.Node, names: tuple[str, ...]) -> Iterator[tuple[str, ir.Node]]:
    for position in range(len(list(walk(node)))):
        for variant in range(100):
            found = _edited(node, position, variant, names, [])
            if found is None:
                break
            yield found[:2]


def _edited(
    root: ir.Node, position: int, variant: int, iterators: tuple[str, ...], names: list[str]
) -> tuple[str, ir.Node, dict[ir.Node, ir.Node]] | None:
    """The variant-th fault at the position-th node of a tree, and what has become of its nodes;
    None if there are no more."""
    node = list(walk(root))[position]
    changes = list(_changes(node, iterators, names))
    if variant >= len(changes):
        return None
    kind, other = changes[variant]
    become: dict[ir.Node, ir.Node] = {}
    return kind, rewritten(root, lambda old, made: other if old is node else made, become), become


def _changes(node: ir.Node, iterators: tuple[str, ...], names: list[str]) -> Iterator[tuple[str, ir.Node]]:
    """Faults, with what stands in the node's place."""
    one = ir.Constant("int", "1")
    match node:
        case ir.ArrayRef(name=name, subscript=subscript):
            for op in "+-":
                yield f"subscript {op} 1", changed(node, subscript=ir.BinaryOp(op, subscript, one))
            if isinstance(name, ir.ArrayRef):
                exchanged = changed(name, subscript=subscript)
                yield "subscripts exchanged", changed(node, name=exchanged, subscript=name.subscript)
        case ir.BinaryOp(op=op, left=left, right=right):
            yield "operands exchanged", changed(node, left=right, right=left)
            if op in _TURNED:
                yield "operator turned", changed(node, op=_TURNED[op])
        case ir.UnaryOp(op="-"):
            yield "sign dropped", changed(node, op="+")
        case ir.Constant(value=value) if value.isdecimal():
            yield "constant + 1", changed(node, value=str(int(value) + 1))
            yield "constant - 1", changed(node, value=str(int(value) - 1))
        case ir.Assignment(op=op, lvalue=lvalue, rvalue=rvalue):
            yield "operator of the assignment", changed(node, op="+=" if op == "=" else "=")
            if isinstance(rvalue, ir.ArrayRef | ir.ID):
                yield "copied the other way", changed(node, lvalue=rvalue, rvalue=lvalue)
            yield "value + 1", changed(node, rvalue=ir.BinaryOp("+", rvalue, one))
        case ir.FuncCall(args=ir.ExprList(exprs=exprs) as args):
            for k in range(len(exprs) - 1):
                turned = [*exprs[:k], exprs[k + 1], exprs[k], *exprs[k + 2 :]]
                yield "arguments exchanged", changed(node, args=changed(args, exprs=turned))
            yield "argument dropped", changed(node, args=changed(args, exprs=exprs[:-1]))
        case ir.ID(name=name) if name in iterators:
            for other in [one for one in iterators if one != name][:3]:
                yield "another iterator", changed(node, name=other)
        case ir.ID(name=name) if name in names:
            for other in [one for one in names if one != name][:4]:
                yield "another array", changed(node, name=other)


def _array_edits(array: Array) -> Iterator[tuple[str, Array]]:
    sizes = [size for size in array.sizes if size is not None]
    if len(sizes) != len(array.sizes) or not sizes:
        return
    for less in (sizes[0] - 1, sizes[0] // 2, sizes[0] + 1):
        shorter = replace(array, sizes=(less, *sizes[1:]))
        declared = replace(array, declaration=_declared(array.declaration, less))
        yield f"size {less - sizes[0]:+} noted", shorter
        if array.declaration is not None:
            yield f"size {less - sizes[0]:+} declared", declared
            yield f"size {less - sizes[0]:+}", replace(shorter, declaration=declared.declaration)


def _declared(declaration: ir.Decl | None, size: int) -> ir.Decl | None:
    if declaration is None:
        return None
    if not isinstance(declaration.type, ir.ArrayDecl):
        return declaration
    return changed(declaration, type=changed(declaration.type, dim=ir.Constant("int", str(size))))
