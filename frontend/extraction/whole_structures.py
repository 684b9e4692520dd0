"""Structures that are one cell each, whatever the member."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from scopt import ir
from scopt.frontend.syntax.structs import Types, reference_of, references, shared_storage


def whole_structures(items: Iterable[Any], types: Types, local_names: Collection[str]) -> frozenset[str]:
    """Bases whose structures are copied as a whole, or have members that share their bytes: one element is one cell,
    whatever the member."""
    found: set[str] = set()
    for node in (node for item in items for node in references(item)):
        reference = reference_of(node)
        if isinstance(reference.base, ir.ID) and reference.base.name in types.scope:
            typed = types.of(node)
            whole = typed is not None and typed.composite and typed.struct is not None
            local = bool(reference.path) and reference.base.name in local_names
            if whole or local or (reference.path and shared_storage(types, reference)):
                found.add(reference.base.name)
    return frozenset(found)
