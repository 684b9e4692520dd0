"""Simpler ways to transform a region, for where one fails or takes too long: one ladder for whoever climbs down it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt.options import Options
from scopt.scheduler.decisions.register_tiles import wanted


def same_order(options: Options) -> Iterator[Options]:
    """The options as they are; without register tiles; without any tiles: the scheduler's order in simpler loops."""
    yield options
    if wanted(options):
        yield replace(options, register_tile=False)
    if options.tile:
        yield replace(options, tile=False)


def any_order(options: Options) -> Iterator[Options]:
    """The same, then by isl's scheduler where no influence asks for more, then the original order."""
    yield from same_order(options)
    if options.scheduler not in ("isl", "identity") and options.influence in ("", "vectorize"):
        yield replace(options, scheduler="isl", influence="")
    if options.scheduler != "identity":
        yield replace(options, tile=False, scheduler="identity")


def quicker(options: Options, *, wishes: bool) -> Iterator[Options]:
    """The options as they are; without register tiles; without any tiles; in the original order of statements as they
    were read, where what is left to decide is which loops run in parallel and in vectors. wishes: somebody wants a
    schedule of his own, which that order may not be."""
    yield from same_order(options)
    usual, own = Options(), (options.scheduler, options.fusion, options.influence)
    if not (wishes or options.schedule_file) and own == (usual.scheduler, usual.fusion, usual.influence):
        yield replace(options, tile=False, scheduler="identity", hasty=True)
