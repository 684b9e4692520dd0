"""Walks and rewrites over a `LoopNest`, that every pass needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from scopt.ir.expr import names, substitute, substitute_condition
from scopt.ir.nest import Block, Call, Expr, For, Hold, If, Name

Item = For | If | Call | Hold


def items(block: Block) -> Iterator[Item]:
    """Every item of the block, in textual order, an item before what it contains."""
    for item in block.items:
        yield item
        for child in children(item):
            yield from items(child)


def children(item: Item) -> tuple[Block, ...]:
    """The blocks right inside an item."""
    match item:
        case For() | Hold():
            return (item.body,)
        case If():
            return (item.then,) if item.otherwise is None else (item.then, item.otherwise)
        case Call():
            return ()


def calls(block: Block) -> Iterator[Call]:
    """The statement instances' calls in the block, in textual order."""
    return (item for item in items(block) if isinstance(item, Call))


def declared(hold: Hold) -> Iterator[str]:
    """The names of the variables that stand for something in the body."""
    yield from (one.name for one in hold.cells)
    yield from (one.name for one in hold.choices)
    yield from (one.name for one in hold.loads)


def used_names(block: Block) -> frozenset[str]:
    """Names that bounds, conditions and arguments in the block use, iterators declared there included."""
    found: set[str] = set()
    for item in items(block):
        match item:
            case For():
                found |= names(item.lower) | names(item.upper) | {item.iterator}
                found |= names(item.work) if item.work is not None else frozenset()
            case If():
                found |= names(item.condition)
            case Call():
                found.update(*(names(arg) for arg in item.args))
            case Hold():
                found.update(*(names(subscript) for cell in item.cells for subscript in cell.subscripts))
                found.update(*(names(one.value) for one in item.choices))
                found.update(*(names(arg) for one in item.loads for arg in one.args))
    return frozenset(found)


def map_block(block: Block, function: Callable[[Item], tuple[Item, ...]]) -> Block:
    """Rebuild the block from the inside out: each item is replaced by function(item),
    given its inner blocks already rebuilt."""
    out: list[Item] = []
    for item in block.items:
        out.extend(function(_with_children(item, function)))
    return Block(tuple(out))


def _with_children(item: Item, function: Callable[[Item], tuple[Item, ...]]) -> Item:
    match item:
        case For() | Hold():
            return replace(item, body=map_block(item.body, function))
        case If():
            otherwise = None if item.otherwise is None else map_block(item.otherwise, function)
            return replace(item, then=map_block(item.then, function), otherwise=otherwise)
        case Call():
            return item


def merged(items: Iterable[Item], join: Callable[[Item, Item], Item | None]) -> Iterator[Item]:
    """The items, neighbours put together wherever join(first, second) is an item."""
    previous: Item | None = None
    for item in items:
        both = join(previous, item) if previous is not None else None
        if both is None and previous is not None:
            yield previous
        previous = item if both is None else both
    if previous is not None:
        yield previous


def replace_names(block: Block, values: Mapping[str, Expr]) -> Block:
    """The block with free names replaced by expressions. The iterators declared in the block must not be among the
    names, nor occur in the expressions."""
    if not values:
        return block

    def item(it: Item) -> tuple[Item, ...]:
        match it:
            case For():
                work = None if it.work is None else substitute_condition(it.work, values)
                return (replace(it, lower=substitute(it.lower, values), upper=substitute(it.upper, values), work=work),)
            case If():
                return (replace(it, condition=substitute_condition(it.condition, values)),)
            case Call():
                return (replace(it, args=tuple(substitute(arg, values) for arg in it.args)),)
            case Hold():
                cells = (
                    replace(cell, subscripts=tuple(substitute(e, values) for e in cell.subscripts)) for cell in it.cells
                )
                choices = (replace(one, value=substitute(one.value, values)) for one in it.choices)
                loads = (replace(one, args=tuple(substitute(e, values) for e in one.args)) for one in it.loads)
                return (replace(it, cells=tuple(cells), choices=tuple(choices), loads=tuple(loads)),)

    return map_block(block, item)


def rename_iterators(block: Block, chosen: Mapping[str, str]) -> Block:
    """The block with its loops' iterators renamed;
    every loop of the block has an iterator of its own, a key of `chosen`."""
    renamed = replace_names(block, {old: Name(new) for old, new in chosen.items()})
    return map_block(renamed, lambda it: (replace(it, iterator=chosen[it.iterator]) if isinstance(it, For) else it,))
