"""Schedule files: written, read back, edited, and refused with the place of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.schedule_file import checked_tree, parse_schedules
from scopt.tell.results import Result
from tests.sources import scop_of, source_of

BODY = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];"
DOMAIN = "[n] -> { S0[i, j] : 0 < i < n and 0 < j < n }"
BANDS = "[n] -> [{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]"
SWAPPED = "[n] -> [{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]"
# Two regions, the second one is refused.
TWO = source_of(BODY) + source_of("for (i = 0; i < n; i++) x[i] = unknown(i);", before="double unknown(int);").replace(
    b"void f", b"void g"
)


def tree(band: str, domain: str = DOMAIN, more: str = "") -> str:
    return f'# a comment\n---\ndomain: "{domain}"\nchild:\n  schedule: "{band}"\n{more}'


def halves(first: str, second: str) -> str:
    """A sequence of two parts of S0, each with the original loops."""
    parts = "".join(
        f'  - filter: "[n] -> {{ S0[i, j] : {part} }}"\n    child:\n      schedule: "{BANDS}"\n'
        for part in (first, second)
    )
    return f'---\ndomain: "{DOMAIN}"\nchild:\n  sequence:\n{parts}'


def replayed(text: str, tmp_path: Path, source: bytes = source_of(BODY), **options: bool) -> Result:
    file = tmp_path / "s.yaml"
    file.write_text(text)
    return optimize(source, Options(schedule_file=str(file), **options))


@pytest.mark.parametrize(
    "body",
    [
        BODY,
        (
            "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] *= 2;"
            " for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j]; }"
        ),
        (
            "for (t = 0; t < m; t++) { for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i + 1];"
            " for (i = 1; i < n - 1; i++) x[i] = y[i]; }"
        ),
        "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < n; j++) s += A[i][j]; y[i] = s; }",
    ],
)
def test_what_is_written_replays_to_the_same_text(body: str, tmp_path: Path) -> None:
    source = source_of(body)
    result = optimize(source)
    again = replayed(result.regions[0].proposal, tmp_path, source)
    assert again.text == result.text
    assert again.regions[0].proposal == result.regions[0].proposal


def test_documents_say_what_the_names_stand_for() -> None:
    (region,) = optimize(source_of(BODY)).regions
    assert region.proposal.startswith(
        "# <stdin>:5\n#   S0, line 6: A[i][j] = A[i - 1][j] + A[i][j - 1];\n---\ndomain: "
    )
    assert "mark:" not in region.proposal
    assert "#   loop0: scalar\n#   loop1: parallel\n" in region.final
    assert 'mark: "loop0"' in region.final
    assert 'mark: "loop1"' in region.final


def test_the_tree_is_used(tmp_path: Path) -> None:
    source, domain = source_of("for (i = 1; i < n; i++) y[i] = i;"), "[n] -> { S0[i] : 0 < i < n }"
    plain = optimize(source, Options(parallel=False, simd=False)).text
    assert (
        replayed(tree("[n] -> [{ S0[i] -> [(i)] }]", domain), tmp_path, source, parallel=False, simd=False).text
        == plain
    )
    backwards = replayed(tree("[n] -> [{ S0[i] -> [(-i)] }]", domain), tmp_path, source, parallel=False, simd=False)
    assert backwards.regions[0].transformed
    assert backwards.text != plain


def test_claims_are_not_believed(tmp_path: Path) -> None:
    text = replayed(tree(BANDS, more="  permutable: 1\n  coincident: [ 1, 1 ]\n"), tmp_path, tile=False).text
    assert b"omp" not in text


def test_empty_documents_leave_regions_to_the_scheduler(tmp_path: Path) -> None:
    plain = optimize(TWO)
    assert [region.transformed for region in plain.regions] == [True, False]
    for text in ("---\n---\n", "---\nnull\n---\n~\n"):
        assert replayed(text, tmp_path, TWO).text == plain.text
    mixed = replayed(tree(SWAPPED) + "---\n", tmp_path, TWO)
    assert "(j)] }, { S0[i, j] -> [(i)" in mixed.regions[0].proposal


def test_a_document_for_each_region(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.yaml: error: 1 schedule for 2 regions"):
        replayed(tree(BANDS), tmp_path, TWO)
    with pytest.raises(InputError, match=r"missing\.yaml: No such file"):
        optimize(TWO, Options(schedule_file=str(tmp_path / "missing.yaml")))


def test_an_illegal_schedule_names_dependence_and_pair(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        replayed(tree("[n] -> [{ S0[i, j] -> [(-j)] }, { S0[i, j] -> [(i)] }]"), tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 's.yaml'}:3:1: error: illegal schedule: flow dependence over 'A'")
    assert "S0[1, 1] → S0[1, 2]" in message
    assert "(region at <stdin>:5)" in message


def test_legality_is_checked_without_verification_too(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(tree("[n] -> [{ S0[i, j] -> [(0)] }]"))
    with pytest.raises(InputError, match="illegal schedule"):
        optimize(source_of(BODY), Options(schedule_file=str(file), verify="off"))


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ("[n] -> { S0[i, j] : 0 < i < n and 0 < j < n; S1[] }", "has no statement 'S1', only S0"),
        ("{ }", r"the domain lacks statement S0 \(line 6: A\[i\]\[j\] = "),
        ("[n] -> { S0[i] : 0 < i < n }", r"S0 has 1 iterator here and 2 in the region: S0\[i, j\]"),
        ("[n] -> { S0[i, j] : 0 < i < n and 1 < j < n }", r"lacks instances of S0, for one S0\[\d+, 1\]"),
        ("[n] -> { S0[i, j] : 0 < i < n and 0 < j <= n }", "instances of S0 that the region does not run"),
    ],
)
def test_the_domain_is_the_regions(domain: str, message: str) -> None:
    scop = scop_of(BODY)
    (given,) = parse_schedules(f'---\ndomain: "{domain}"\n', "s.yaml")
    assert given is not None
    with pytest.raises(InputError, match=rf"^s\.yaml:2:9: error: .*{message}"):
        checked_tree(scop, dependences(scop), given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (halves("i < 4", "i > 4"), r"leaves instances out .* S0\[4, \d+\]"),
        (halves("i <= 4", "i >= 4"), "runs instances of S0 more than once"),
        (halves("i > 4", "i <= 4"), "illegal schedule"),
        (tree("[n] -> [{ S0[i, j] -> [(i)] : j > 3 }, { S0[i, j] -> [(j)] }]"), "leaves instances out"),
    ],
)
def test_each_instance_runs_once_and_in_order(text: str, message: str) -> None:
    scop = scop_of(BODY)
    (given,) = parse_schedules(text, "s.yaml")
    assert given is not None
    with pytest.raises(InputError, match=message):
        checked_tree(scop, dependences(scop), given)


def test_filters_split_a_domain() -> None:
    scop = scop_of(BODY)
    (given,) = parse_schedules(halves("i < 4", "i >= 4"), "s.yaml")
    assert given is not None
    assert checked_tree(scop, dependences(scop), given).get_domain().is_equal(scop.domain)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("domain: [\n", "2:1", "expected the node content"),
        ("- 1\n", "1:1", "not a node of a schedule tree"),
        ("child: {}\n", "1:1", "begins with its `domain`"),
        ('domain: "{ S0[] "\n', "1:9", "not a union of sets"),
        (f'domain: "{DOMAIN}"\nchild:\n  schedul: "x"\n', "3:3", "unknown key `schedul`"),
        (f'domain: "{DOMAIN}"\nchild:\n  mark: "loop0"\n', "3:3", "--emit=schedule-final"),
        (f'domain: "{DOMAIN}"\nchild:\n  permutable: 1\n', "3:3", "a node is one of"),
        (f'domain: "{DOMAIN}"\nchild:\n  sequence: []\n', "3:13", "not a list of `filter` nodes"),
        (f'domain: "{DOMAIN}"\nchild:\n  sequence:\n  - schedule: "{BANDS}"\n', "4:5", "is a `filter` node"),
        (f'domain: "{DOMAIN}"\ndomain: "{DOMAIN}"\n', "2:1", "stands here twice"),
        (tree("[{ S0[i, j] -> [(i + n)] }]"), "5:13", "are all parameters named"),
        (tree(BANDS, more="  coincident: [ 1 ]\n"), "6:15", "a list of 2"),
        (tree(BANDS, more="  permutable: yes\n"), "6:15", "neither 0 nor 1"),
    ],
)
def test_errors_have_a_place(text: str, place: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_schedules(text, "s.yaml")
    assert str(caught.value).startswith(f"s.yaml:{place}: error: ")
    assert message in str(caught.value)
    assert capfd.readouterr().err == ""
