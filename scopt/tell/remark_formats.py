"""Remarks as text for people and in the formats that other tools read.

json: an array of objects with the fields of `Remark`. sarif: the Static Analysis Results Interchange Format, version
2.1.0 (OASIS Standard, 27 March 2020; section numbers below are those of the standard), which code hosts and editors
show. yaml: LLVM's optimization records (https://llvm.org/docs/Remarks.html, "YAML Remarks"), which opt-viewer shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

from scopt.diagnostics import Remark, remarks_as_json
from scopt.remark_ids import RemarkId, known_ids
from scopt.version import __version__

RemarkFormat = Literal["text", "json", "sarif", "yaml"]

SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# 3.27.9 and 3.27.10: what is no problem has the level none.
_SARIF_KIND = {"passed": ("pass", "none"), "missed": ("fail", "note"), "analysis": ("informational", "none")}
_YAML_TAG = {"passed": "!Passed", "missed": "!Missed", "analysis": "!Analysis"}


def formatted(remarks: Sequence[Remark], form: RemarkFormat) -> bytes:
    """All remarks in a format, in UTF-8; text and YAML are empty if there are none.

    What isn't text, such as a byte in a file's name that is no UTF-8, is shown with a backslash.
    """
    forms: Mapping[RemarkFormat, Callable[[Sequence[Remark]], str]] = {
        "text": as_text,
        "json": as_json,
        "sarif": as_sarif,
        "yaml": as_yaml,
    }
    return forms[form](remarks).encode("utf-8", "backslashreplace")


def as_text(remarks: Iterable[Remark]) -> str:
    """A line each."""
    return "".join(f"{remark.text()}\n" for remark in remarks)


def as_json(remarks: Iterable[Remark]) -> str:
    return remarks_as_json(remarks) + "\n"


# --- SARIF ------------------------------------------------------------------------------------------------------------


def as_sarif(remarks: Iterable[Remark]) -> str:
    """One run with all remarks as results; its rules are the ids that occur, in alphabetical order."""
    remarks = tuple(remarks)
    known = known_ids()
    ids = sorted({remark.id for remark in remarks})
    driver = {"name": "scopt", "version": __version__, "rules": [_rule(id, known.get(id)) for id in ids]}
    results = [_result(remark, ids.index(remark.id)) for remark in remarks]
    log = {
        "$schema": SARIF_SCHEMA,
        "version": SARIF_VERSION,
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=1) + "\n"


def _rule(id: str, known: RemarkId | None) -> dict[str, Any]:
    """A reportingDescriptor (3.49)."""
    if known is None:
        return {"id": id}
    todo = f"{known.advice[0].upper()}{known.advice[1:]}." if known.advice else "Nothing has to be done."
    return {
        "id": id,
        "shortDescription": {"text": f"{known.title[0].upper()}{known.title[1:]}."},
        "fullDescription": {"text": known.meaning},
        "help": {"text": f"{known.meaning} {todo}"},
        "defaultConfiguration": {"level": _SARIF_KIND[known.kind][1]},
        "properties": {"tags": [known.topic]},
    }


def _result(remark: Remark, rule: int) -> dict[str, Any]:
    """A result (3.27). The suggestion is part of the message, since viewers show nothing else."""
    kind, level = _SARIF_KIND[remark.kind]
    region = {"startLine": remark.location.line} | (
        {"startColumn": remark.location.column} if remark.location.column else {}
    )
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": file_uri(remark.location.file)}, "region": region}
    }
    if remark.function:
        location["logicalLocations"] = [{"name": _printable(remark.function), "kind": "function"}]
    text = remark.message + (f" ({remark.hint})" if remark.hint else "")
    properties = {"properties": {"suggestion": _printable(remark.hint)}} if remark.hint else {}
    message = {"text": _printable(text)}
    return {
        "ruleId": remark.id,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": message,
        "locations": [location],
        **properties,
    }


def file_uri(path: str) -> str:
    """A path as a URI reference (3.4.3): with a scheme if it is absolute.
    The bytes of its name are kept, whatever they are."""
    quoted = quote(os.fsencode(path))
    if path.startswith("/"):
        return f"file://{quoted}"
    # RFC 3986, 4.2: a colon in the first segment would be read as the end of a scheme; `quote` has none left.
    return quoted


def _printable(text: str) -> str:
    """Text without lone surrogates, which no JSON reader has to take."""
    return text.encode("utf-8", "backslashreplace").decode()


# --- LLVM's optimization records --------------------------------------------------------------------------------------


def as_yaml(remarks: Iterable[Remark]) -> str:
    """A YAML document a remark. The Args, put together, are the sentence that opt-viewer shows;
    the suggestion is one of them."""
    return "".join(_record(remark) for remark in remarks)


def _record(remark: Remark) -> str:
    place = remark.location
    args = [("String", remark.message)]
    if remark.hint:
        args += [("String", " ("), ("Suggestion", remark.hint), ("String", ")")]
    lines = [
        f"--- {_YAML_TAG[remark.kind]}",
        "Pass:            scopt",
        f"Name:            {_quoted(remark.id)}",
        f"DebugLoc:        {{ File: {_quoted(place.file)}, Line: {place.line}, Column: {place.column} }}",
        # opt-viewer wants a name.
        f"Function:        {_quoted(remark.function or '(no function)')}",
        "Args:",
        *(f"  - {key + ':':<16} {_quoted(text)}" for key, text in args),
        "...",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A YAML scalar in single quotes if it is all printable, as LLVM writes them, else in double quotes with escapes;
    on one line."""
    import yaml  # takes a while to load, and most runs write text

    style = "'" if text.isprintable() and text.isascii() else '"'
    return str(yaml.safe_dump(text, default_style=style, width=float("inf"))).rstrip("\n")
