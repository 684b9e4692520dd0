"""What bounds what is touched of memory."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.frontend.model.stretches import ends_of


@pytest.mark.parametrize(
    ("cells", "ends"),
    [
        ("[n] -> { [b] : 0 <= b < 64 and b < n }", (((63, ()),),)),  # of sizes that are worth a test
        ("[n, m] -> { [b] : 0 <= b < m and b < n }", (((1, ("m",)), (-1, ())), ((1, ("n",)), (-1, ())))),
        ("[n] -> { [b] : 0 <= b < n }", (((1, ("n",)), (-1, ())),)),
    ],
)
def test_a_number_bounds_more_than_a_size(cells: str, ends: object) -> None:
    found = ends_of(isl.Set(cells), 0, lower=False)
    assert found is not None
    assert len(found) == 1
    assert {frozenset(one) for one in found} <= {frozenset(one) for one in ends}
