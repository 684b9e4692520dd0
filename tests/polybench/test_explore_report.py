"""The report's numbers by hand-computed cases, and the files that it writes."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.explore import records
from scopt.polybench.explore.curves import (
    Sample,
    Series,
    best_of,
    best_so_far,
    common_kernels,
    compare,
    crossing,
    gain,
    mean_curve,
    shortest,
)
from scopt.polybench.explore.database import Database, open_database
from scopt.polybench.explore.exploration_report import read_exploration, write_report
from scopt.polybench.explore.figures import COLORS, FAINT, PAPER, spread
from scopt.polybench.explore.findings import Exploration, Setting, findings, statuses
from scopt.polybench.explore.records import Baseline, CompilerRecord, Machine, ProgramRecord, Status

SETTING = Setting("CPU", "gcc", "MINI", 2)
MACHINE = Machine("Some <CPU>", 2, "Linux")


def series(walk: str, search: str = "random", **kernels: list[float | None]) -> Series:
    """Samples by their speedups over originals of a second; None: a timeout."""
    return Series(
        walk,
        search,
        {
            kernel: tuple(
                Sample(
                    number,
                    "timeout" if speedup is None else "ok",
                    False,
                    None if speedup is None else 1 / speedup,
                    speedup,
                )
                for number, speedup in enumerate(speedups, 1)
            )
            for kernel, speedups in kernels.items()
        },
    )


def test_best_so_far() -> None:
    assert best_so_far([None, 0.5, 2.0, None, 1.0, 4.0]) == (0.1, 0.5, 2.0, 2.0, 2.0, 4.0)
    assert best_so_far([None, 0.01, None]) == (0.1, 0.01, 0.01)
    assert best_so_far([None, 3.0], floor=1.0) == (1.0, 3.0)
    assert best_so_far([]) == ()


def test_mean_curve_ends_with_the_shortest() -> None:
    assert mean_curve([(1.0, 4.0, 4.0), (4.0, 9.0)]) == pytest.approx((2.0, 6.0))
    assert mean_curve([]) == ()


def test_crossing() -> None:
    assert crossing((0.5, 1.9, 2.0, 2.5), 2.0) == 3
    assert crossing((3.0,), 2.0) == 1
    assert crossing((0.5, 1.9), 2.0) is None


def test_walks_are_compared_on_the_kernels_that_all_have() -> None:
    main = series("bias_coeff_0", gemm=[1.0, 4.0], lu=[1.0, 1.0], mvt=[9.0, 9.0])
    other = series("uniform", lu=[None, 2.0, 8.0], gemm=[0.5, 8.0, 8.0], atax=[])
    kernels = common_kernels((main, other))
    assert kernels == ("gemm", "lu")
    comparison = compare(
        (main, other),
        kernels,
        {"isl": {"gemm": 2.0, "lu": 2.0, "mvt": 5.0}, "polly": {"lu": 1.5}, "pluto": {"mvt": 3.0}},
    )
    assert [line.values for line in comparison.lines] == [
        pytest.approx((1.0, 2.0)),
        pytest.approx((0.05**0.5, 4.0, 8.0)),
    ]
    assert {each.name: (each.kernels, pytest.approx(each.mean)) for each in comparison.references} == {
        "isl": (("gemm", "lu"), 2.0),
        "polly": (("lu",), 1.5),
    }
    # against polly the walks count on lu alone
    assert [{name: each.count for name, each in line.crossings.items()} for line in comparison.lines] == [
        {"isl": 2, "polly": None},
        {"isl": 2, "polly": 2},
    ]


def test_best_of_and_gain() -> None:
    main = series("uniform", gemm=[1.0, 4.0, 16.0], lu=[None, None])
    assert shortest(main) == 2
    best = best_of(main, 2)
    assert best == {"gemm": 4.0, "lu": 0.1}
    over = gain(best, "-O3")
    assert over is not None
    assert (over.mean, over.faster, over.kernels) == (pytest.approx(0.4**0.5), 1, ("gemm", "lu"))
    isl = gain(best, "isl", {"gemm": 8.0, "mvt": 1.0})
    assert isl is not None
    assert (isl.mean, isl.faster, isl.kernels) == (pytest.approx(0.5), 0, ("gemm",))
    assert gain(best, "pluto", {}) is None


def test_main_walk() -> None:
    """The one of the most kernels, then of the most samples."""
    wide, long = series("uniform", gemm=[1.0], lu=[1.0]), series("bias_select_dep", gemm=[1.0] * 9)
    genetic = series("bias_coeff_0", "genetic", gemm=[2.0])
    found = findings(
        Exploration(SETTING, "MINI", {"gemm": 1.0, "lu": 1.0}, {}, (long, genetic, wide, series("bias_coeff_0")))
    )
    assert found.main is wide
    assert found.common is not None
    assert [line.label for line in found.common.lines] == ["uniform", "bias_select_dep", "genetic, bias_coeff_0"]
    assert found.common.kernels == ("gemm",)
    assert found.whole.kernels == ("gemm", "lu")
    with pytest.raises(ValueError, match="no samples"):
        findings(Exploration(SETTING, "MINI", {}, {}, (series("uniform"),)))


def test_spread() -> None:
    assert spread([0.0, 1.0, 5.0], 0.5) == [0.0, 1.0, 5.0]
    assert spread([1.0, 1.0], 0.5) == [0.75, 1.25]
    assert spread([0.0, 1.0, 1.2], 1.0) == pytest.approx([-4 / 15, 11 / 15, 26 / 15])
    assert spread([], 1.0) == []


def luminance(color: str) -> float:
    """WCAG's relative luminance."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("color", [*COLORS, FAINT])
