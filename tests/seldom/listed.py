"""Cases that everyday's runs of the tests leave out; see `tests.seldom.run`."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).with_name("cases.txt")


def seldom() -> frozenset[str]:
    """Their names in pytest."""
    return frozenset(CASES.read_text().splitlines())
