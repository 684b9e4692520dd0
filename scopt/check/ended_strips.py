"""Strips of iterations that have a loop of their own which ends on data, read as the loop that they stand for.

In the text, a loop over strips holds two loops over a strip's iterations, the one in front of the inner loop and the
one behind it, and between them the call of a function that runs the inner loop for all of them (shown from its text in
`scopt.check.functions.ending_functions`). What an iteration's variables are lies in buffers, one cell for each
iteration of a strip. The loop that this stands for carries nothing, so that its iterations' parts may take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.ending_loops import ITEMS, EndingLoop
from scopt.astgen.transformed_program import Program
from scopt.diagnostics import InternalError
from scopt.ir.expr import plus, subtract, weighted
from scopt.ir.nest import Block, Call, Expr, For, LoopMark, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Statement
from scopt.ir.walks import rebuilt, same_tree, used_names, walk
from scopt.poly.sure_cells import is_in_its_array, surely_touched


def without_strips(program: Program, nest: LoopNest) -> LoopNest:
    """The nest with one loop in the place of each loop over strips. Raises InternalError for something else."""
    endings = program.endings
    if not endings.functions:
        return nest

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(body=Block(items=inside)) if any(
                isinstance(one, Call) and one.statement in endings.calls for one in inside
            ):
                item = _whole(program, item)
        if isinstance(item, For):
            names = (endings.buffers.get(name, name) for name in item.mark.private)
            item = replace(item, mark=replace(item.mark, private=tuple(dict.fromkeys(name for name in names if name))))
        return (item,)

    whole = LoopNest(map_block(nest.body, visit))
    if any(one.statement in endings.made for one in calls(whole.body)):
        _refuse(program, "a statement of a strip runs elsewhere")
    return whole


def _whole(program: Program, strips: For) -> For:
    """The loop that a loop over strips stands for."""
    endings, inside = program.endings, strips.body.items
    middle = next(one for one in inside if isinstance(one, Call))
    position = inside.index(middle)
    if strips.step != ITEMS or strips.mark.simd or len(inside) > 3 or position > 1 or len(inside) - position > 2:
        _refuse(program, "a loop over strips that isn't understood")
    loops = [one for one in inside if isinstance(one, For)]
    if len(loops) != len(inside) - 1 or not loops:
        _refuse(program, "a loop over strips that isn't understood")
    iterator, first = loops[0].iterator, Name(strips.iterator)
    upper = strips.upper.args if isinstance(strips.upper, Min) else (strips.upper,)
    last = {*upper, plus(first, ITEMS - 1)}
    for loop in loops:
        ends = {*loop.upper.args} if isinstance(loop.upper, Min) else {loop.upper}
        if (loop.iterator, loop.lower, loop.step) != (iterator, first, 1) or ends != last:
            _refuse(program, f"the loop over '{loop.iterator}' isn't one over a strip")
        plain = replace(loop.mark, private=()) == LoopMark(simd=True)
        if not plain or not all(isinstance(one, Call) for one in loop.body.items):
            _refuse(program, f"the loop over '{loop.iterator}' isn't one over a strip")
    *args, count = middle.args
    lengths = {plus(weighted([(1, one), (-1, first)]), 1) for one in last}
    if ({*count.args} if isinstance(count, Min) else {count}) != lengths:
        _refuse(program, "a call for another strip")
    whole = program.source.statement(endings.calls[middle.statement])
    places = [k for k, one in enumerate(args) if one == first]
    if len(places) != 1 or iterator == strips.iterator:
        _refuse(program, "a call for another strip")
    own: tuple[Expr, ...] = tuple(Name(iterator) if k == places[0] else one for k, one in enumerate(args))
    before = loops[0].body.items if position else ()
    after = loops[-1].body.items if position < len(inside) - 1 else ()
    at = subtract(Name(iterator), first)
    loaded = [one for one in before if isinstance(one, Call) and one.statement in endings.loads]
    if any(one.args != (*own, at) for one in loaded):
        _refuse(program, "what the inner loop reads isn't its own")
    first_part = [_single(program, one, at) for one in before if one not in loaded]
    last_part = [_single(program, one, at) for one in after]
    run = [*first_part, Call(whole.name, own), *last_part]
    _check_call(program, middle.statement, whole, [one.statement for one in loaded], places[0])
    parts = [[program.source.statement(one.statement) for one in part] for part in (first_part, last_part)]
    _check_parts(program, inside, whole, parts)
    _check_shared(program, middle.statement, [*parts[0], whole, *parts[1]])
    private = [*strips.mark.private, *(name for loop in loops for name in loop.mark.private)]
    private += [name for name in _buffers(program, run, inside)]
    return For(iterator, strips.lower, strips.upper, 1, Block(tuple(run)), replace(strips.mark, private=tuple(private)))


def _check_parts(
    program: Program, inside: Sequence[Item], whole: Statement, parts: Sequence[Sequence[Statement]]
) -> None:
    """What an iteration has for itself, and doesn't lie in a buffer, is used in front of the inner loop alone, or
    behind it: there is one of it for all iterations of a strip."""
    made = [one.statement for one in calls(Block(tuple(inside))) if one.statement in program.endings.made]
    used = {name for one in made for name in used_names(program.scop.statement(one).body)}
    kept = {variable for name, variable in program.endings.buffers.items() if name in used}
    before, after = ({access.array for one in part for access in one.accesses} for part in parts)
    within = {access.array for access in whole.accesses}
    written = {access.array for one in (whole, *parts[0], *parts[1]) for access in one.accesses if access.is_write}
    for name in written - kept:
        if program.source.arrays[name].private and (name in within or (name in before and name in after)):
            _refuse(program, f"'{name}' is one for all iterations of a strip")


def _check_shared(program: Program, name: str, statements: Sequence[Statement]) -> None:
    """What a call gets by value, no iteration changes."""
    written = {access.array for one in statements for access in one.accesses if access.is_write}
    changed = {program.source.arrays[one].spelling for one in written}
    body = program.scop.statement(name).body
    buffers = {*program.endings.buffers}
    if changed & ({*used_names(body.args)} - buffers):
        _refuse(program, f"{name} gets what iterations change by its value")


def _buffers(program: Program, run: Sequence[Call], inside: Sequence[Item]) -> list[str]:
    """Those that a strip uses."""
    made = {one.statement for one in calls(Block(tuple(inside)))} & program.endings.made
    used = {name for one in made for name in used_names(program.scop.statement(one).body)}
    return [name for name in program.endings.buffers if name in used]


def _single(program: Program, one: Item, at: Expr) -> Call:
    """The statement of the SCoP that a call in a strip is for."""
    if not isinstance(one, Call) or one.held or one.chosen or one.kept:
        _refuse(program, "a statement of a strip that isn't understood")
    base = program.endings.parts.get(one.statement)
    if base is None:
        if one.statement in program.endings.made:
            _refuse(program, f"{one.statement} runs elsewhere")
        return one
    if not one.args or one.args[-1] != at:
        _refuse(program, f"{one.statement} is for another iteration")
    return Call(base, one.args[:-1])


def check_ended_strips(program: Program) -> None:
    """Raise InternalError unless the statements of strips do what the SCoP's do, with cells of buffers of their own in
    the place of variables, which all statements of a strip agree about."""
    endings, source = program.endings, program.source
    for name in endings.buffers:
        array = program.scop.arrays.get(name)
        if array is None or name in source.arrays or array.sizes != (ITEMS,) or not array.private:
            _refuse(program, f"'{name}' is no buffer")
    for name, base in endings.parts.items():
        made, one = program.scop.statement(name), source.statement(base)
        _check_place(program, made, one)
        if not same_tree(_as_it_was(program, made), one.body):
            _refuse(program, f"{name} is another statement than {base}")
    for loop in items(program.nest.body):
        if isinstance(loop, For):
            _check_strip(program, loop)


def _check_place(program: Program, made: Statement, one: Statement) -> None:
    alike = made.iterators[:-1] == one.iterators and made.iterator_types[:-1] == one.iterator_types
    at = made.iterators[-1]
    if not alike or at in (*one.iterators, *used_names(one.body)) or at in program.source.reserved:
        _refuse(program, f"{made.name} has other iterators")


def _as_it_was(program: Program, made: Statement) -> ir.Node:
    """A statement's body with variables in the place of buffers' cells."""
    at = made.iterators[-1]

    def change(node: ir.Node) -> ir.Node:
        match node:
            case ir.ArrayRef(name=ir.ID(name=name), subscript=ir.ID(name=place)) if place == at:
                if variable := program.endings.buffers.get(name):
                    return ir.ID(program.source.arrays[variable].spelling)
        return node

    made_body: ir.Node = rebuilt(made.body, change)
    return made_body


def _check_strip(program: Program, loop: For) -> None:
    """A variable lies in a buffer in all statements of a strip, or in none."""
    made = [one for one in calls(Block(loop.body.items)) if one.statement in program.endings.made]
    if not any(isinstance(one, Call) and one.statement in program.endings.calls for one in loop.body.items):
        return
    used = {name for one in made for name in used_names(program.scop.statement(one.statement).body)}
    inside = [variable for name, variable in program.endings.buffers.items() if name in used and variable]
    if len({*inside}) < len(inside):
        _refuse(program, "a variable lies in two buffers")
    for one in calls(loop.body):
        if one.statement not in program.endings.made:
            touched = {access.array for access in program.source.statement(one.statement).accesses}
            if touched & {*inside}:
                _refuse(program, f"{one.statement} has variables that lie in buffers")


def _check_call(program: Program, name: str, whole: Statement, loads: Sequence[str], position: int) -> None:
    """The function's loop, over what it is given, is the statement's."""
    made, endings = program.scop.statement(name), program.endings
    _check_place(program, made, whole)
    match made.body:
        case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=[ir.ID(name=number), *arguments])):
            function = next((one for one in endings.functions if one.name == called), None)
            if function is not None and number == made.iterators[-1]:
                _check_arguments(program, function, whole, arguments, loads, position)
                return
    _refuse(program, f"{name} calls no function that runs a loop")


def _check_arguments(
    program: Program,
    function: EndingLoop,
    whole: Statement,
    arguments: Sequence[ir.Node],
    loads: Sequence[str],
    position: int,
) -> None:
    scop, endings = program.source, program.endings
    filled: dict[str, ir.Node] = {}
    for one in loads:
        load = program.scop.statement(one)
        _check_place(program, load, whole)
        match load.body:
            case ir.Assignment(
                op="=", lvalue=ir.ArrayRef(name=ir.ID(name=buffer), subscript=ir.ID(name=at)), rvalue=value
            ) if at == load.iterators[-1] and endings.buffers.get(buffer) == "" and buffer not in filled:
                filled[buffer] = value
                if not _may_be_read(program, whole, value):
                    _refuse(program, f"{one} reads what need not exist")
            case _:
                _refuse(program, f"{one} fills no buffer")
    values: dict[str, ir.Node] = {}
    if len(arguments) != len(function.buffers) + len(function.scalars):
        _refuse(program, "a call with other arguments")
    buffers = arguments[: len(function.buffers)]
    if len({one.name for one in buffers if isinstance(one, ir.ID)}) < len(buffers):
        _refuse(program, "a call with one buffer twice")
    for (name, ctype), node in zip(function.buffers, buffers, strict=True):
        array = program.scop.arrays.get(node.name) if isinstance(node, ir.ID) else None
        if array is None or array.name not in endings.buffers or array.type.spelling != ctype.spelling:
            _refuse(program, f"a call with something else than a buffer for '{name}'")
        variable = endings.buffers[array.name]
        if not variable and array.name not in filled:
            _refuse(program, f"nothing fills '{array.name}'")
        values[name] = ir.ID(scop.arrays[variable].spelling) if variable else filled[array.name]
    moving = whole.iterators[position]
    for (name, _), node in zip(function.scalars, arguments[len(function.buffers) :], strict=True):
        if not isinstance(node, ir.ID) or node.name == moving or node.name in endings.buffers:
            _refuse(program, f"'{name}' isn't the same in all iterations")
        values[name] = node
    _check_body(program, function, whole, values)


def _may_be_read(program: Program, whole: Statement, value: ir.Node) -> bool:
    """Whether a value is there whatever the inner loop does: an iterator's, or of a cell that something touches."""
    if isinstance(value, ir.ID):
        return value.name in whole.iterators
    found = [one for one in whole.accesses if one.node is not None and same_tree(one.node, value)]
    checks = (surely_touched, is_in_its_array)
    return bool(found) and any(check(program.source, whole, one) for one in found for check in checks)


