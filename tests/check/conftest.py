"""Faults are put into strips with buffers."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_rows_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """These would be faster in some of the programs."""
    monkeypatch.setattr("scopt.scheduler.decisions.strip_claims.LEAST_TOGETHER", 10**6)
    monkeypatch.setattr("scopt.transform.carrying_scop", lambda *_: None)
