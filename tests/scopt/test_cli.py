"""The command: arguments, files, remarks, exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scopt import cli, pipeline
from scopt.command.option_values import processors
from scopt.diagnostics import InputError, Remark
from scopt.options import Options

GOOD = b"""#define N 100
double A[N], B[N];
void f(void)
{
#pragma scop
    for (int i = 0; i < N; i++)
        A[i] = 2.0 * B[i];
#pragma endscop
}
"""
# An unknown call refuses the region.
REFUSED = GOOD.replace(b"2.0 * B[i]", b"unknown(B[i])").replace(b"void f", b"double unknown(double);\nvoid f")


class _Streams:
    """stdin, stdout and stderr of one call, as bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, source: bytes = b"") -> None:
        self.stdin, self.stdout, self.stderr = (
            io.TextIOWrapper(io.BytesIO(start), write_through=True) for start in (source, b"", b"")
        )
        for name in ("stdin", "stdout", "stderr"):
            monkeypatch.setattr(sys, name, getattr(self, name))

    @property
    def out(self) -> bytes:
        return self.stdout.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]

    @property
    def err(self) -> str:
        return self.stderr.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """The options that reach `optimize`, which then does nothing."""
    options: list[Options] = []

    def record(source: bytes, given: Options, *, file: str) -> pipeline.Result:
        options.append(given)
        raise InputError("stop here")

    monkeypatch.setattr(pipeline, "optimize", record)
    return options


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.c"
    file.write_bytes(GOOD)
    return file


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    file = tmp_path / "refused.c"
    file.write_bytes(REFUSED)
    return file


# --- arguments ---


def test_compiler_flags_keep_their_order_joined_or_apart(seen: list[Options], good: Path) -> None:
    given = [
        "-I",
        "x",
        "-DN=3",
        str(good),
        "-Iy",
        "-D",
        "M=4",
        "-U",
        "K",
        "-std=gnu11",
        "-include",
        "a.h",
        "-isystem",
        "s",
        "-iquote",
        "q",
    ]
    cli.main([*given, "-fopenmp", "-march=native"])
    expected = (
        "-Ix",
        "-DN=3",
        "-Iy",
        "-DM=4",
        "-UK",
        "-std=gnu11",
        "-include",
        "a.h",
        "-isystem",
        "s",
        "-iquote",
        "q",
        "-fopenmp",
        "-march=native",
    )
    assert seen[0].cpp_flags == expected


def test_flags_that_change_nothing_here_are_taken_and_ignored(seen: list[Options], good: Path) -> None:
    cli.main(["-O3", "-g", "-Wall", "-Wno-unused", str(good)])
    assert seen[0].cpp_flags == ()


def test_options_are_passed_on(seen: list[Options], good: Path) -> None:
    words = "--cc clang --autodetect --scheduler identity --tile-size 32,64 --no-parallel --no-simd".split()
    cli.main([*words, "-j1", str(good)])
    cli.main(["--verify=schedule", "--budget", "2.5", "--jobs=7", str(good)])
    cli.main(["--schedule", "s.yaml", "--explain", "-j", "1", str(good)])
    passes = Options(cc="clang", autodetect=True, scheduler="identity", tile_sizes=(32, 64), parallel=False, simd=False)
    limited, explained = Options(verify="schedule", budget=2.5, jobs=7), Options(schedule_file="s.yaml", explain=True)
    assert seen == [passes, limited, explained]