def _check_body(program: Program, function: EndingLoop, whole: Statement, values: dict[str, ir.Node]) -> None:
    """The function's loop with what it is given is the statement's, but for its own variables' names."""
    body = whole.body
    while isinstance(body, ir.Compound) and len(body.block_items or ()) == 1:
        body = body.block_items[0]
    own = [node for node in walk(body) if isinstance(node, ir.Decl)]
    meant = [node for node in walk(function.body) if isinstance(node, ir.Decl)]
    if len(own) != len(meant):
        _refuse(program, "a loop with other variables")
    names = {theirs.name: mine.name for mine, theirs in zip(own, meant, strict=True)}
    if len(names) != len(own) or len({*names.values()}) != len(own) or {*names} & {*values}:
        _refuse(program, "a loop with other variables")

    def change(node: ir.Node) -> ir.Node:
        if isinstance(node, ir.ID) and node.name in values:
            return values[node.name]
        if isinstance(node, ir.ID) and node.name in names:
            return ir.ID(names[node.name])
        if isinstance(node, ir.Decl):
            mine = next(one for one in own if one.name == names[node.name])
            return ir.Decl(mine.name, mine.quals, mine.align, mine.storage, mine.funcspec, mine.type, node.init, None)
        return node

    if not same_tree(rebuilt(function.body, change), body):
        _refuse(program, f"a call runs another loop than {whole.name} has")


def _refuse(program: Program, what: str) -> NoReturn:
    raise InternalError(f"{program.source.location}: loops that end on data: {what}")
