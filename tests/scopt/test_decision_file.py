"""Decision files: written, replayed as a whole and in part, and refused with the place of what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scopt.decision_file import RANDOM, parse_decisions
from scopt.diagnostics import InputError
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.results import Result
from tests.sources import source_of

PRODUCT = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j];"
COPY = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 2 * B[i][j];"
SUMS = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < n; j++) s += A[i][j]; y[i] = s; }"
STENCIL = "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) x[i] = 0.5 * (x[i - 1] + x[i + 1]);"


def decided(body: str) -> Result:
    return optimize(source_of(body), Options(tell_decisions=True))


def replayed(text: str, tmp_path: Path, body: str) -> Result:
    file = tmp_path / "d.yaml"
    file.write_text(text)
    return optimize(source_of(body), Options(decisions=str(file), tell_decisions=True))


def answers(result: Result) -> dict[tuple[str, str, int], str]:
    """What was decided about the only region."""
    (document,) = parse_decisions(result.regions[0].decisions, "d.yaml")
    return dict(document.answers) if document is not None else {}


@pytest.mark.parametrize("body", [PRODUCT, COPY, SUMS, STENCIL])
def test_what_was_decided_makes_the_same_text_again(body: str, tmp_path: Path) -> None:
    plain, told = optimize(source_of(body)), decided(body)
    assert told.text == plain.text
    again = replayed(told.regions[0].decisions, tmp_path, body)
    assert (again.text, again.regions[0].decisions) == (told.text, told.regions[0].decisions)


def test_the_model_decides_what_a_list_leaves_out(tmp_path: Path) -> None:
    other = replayed("- {decide: mechanism, of: S0, take: plain loops}", tmp_path, PRODUCT)
    found = answers(other)
    assert found["mechanism", "S0", 1] == "plain loops"
    assert answers(decided(PRODUCT))["mechanism", "S0", 1] == "register tiles"
    assert b"scopt_tile" not in other.text
    assert other.regions[0].transformed
    order = replayed(
        "- {decide: mechanism, of: S0, take: plain loops}\n- {decide: innermost loop, of: S0, take: k}",
        tmp_path,
        PRODUCT,
    )
    assert answers(order)["innermost loop", "S0", 1] == "k"
    assert order.text != other.text


def test_tiles_have_the_size_that_was_decided(tmp_path: Path) -> None:
    text = "- {decide: tiles, of: S0, take: all}\n- {decide: tile size, of: S0, take: 128}"
    assert b"128" in replayed(text, tmp_path, COPY).text
    assert b"128" not in decided(COPY).text


def test_chance_takes_any_legal_decisions_and_the_same_ones_again() -> None:
    texts = [optimize(source_of(PRODUCT), Options(decisions=RANDOM, seed=seed)).text for seed in (1, 2, 3, 4, 5, 1)]
    assert texts[0] == texts[-1]
    assert len(set(texts)) > 2


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("{decide: order}", "1:1", "not a list of decisions"),
        ("- 3", "1:3", "not a decision"),
        ("- {decide: order}", "1:3", "a decision has a `take`"),
        ("- {decide: order, take: source, why: x}", "1:33", "unknown key `why`"),
        ("- {decide: order, take: [source]}", "1:25", "`take` is a word or a number"),
        ("- {decide: order, number: 0, take: source}", "1:27", "`number` counts from 1"),
        ("- {decide: order, take: source}\n- {decide: order, take: source}", "2:3", "this was decided before"),
        (
            "- {decide: mechanism, of: S0, take: magic}",
            "1:3",
            "'magic' can't be taken here; what can: 'register tiles'",
        ),
        ("- {decide: mechanism, of: S7, take: plain loops}", "1:3", "'mechanism' is not asked of S7, but of S0"),
        ("- {decide: colour, take: red}", "1:3", "'colour' is not asked here; what is: "),
        ("- {decide: mechanism, of: S0, number: 2, take: x}", "1:3", "is asked fewer than 2 times"),
        ("- {decide: order,", "1:18", "expected the node content"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        replayed(text, tmp_path, PRODUCT)
    assert f"d.yaml:{place}: error: " in str(error.value)
    assert message in str(error.value)


def test_there_is_a_document_for_each_region(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 lists of decisions for 1 region"):
        replayed("--- []\n--- []\n", tmp_path, PRODUCT)
    assert replayed("---\n", tmp_path, PRODUCT).text == decided(PRODUCT).text


def told_cycles(result: Result) -> float:
    found = re.search(r": some ([0-9.e]+) cycles by the model", result.regions[0].decisions)
    assert found is not None
    return float(found[1])


def whole(body: str, decisions: str, tmp_path: Path) -> float:
    file = tmp_path / "d.yaml"
    file.write_text(decisions)
    source = source_of(body).replace(b"100", b"4096")
    return told_cycles(optimize(source, Options(decisions=str(file), tell_decisions=True)))


def test_the_whole_counts_lines_between_the_caches(tmp_path: Path) -> None:
    body = "for (i = 0; i < 4096; i++) for (j = 0; j < 4096; j++) A[i][j] = 2 * B[i][j];"
    alone = "- {decide: innermost loop, of: S0, take: %s}\n- {decide: parallel loop, of: S0, take: none}"
    along, across = (whole(body, alone % innermost, tmp_path) for innermost in "ji")
    assert across > 1.5 * along


def test_the_whole_counts_inner_bands_as_often_as_they_run(tmp_path: Path) -> None:
    nest = "for (i = 0; i < 512; i++) { x[i] = 0; for (j = 0; j < 4096; j++) x[i] += A[i][j] * y[j]; }"
    source = "- {decide: order, take: source}"
    few, many = (whole(nest.replace("512", count), source, tmp_path) for count in ("512", "4096"))
    assert 4 < many / few < 16
