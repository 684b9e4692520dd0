"""Loops over a few stages whose numbers are constants, over a few cells, as one copy of their body for each stage:
``for (h = 1; h < 8; h *= 2) for (i = 0; i < 8; i += 2 * h) …`` (transforms of blocks, trees of sums).

What they do takes some nanoseconds, so that there is nothing in them for threads or tiles. But where the stage is a
number, compilers know how long the loops inside are, write them out, and find vectors across blocks, or in a block; gcc
doesn't before it looks for vectors, as long as the stage is a variable (2.5 times as fast).
"""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.frontend.normalize.stage_copies import stages_of
from scopt.frontend.normalize.tree_rewriting import items_of, number
from scopt.frontend.syntax.symbols import scope_at
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed


def written_out(tu: TranslationUnit, region: Region) -> str | None:
    """The text of a region that is such a loop; None if it is anything else."""
    loop = region.items[0] if len(region.items) == 1 else None
    stages = stages_of(loop, scope_at(tu, region))
    if loop is None or stages is None:
        return None
    declared = loop.init.decls[0] if isinstance(loop.init, ir.DeclList) else None
    texts = []
    for stage in stages.values:
        set_to = ir.Assignment("=", ir.ID(stages.name), number(stage))
        first = changed(declared, init=number(stage)) if declared is not None else set_to
        texts.append(_text(ir.Compound([first, *items_of(loop.stmt)])))
    end = "" if declared is not None else f"{stages.name} = {stages.last};\n"
    return "".join(texts) + end


def _text(node: Any) -> str:
    return str(CPrinter(reduce_parentheses=True).visit(node))
