"""The file that will be written: it passes as scopt makes it, and a region whose text is wrong stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from scopt.astgen.splice import Replacement, splice
from scopt.check.spliced import check_definitions, check_spliced
from scopt.diagnostics import InternalError
from scopt.frontend.text.tokens import scan
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.region_texts import Texts

KERNELS = Path(__file__).parents[1] / "autodetect" / "kernels.c"
HELPER = "static inline long scopt_min(long a, long b) { return a < b ? a : b; }\n"
SOURCE = b"int x;\nvoid f(int n)\n{\n  x = 1;\n  x = 2;\n}\n"
PLACE = SOURCE.index(b"void")
FIRST, SECOND = SOURCE.index(b"  x = 1"), SOURCE.index(b"  x = 2")
REGION: Replacement = (FIRST, SECOND, b"  x = 3;\n")
INSERTED: Replacement = (PLACE, PLACE, HELPER.encode())
TWO = """double a[1000], b[1000];
void f(int n)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] += 1.0;
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] += 2.0;
#pragma endscop
}
"""


def test_a_file_with_replacements() -> None:
    spliced = check_spliced(scan(SOURCE), [REGION, INSERTED], splice(SOURCE, [REGION, INSERTED]))
    assert [token.text for token in spliced.tokens(REGION)] == ["x", "=", "3", ";"]
    check_definitions(spliced, INSERTED, [HELPER], REGION)


@pytest.mark.parametrize("place", range(len(SOURCE) + len(HELPER)))
def test_other_bytes_are_refused(place: int) -> None:
    result = splice(SOURCE, [REGION, INSERTED])
    for wrong in (
        result[:place] + b"+" + result[place + 1 :],
        result[:place] + result[place + 1 :],
        result[:place] + b" " + result[place:],
    ):
        if wrong != result:
            with pytest.raises(InternalError):
                check_spliced(scan(SOURCE), [REGION, INSERTED], wrong)


GLUED = [
    (b"  x = 3; // ", SECOND),
    (b"  x = 3; /* ", SECOND),
    (b"  x = 3;\n#pragma omp", SECOND),
    (b"  yx", SECOND + 2),
]


@pytest.mark.parametrize(("new", "end"), GLUED)
def test_text_that_takes_in_what_follows_is_refused(new: bytes, end: int) -> None:
    with pytest.raises(InternalError):
        check_spliced(scan(SOURCE), [(FIRST, end, new)], splice(SOURCE, [(FIRST, end, new)]))


def test_text_that_something_before_takes_in_is_refused() -> None:
    source = SOURCE.replace(b"{\n", b"{\n  // here: ")
    place = source.index(b"  x = 1")
    inserted: Replacement = (place, place, b"  x = 3;\n")
    with pytest.raises(InternalError):
        check_spliced(scan(source), [inserted], splice(source, [inserted]))


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (SOURCE, FIRST),
        (SOURCE, SOURCE.index(b"f(")),
        (SOURCE, SOURCE.index(b"n)")),
        (SOURCE, SECOND),
        (SOURCE, 3),
        (b"#ifdef A\n" + SOURCE.replace(b"void", b"#endif\nvoid"), len(b"#ifdef A\n")),
        (b"#ifdef __cplusplus\n" + SOURCE.replace(b"void", b"#endif\nvoid"), len(b"#ifdef __cplusplus\n")),
        (b"#if A\nint y;\n#else\n" + SOURCE + b"#endif\n", len(b"#if A\n")),
    ],
)
def test_definitions_in_other_places_are_refused(source: bytes, place: int) -> None:
    start = source.index(b"  x = 1")
    region: Replacement = (start, start + len(b"  x = 1;\n"), b"  x = 3;\n")
    inserted: Replacement = (place, place, HELPER.encode())
    with pytest.raises(InternalError):
        _check(source, region, inserted)


def _check(source: bytes, region: Replacement, inserted: Replacement) -> None:
    spliced = check_spliced(scan(source), [region, inserted], splice(source, [region, inserted]))
    check_definitions(spliced, inserted, [HELPER], region)


def test_other_definitions_are_refused() -> None:
    for text in ("", HELPER + "int y;\n", HELPER.replace("<", ">"), HELPER + HELPER):
        inserted: Replacement = (PLACE, PLACE, text.encode())
        spliced = check_spliced(scan(SOURCE), [REGION, inserted], splice(SOURCE, [REGION, inserted]))
        with pytest.raises(InternalError):
            check_definitions(spliced, inserted, [HELPER], REGION)


@pytest.mark.parametrize("options", [Options(), Options(line_directives=True)])
def test_a_region_with_a_wrong_text_stays_as_it_was(monkeypatch: pytest.MonkeyPatch, options: Options) -> None:
    right = optimize(TWO, options)
    made = pipeline.new_bytes

    def wrong(tu: pipeline.TranslationUnit, texts: Texts) -> bytes:
        return made(tu, texts).replace(b"a[i] += 1.0;", b"a[i] += 2.0;")

    monkeypatch.setattr(pipeline, "new_bytes", wrong)
    result = optimize(TWO, options)
    first, second = result.regions
    assert (first.transformed, second.transformed) == (False, True)
    assert [remark.id for remark in first.remarks] == ["internal.error"]
    assert TWO.split("#pragma endscop")[0].split("void f")[1].encode() in result.text
    assert right.text.split(b"#pragma scop")[2] == result.text.split(b"#pragma scop")[2]
    assert len(result.pieces) == len(right.pieces) - 1


def test_all_regions_stay_where_the_rest_of_the_file_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(source: bytes, replacements: list[Replacement]) -> bytes:
        return splice(source.replace(b"1000", b"1001") if replacements else source, replacements)

    monkeypatch.setattr(pipeline, "splice", wrong)
    result = optimize(TWO)
    assert result.text == TWO.encode()
    assert [remark.id for region in result.regions for remark in region.remarks] == ["internal.error"] * 2


def test_many_regions_pass() -> None:
    options = Options(autodetect=True, eager=True, line_directives=True, count_guards=True)
    result = optimize(KERNELS.read_bytes(), options, file=str(KERNELS))
    assert sum(region.transformed for region in result.regions) > 25
    assert "internal.error" not in {remark.id for remark in result.remarks}
