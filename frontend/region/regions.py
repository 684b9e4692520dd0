"""Regions: where SCoPs may be, as bytes of the source and as statements of the tree. Marked by pragmas, or found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location, Remark
from scopt.frontend.normalize.counting_loops import has_loop, is_counting
from scopt.frontend.syntax.openmp_loops import left_below
from scopt.frontend.syntax.source_spans import extents_of
from scopt.frontend.syntax.unit import Region
from scopt.frontend.text.macros import baked_macros
from scopt.frontend.text.openmp_clauses import governs, is_openmp
from scopt.frontend.text.preprocessed import Preprocessed, RegionMacros
from scopt.frontend.text.tokens import RawSource, RawToken, is_pragma, pragma_token
from scopt.ir.walks import walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.unit import TranslationUnit


def marked_regions(
    result: Preprocessed,
    file: str,
    functions: Iterable[Any],
    untold: Iterable[range] = (),
) -> tuple[tuple[Region, ...], tuple[Remark, ...]]:
    """The regions between ``#pragma scop`` and ``#pragma endscop`` in the functions, and remarks on pragmas that make
    none.

    untold: ranges of lines about whose pragmas something was said already (functions that could not be parsed).
    """
    remarks = [_in_header(p.file, p.line) for p in result.pragmas if not p.user and p.kind == "scop"]
    placed = [place for function in functions for place in _places(function)]
    in_tree = {place.pragma.coord.line: place for place in placed}
    regions: list[Region] = []
    opened: _Place | None = None
    for pragma in (p for p in result.pragmas if p.user):
        if any(pragma.line in lines for lines in untold):
            opened = None
            continue
        here = in_tree.get(pragma.line)
        location = Location(file, pragma.line)
        if here is None:
            remarks.append(
                _unbalanced(location, f"'#pragma {pragma.kind}' does not stand between the statements of a block")
            )
            opened = None
        elif pragma.kind == "scop":
            if opened is not None:
                remarks.append(
                    _unbalanced(
                        _at(file, opened), "'#pragma scop' is followed by another one, not by '#pragma endscop'"
                    )
                )
            opened = here
        elif opened is None:
            remarks.append(_unbalanced(location, "'#pragma endscop' has no '#pragma scop' before it"))
        else:
            found = _region(result, file, opened, here)
            (regions if isinstance(found, Region) else remarks).append(found)  # type: ignore[arg-type]
            opened = None
    if opened is not None:
        remarks.append(_unbalanced(_at(file, opened), "'#pragma scop' has no '#pragma endscop'"))
    return tuple(regions), tuple(remarks)


class _Place(Struct, frozen=True, eq=False):
    """A pragma's place in the tree."""

    function: Any
    parent: Any
    index: int
    pragma: Any


def _places(function: Any) -> Iterator[_Place]:
    for node in walk(function.body):
        if isinstance(node, ir.Compound):
            for index, item in enumerate(node.block_items or ()):
                if isinstance(item, ir.Pragma) and item.string in ("scop", "endscop"):
                    yield _Place(function, node, index, item)


def _region(result: Preprocessed, file: str, begin: _Place, end: _Place) -> Region | Remark:
    location = _at(file, begin)
    if begin.function is not end.function or begin.parent is not end.parent:
        return _unbalanced(location, "'#pragma scop' and its '#pragma endscop' stand in different blocks")
    above = openmp_over(begin.parent, begin.index)
    if above is not None:  # it would stand above whatever takes the loop's place
        return left_below(above, file)
    raw = result.raw
    first, last = (
        pragma_token(raw, "scop", begin.pragma.coord.line),
        pragma_token(raw, "endscop", end.pragma.coord.line),
    )
    if first is None or last is None:
        return Remark(
            "missed",
            "region.pragma-operator",
            "a SCoP has to be marked by '#pragma scop' and '#pragma endscop' lines",
            location,
            "write the pragmas as lines of the file, not with _Pragma or in a macro",
        )
    start, stop = raw.line_end(first.end), _line_of_pragma(raw, last)
    macros = next((m for m in result.regions if m.marked and m.start == start), None)
    if stop is None or stop < start:
        return Remark(
            "missed",
            "region.pragma-line",
            "something besides white space stands before '#pragma endscop' on its line",
            location,
            "put the pragma on a line of its own",
        )
    if macros is not None and macros.unstable:
        listed = ", ".join(sorted(macros.unstable))
        return Remark(
            "missed",
            "region.unstable-macro",
            f"the expansion of {listed} depends on where it stands",
            location,
            "don't use it in a SCoP",
        )
    items = tuple(begin.parent.block_items[begin.index + 1 : end.index])
    tokens = raw.tokens_between(start, stop)
    directives = any(t.kind == "directive" and not is_pragma(t) for t in tokens)
    return _with_text(
        raw,
        macros,
        items,
        begin.function,
        begin.parent,
        (begin.index + 1, end.index),
        (start, stop),
        location,
        marked=True,
        directives=directives or not _all_in(items, file),
    )


