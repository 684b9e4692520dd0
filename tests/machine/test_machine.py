"""The machine model: its default, files that describe others, and what the running system tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import fields, replace

from scopt import cli
from scopt.diagnostics import InputError
from scopt.machine import Cache, Machine
from scopt.machine.machine_file import machine_text, parse_machine, read_machine
from scopt.machine.machine_native import native_machine

CPUINFO = """processor\t: 0
cpu MHz\t\t: 2596.098
flags\t\t: fpu sse2 avx avx2 {more}
TLB size\t: 3072 4K pages

processor\t: 1
flags\t\t: none
"""


def system(root: Path, more: str = "", caches: tuple[tuple[str, str, str, str, str, str], ...] = ()) -> Path:
    """A root folder with the files that Linux would have. caches: type, level, size, ways, line, list of processors."""
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(CPUINFO.format(more=more))
    for number, values in enumerate(caches):
        index = root / f"sys/devices/system/cpu/cpu2/cache/index{number}"
        index.mkdir(parents=True)
        for name, value in zip(
            ("type", "level", "size", "ways_of_associativity", "coherency_line_size", "shared_cpu_list"),
            values,
            strict=True,
        ):
            (index / name).write_text(value + "\n")
    return root


L1 = ("Data", "1", "48K", "12", "64", "2")
CODE = ("Instruction", "1", "32K", "8", "64", "2")
L2 = ("Unified", "2", "2048K", "16", "64", "2,34")
L3 = ("Unified", "3", "105M", "15", "64", "0-27,56-83")


# --- values -----------------------------------------------------------------------------------------------------------


def test_the_default_does_not_depend_on_the_host() -> None:
    assert Machine().caches[0] == Cache(32 << 10, 8, 64, 1)
    assert (Machine().cache(3).share, Machine().cache(9)) == (4 << 20, Machine().cache(3))
    assert (Machine().lanes(8), Machine().lanes(4), Machine().lanes(1000)) == (8, 16, 1)


@pytest.mark.parametrize("field", [field.name for field in fields(Machine) if field.name != "caches"])
@pytest.mark.parametrize("value", [0, -1, True, "1", float("nan")])
def test_senseless_values_are_rejected(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        replace(Machine(), **{field: value})  # type: ignore[arg-type]


def test_senseless_caches_are_rejected() -> None:
    first, second, _ = Machine().caches
    for caches in ((), (second, first), (Cache(64, 2),), (Cache(96, 1, 48),)):
        with pytest.raises(ValueError, match=r"^caches"):
            Machine(caches=caches)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine", [Machine(), Machine(cores=3, gigahertz=2.7, bandwidth=41.5, caches=(Cache(1000, 3, 32, 2),))]
)
def test_round_trip(machine: Machine) -> None:
    assert parse_machine(machine_text(machine)) == machine


def test_what_a_file_leaves_out_is_the_defaults() -> None:
    assert parse_machine("") == Machine()
    assert parse_machine("cores = 2\n[[cache]]\nsize = 65536\nassociativity = 4") == Machine(
        cores=2, caches=(Cache(65536, 4),)
    )


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("cores = 4\n  colour = 3\n", ":2:3", "unknown key 'colour'"),
        ("cores = 4\n[[cache]]\nsize = 65536\nassociativity = 4\nways = 3\n", ":5:1", "unknown key 'ways'"),
        ("cores = 0", ":1:1", "cores: 0 is not"),
        ("\nstreams = -1", ":2:1", "streams: -1 is not"),
        ("bandwidth = '20'", ":1:1", "bandwidth: '20' is no"),
        (
            "[[cache]]\nsize = 65536\nassociativity = 4\n[[cache]]\nassociativity = 4\n size = 0",
            ":6:2",
            "size: 0 is not",
        ),
        (
            "[[cache]]\nsize = 65536\nassociativity = 4\n[[cache]]\nassociativity = 4\nsize = 1024",
            ":6:1",
            "size: not larger",
        ),
        ("cores = 4\n[[cache]]\nsize = 65536", ":2:1", "the cache has no associativity"),
        ("cache = 3", ":1:1", "caches are tables"),
        ("cache = []", ":1:1", "cache: there has to be one"),
        ("[cores]\nx = 1", ":1:1", "cores: "),
        ("cores = 4\ncores = 5", ":2:10", "Cannot overwrite a value"),
        ("cores = ", ":1:9", "Invalid value"),
    ],
)
def test_errors_in_files_have_their_place(text: str, place: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_machine(text, "m.toml")
    assert str(error.value).startswith(f"m.toml{place}: error: {message}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name in ("missing", "bytes"):
        with pytest.raises(InputError, match=name):
            read_machine(str(tmp_path / name))


# --- the running system -----------------------------------------------------------------------------------------------


def test_what_linux_tells(tmp_path: Path) -> None:
    native = native_machine(system(tmp_path, "avx512f", (L1, CODE, L2, L3)), frozenset({2, 3, 9}), 4096)
    caches = (Cache(48 << 10, 12), Cache(2 << 20, 16, shared=2), Cache(105 << 20, 15, shared=56))
    wanted = Machine(
        cores=3, vector_bytes=64, vector_registers=32, gigahertz=2.6, caches=caches, tlb_entries=3072, page_bytes=4096
    )
    assert native.machine == wanted
    assert "caches" in native.found
    assert set(native.assumed) == {
        "fma_per_cycle",
        "fma_latency",
        "division_latency",
        "streams",
        "bandwidth",
        "fork_nanoseconds",
    }
    assert "48 KiB/12-way" in native.text()


def test_narrower_vectors(tmp_path: Path) -> None:
    machine = native_machine(system(tmp_path), frozenset({2}), 4096).machine
    assert (machine.vector_bytes, machine.vector_registers) == (32, 16)


@pytest.mark.parametrize(
    "broken",
    [
        (("Data", "1", "", "8", "64", "2"),),
        (("Data", "1", "32K", "x", "64", "2"),),
        (("Data", "1", "0K", "8", "64", "2"),),
        (("Data", "1", "32K", "8", "0", "2"),),
        (L2, ("Unified", "3", "1K", "1", "64", "2")),
    ],
)
def test_caches_that_make_no_sense_are_the_defaults(
    tmp_path: Path, broken: tuple[tuple[str, str, str, str, str, str], ...]
) -> None:
    native = native_machine(system(tmp_path, caches=broken), frozenset({2}), 4096)
    assert native.machine.caches == Machine().caches
    assert "caches" in native.assumed


def test_a_fully_associative_cache_and_an_odd_list(tmp_path: Path) -> None:
    native = native_machine(system(tmp_path, caches=(("Unified", "1", "4K", "0", "64", "odd"),)), frozenset({2}), 4096)
    assert native.machine.caches == (Cache(4096, 64),)


def test_other_systems_tell_nothing(tmp_path: Path) -> None:
    native = native_machine(tmp_path, frozenset(), 0)
    assert (native.machine, native.found) == (Machine(), ())
    assert native.text().startswith("nothing could be read")


# --- the command ------------------------------------------------------------------------------------------------------


def test_print_machine_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    assert cli.main(["--machine", "native", "--print-machine", "-o", str(path)]) == cli.DONE
    assert read_machine(str(path)) == native_machine().machine


def test_a_broken_file_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.toml"
    path.write_text("cores = 0")
    assert cli.main(["--machine", str(path), "in.c"]) == cli.UNUSABLE
    assert capsys.readouterr().err == f"{path}:1:1: error: cores: 0 is not between 1 and 2^50\n"


def test_a_run_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--machine", "native"])
    assert "required: FILE" in capsys.readouterr().err


def test_native_is_told_in_a_remark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.c"
    path.write_text("int x;\n")
    assert cli.main(["--machine", "native", str(path), "-o", str(tmp_path / "out.c")]) == cli.DONE
    assert "[machine.native]" in capsys.readouterr().err
    assert cli.main([str(path), "-o", str(tmp_path / "out.c")]) == cli.DONE
    assert "[machine.native]" not in capsys.readouterr().err
