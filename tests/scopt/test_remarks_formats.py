"""Remarks as text, JSON, SARIF and optimization records; and the list of all ids."""

from __future__ import annotations

import ast
import json
import re
from collections import ChainMap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scopt import cli
from scopt.diagnostics import Location, Refusal, Remark
from scopt.remark_ids import advice, known_ids, reference
from scopt.tell.remark_formats import RemarkFormat, file_uri, formatted

ROOT = Path(__file__).parents[2]
REMARKS = (
    Remark(
        "missed",
        "call.unknown",
        "the call of 'g' may\n\thave \"side effects\"",
        Location("a b.c", 9, 5),
        "declare it: 'const'",
        "f",
    ),
    Remark("passed", "region.transformed", "transformed: ∑ #1", Location("/src/é.c", 12), function="main"),
    Remark("analysis", "alias.assumed-none", "x: y, - z", Location("bad\udcff.c", 3, 1)),
    Remark("missed", "call.unknown", "again", Location("a b.c", 10)),
)
SOURCE = (
    b"double g(double);\nvoid f(int n, double *x) {\n#pragma scop\n  for (int i = 0; i "
    b"< n; i++)\n    x[i] = g(1.0);\n#pragma endscop\n}\n"
)


# --- the list of ids ---

_TOPICS = {id.partition(".")[0] for id in known_ids()}
# What a text has that names an id, whole or by a part.
_MAY_NAME_ONE = re.compile(rf"[\"'](?:{'|'.join(sorted(_TOPICS))})\.[a-z]|NotAffine|self\.log")


