"""A file preprocessed, with those integer macros kept as names that can stay symbolic in regions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from scopt.frontend.text.preprocessed import Preprocessed, RegionMacros
from scopt.frontend.text.preprocessor import run_preprocessor
from scopt.frontend.text.region_macros import all_baked, region_macros, sound_macros
from scopt.frontend.text.tokens import RawSource, is_line_directive, scan
from scopt.options import Options


def preprocess(
    source: bytes, file: str, options: Options, *, symbolic: bool = True, unmarked: Sequence[tuple[int, int]] = ()
) -> Preprocessed:
    """Preprocess `source` as if it were the contents of `file`.

    symbolic: keep object-like macros that are integer constants as identifiers inside regions. unmarked: the bytes of
      regions that have no pragmas.
    Raises InputError with the compiler's own message.
    """
    raw = scan(source)
    lines = _without_line_directives(raw)
    plain = run_preprocessor(lines, file, raw, options)
    regions = tuple(region_macros(plain, unmarked))
    if not any(region.symbolic for region in regions):
        return replace(plain, regions=regions)
    kept = run_preprocessor(_with_undefs(lines, raw, regions), file, raw, options)
    # A macro whose name is pasted or stringized means something else when it isn't expanded: then it has to be.
    sound = sound_macros(plain, kept, regions)
    if not symbolic or not any(region.symbolic for region in sound):
        return replace(plain, regions=tuple(all_baked(region) for region in sound))
    if any(old.symbolic and not new.symbolic for old, new in zip(regions, sound, strict=True)):
        kept = run_preprocessor(_with_undefs(lines, raw, sound), file, raw, options)
    # In the kept text the symbolic macros are no macros: what a directive may expand is what the plain one defines.
    return replace(kept, regions=sound, directives=plain.directives)


# --- the text given to the compiler -----------------------------------------------------------------------------------


def _without_line_directives(raw: RawSource) -> bytes:
    """The source with its own ``#line`` directives blanked: places are those of the file itself."""
    text = raw.text
    for token in raw.tokens:
        if is_line_directive(token):
            text = text[: token.start] + re.sub(r"[^\r\n]", " ", token.text) + text[token.end :]
    return text.encode("latin-1")


def _with_undefs(text: bytes, raw: RawSource, regions: Iterable[RegionMacros]) -> bytes:
    """The text with the symbolic macros undefined inside their regions;
    lines keep their numbers, tokens their columns."""
    edits: list[tuple[int, bool, str]] = []
    for region in regions:
        if region.symbolic:
            undefs = "".join(f"#undef {name}\n" for name in region.symbolic)
            defines = "".join(f"#define {name} {region.defined[name].body}\n" for name in region.symbolic)
            # Where one region ends and the next one begins, the definitions come first.
            edits.append((region.start, True, _directives_at(raw, region.start, undefs)))
            edits.append((region.end, False, _directives_at(raw, region.end, defines)))
    source, pieces, position = text.decode("latin-1"), [], 0
    for offset, _, inserted in sorted(edits):
        pieces += [source[position:offset], inserted]
        position = offset
    return "".join([*pieces, source[position:]]).encode("latin-1")


def _directives_at(raw: RawSource, offset: int, directives: str) -> str:
    """Directives to insert at an offset, perhaps in the middle of a line."""
    column = offset - raw.line_start(offset)
    newline = "\n" if column else ""
    return f"{newline}{directives}#line {raw.line(offset)}\n{' ' * column}"