def _line_of_pragma(raw: RawSource, pragma: RawToken) -> int | None:
    """Offset where the lines of a region end: the pragma's line, or that of a comment that ends on it. None if code
    stands before it."""
    start = raw.line_start(pragma.start)
    for token in reversed(raw.tokens_between(0, pragma.start)):
        if token.end <= start:
            break
        if token.kind != "comment":
            return None
        start = raw.line_start(token.start)
    return start


def _with_text(
    raw: RawSource,
    macros: RegionMacros | None,
    items: tuple[Any, ...],
    function: Any,
    parent: Any,
    indices: tuple[int, int],
    extent: tuple[int, int],
    location: Location,
    *,
    marked: bool,
    directives: bool,
    whole_lines: bool = True,
) -> Region:
    """Fill in what the region's bytes say: indentation, line ends, comments around."""
    start, end = extent
    text = raw.text[start:end]
    code = [t for t in raw.tokens_between(start, end) if t.kind != "comment"]
    indent, leading, trailing = "", b"", b""
    if code:
        first = next((t for t in code if t.kind != "directive"), code[0])
        prefix = re.match(r"[ \t]*", raw.text[raw.line_start(first.start) :])
        indent = prefix.group() if prefix is not None else ""
        line = raw.line_start(code[0].start)
        if line >= start and not raw.text[line : code[0].start].strip():
            leading = raw.text[start:line].encode("latin-1")
        after = raw.line_end(code[-1].end - 1)
        for comment in raw.tokens_between(code[-1].end, end):
            after = raw.line_end(comment.end - 1) if comment.start < after else after
        if whole_lines and after <= end:
            trailing = raw.text[after:end].encode("latin-1")
    newline = "\r\n" if "\r\n" in text or (not text.count("\n") and "\r\n" in raw.text) else "\n"
    return Region(
        function,
        items,
        parent,
        *indices,
        start,
        end,
        location,
        marked,
        indent,
        newline,
        leading,
        trailing,
        whole_lines,
        directives,
        dict(macros.symbolic) if macros is not None else {},
        dict(macros.baked) if macros is not None else {},
        macros.types if macros is not None else {},
    )


def _all_in(items: Iterable[Any], file: str) -> bool:
    """Whether all nodes stand in the file."""
    return all(node.coord is None or node.coord.file == file for node in walk(*items))


def _at(file: str, place: _Place) -> Location:
    return Location(file, place.pragma.coord.line)


def _unbalanced(location: Location, message: str) -> Remark:
    return Remark(
        "missed",
        "region.unbalanced",
        message,
        location,
        "put both pragmas into the same block, one pair after the other",
    )


def _in_header(file: str, line: int) -> Remark:
    return Remark(
        "missed",
        "region.in-header",
        "a SCoP in an included file is not transformed",
        Location(file, line),
        "run scopt on that file",
    )


# --- autodetection ----------------------------------------------------------------------------------------------------


# Statements with statements inside, but for blocks and loops with an iterator.
_AROUND = (ir.If, ir.While, ir.DoWhile, ir.Switch, ir.Case, ir.Default, ir.Label)


def find_autodetected(tu: TranslationUnit) -> tuple[Region, ...]:
    """Candidates for SCoPs without pragmas: maximal runs of `for` loops,
    with what may stand between them, in the user's functions."""
    functions = [function for function in tu.user_functions if function.decl.name not in tu.openmp.teams]
    regions = (region for function in functions for region in runs_in(tu, function, function.body))
    return tuple(sorted(regions, key=lambda region: region.start))


def runs_in(tu: TranslationUnit, function: Any, node: Any) -> Iterator[Region]:
    """The maximal runs of loops in a statement, those in bodies of other loops left out."""
    if not isinstance(node, ir.Compound):
        if isinstance(node, _AROUND) and not is_counting(node):
            for child in node.parts:
                yield from runs_in(tu, function, child)
        return
    yield from runs_between(tu, function, node, 0, len(node.block_items or ()))


def runs_between(tu: TranslationUnit, function: Any, node: Any, first: int, end: int) -> Iterator[Region]:
    """The same among the items ``[first:end]`` of a block."""
    items = node.block_items or ()
    taken = [range(region.first, region.stop) for region in tu.regions if region.parent is node]
    position = first
    while position < end:
        if openmp_over(node, position) is not None:
            position += 1
            continue
        stop = position
        while stop < end and _may_belong(items[stop]) and not any(stop in indices for indices in taken):
            stop += 1
        loops = [k for k in range(position, stop) if has_loop(items[k]) and not under_pragma(node, k)]
        if any(is_counting(items[k]) for k in loops):
            yield from _told(tu, function, node, loops)
        else:
            for index in range(position, max(stop, position + 1)):
                if not any(index in indices for indices in taken):
                    yield from runs_in(tu, function, items[index])
        position = max(stop, position + 1)


