"""Static variables that a region alone works with, as work arrays at file scope: what it leaves there, nobody asks for.

Told by the text: outside of the region the name stands in its declaration only, in what the preprocessor makes of the
file too. Where the region itself reads it in a later run, it finds what that run has written, or the variable isn't
private for other reasons.
"""

from __future__ import annotations

import re

from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.ir.ctypes import Symbol


def is_own_static(tu: TranslationUnit, region: Region, symbol: Symbol) -> bool:
    """Whether a variable of static storage is mentioned in its declaration and in a region, and nowhere else."""
    if not symbol.static or symbol.extern or symbol.thread_local or symbol.pointer or symbol.within is not None:
        return False
    if symbol.type.volatile or symbol.type.atomic or symbol.kind not in ("global", "local"):
        return False
    return _in_source(tu.preprocessed, region, symbol.name) == 1 == _in_text(tu.preprocessed, region, symbol.name)


def _in_source(file: Preprocessed, region: Region, name: str) -> int:
    """How often the source has the name outside of a region, in directives and strings, too."""
    word = re.compile(rf"\b{re.escape(name)}\b", re.ASCII)
    outside = (one for one in file.raw.tokens if not region.start <= one.start < region.end)
    return sum(len(word.findall(one.text)) for one in outside if one.kind != "comment" and name in one.text)


def _in_text(file: Preprocessed, region: Region, name: str) -> int:
    """The same, once macros are expanded and other files included."""
    lines = range(file.raw.line(region.start), file.raw.line(max(region.start, region.end - 1)) + 1)
    found = 0
    for match in re.finditer(rf"\b{re.escape(name)}\b", file.text, re.ASCII):
        text_line = file.text.count("\n", 0, match.start())
        inside = file.run(text_line).user and file.place(text_line)[1] in lines
        found += not inside
    return found
