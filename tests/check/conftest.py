"""Faults are put into strips with buffers."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _strips_with_buffers(no_rows_beside: None) -> None:
    """Also where rows beside each other would be faster."""