def _told(tu: TranslationUnit, function: Any, parent: Any, loops: list[int]) -> Iterator[Region]:
    """The run from the first to the last of some items;
    where its place isn't known for sure, the parts whose place is."""
    region = region_of(tu, function, parent, loops[0], loops[-1] + 1)
    if region is not None:
        yield region
        return
    for position in loops:
        single = region_of(tu, function, parent, position, position + 1)
        if single is not None and is_counting(parent.block_items[position]):
            yield single
        elif single is None and isinstance(parent.block_items[position], ir.If):
            yield from runs_in(tu, function, parent.block_items[position])


def _may_belong(item: Any) -> bool:
    if isinstance(item, ir.Decl):
        return isinstance(item.type, ir.TypeDecl) and isinstance(item.type.type, ir.IdentifierType) and not item.storage
    return (
        is_counting(item)
        or isinstance(item, (ir.If, ir.Assignment, ir.EmptyStatement))
        or (isinstance(item, ir.UnaryOp) and item.op in ("++", "--", "p++", "p--"))
    )


# Pragmas that say nothing about the statement after them, by how they begin.
_ABOUT_NO_STATEMENT = re.compile(r"(?:scop|endscop|scopt|STDC|message|region|endregion|(?:GCC|clang)\s+diagnostic)\b")


def under_pragma(parent: Any, position: int) -> bool:
    """Whether a statement of a compound stands under a pragma that may be about it, such as ``omp critical`` or
    ``GCC ivdep``.

    Another statement in its place would be under it then.
    """
    before = parent.block_items[position - 1] if position else None
    if not isinstance(before, ir.Pragma):
        return False
    text = str(before.string or "").strip()
    return governs(text) if is_openmp(text) else not _ABOUT_NO_STATEMENT.match(text)


def openmp_over(parent: Any, position: int) -> ir.Pragma | None:
    """The pragma of OpenMP, in the tree still, that says how a statement of a compound is run."""
    while position and isinstance(before := parent.block_items[position - 1], ir.Pragma):
        if governs(before.string):
            return before
        position -= 1
    return None


def region_of(tu: TranslationUnit, function: Any, parent: Any, first: int, stop: int) -> Region | None:
    """The unmarked region of ``parent.block_items[first:stop]``; None if its place in the source isn't known for sure,
    or is under a pragma."""
    if under_pragma(parent, first):
        return None
    items = tuple(parent.block_items[first:stop])
    extents = [statement_extent(tu, item) for item in items if not isinstance(item, ir.EmptyStatement)]
    known = [extent for extent in extents if extent is not None]
    if not known or len(known) < len(extents) or not _all_in(items, tu.file):
        return None
    raw = tu.preprocessed.raw
    start, end = known[0][0], known[-1][1]
    location = Location(tu.file, raw.line(start), raw.column(start))
    above = tu.openmp.start(items[0])
    hidden = tu.openmp.hides(_directives_before(raw, start), raw)
    start = above if above is not None else start
    line_start, line_end = raw.line_start(start), raw.line_end(end - 1)
    whole = not raw.text[line_start:start].strip() and not raw.text[end:line_end].strip()
    if whole:
        start, end = line_start, line_end
    tokens = raw.tokens_between(start, end)
    conditions = tu.openmp.conditions(items)
    others = (t for t in tokens if t.kind == "directive" and t.start not in conditions)
    directives = hidden or any(not is_pragma(t, "scopt", "omp") for t in others)
    baked = baked_macros({t.text for t in tokens if t.kind == "word"}, tu.preprocessed.all_macros)
    macros = RegionMacros(start, end, False, tu.preprocessed.all_macros, baked=baked)
    found = _with_text(
        raw,
        macros,
        items,
        function,
        parent,
        (first, stop),
        (start, end),
        location,
        marked=False,
        directives=directives,
        whole_lines=whole,
    )
    threads = any(said.parallel for _, said in tu.openmp.below(items))
    return replace(found, bare=parent in tu.bare, threads=threads)


def _directives_before(raw: RawSource, start: int) -> list[RawToken]:
    """The directives between the code in front of a place and the place."""
    end = first = bisect_left(raw.tokens, start, key=lambda token: token.start)
    while first and raw.tokens[first - 1].kind in ("comment", "directive"):
        first -= 1
    return [token for token in raw.tokens[first:end] if token.kind == "directive"]


def statement_extent(tu: TranslationUnit, node: Any) -> tuple[int, int] | None:
    """First byte and byte past the last of a statement of the user's file; None if it can't be told for sure."""
    return extents_of(tu).get(node)