def test_defaults_are_those_of_options(seen: list[Options], good: Path) -> None:
    cli.main([str(good)])
    cli.main([str(good), "--tile-size=none"])
    assert seen[0] == Options(jobs=processors())
    assert (seen[1].tile, seen[1].tile_sizes) == (False, ())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "FILE"),
        (["a.c", "--tile-size", "0"], "'0' is neither a list"),
        (["a.c", "--tile-size", "3,x"], "'3,x' is neither a list"),
        (["a.c", "--budget", "-1"], "--budget: '-1' is not a number of seconds"),
        (["a.c", "--budget", "nan"], "'nan' is not a number of seconds"),
        (["a.c", "--verify", "hope"], "'hope'"),
        (["a.c", "--emit", "fortran"], "'fortran'"),
        (["a.c", "--schedule"], "--schedule"),
        (["a.c", "--scheduler", "best"], "there is no scheduler 'best', only isl, pluto, feautrier, identity"),
        (["a.c", "--frobnicate"], "--frobnicate"),
        (["a.c", "-D"], "argument -D: expected one argument"),
    ],
)
def test_wrong_arguments_are_told_in_short(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("scopt: error: ")
    assert error.count("\n") == 2


def test_help_names_every_option_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    compiler = "-I -D -U -std -include -isystem -iquote --cc".split()
    loops = "--autodetect --scheduler --tile-size --no-parallel --no-simd --verify --budget".split()
    others = ("-o", "--strict", "--remarks", "-q, --quiet", "--version", "--emit", "--explain", "--schedule FILE")
    for option in (*compiler, *loops, *others):
        assert f"\n  {option}" in text
    assert "exit codes:" in text
    assert max(map(len, text.splitlines())) <= 100


def test_version_is_quick_and_needs_no_isl() -> None:
    code = (
        "import sys; from scopt import cli\ntry: cli.main(['--version'])\n"
        "finally: assert not {'islpy', 'pycparser', 'cgen'} & set(sys.modules)"
    )
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds.append(time.perf_counter() - start)
    assert ran.stdout.startswith("scopt ")
    assert min(seconds) < 0.3


# --- files ---


def test_output_goes_to_a_file_or_to_stdout(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "out.c"
    assert cli.main([str(good), "-o", str(output), "-q"]) == 0
    streams = _Streams(monkeypatch)
    assert cli.main([str(good), "-q"]) == 0
    assert streams.out == output.read_bytes() != GOOD
    assert b"#pragma omp" in streams.out


def test_stdin_and_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch, GOOD)
    assert cli.main(["-", "-o", "-"]) == 0
    assert b"#pragma omp" in streams.out
    assert "<stdin>:5: remark: " in streams.err


def test_the_input_may_be_the_output(good: Path, tmp_path: Path) -> None:
    assert cli.main([str(good), "-o", str(good), "-q"]) == 0
    assert b"#pragma omp" in good.read_bytes()
    assert list(tmp_path.iterdir()) == [good]


def test_a_missing_file_is_unusable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    output = tmp_path / "out.c"
    assert cli.main([str(tmp_path / "missing.c"), "-o", str(output)]) == 2
    assert streams.err == f"scopt: error: {tmp_path / 'missing.c'}: No such file or directory\n"
    assert not output.exists()


def test_a_syntax_error_is_unusable_and_told_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = tmp_path / "bad.c", tmp_path / "out.c"
    file.write_text("int f(void)\n{\n    return 1 +;\n}\n")
    output.write_text("as it was")
    streams = _Streams(monkeypatch)
    assert cli.main([str(file), "-o", str(output)]) == 2
    assert f"{file}:3:" in streams.err
    assert "error" in streams.err
    assert output.read_text() == "as it was"


def test_an_output_that_cannot_be_written_is_told(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    assert cli.main([str(good), "-o", str(tmp_path / "no" / "out.c")]) == 2
    assert f"scopt: error: {tmp_path / 'no' / 'out.c'}: No such file or directory" in streams.err


# --- schedules and explanations ---


def test_emitted_schedules_can_be_given_back(good: Path, tmp_path: Path) -> None:
    plain, trees, output = tmp_path / "plain.c", tmp_path / "s.yaml", tmp_path / "out.c"
    assert cli.main([str(good), "-o", str(plain), "-q"]) == 0
    assert cli.main([str(good), "--emit=schedule", "-o", str(trees), "-q"]) == 0
    assert cli.main([str(good), "--schedule", str(trees), "-o", str(output), "-q"]) == 0
    assert output.read_bytes() == plain.read_bytes() != GOOD


def test_emitted_schedules_have_a_document_for_each_region(refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused.write_bytes(REFUSED + GOOD.replace(b"void f", b"void g").split(b"B[N];\n")[1])
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused), "--emit=schedule", "-q"]) == 0
    assert streams.out.startswith(f"# {refused}:6: left as it was\n---\n# {refused}:13\n#   S0, line 15: ".encode())
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused), "--emit=schedule-final", "-q"]) == 0
    assert streams.out.count(b"\n---\n") == 2
    assert b"mark: " in streams.out


def test_an_illegal_schedule_writes_nothing(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good.write_bytes(GOOD.replace(b"int i = 0", b"int i = 1").replace(b"2.0 * B[i]", b"A[i - 1]"))
    trees, output = tmp_path / "s.yaml", tmp_path / "out.c"
    assert cli.main([str(good), "--emit=schedule", "-o", str(trees), "-q"]) == 0
    trees.write_text(trees.read_text().replace("(i)", "(-i)"))
    streams = _Streams(monkeypatch)
    assert cli.main([str(good), "--schedule", str(trees), "-o", str(output), "--explain"]) == 2
    assert streams.err.startswith(f"{trees}:4:1: error: illegal schedule: flow dependence over 'A'")
    assert streams.err.count("\n") == 1
    assert streams.out == b""
    assert not output.exists()


def test_where_an_explanation_goes(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, output = f"{good}:5: SCoP of 1 statement;", tmp_path / "out.c"
    streams = _Streams(monkeypatch)
    assert cli.main([str(good), "--explain", "-q"]) == 0
    assert (streams.out.decode().startswith(head), b"#pragma" in streams.out, streams.err) == (True, False, "")
    streams = _Streams(monkeypatch)
    assert cli.main([str(good), "--explain", "-q", "-o", str(output)]) == 0
    assert (streams.out.decode().startswith(head), b"#pragma omp" in output.read_bytes()) == (True, True)
    for arguments, content in ((["-o", "-"], b"#pragma omp"), (["--emit=schedule"], b"domain: ")):
        streams = _Streams(monkeypatch)
        assert cli.main([str(good), "--explain", "-q", *arguments]) == 0
        assert (streams.err.startswith(head), content in streams.out) == (True, True)


def test_a_refused_region_is_explained_by_its_remark(refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused), "--explain", "-q"]) == 0
    assert streams.out.decode().startswith(f"{refused}:6: left as it was:\n  {refused}:8:")