def test_colors_stand_out_from_light_and_dark(color: str) -> None:
    own = luminance(color) + 0.05
    assert (luminance(PAPER) + 0.05) / own >= 3
    assert own / (luminance("#17181b") + 0.05) >= 3


def add(database: Database, kernel: str, walk: str, samples: list[tuple[Status, float | None]], **options: int) -> None:
    """Samples of a kernel whose original takes a second, isl's output half of one. options: machine, seed."""
    machine = options.get("machine") or database.machine(MACHINE)
    compiler = database.compiler(CompilerRecord("gcc 12", "-O3"))
    # as if lu could be checked at its own size only
    program = database.program(
        ProgramRecord(kernel, f"hash of {kernel}", "SMALL", "SMALL" if kernel == "lu" else "MINI", 2)
    )
    for configuration, seconds in (("original", (1.5, 1.0)), ("isl", (0.5,))):
        database.add_baseline(program, machine, compiler, Baseline(configuration, seconds))
    database.add_baseline(program, machine, compiler, Baseline("pluto", failure="transform: <boom>"))
    of = records.Series(program, compiler, "random", walk, options.get("seed", 0))
    first: int | None = None
    for number, (status, seconds) in enumerate(samples):
        duplicate = first if number and seconds == samples[0][1] else None
        times = () if seconds is None else (seconds * 2, seconds)
        key = database.add_sample(of, machine, records.Sample(number, status, duplicate_of=duplicate, seconds=times))
        first = key if first is None else first


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "explore.sqlite"
    with open_database(path) as opened:
        samples: list[tuple[Status, float | None]] = [
            ("ok", 2.0),
            ("timeout", None),
            ("ok", 2.0),
            ("ok", 0.25),
            ("build failed", None),
        ]
        add(opened, "gemm", "bias_coeff_0", samples)
        add(opened, "lu", "bias_coeff_0", [("ok", 1.0), ("ok", 1.0), ("ok", 0.25), ("ok", 0.125), ("ok", 3.0)])
        add(opened, "gemm", "uniform", [("run failed", None), ("ok", 1.0)], seed=7)
        add(opened, "gemm", "uniform", [("ok", 0.5)], seed=3)
        add(opened, "gemm", "uniform", [("ok", 0.001)], machine=opened.machine(Machine("Another", 4, "Linux")))
    return path


def test_read(database: Path) -> None:
    with open_database(database) as opened:
        exploration = read_exploration(opened)
        assert read_exploration(opened, ["lu"]).series[0].samples.keys() == {"lu"}
        assert read_exploration(opened, machine=2).series[0].samples["gemm"] == (Sample(1, "ok", False, 0.001, 1000.0),)
        with pytest.raises(InputError, match="no samples"):
            read_exploration(opened, ["trmm"])
    assert (exploration.setting.size, exploration.check_size) == ("SMALL", "MINI, SMALL for lu")
    assert exploration.originals == {"gemm": 1.0, "lu": 1.0}
    assert exploration.references == {"isl": {"gemm": 2.0, "lu": 2.0}}
    main, other = exploration.series
    assert main.samples["gemm"] == (
        Sample(1, "ok", False, 2.0, 0.5),
        Sample(2, "timeout"),
        Sample(3, "ok", True, 2.0, 0.5),
        Sample(4, "ok", False, 0.25, 4.0),
        Sample(5, "build failed"),
    )
    # the seeds of a walk follow each other
    assert [(sample.number, sample.speedup) for sample in other.samples["gemm"]] == [(1, 2.0), (2, None), (3, 1.0)]
    assert statuses(main) == {"ok": 8, "timeout": 1, "build failed": 1, "duplicates": 2}
    assert any("Not shown: 1 sample of another setting (machine 2: Another" in note for note in exploration.notes)


def test_an_original_without_a_time_is_left_out(database: Path) -> None:
    with open_database(database) as opened:
        opened.add_baseline(2, 1, 1, Baseline("original", failure="run: crashed"))
        exploration = read_exploration(opened)
    assert exploration.originals.keys() == {"gemm"}
    assert all("lu" not in each.samples for each in exploration.series)
    assert "lu is left out: its original has no time." in exploration.notes


