"""`--check`: loops that were optimized have to stay so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scopt import cli
from scopt.diagnostics import InputError, Location
from scopt.loop_list import Loop, check, read_list, update
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.gains import Gain
from scopt.tell.results import RegionResult, Result
from tests.sources import source_of

ROOT = Path(__file__).parents[2]
BOTH = source_of("for (i = 0; i < n; i++) x[i] = 2 * y[i];")
VECTOR_LOST = source_of("for (i = 0; i < n; i++) x[i] = i ? x[i - 1] : 2 * y[i];")
REFUSED = source_of("for (i = 0; i < n; i++) x[i] = g(y[i]);", before="double g(double);")


def result(*got: tuple[str, ...], function: str = "f") -> Result:
    """One region with a loop for each."""
    gains = tuple(Gain(Location("a.c", 3 + k, 1), k + 1, "i", one) for k, one in enumerate(got))
    return Result(b"", (), (RegionResult(Location("a.c", 2), True, True, gains=gains, function=function),), {})


# --- what loops get ---


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (i = 0; i < n; i++) x[i] = 0;", [(1, "i", ("parallel", "vector"))]),
        ("for (i = 1; i < n; i++) x[i] = x[i - 1] + y[i];", [(1, "i", ())]),
        (
            "for (i = 1; i < n; i++) x[i] += x[i - 1];\nfor (j = 0; j < m; j++) y[j] = 0;",
            [(1, "i", ()), (2, "j", ("parallel", "vector"))],
        ),
        (
            "for (i = 0; i < n; i++) { for (j = 0; j < m; j++) A[i][j] = 0; }\nfor (k = 0; k < n; k++) x[k] = 0;",
            [(1, "i", ("parallel", "vector")), (3, "k", ("parallel", "vector"))],
        ),
        (
            "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j];",
            [(1, "i", ("parallel", "vector"))],
        ),
    ],
)
def test_gains(body: str, expected: list[tuple[int, str, tuple[str, ...]]]) -> None:
    (region,) = optimize(source_of(body), Options(), file="in.c").regions
    assert [(gain.number, gain.iterator, gain.got) for gain in region.gains] == expected
    assert region.function == "f"


def test_a_loop_gets_nothing_that_was_not_asked_for() -> None:
    (region,) = optimize(BOTH, Options(parallel=False), file="in.c").regions
    assert [gain.got for gain in region.gains] == [("vector",)]


# --- lists ---


def test_a_list_is_written_and_read(tmp_path: Path) -> None:
    path, file = tmp_path / "loops", tmp_path / "src" / "a b.c"
    assert update(str(path), [str(file)], lambda _: result(("parallel", "vector"), ())) == 2
    assert read_list(str(path)) == (
        Loop("src/a b.c", "f", 1, "i", ("parallel", "vector")),
        Loop("src/a b.c", "f", 2, "i", ("transformed",)),
    )
    assert path.read_text().splitlines()[-1] == "'src/a b.c' f 2 i transformed"


def test_an_update_keeps_other_files_and_drops_loops_that_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "loops"
    path.write_text("a.c f 1 i parallel\na.c f 9 i vector\nb.c g 1 i vector\n")
    update(str(path), [str(tmp_path / "a.c")], lambda _: result(("vector",)))
    assert [one.text() for one in read_list(str(path))] == ["a.c f 1 i vector", "b.c g 1 i vector"]


def test_what_a_loop_lost_is_an_error_and_what_it_gained_a_note(tmp_path: Path) -> None:
    path, file = tmp_path / "loops", str(tmp_path / "a.c")
    path.write_text("a.c f 1 i parallel vector\na.c f 2 i transformed\na.c f 3 i vector\na.c f 4 i vector\n")
    verdict = check(str(path), [file], lambda _: result(("vector",), ("parallel",), ("vector",)))
    first, second = verdict.lost
    assert first.splitlines()[0] == f"{file}:3: error: loop 1 of 'f', over 'i', was parallel, and now is vector only"
    assert second.splitlines()[0] == f"{file}: error: loop 4 of 'f', over 'i', was vector, and now is left as it is"
    (note,) = verdict.gained
    assert note.startswith(f"{file}:4: note: loop 2 of 'f'")
    assert verdict.checked == (4, 1)


def test_only_the_given_files_are_looked_at_or_all_of_the_list(tmp_path: Path) -> None:
    path = tmp_path / "loops"
    path.write_text("a.c f 1 i vector\nsub/b.c f 1 i vector\n")
    seen: list[str] = []

    def optimized(file: str) -> Result:
        seen.append(file)
        return result(("vector",))

    check(str(path), [str(tmp_path / "a.c"), str(tmp_path / "other.c")], optimized)
    assert seen == [str(tmp_path / "a.c")]
    check(str(path), [], optimized)
    assert seen[1:] == [str(tmp_path / "a.c"), str(tmp_path / "sub" / "b.c")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.c f one i vector", "loops:2: error: not a loop"),
        ("a.c f 1", "loops:2: error: not a loop"),
        ("'a.c f 1 i vector", "loops:2: error: not a loop"),
        ("a.c f 1 i", "loops:2: error: a loop gets transformed, parallel, vector, not nothing"),
        ("a.c f 1 i fast", "not fast"),
    ],
)
def test_a_list_that_cannot_be_read_has_a_place(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "loops"
    path.write_text(f"# a comment\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_list(str(path))


# --- the command ---


def test_check_and_update(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, one, two = tmp_path / "loops", tmp_path / "one.c", tmp_path / "two.c"
    one.write_bytes(BOTH)
    two.write_bytes(BOTH)
    run = ["--check", str(path), str(one), "--no-register-tile", str(two)]
    assert cli.main(run) == 2
    assert "write it with --update" in capsys.readouterr().err
    assert cli.main([*run, "--update"]) == 0
    assert [loop.got for loop in read_list(str(path))] == [("parallel", "vector")] * 2
    assert cli.main(run) == 0
    capsys.readouterr()
    two.write_bytes(REFUSED)
    assert cli.main([*run, "-q"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{two}: error: loop 1 of 'f', over 'i', was parallel and vector, and now is left as it is" in captured.err
    assert "call.unknown" in captured.err
    assert str(one) not in captured.err
    two.write_bytes(VECTOR_LOST)
    assert cli.main([*run, "-q"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--update", "a.c"], "only with --check"),
        (["a.c", "b.c"], "one FILE at a time"),
        (["--check", "l", "-"], "--check"),
        (["--check", "l", "a.c", "-o", "b.c"], "--check"),
        (["--check", "l", "a.c", "--report", "b.html"], "--check"),
    ],
)
def test_what_does_not_go_together_is_told(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_files_may_stand_among_options_and_after_two_dashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.c", "b.c", "-q.c"):
        Path(name).write_bytes(BOTH)
    assert cli.main(["a.c", "--check", "loops", "-q", "b.c", "--update", "--", "-q.c"]) == 0
    assert [loop.file for loop in read_list("loops")] == ["-q.c", "a.c", "b.c"]


def test_the_hook_runs_the_check() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "scopt"
    assert hook["args"][0] == "--check"
    assert hook["language"] == "python"
