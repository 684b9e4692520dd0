"""Where the helper functions of a file go: in front of the first function that calls them."""

from __future__ import annotations

from collections.abc import Sequence

from scopt.astgen.emit_c import helper_definitions
from scopt.frontend.parse import TranslationUnit
from scopt.frontend.preprocess import is_pragma
from scopt.frontend.regions import Region
from scopt.frontend.tokens import RawSource


def helper_text(tu: TranslationUnit, region: Region, helpers: Sequence[str], own: Sequence[str] = ()) -> tuple[int, bytes]:
    """Offset in the source and the text to insert there: the definitions of `helpers` and others, before the function that `region` is in."""
    place = _beginning_of_function(tu.preprocessed.raw, region.start)
    definitions = "\n".join((helper_definitions(helpers, tu.long_type, tu.reserved), *own)) + "\n"
    return place, definitions.replace("\n", region.newline).encode("latin-1")


def _beginning_of_function(raw: RawSource, inside: int) -> int:
    """Start of the line on which the external declaration around an offset begins, comments right above it included.

    The beginning of the file where braces don't tell (they may come from macros).
    """
    depth, boundary = 0, 0
    for token in raw.tokens:
        if token.start >= inside:
            break
        if token.kind == "directive" and depth == 0:
            # What stands right below a pragma may be what it is about, such as `omp declare simd`.
            if not is_pragma(token):
                boundary = token.end
        elif token.kind == "punct":
            if token.text == "{":
                depth += 1
            elif token.text == "}":
                depth -= 1
                if depth == 0:
                    boundary = token.end
                elif depth < 0:
                    return 0
            elif token.text == ";" and depth == 0:
                boundary = token.end
    if depth == 0:
        return 0
    following = [token for token in raw.tokens_between(boundary, inside) if token.kind != "directive" or is_pragma(token)]
    if not following:
        return 0
    # A comment that begins on the boundary's own line belongs to what stands before it.
    start = next((t.start for t in following if raw.line(t.start) > raw.line(max(boundary - 1, 0)) or boundary == 0), None)
    return raw.line_start(start) if start is not None else 0