class Page(HTMLParser):
    """Ids, references, and whether all elements are closed."""

    VOID = ("meta", "link", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self._attributes(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._attributes(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def _attributes(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            words = (value or "").split()
            self.ids += words if name == "id" else []
            self.references += words if name == "aria-labelledby" else []
            self.references += [(value or "")[1:]] if name.endswith("href") and (value or "").startswith("#") else []
            self.references += re.findall(r"url\(#([^)]*)\)", value or "")
            assert name not in ("src", "srcset"), "something is loaded"


def test_write_report(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = write_report(database, tmp_path / "new" / "report")
    folder = tmp_path / "new" / "report"
    assert {file.name for file in folder.iterdir()} == {
        "report.html",
        "figure8.svg",
        "figure9.svg",
        "figure10.svg",
        "data.csv",
        "data.json",
    }
    assert (found.main.label, found.count, found.best) == ("bias_coeff_0", 5, {"gemm": 4.0, "lu": 8.0})
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    assert page.tags.count("svg") == 3
    # sqrt(4 · 8) = 5.66 over -O3, half of it over isl; sqrt(0.5 · 1), ·,
    # sqrt(0.5 · 4), sqrt(4 · 8) reaches 2 at the fourth
    assert (
        "Best of 5 samples of bias_coeff_0 on 2 kernels: geomean 5.66× over -O3, 2.83× "
        "over isl. The walk reaches isl at 4 samples."
    ) in page.text
    assert "Some <CPU>, 2 cores, Linux" in page.text
    assert "gemm has no time of pluto: transform: <boom>." in page.text
    first = {
        name: (folder / name).read_bytes() for name in ("figure8.svg", "figure9.svg", "figure10.svg", "report.html")
    }
    write_report(database, folder)
    assert {name: (folder / name).read_bytes() for name in first} == first


def test_drawings(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_report(database, tmp_path)
    texts = {}
    for number in (8, 9, 10):
        root = ElementTree.parse(tmp_path / f"figure{number}.svg").getroot()
        children = [child.tag.rpartition("}")[2] for child in root]
        assert children[:3] == ["title", "desc", "style"]
        assert root.get("role") == "img"
        texts[number] = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert {"gemm", "lu", "isl (geomean 2.00×)", "-O3 (1×)"} <= set(texts[8])
    assert {"gemm", "lu", "geomean", "isl (geomean 2.00×)", "best of 5, bias_coeff_0 (geomean 5.66×)"} <= set(texts[9])
    assert {
        "bias_coeff_0, reaches isl at 4",
        "uniform, reaches isl at 1",
        "all walks on the 1 kernel that they share",
        "isl 2.00×",
    } <= set(texts[10])


def test_data(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = write_report(database, tmp_path)
    with (tmp_path / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    gemm = [row for row in rows if (row["what"], row["kernel"], row["name"]) == ("sample", "gemm", "bias_coeff_0")]
    assert [(row["status"], row["duplicate"], row["speedup"], row["best_so_far"]) for row in gemm] == [
        ("ok", "0", "0.5", "0.5"),
        ("timeout", "0", "", "0.5"),
        ("ok", "1", "0.5", "0.5"),
        ("ok", "0", "4.0", "4.0"),
        ("build failed", "0", "", "4.0"),
    ]
    whole = [float(row["best_so_far"]) for row in rows if row["what"] == "whole"]
    assert whole == pytest.approx(found.whole.lines[0].values)
    data = json.loads((tmp_path / "data.json").read_text(encoding="utf-8"))
    assert data["best"] == {"gemm": 4.0, "lu": 8.0}
    assert [len(each["samples"]["gemm"]) for each in data["series"]] == [5, 3]
    assert data["whole"]["lines"][0]["crossings"]["isl"]["count"] == 4
    assert data["common"]["kernels"] == ["gemm"]


def test_only_failures_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "explore.sqlite"
    with open_database(path) as opened:
        add(opened, "gemm", "uniform", [("timeout", None)])
    found = write_report(path, tmp_path / "report")
    assert found.best == {"gemm": 0.1}
    page = Page((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    assert (
        "Best of 1 sample of uniform on 1 kernel: geomean 0.10× over -O3, 0.05× over "
        "isl. The walk doesn't reach isl within 1 sample."
    ) in page.text


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no such database"):
        write_report(tmp_path / "none.sqlite", tmp_path)
    with open_database(tmp_path / "empty.sqlite"):
        pass
    with pytest.raises(InputError, match="no samples"):
        write_report(tmp_path / "empty.sqlite", tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'scopt\[bench\]'"):
        write_report(tmp_path / "empty.sqlite", tmp_path)


def test_a_folder_that_cannot_be_written(database: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--report"):
        write_report(database, tmp_path / "file")
