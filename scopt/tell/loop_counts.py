"""What a transformed region has, in one line."""

from __future__ import annotations

from scopt.ir.nest import Block, For, If, LoopNest


def summary(nest: LoopNest) -> str:
    """What the result has, in a few words."""
    loops, parallel, simd = counts(nest)
    return f"transformed: {loops} loops, {parallel} parallel, {simd} vectorizable"


def counts(nest: LoopNest) -> tuple[int, int, int]:
    """How many loops the result has, how many of these are parallel, and how many vectorizable."""
    parallel = simd = loops = 0

    def visit(block: Block) -> None:
        nonlocal parallel, simd, loops
        for item in block.items:
            if isinstance(item, For):
                loops += 1
                parallel += item.mark.parallel
                simd += item.mark.simd
                visit(item.body)
            elif isinstance(item, If):
                visit(item.then)
                if item.otherwise is not None:
                    visit(item.otherwise)

    visit(nest.body)
    return loops, parallel, simd
