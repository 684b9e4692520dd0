from __future__ import annotations

import math

import pytest

from scopt.polybench.compare import DumpError, first_difference, largest_difference, parse_dump


def dump(**arrays: str) -> str:
    """The text that a kernel prints."""
    body = "".join(f"begin dump: {name}\n{values} \nend   dump: {name}\n" for name, values in arrays.items())
    return f"==BEGIN DUMP_ARRAYS==\n{body}==END   DUMP_ARRAYS==\n"


def difference(expected: str, actual: str) -> str | None:
    return first_difference(parse_dump(expected), parse_dump(actual))


def test_parse() -> None:
    assert parse_dump(dump(s="1.00 2.50", q="-3.00")).arrays == (("s", ("1.00", "2.50")), ("q", ("-3.00",)))


def test_parse_a_first_value_right_after_the_name() -> None:
    text = "begin dump: x0.00 \n1.00 2.00 \nend   dump: x\n"
    assert parse_dump(text).arrays == (("x", ("0.00", "1.00", "2.00")),)


def test_parse_skips_other_output_and_an_early_end_mark() -> None:
    text = "libgomp: a warning\n" + dump(ex="1.00") + "begin dump: ey\n2.00 \nend   dump: ey\n"
    assert [name for name, _ in parse_dump(text).arrays] == ["ex", "ey"]


def test_parse_an_empty_array() -> None:
    assert parse_dump("begin dump: A\nend   dump: A\n").arrays == (("A", ()),)


@pytest.mark.parametrize("text", ["", "segmentation fault", "begin dump: A\n1.00 2.0"])
def test_no_dump(text: str) -> None:
    with pytest.raises(DumpError, match="no complete array"):
        parse_dump(text)


def test_cut_off() -> None:
    with pytest.raises(DumpError, match="cut off after array s"):
        parse_dump(dump(s="1.00") + "begin dump: q\n1.00 2.")


def test_same() -> None:
    assert difference(dump(A="1.00 2.00"), dump(A="1.00 2.00")) is None


def test_layout_is_no_difference() -> None:
    assert difference(dump(A="1.00 2.00"), dump(A="1.00\n2.00")) is None


def test_first_of_several() -> None:
    found = difference(dump(s="1.00", q="1.00 2.00 3.00"), dump(s="1.00", q="1.00 2.01 3.01"))
    assert found == "q[1] is 2.01 instead of 2.00; 2 of 3 values differ"


def test_the_last_bit_counts_and_is_readable() -> None:
    found = difference(dump(A="0x1.8p+0"), dump(A="0x1.8000000000001p+0"))
    assert found == "A[0] is 1.5000000000000002 (0x1.8000000000001p+0) instead of 1.5 (0x1.8p+0); 1 of 1 values differ"


def test_sign_of_zero_counts() -> None:
    assert difference(dump(A="0x0p+0"), dump(A="-0x0p+0")) is not None


def test_sign_of_nan_does_not() -> None:
    assert difference(dump(A="nan 1.00"), dump(A="-nan 1.00")) is None
    assert difference(dump(A="nan"), dump(A="1.00")) is not None


def test_other_length() -> None:
    assert difference(dump(A="1.00 2.00"), dump(A="1.00")) == "A has 1 values instead of 2"


def test_other_arrays() -> None:
    assert difference(dump(A="1.00", B="1.00"), dump(B="1.00")) == "arrays B instead of A, B"


def test_a_tolerance_is_relative_to_the_largest_value_of_the_array() -> None:
    expected, actual = (parse_dump(dump(A=f"1.00 {value} 1000.0", n="3")) for value in ("0.001", "0.0011"))
    assert largest_difference(expected, actual) == pytest.approx(1e-7)
    assert first_difference(expected, actual, 1e-6) is None
    assert first_difference(expected, actual, 1e-8) == "A[1] is 0.0011 instead of 0.001; 1 of 3 values differ"


@pytest.mark.parametrize(("value", "other"), [("3", "4"), ("nan", "1.00"), ("inf", "1.00"), ("1.00", "inf")])
def test_no_tolerance_for_integers_and_for_what_is_no_number(value: str, other: str) -> None:
    expected, actual = (parse_dump(dump(A=f"100000000000.0 {one}")) for one in (value, other))
    assert first_difference(expected, actual, 1e-3) is not None
    assert largest_difference(expected, actual) == math.inf


def test_hexadecimal_floats_to_a_tolerance() -> None:
    assert difference(dump(A="0x1p+0"), dump(A="0x1.0000000000001p+0")) is not None
    assert first_difference(parse_dump(dump(A="0x1p+0")), parse_dump(dump(A="0x1.0000000000001p+0")), 1e-15) is None