def parsed(pattern: re.Pattern[str]) -> Iterator[tuple[Path, ast.Module]]:
    """Those of scopt's modules that have such a text; most of them haven't."""
    for folder in ("scopt", "frontend", "scheduler", "astgen"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if pattern.search(text):
                yield path, ast.parse(text)


def ids_in_the_source() -> Iterator[tuple[str, str]]:
    """(id, where) of each string in scopt's code that looks like one;
    those that are put together are told by their parts."""
    for path, tree in parsed(_MAY_NAME_ONE):
        if path.name == "remark_ids.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _looks_like_an_id(node.value):
                yield node.value, f"{path}:{node.lineno}"
            if isinstance(node, ast.Call):
                yield from _put_together(node, f"{path}:{node.lineno}")


def _looks_like_an_id(text: str) -> bool:
    return (
        bool(re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*", text))
        and text.partition(".")[0] in _TOPICS
        and not text.endswith((".py", ".c", ".yaml"))
    )


def _put_together(call: ast.Call, where: str) -> Iterator[tuple[str, str]]:
    name = ast.unparse(call.func)
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return
    if name == "NotAffine":
        places = ("-bound", "-subscript") if first.value in ("nonlinear", "indirect", "variant", "call") else ("",)
        yield from ((f"affine.{first.value}{place}", where) for place in places)
    if name == "self.log":
        yield f"influence.{first.value}", where


def test_every_id_in_the_source_is_in_the_list_and_the_other_way_round() -> None:
    used = dict(ids_in_the_source())
    assert {id: where for id, where in used.items() if id not in known_ids()} == {}
    assert set(known_ids()) - set(used) == set()


def test_each_id_is_explained_and_each_refusal_has_a_suggestion() -> None:
    for one in known_ids().values():
        assert re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*", one.id)
        assert one.title, one.id
        assert one.meaning.endswith("."), one.id
        assert one.kind != "missed" or one.advice, one.id
        assert not one.advice.endswith("."), one.id


def test_the_reference_lists_what_there_is() -> None:
    assert reference() in (ROOT / "docs" / "remarks.md").read_text(encoding="utf-8")


def test_a_refusal_without_a_hint_has_the_one_of_its_id() -> None:
    assert Refusal("decl.form", "no", Location("a.c", 1)).remark.hint == advice("decl.form")
    assert Refusal("decl.form", "no", Location("a.c", 1), "mine").remark.hint == "mine"
    assert advice("no.such-id") == ""


def test_remarks_in_the_source_that_say_no_have_a_hint() -> None:
    """`Refusal` has a default; a `Remark` made by hand needs one of its own."""
    bare = []
    for path, tree in parsed(re.compile(r"\bRemark\(")):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "Remark"
                and node.args
                and ast.unparse(node.args[0]) == "'missed'"
            ):
                bare += [f"{path}:{node.lineno}"] if len(node.args) < 5 else []
    assert bare == []


# --- SARIF: what the OASIS text demands, section by section ---


def sarif() -> dict[str, Any]:
    log = json.loads(formatted(REMARKS, "sarif"))
    assert isinstance(log, dict)
    return log


def test_sarif_log_and_run() -> None:
    log = sarif()
    assert log["version"] == "2.1.0"  # 3.13.2
    assert log["$schema"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")  # 3.13.3: a URI of the schema
    (run,) = log["runs"]  # 3.13.4
    driver = run["tool"]["driver"]  # 3.14.6, 3.18.2: required
    assert driver["name"] == "scopt"  # 3.19.8: required
    ids = [rule["id"] for rule in driver["rules"]]  # 3.49.3: required
    assert ids == [
        "alias.assumed-none",
        "call.unknown",
        "region.transformed",
    ]  # 3.19.23: rules are unique, here sorted too
    for rule in driver["rules"]:
        assert rule["help"]["text"]  # 3.49.13, 3.12.3
        assert rule["shortDescription"]["text"].endswith(".")  # 3.49.9
        assert rule["fullDescription"]["text"].endswith(".")  # 3.49.10
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")  # 3.50.3


def test_sarif_results() -> None:
    (run,) = sarif()["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(run["results"]) == len(REMARKS)
    for remark, result in zip(REMARKS, run["results"], strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == remark.id  # 3.27.5, 3.27.6
        assert result["message"]["text"]  # 3.27.11
        assert result["kind"] in ("pass", "open", "informational", "notApplicable", "review", "fail")  # 3.27.9
        assert result["kind"] == "fail" or result["level"] == "none"  # 3.27.10
        (location,) = result["locations"]  # 3.27.12
        region = location["physicalLocation"]["region"]
        assert region["startLine"] == remark.location.line >= 1  # 3.30.5
        assert region.get("startColumn", 1) >= 1  # 3.30.6
    first, second, *_ = run["results"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 9, "startColumn": 5}
    assert first["locations"][0]["logicalLocations"] == [{"name": "f", "kind": "function"}]  # 3.33.4, 3.33.7
    assert first["message"]["text"].endswith("(declare it: 'const')")
    assert first["properties"] == {"suggestion": "declare it: 'const'"}
    assert (first["kind"], second["kind"]) == ("fail", "pass")


def test_sarif_objects_have_no_properties_that_the_standard_does_not_know() -> None:
    known = {
        "runs": {"tool", "results"},
        "results": {"ruleId", "ruleIndex", "kind", "level", "message", "locations", "properties"},
        "locations": {"physicalLocation", "logicalLocations"},
        "rules": {"id", "shortDescription", "fullDescription", "help", "defaultConfiguration", "properties"},
    }

    def check(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                for item in inner if key in known else ():
                    assert set(item) <= known[key]
                check(inner)
        elif isinstance(value, list):
            for item in value:
                check(item)

    check(sarif())


def test_file_names_are_uri_references() -> None:
    assert file_uri("a b.c") == "a%20b.c"
    assert file_uri("/src/x.c") == "file:///src/x.c"
    assert file_uri("a:b.c") == "a%3Ab.c"
    assert file_uri("bad\udcff.c") == "bad%FF.c"


def test_an_id_that_is_not_in_the_list_is_a_rule_all_the_same() -> None:
    (run,) = json.loads(formatted((Remark("missed", "x.y", "m", Location("a.c", 1)),), "sarif"))["runs"]
    assert run["tool"]["driver"]["rules"] == [{"id": "x.y"}]


# --- optimization records ---


class _Loader(yaml.SafeLoader):
    """Reads the tags as opt-viewer's optrecord.py does: each document is a mapping with a class."""


def _construct(loader: _Loader, suffix: str, node: yaml.MappingNode) -> dict[str, Any]:
    return {"kind": suffix, **loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _construct)  # type: ignore[no-untyped-call]


def test_records_are_read_as_opt_viewer_does() -> None:
    records = list(yaml.load_all(formatted(REMARKS, "yaml"), _Loader))
    assert [record["kind"] for record in records] == ["Missed", "Passed", "Analysis", "Missed"]
    for remark, record in zip(REMARKS, records, strict=True):
        # The keys that optrecord.py asks for, and no Args with several keys.
        assert (record["Pass"], record["Name"]) == ("scopt", remark.id)
        assert record["DebugLoc"] == {
            "File": remark.location.file,
            "Line": remark.location.line,
            "Column": remark.location.column,
        }
        assert isinstance(record["Function"], str)
        assert all(len(arg) == 1 for arg in record["Args"])
        sentence = "".join(value for arg in record["Args"] for value in arg.values())
        assert sentence == remark.message + (f" ({remark.hint})" if remark.hint else "")
    assert records[0]["Function"] == "f"
    assert ChainMap(*records[0]["Args"])["Suggestion"] == "declare it: 'const'"


def test_records_are_ascii_lines_that_begin_as_llvm_writes_them() -> None:
    text = formatted(REMARKS, "yaml").decode("ascii")
    assert text.startswith("--- !Missed\nPass:            scopt\nName:            'call.unknown'\n")
    assert "\nDebugLoc:        { File: 'a b.c', Line: 9, Column: 5 }\n" in text
    assert text.count("\n...\n") == len(REMARKS)


# --- text and JSON, and the command ---


def test_text_and_json() -> None:
    assert formatted(REMARKS[3:], "text") == b"a b.c:10: remark: again [call.unknown]\n"
    first, *_ = json.loads(formatted(REMARKS, "json"))
    location = {"file": "a b.c", "line": 9, "column": 5}
    message = REMARKS[0].message
    hint = "declare it: 'const'"
    assert first == {
        "kind": "missed",
        "id": "call.unknown",
        "message": message,
        "location": location,
        "hint": hint,
        "function": "f",
    }


@pytest.mark.parametrize(("form", "nothing"), [("text", b""), ("json", b"[]\n"), ("yaml", b"")])
def test_no_remarks(form: RemarkFormat, nothing: bytes) -> None:
    assert formatted((), form) == nothing


def test_no_remarks_in_sarif_is_a_run_without_results() -> None:
    assert json.loads(formatted((), "sarif"))["runs"][0]["results"] == []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "yaml"])
def test_remarks_go_into_a_file_and_name_the_function(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, remarks = tmp_path / "in.c", tmp_path / "remarks"
    source.write_bytes(SOURCE)
    assert (
        cli.main([str(source), "-o", str(tmp_path / "out.c"), f"--remarks={form}", "--remarks-file", str(remarks)]) == 0
    )
    assert capsys.readouterr().err == ""
    text = remarks.read_text()
    assert "call.unknown" in text
    if form == "json":
        assert [item["function"] for item in json.loads(text)] == ["f"]


def test_a_remarks_file_that_cannot_be_written_is_an_error_before_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "in.c", tmp_path / "out.c"
    source.write_bytes(SOURCE)
    assert cli.main([str(source), "-o", str(output), "--remarks-file", str(tmp_path / "no" / "such")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert not output.exists()
