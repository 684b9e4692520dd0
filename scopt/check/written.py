"""The reading of the file that will be written, the last thing before it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scopt.astgen.splice import Replacement
from scopt.check.composition import Parts, check_composed
from scopt.check.spliced import check_definitions, check_spliced
from scopt.frontend.text.tokens import RawSource


def unproved(
    source: RawSource,
    regions: Mapping[int, Parts],
    replacements: Mapping[int | None, Replacement],
    definitions: Sequence[str],
    result: bytes,
) -> dict[int, str]:
    """Of each region whose text can't be shown to be right, by its number, what is wrong.

    source: the file as it was read. regions: what is known of the texts that take the place of regions. replacements:
    these texts, and, by None, the definitions that go in front of the first function with a region. result: the file
    as it will be written.
    """
    try:
        spliced = check_spliced(source, [*replacements.values()], result)
        if None in replacements:
            first = min((replacements[number] for number in regions), key=lambda one: one[:2])
            check_definitions(spliced, replacements[None], definitions, first)
        elif any(definitions):
            return dict.fromkeys(regions, "helper functions aren't defined")
    except Exception as error:
        return dict.fromkeys(regions, _told(error))
    failures = {}
    for number, parts in regions.items():
        try:
            check_composed(spliced.tokens(replacements[number]), parts)
        except Exception as error:
            failures[number] = _told(error)
    return failures


def _told(error: Exception) -> str:
    """A fault of the check itself costs a region its loops, and nothing else."""
    return (str(error).splitlines() or [type(error).__name__])[0]