# --- remarks and exit codes ---


def test_a_refused_region_stays_and_is_told(refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused)]) == 0
    assert streams.out == REFUSED
    assert f"{refused}:8:" in streams.err
    assert ": remark: " in streams.err


def test_strict_fails_for_a_refused_region_only(
    refused: Path, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = _Streams(monkeypatch)
    output = tmp_path / "out.c"
    assert cli.main([str(refused), "--strict", "-o", str(output)]) == 1
    assert output.read_bytes() == REFUSED
    assert cli.main([str(good), "--strict", "-o", str(output)]) == 0
    plain = tmp_path / "plain.c"
    plain.write_text("int main(void) { return 0; }\n")
    assert cli.main([str(plain), "--strict", "-o", str(output)]) == 0
    assert output.read_text() == plain.read_text()
    assert streams.out == b""


def test_json_remarks_are_one_array(refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused), "--remarks=json"]) == 0
    remarks = json.loads(streams.err)
    missed = next(remark for remark in remarks if remark["kind"] == "missed")
    assert missed["location"]["file"] == str(refused)
    assert missed["location"]["line"] == 8
    assert set(missed) == {"kind", "id", "message", "location", "hint", "function"}


def test_quiet_says_nothing(refused: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    streams = _Streams(monkeypatch)
    assert cli.main([str(refused), "-q", "--remarks=json"]) == 0
    assert streams.err == ""


def test_an_internal_error_costs_nobody_their_file(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: bytes, options: Options, *, file: str) -> pipeline.Result:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(pipeline, "optimize", fail)
    streams = _Streams(monkeypatch)
    output = tmp_path / "out.c"
    assert cli.main([str(good), "-o", str(output), "--remarks=json"]) == 0
    assert output.read_bytes() == GOOD
    (remark,) = json.loads(streams.err)
    assert remark["id"] == "internal.error"
    assert "ZeroDivisionError: oh" in remark["message"]
    assert cli.main([str(good), "-o", str(output), "--strict", "-q"]) == 1


def test_interrupts_are_quiet(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(source: bytes, options: Options, *, file: str) -> pipeline.Result:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "optimize", interrupt)
    streams = _Streams(monkeypatch)
    assert cli.main([str(good)]) == 130
    assert streams.err == "scopt: interrupted\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_traceback(unbuffered: str, tmp_path: Path) -> None:
    file = tmp_path / "large.c"
    file.write_bytes(GOOD + b"/* " + b"x" * 1_000_000 + b" */\n")
    command = f"PYTHONUNBUFFERED={unbuffered} '{sys.executable}' -m scopt '{file}' -q | head -c 10"
    root = Path(cli.__file__).parent.parent
    ran = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, cwd=root, check=True
    )
    assert ran.stdout.split()[-1] == "141"
    assert ran.stderr == ""


def test_a_process_that_ends_at_once_has_written_all(good: Path) -> None:
    code = f"import sys; from scopt import cli; sys.argv = ['scopt', {str(good)!r}]; cli.main(); print('not reached')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert ended.returncode == cli.DONE
    assert ended.stdout.startswith(good.read_bytes()[:5])
    assert b"not reached" not in ended.stdout
    assert b"region.transformed" in ended.stderr


def test_what_the_last_flush_cannot_write_is_told() -> None:
    code = "import sys; from scopt import cli; sys.stdout.write('text'); cli._end_process(0)"
    with open("/dev/full", "w") as full:
        ended = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode != 0
    assert b"No space left" in ended.stderr


def test_the_module_runs_as_the_command(good: Path) -> None:
    root = Path(cli.__file__).parent.parent
    ran = subprocess.run([sys.executable, "-m", "scopt", str(good), "-q"], capture_output=True, cwd=root, check=True)
    assert b"#pragma omp" in ran.stdout


def test_remarks_as_text_have_place_and_id() -> None:
    from scopt.diagnostics import Location

    remark = Remark("missed", "a.b", "no", Location("f.c", 3, 4), "do it")
    assert remark.text() == "f.c:3:4: remark: no (do it) [a.b]"
