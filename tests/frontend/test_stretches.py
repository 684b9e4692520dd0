"""What bounds what is touched of memory."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.frontend.model.stretches import array_stretch, ends_of
from scopt.ir.scop import Array, CType


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


@pytest.mark.parametrize(
    ("cells", "quotients"),
    [
        ("[n] -> { S[i] -> a[e, i] : 0 <= i < n and 8 e <= i < 8 e + 8 }", [8]),
        ("[n] -> { S[e] -> a[e, 0] : 0 <= e and 8 e + 8 <= n }", [8]),
        ("[n] -> { S[i] -> a[i, 0] : 0 <= i < n }", []),
    ],
)
def test_of_rows_that_are_counted_by_eights_an_eighth_is_touched(cells: str, quotients: list[int]) -> None:
    array = Array("a", "a", CType("float", floating=True, bits=32), (None, None), (None, None), pointer=True)
    found = array_stretch(array, [isl.Map(cells)], isl.Set("[n] -> { : }"))
    assert found is not None
    assert [divisor for _, _, divisor in found.quotients] == quotients
    assert len(found.beyond) == 1


def test_each_of_several_ends_is_rounded_where_it_is_the_end() -> None:
    """Data name some of 128 rows; as many as tiles fit are written, none of what is shorter than a tile."""
    array = Array("a", "a", CType("float", floating=True, bits=32), (None, None), (None, None), pointer=True)
    written = isl.Map("[n, m] -> { S[i] -> a[i, 0] : 0 <= i and 16 i <= n - 16 }")
    read = isl.Map("[n, m] -> { S[k] -> a[e, 0] : 0 <= k < m and 0 <= e < 128 }")
    found = array_stretch(array, [written, read], isl.Set("[n, m] -> { : }"))
    assert found is not None
    assert [divisor for _, _, divisor in found.quotients] == [16]
    assert ((128, ()),) in found.beyond
    assert not any("n" in factors for end in found.beyond for _, factors in end)


def test_unions_of_remainders_are_bounded_in_time() -> None:
    array = Array("a", "a", CType("float", floating=True, bits=32), (None, None), (None, None), pointer=True)
    inside = "[m, s] -> { S[i, k] -> a[i, k] : 0 <= i < m and 0 <= k < s and"
    some = isl.Map(f"{inside} (31 i + 17 k) mod 23 = 0 }}")
    others = isl.Map(f"{inside} (31 i + 17 k) mod 23 > 0 and (7 i + 5 k) mod 11 < 3 }}")
    found = array_stretch(array, [some, others], isl.Set("[m, s] -> { : }"))
    assert found is not None
    assert found.beyond == (((1, ("m",)),),)
